/** The ledger as others meet it: its reads, its refusals, and the bytes of its records. */
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { Ledger } from "../../src/ledger/Ledger.js"
import { describe as tell } from "../../src/ledger/rules/Rejection.js"
import * as Records from "../../src/ledger/tables/Records.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import type { StateRecord } from "../../src/protocol/state/StateRecord.js"
import * as Charges from "../../src/protocol/transaction/Charges.js"
import { Chain, coins, person, tableKey, told } from "./builders.js"
import { lives, Play } from "./Play.js"

const [alice, bob, val] = [person("alice"), person("bob"), person("val")]

describe("genesis", () => {
  const chain = new Chain({
    accounts: { alice: 7, bob: 5 },
    validators: { val: 3_000, other: 2_000 },
    council: ["bob"],
    names: { "bobs-bank": "bob" },
    treasury: 11,
  })

  it("is commit 0 and closes epoch 0", () => {
    const hash = Genesis.hash(chain.genesis)
    expect(chain.ledger.read.head).toEqual({
      index: 0,
      hash,
      leaderRound: 0,
      time: chain.genesis.time,
      nextProposalId: 1,
    })
    expect(chain.epoch).toMatchObject({ epoch: 1, firstRound: 1, rules: { epochRounds: 40, treasuryPercent: 10 } })
    expect(chain.epoch.members.map(({ weight }) => weight).sort()).toEqual([coins(2_000), coins(3_000)])
    expect(chain.ledger.read.previousEpoch).toBeUndefined()
  })

  it("gives everybody what it says", () => {
    const { read } = chain.ledger
    expect(read.totals).toEqual({
      liquid: coins(12),
      staked: coins(5_000),
      delegated: 0,
      treasury: coins(11),
      total: coins(5_023),
    })
    expect(read.account(bob.address)).toEqual({
      ...AccountRecord.empty,
      balance: coins(5),
      name: "bobs-bank",
      isCouncilMember: true,
    })
    expect(read.account(val.address)).toMatchObject({ publicKey: val.publicKey, stake: { amount: coins(3_000) } })
    expect(read.account(person("nobody").address)).toEqual(AccountRecord.empty)
  })

  it("has a digest of its own", () => {
    const other = Ledger.fromGenesis({ ...chain.genesis, treasury: coins(12) }, tableKey)
    expect(other.effectsDigest).not.toBe(chain.ledger.effectsDigest)
    expect(Ledger.fromGenesis(chain.genesis, tableKey).effectsDigest).toBe(chain.ledger.effectsDigest)
  })
})

describe("a commit that does not follow the last one", () => {
  it("is a bug of the caller, and says what was expected", () => {
    const chain = new Chain({})
    chain.commit([])
    const [first] = chain.inputs
    if (first === undefined) throw new Error("a commit was executed")
    const executed = chain.ledger.execute(first)
    expect(Either.isLeft(executed) && executed.left.message).toContain(
      "commit 1 of epoch 1, round 1 does not follow commit 1 of epoch 1, round 1",
    )
  })
})

describe("reads", () => {
  const delegators = Array.from({ length: 9 }, (_, i) => person(`delegator ${i}`))
  const chain = new Chain({
    accounts: { alice: 9_000, ...Object.fromEntries(delegators.map(({ name }) => [name, 100])) },
    validators: { val: 3_000, other: 2_500 },
  })
  chain.run(chain.stake(alice, coins(2_000)))
  chain.run(...delegators.map((who, i) => chain.delegate(who, person("other"), coins(90 - i * 5))))
  chain.run(chain.undelegate(delegators[1] ?? alice))

  it("list validators by effective stake, with who is active and who sits", () => {
    const list = chain.ledger.read.validators(500)
    expect(list.map(({ effectiveStake }) => effectiveStake)).toEqual(
      list.map(({ effectiveStake }) => effectiveStake).sort((a, b) => b - a),
    )
    expect(
      list.map(({ address, isInCommittee, isActiveValidator, delegatorCount }) => [
        address,
        isInCommittee,
        isActiveValidator,
        delegatorCount,
      ]),
    ).toEqual([
      [person("other").address, true, true, 9],
      [val.address, true, true, 0],
      [alice.address, false, true, 0],
    ])
    expect(chain.ledger.read.activeValidatorCount).toBe(3)
    expect(chain.ledger.read.validators(1)).toHaveLength(1)
  })

  it("list delegators with the largest first, cut to the limit but counted whole", () => {
    for (const limit of [1, 2, 500]) {
      const { count, total, delegators: listed } = chain.ledger.read.delegators(person("other").address, limit)
      expect(count).toBe(9)
      expect(total).toBe(chain.ledger.read.totals.delegated)
      expect(listed.map(({ address }) => address)).toEqual(delegators.slice(0, limit).map(({ address }) => address))
      expect(listed.map(({ isUndelegating }) => isUndelegating)).toEqual(
        [false, true, false, false, false, false, false, false, false].slice(0, limit),
      )
    }
    expect(chain.ledger.read.delegators(alice.address, 500)).toEqual({ count: 0, total: 0, delegators: [] })
  })

  it("forget nothing between commits and remember nothing too long", () => {
    chain.run(chain.unstake(alice))
    expect(chain.ledger.read.stake(alice.address)).toMatchObject({ isActiveValidator: false, leaving: { epoch: 1 } })
    expect(chain.ledger.read.activeValidatorCount).toBe(2)
  })
})

