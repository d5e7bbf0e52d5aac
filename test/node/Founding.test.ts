/**
 * Networks that the tools create: nobody with less than a third decides alone, and their transactions are valid on no
 * other.
 */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Founding from "../../src/node/start/Founding.js"
import * as Weaknesses from "../../src/node/start/Weaknesses.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import { Chain, coins, type Person, person } from "../ledger/builders.js"

const ten = Array.from({ length: 10 }, (_, i) => person(`founder ${i}`))
const [evil = person("evil")] = ten
const dora = person("dora")

const founding: Founding.Several = {
  networkId: Founding.drawnNetworkId("ten"),
  mode: "testnet",
  time: Natural.timestamp(1_700_000_000_000),
  protocol: { ...Protocol.standard, epochRounds: 7_200 },
  validators: ten.map(({ publicKey }) => ({ publicKey, stake: coins(10_000), commissionPercent: 10 })),
  allocations: [...ten, dora].map(({ address }) => ({ address, amount: coins(1_000) })),
  council: [],
  faucet: null,
  parameters: Parameters.standard(7_200),
}

const genesisOf = (changes: Partial<Founding.Several> = {}): Genesis.Genesis =>
  Either.getOrThrow(Founding.several({ ...founding, ...changes }))

const proposing = (chain: Chain, who: Person, payload: ProposalPayload) =>
  chain.tx(who, { _tag: "CreateProposalTx", title: "Mine", description: "", payload }, { fee: 1_000 })

const voting = (chain: Chain, who: Person, id: number) =>
  chain.tx(who, { _tag: "VoteTx", proposalId: Natural.proposalId(id), vote: true }, { fee: 1_000 })

const statuses = (chain: Chain) => chain.ledger.read.proposals(9).map(({ status }) => status)

/** One of ten equal validators proposes and votes while the others abstain. Returns the chain at the end. */
const attacked = (genesis: Genesis.Genesis): Chain => {
  const chain = new Chain(genesis)
  chain.advanceTo(20)
  const { treasury } = chain.ledger.read.totals
  chain.run(
    proposing(chain, evil, { _tag: "TreasurySpend", recipient: evil.address, amount: treasury }),
    proposing(chain, evil, { _tag: "CouncilMembership", action: "add", address: evil.address }),
    proposing(chain, evil, { _tag: "ParameterChange", param: "slash_percent", value: 100 }),
  )
  chain.run(...[1, 2, 3].map((id) => voting(chain, evil, id)))
  const { votingPeriodRounds, executionDelayRounds } = genesis.parameters
  const end = chain.round + votingPeriodRounds + executionDelayRounds + 2
  while (chain.round < end) chain.advanceTo(Math.min(chain.lastRound, end))
  return chain
}

describe("a lone validator of ten equal ones", () => {
  it.each([
    ["`udg genesis new`", { epochRounds: 7_200 }],
    ["`udg localnet`", { epochRounds: 1_200 }],
    ["a genesis by hand that names no parameters", { epochRounds: 1_200 }],
  ])("decides nothing on a network of %s", (way, { epochRounds }) => {
    const founded = genesisOf({
      protocol: { ...Protocol.standard, epochRounds },
      parameters: Parameters.standard(epochRounds),
    })
    const genesis = way.startsWith("a genesis by hand")
      ? Either.getOrThrow(Genesis.fromJson({ ...Genesis.toJson(founded), parameters: {} }))
      : founded
    expect(Weaknesses.ofGovernance(genesis)).toEqual([])
    const chain = attacked(genesis)
    expect(statuses(chain)).toEqual(["Rejected", "Rejected", "Rejected"])
    expect(chain.ledger.read.council()).toEqual([])
    expect(chain.ledger.read.parameters).toEqual(genesis.parameters)
    expect(chain.ledger.read.totals.treasury).toBeGreaterThan(0)
  })

  it("decides everything within minutes under a weak genesis, which gets a warning", () => {
    const genesis = genesisOf({ parameters: { ...Parameters.solo, cooldownRounds: 7_200 } })
    const chain = attacked(genesis)
    expect([statuses(chain), chain.round]).toEqual([["Executed", "Executed", "Executed"], 1_524])
    expect(Weaknesses.of(genesis)).toHaveLength(5)
  })
})