describe("a transaction's history", () => {
  it("belongs to who sends and who receives, once each", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    expect(Charges.addressesOf(chain.transfer(alice, bob, 1))).toEqual([alice.address, bob.address])
    expect(Charges.addressesOf(chain.transfer(alice, alice, 1))).toEqual([alice.address])
    expect(Charges.addressesOf(chain.unstake(alice))).toEqual([alice.address])
  })
})

describe("a rejection", () => {
  it("says in one line what was expected and what came", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    const outcomes = chain.run(
      chain.transfer(alice, bob, coins(5), 1_000),
      chain.transfer(alice, bob, 1, 7),
      chain.tx(alice, { _tag: "UnstakeTx" }, { nonce: 9 }),
    )
    expect(outcomes.map((outcome) => (outcome._tag === "Applied" ? "" : tell(outcome.reason)))).toEqual([
      "500001000 sats needed, 500000000 available",
      "fee_below_minimum: the fee is 7 sats, at least 1000 expected",
      "nonce 9 is too far ahead, the next one is 2",
    ])
    expect(outcomes.map(told)[2]).toBe("no effect: NonceTooHigh")
  })
})

describe("the bytes of a record", () => {
  const recode =
    <V>(codec: Records.Codec<V>) =>
    (bytes: Uint8Array): Uint8Array | undefined =>
      Either.getOrUndefined(
        Either.map(Records.decode(codec, bytes), (value) => Binary.encode((writer) => codec.write(writer, value))),
      )

  const recoders: { readonly [K in StateKey.Kind]: (bytes: Uint8Array) => Uint8Array | undefined } = {
    Account: (bytes) => Either.getOrUndefined(Either.map(AccountRecord.decode(bytes), AccountRecord.encode)),
    Validator: recode(Records.validator),
    Proposal: recode(Records.proposal),
    Ballot: recode(Records.ballot),
    Parameters: recode(Records.parameters),
    Totals: recode(Records.totals),
    Head: recode(Records.head),
    Epoch: recode(Records.epoch),
    Presence: recode(Records.presence),
    Minted: recode(Records.minted),
    RecentCommit: recode(Records.recentCommit),
    Slashed: recode(Records.slashed),
    LeavingPool: recode(Records.leavingPool),
  }

  /** Encodes again what these bytes decode to; nothing where they are refused. */
  const again = ({ kind, value }: Pick<StateRecord, "kind" | "value">) => recoders[kind](value)

  const seen = new Map<string, StateRecord>()
  lives({ seed: 99, count: 4, length: 120 }, (stage, steps) => {
    const play = new Play(stage)
    for (const step of steps) {
      play.take(step)
      for (const record of play.chain.ledger.records()) seen.set(`${record.kind} ${record.value.length}`, record)
    }
  })
  const samples = [...seen.values()]

  it("exists for every kind, and comes back as it went", () => {
    expect([...new Set(samples.map(({ kind }) => kind))].sort()).toEqual(Object.keys(StateKey.KINDS).sort())
    for (const sample of samples) expect(again(sample)).toEqual(sample.value)
  })

  it("is the only encoding of what it says: changed bytes are refused or say something else", () => {
    fc.assert(
      fc.property(fc.nat(samples.length - 1), fc.nat(), fc.nat(255), (which, position, byte) => {
        const sample = samples[which]
        if (sample === undefined || sample.value.length === 0) return
        const value = sample.value.slice()
        value[position % value.length] = byte
        const encoded = again({ kind: sample.kind, value })
        if (encoded !== undefined) expect(encoded).toEqual(value)
      }),
      { seed: 3, numRuns: 5_000 },
    )
  })

  it("has kinds that are told apart by their byte", () => {
    const bytes = Object.values(StateKey.KINDS).map(({ byte }) => byte)
    expect(new Set(bytes).size).toBe(bytes.length)
    for (const [kind, { byte }] of Object.entries(StateKey.KINDS)) expect(StateKey.kindOf(byte)).toBe(kind)
    expect(StateKey.kindOf(0)).toBeUndefined()
    expect(StateKey.counter(Natural.epoch(Number.MAX_SAFE_INTEGER))).toBe("001fffffffffffff")
  })
})