describe("a holder who disagrees with a decision", () => {
  it("has the money back before the decision takes effect after leaving within an epoch", () => {
    const parameters = Parameters.standard(40)
    const chain = new Chain(genesisOf({ protocol: { ...Protocol.standard, epochRounds: 40 }, parameters }))
    chain.run(chain.delegate(dora, evil, coins(100)))
    chain.run(proposing(chain, evil, { _tag: "ParameterChange", param: "slash_percent", value: 100 }))
    chain.run(...ten.slice(0, 7).map((who) => voting(chain, who, 1)))
    const { votingEndsAtRound, executesAtRound } = chain.ledger.read.proposals(1)[0] ?? {
      votingEndsAtRound: 0,
      executesAtRound: 0,
    }
    // A commit in each round, so that nothing comes later than necessary.
    while (chain.round <= votingEndsAtRound) chain.advanceTo(chain.round + 1)
    expect(statuses(chain)).toEqual(["Passed"])
    // The latest possible round in which to notice the decision.
    while (chain.round < votingEndsAtRound + 39) chain.advanceTo(chain.round + 1)
    chain.run(chain.undelegate(dora))
    let released: number | undefined
    while (chain.round < executesAtRound) {
      const { events } = chain.advanceTo(chain.round + 1)
      if (events.some(({ _tag }) => _tag === "Unlocked")) released ??= chain.round
    }
    expect(statuses(chain)).toEqual(["Executed"])
    expect(released).toBeLessThan(executesAtRound)
  })
})

describe("the parameters of a network of several", () => {
  it("scale with the epoch within their bounds, and keep the values that were chosen", () => {
    expect(Parameters.standard(7_200)).toMatchObject({
      cooldownRounds: 7_200,
      votingPeriodRounds: 172_800,
      executionDelayRounds: 21_600,
      quorumPercent: 34,
      proposalBond: coins(100),
      maxActivePerProposer: 3,
    })
    expect(Parameters.standard(10_000_000)).toMatchObject({
      votingPeriodRounds: 10_000_000,
      executionDelayRounds: 10_000_000,
    })
    expect(Parameters.standard(40, { cooldownRounds: 1_000, quorumPercent: 50 })).toMatchObject({
      cooldownRounds: 1_000,
      executionDelayRounds: 1_080,
      quorumPercent: 50,
    })
  })
})

const named = (networkId: string) => networkId as NetworkId

describe("the weaknesses of a genesis", () => {
  it("are rules that let one validator decide alone or at once, and an ambiguous network id", () => {
    expect(Weaknesses.of(genesisOf())).toEqual([])
    const one = (chosen: Partial<Parameters.Parameters>) =>
      Weaknesses.of(genesisOf({ parameters: Parameters.standard(7_200, chosen) }))
    expect(one({ votingPeriodRounds: 7_199 })).toEqual([
      expect.stringMatching(/^voting_period_rounds is 7199, less than/),
    ])
    expect(one({ executionDelayRounds: 7_199 })).toEqual([
      expect.stringMatching(/^execution_delay_rounds is 7199, less than/),
    ])
    expect(one({ quorumPercent: 33 })).toEqual([expect.stringMatching(/^quorum_percent is 33, below 34/)])
    expect(one({ proposalBond: 99_999_999 })).toEqual([expect.stringMatching(/^proposal_bond_sats is 99999999, below/)])
    expect(one({ maxActivePerProposer: 20 })).toEqual([
      expect.stringMatching(/^max_active_per_proposer is 20, not below max_active_proposals, 20/),
    ])
    expect(Weaknesses.of(genesisOf({ networkId: named("my-net") }))).toEqual([
      expect.stringMatching(/^the network id my-net does not end in 16 random hex digits/),
    ])
  })

  it("are not reported for a network of one person, except for a mainnet's id", () => {
    const weak = { parameters: Parameters.solo, protocol: Protocol.standard }
    const alone = founding.validators.slice(0, 1)
    expect(Weaknesses.of(genesisOf({ ...weak, networkId: Founding.drawnNetworkId("udg-local") }))).toHaveLength(4)
    expect(Weaknesses.of(genesisOf({ ...weak, networkId: named("one"), validators: alone }))).toEqual([])
    expect(
      Weaknesses.of(genesisOf({ ...weak, networkId: named("one"), validators: alone, mode: "mainnet" })),
    ).toHaveLength(1)
  })
})

describe("a refounded network", () => {
  const key = SecretKey.generate()
  const transfer: Transaction.Unsigned = {
    from: Address.fromPublicKey(key.publicKey),
    nonce: Natural.nonce(0),
    fee: Sats.make(1_000),
    operation: { _tag: "Transfer", to: dora.address, amount: Sats.make(5), memo: "" },
  }
  const isValidOn = (id: NetworkId, signed: Transaction.Transaction): boolean =>
    Verification.checksOf(id, Either.getOrThrow(Transaction.decode(id, signed.encoded))).every(Verification.isValid)

  it("refuses transactions of its predecessor", () => {
    const [before, after] = [Founding.drawnNetworkId("again"), Founding.drawnNetworkId("again")]
    const signed = Transaction.sign(before, transfer, key)
    expect([isValidOn(before, signed), isValidOn(after, signed)]).toEqual([true, false])
  })

  it("accepts them under the same id, which gets a warning", () => {
    const id = named("again")
    expect(isValidOn(id, Transaction.sign(id, transfer, key))).toBe(true)
    expect(Weaknesses.of(genesisOf({ networkId: id }))).toHaveLength(1)
  })
})
