/** Changes of keys as attacks: on the network, on other validators, on the penalty for equivocation. */
import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { type PublicKey, SecretKey, type Signature } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Possession from "../../src/protocol/transaction/Possession.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, type Person, person, told } from "./builders.js"
import { expectOutcomes } from "./Outcomes.js"
import { carol } from "./People.js"
import { voting } from "./Proposals.js"

const PROOF = "5".repeat(128) as Signature
const toVersion3: ProposalPayload = { _tag: "ParameterChange", param: "protocol_version", value: 3 }

const rotation = (chain: Chain, who: Person, to: string) =>
  chain.tx(who, { _tag: "RotateKeyTx", validatorKey: person(to).publicKey, proof: PROOF }, { fee: 1_000 })

/** Validators v0, v1, … with these stakes, in version 3, all with established weight. */
const network = (...stakes: ReadonlyArray<number>): Chain => {
  const names = stakes.map((_, i) => `v${i}`)
  const chain = new Chain({
    accounts: { carol: 90_000, ...Object.fromEntries(names.map((name) => [name, 900])) },
    validators: Object.fromEntries(stakes.map((stake, i) => [`v${i}`, stake])),
    parameters: { votingPeriodRounds: 10, executionDelayRounds: 5 },
    protocol: { roundReward: coins(0) },
  })
  const operation = { _tag: "CreateProposalTx", title: "Upgrade", description: "", payload: toVersion3 } as const
  chain.run(chain.tx(person("v0"), operation, { fee: 1_000 }))
  chain.run(...names.map((name) => voting(chain, person(name), true)))
  for (let epoch = 1; epoch <= 3; epoch++) chain.closeEpoch()
  return chain
}

const v = (n: number): Person => person(`v${n}`)

const keys = (chain: Chain) => chain.committee.map(({ name }) => name).sort()

/** The weight under keys that have not signed before, and how many of them replace an older key. */
const fresh = (before: EpochRecord.EpochRecord, chain: Chain) => {
  const accounts = before.members.map(({ address }) => chain.ledger.read.accountOf(address))
  const members = chain.epoch.members.filter(({ address }) => EpochRecord.memberOf(before, address) === undefined)
  const changed = members.filter(({ address }) => accounts.includes(chain.ledger.read.accountOf(address)))
  return {
    weight: members.reduce((sum, { weight }) => sum + weight, 0),
    members: members.length,
    changed: changed.length,
  }
}

describe("changed keys in the next committee", () => {
  it("weigh less than a third, even if others leave after they were announced", () => {
    const chain = network(5_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000)
    const leaving = [2, 3, 4].map((n) => chain.unstake(v(n)))
    expect(chain.run(rotation(chain, v(0), "k0"), rotation(chain, v(1), "k1"), ...leaving).map(told)).toEqual(
      Array(5).fill("applied"),
    )
    chain.closeEpoch()
    expect(keys(chain)).toHaveLength(4)
    expect(keys(chain).filter((name) => name.startsWith("k"))).toHaveLength(1)
    chain.closeEpoch()
    expect(keys(chain)).toEqual(["k0", "k1", "v5", "v6"])
  })

  it("leave a quorum without them and newcomers, or are a single one: after any departures, slashes and absences", () => {
    const act = fc.record({
      kind: fc.constantFrom("rotate", "rotate", "unstake", "equivocate", "silent", "newcomer"),
      who: fc.nat(6),
    })
    let changes = 0
    fc.assert(
      fc.property(fc.array(fc.array(act, { maxLength: 6 }), { minLength: 3, maxLength: 3 }), (epochs) => {
        const chain = network(5_000, 4_000, 4_000, 3_000, 3_000, 2_500, 2_500)
        const accountOf = (address: Address.Address) => chain.ledger.read.accountOf(address)
        for (const [epoch, acts] of epochs.entries()) {
          const before = chain.epoch
          const silent = new Set<string>()
          const beating: Array<Person> = []
          for (const { kind, who } of acts) {
            const account = v(who)
            if (kind === "rotate") {
              chain.run(rotation(chain, account, `k${who} ${epoch}`))
            } else if (kind === "unstake") chain.run(chain.unstake(account))
            else if (kind === "silent") silent.add(account.address)
            else if (kind === "equivocate") {
              const key = chain.committee.find(({ address }) => accountOf(address) === account.address) ?? account
              chain.commit([{ by: chain.proposer, evidence: [chain.evidence(key, chain.round)] }])
            } else if (told(chain.run(chain.stake(carol, coins(9_000)))[0]) === "applied") beating.push(carol)
          }
          const awake = chain.committee.filter(({ address }) => !silent.has(accountOf(address)))
          chain.closeEpoch(awake.length === 0 ? chain.committee : awake, beating)
          const { weight, members, changed } = fresh(before, chain)
          const total = EpochRecord.totalWeight(chain.epoch)
          changes += changed
          expect(EpochRecord.isQuorum(total - weight, total) || (members === 1 && changed === 1)).toBe(true)
          const accounts = chain.epoch.members.map(({ address }) => accountOf(address))
          expect(new Set(accounts).size).toBe(accounts.length)
        }
        expect(Either.isRight(chain.ledger.recount())).toBe(true)
      }),
      { numRuns: 60 },
    )
    expect(changes).toBeGreaterThan(50)
  })
})

describe("validators that change their keys all the time", () => {
  it("cannot keep another one from changing its key", () => {
    for (const stakes of [
      [5_000, 5_000, 5_000, 5_000],
      [9_000, 2_000, 2_000, 2_000],
    ]) {
      for (const victim of stakes.keys()) {
        const chain = network(...stakes)
        const others = [...stakes.keys()].filter((n) => n !== victim)
        for (let epoch = 0; epoch < 5; epoch++) {
          chain.run(...others.map((n) => rotation(chain, v(n), `k${n} ${epoch}`)), rotation(chain, v(victim), "mine"))
          chain.closeEpoch()
        }
        expect(keys(chain)).toContain("mine")
      }
    }
  })

  it("cannot keep newcomers out", () => {
    const chain = network(5_000, 5_000, 5_000, 5_000)
    chain.run(chain.stake(carol, coins(9_000)))
    for (let epoch = 0; epoch < 4; epoch++) {
      chain.run(rotation(chain, v(0), `k0 ${chain.epoch.epoch}`))
      chain.closeEpoch(chain.committee, [carol])
    }
    expect(EpochRecord.memberOf(chain.epoch, carol.address)?.weight ?? 0).toBeGreaterThan(coins(4_000))
  })
})

describe("another account's new key", () => {
  const NETWORK = "rotation-attacks" as NetworkId
  const secretOf = (byte: number): SecretKey => Option.getOrThrow(SecretKey.fromSeed(new Uint8Array(32).fill(byte)))
  const [victim, thief, next] = [secretOf(1), secretOf(2), secretOf(3)]

  /** Whether all signatures of a change by this account with this proof are valid. */
  const isAccepted = (by: SecretKey, nonce: number, key: PublicKey, proof: Signature, networkId = NETWORK): boolean => {
    const unsigned: Transaction.Unsigned = {
      from: Address.fromPublicKey(by.publicKey),
      nonce: Natural.nonce(nonce),
      fee: Sats.make(1_000),
      operation: { _tag: "RotateKeyTx", validatorKey: key, proof },
    }
    return Verification.checksOf(networkId, Transaction.sign(networkId, unsigned, by)).every(Verification.isValid)
  }

  const claim = { account: Address.fromPublicKey(victim.publicKey), nonce: Natural.nonce(7) }

  it("cannot be claimed with its proof, which names account, nonce, network and key", () => {
    const proof = Possession.sign(NETWORK, claim, next)
    expect(isAccepted(victim, 7, next.publicKey, proof)).toBe(true)
    expect(isAccepted(thief, 7, next.publicKey, proof)).toBe(false)
    expect(isAccepted(victim, 8, next.publicKey, proof)).toBe(false)
    expect(isAccepted(victim, 7, thief.publicKey, proof)).toBe(false)
    expect(isAccepted(victim, 7, next.publicKey, proof, "rotation-attacks-2" as NetworkId)).toBe(false)
    expect(isAccepted(thief, 7, next.publicKey, Possession.sign(NETWORK, claim, thief))).toBe(false)
  })

  it("gives a key that anyone can sign for only to the account that names it", () => {
    // The neutral point: R = 0 and S = 0 is a signature of any message.
    const neutral = `01${"0".repeat(62)}` as PublicKey
    const forged = `${neutral}${"0".repeat(64)}` as Signature
    expect(isAccepted(thief, 7, neutral, forged)).toBe(true)
    const chain = network(5_000, 5_000, 5_000, 5_000)
    const operation = { _tag: "RotateKeyTx", validatorKey: neutral, proof: forged } as const
    expect(chain.run(...[v(0), v(1), carol].map((who) => chain.tx(who, operation, { fee: 1_000 }))).map(told)).toEqual([
      "applied",
      "failed: key_in_use",
      "failed: not_staking",
    ])
  })

  it("cannot be blocked by coins sent to its address", () => {
    const chain = network(5_000, 5_000, 5_000, 5_000)
    chain.run(chain.transfer(carol, person("new"), coins(10), 2_000_000))
    expect(chain.balance(person("new"))).toBe(coins(10))
    expect(chain.run(rotation(chain, v(0), "new")).map(told)).toEqual(["applied"])
  })

  it("is never a validator's account: stake, commission and votes stay with the account that named it", () => {
    const chain = network(5_000, 5_000, 5_000, 5_000)
    chain.run(rotation(chain, v(0), "new"), chain.transfer(carol, person("new"), coins(5_000), 2_000_000))
    chain.closeEpoch()
    expectOutcomes(chain, [
      [chain.unstake(person("new")), "failed: not_staking"],
      [chain.tx(person("new"), { _tag: "SetCommissionTx", commissionPercent: 100 }), "failed: not_staking"],
      [chain.stake(person("new"), coins(3_000)), "failed: key_in_use"],
      [chain.delegate(carol, person("new"), coins(100)), "failed: validator_not_active"],
      [rotation(chain, person("new"), "newer"), "failed: not_staking"],
    ])
  })
})

describe("a change does not protect from the penalty for equivocation", () => {
  /** The first validator announces a new key. */
  const changing = () => {
    const chain = network(5_000, 5_000, 5_000, 5_000)
    const before = chain.epoch
    chain.run(rotation(chain, v(0), "new"))
    return { chain, before }
  }

  it("when the validator also leaves", () => {
    const { chain, before } = changing()
    chain.run(chain.unstake(v(0)))
    chain.closeEpoch()
    expect(keys(chain)).toEqual(["v1", "v2", "v3"])
    const { events } = chain.commit([{ by: v(1), evidence: [chain.evidence(v(0), before.firstRound + 3, before)] }])
    expect(events).toMatchObject([{ _tag: "Slashed", validator: v(0).address, ownStake: coins(2_500) }])
  })

  it("until its last epoch's evidence expires, as without a change", () => {
    const { chain, before } = changing()
    chain.closeEpoch()
    const evidence = chain.evidence(v(0), before.firstRound + 3, before)
    chain.commit([{ by: v(1) }])
    expect(chain.ledger.read.isPunishable(evidence)).toBe(true)
    chain.closeEpoch()
    expect(chain.ledger.read.isPunishable(evidence)).toBe(false)
  })

  it("once for each epoch, whichever key signed", () => {
    const { chain, before } = changing()
    chain.closeEpoch()
    chain.commit([{ by: v(1) }])
    const [old, now] = [chain.evidence(v(0), before.firstRound + 3, before), chain.evidence(person("new"), chain.round)]
    const { events } = chain.commit([{ by: v(1), evidence: [old, old, now, now] }])
    expect(events.map((event) => "ownStake" in event && event.ownStake)).toEqual([coins(2_500), coins(1_250)])
  })

  it("by withdrawing while the validator is kept on: own stake and delegations wait for it under its new key", () => {
    const chain = network(5_000, 5_000)
    const { address } = person("new")
    chain.run(chain.delegate(carol, v(0), coins(1_000)))
    chain.closeEpoch()
    chain.run(rotation(chain, v(0), "new"), chain.undelegate(carol), chain.unstake(v(0)), chain.unstake(v(1)))
    const unlocked = Array.from({ length: 5 }, () => chain.closeEpoch().filter(({ _tag }) => _tag === "Unlocked"))
    expect(unlocked.flat()).toEqual([])
    expect(EpochRecord.memberOf(chain.epoch, address)).toBeDefined()
    chain.commit([{ by: v(1) }])
    const { events } = chain.commit([{ by: v(1), evidence: [chain.evidence(person("new"), chain.round)] }])
    expect(events).toMatchObject([{ validator: v(0).address, ownStake: coins(2_500), delegated: coins(500) }])
  })

  it("and the slashed one neither changes its key again nor keeps the seat", () => {
    const { chain } = changing()
    chain.commit([{ by: v(1), evidence: [chain.evidence(v(0), chain.round)] }])
    for (let epoch = 0; epoch < 2; epoch++) {
      expect(told(chain.run(rotation(chain, v(0), "newest"))[0])).toMatch(/key_changed_recently|barred/)
      chain.closeEpoch()
    }
    expect(chain.run(rotation(chain, v(0), "newest")).map(told)).toEqual(["failed: barred"])
    expect(keys(chain)).toEqual(["v1", "v2", "v3"])
  })
})

describe("changes that cost others something", () => {
  it("pay for each that fails, so sending many at once costs the sender", () => {
    const chain = network(5_000, 5_000, 5_000, 5_000)
    const before = chain.balance(v(0))
    const outcomes = chain.runBy(v(1), ...Array.from({ length: 64 }, (_, n) => rotation(chain, v(0), `k ${n}`)))
    expect(outcomes.slice(1).map(told)).toEqual(Array(63).fill("failed: key_changed_recently"))
    expect(before - chain.balance(v(0))).toBe(64 * 1_000)
    const records = [...chain.ledger.records()].filter(({ kind }) => kind === "SigningKey")
    expect(records).toHaveLength(1)
  })

  it("and wait for their turn the same way on a node that restarts meanwhile", () => {
    const chain = network(5_000, 5_000, 5_000, 5_000)
    chain.run(...[0, 1, 2].map((n) => rotation(chain, v(n), `k${n}`)))
    const { ledger, genesis } = chain
    const key = { low: 7, high: 8 }
    const again = Either.getOrThrow(fromRecords(genesis.protocol, key, ledger.records(), ledger.effectsDigest))
    const at = chain.inputs.length
    for (let epoch = 0; epoch < 3; epoch++) chain.closeEpoch()
    expect(keys(chain)).toEqual(["k0", "k1", "k2", "v3"])
    for (const input of chain.inputs.slice(at)) Either.getOrThrowWith(again.execute(input), (left) => left)
    expect(again.effectsDigest).toBe(chain.ledger.effectsDigest)
  })
})

describe("mistakes of operators", () => {
  it("cost the seat for an epoch, not the stake, if the new key is used before its epoch", () => {
    const chain = network(5_000, 5_000, 5_000, 5_000)
    chain.run(rotation(chain, v(0), "new"), chain.delegate(carol, v(0), coins(1_000)))
    const [, ...others] = chain.committee
    chain.closeEpoch(others, [person("new")])
    expect(keys(chain)).toEqual(["v1", "v2", "v3"])
    chain.closeEpoch(others, [person("new")])
    expect(keys(chain)).toEqual(["new", "v1", "v2", "v3"])
    expect(chain.ledger.read.stake(v(0).address)).toMatchObject({
      stakedAmount: coins(5_000),
      effectiveStake: coins(6_000),
      isInCommittee: true,
    })
  })

  it("cost it for longer if the old key is used after it", () => {
    const chain = network(5_000, 5_000, 5_000, 5_000)
    chain.run(rotation(chain, v(0), "new"))
    chain.closeEpoch()
    const others = [v(1), v(2), v(3)]
    chain.closeEpoch(others, [v(0)])
    chain.closeEpoch(others, [v(0)])
    expect(keys(chain)).toEqual(["v1", "v2", "v3"])
    chain.closeEpoch(others, [person("new")])
    expect(keys(chain)).toEqual(["new", "v1", "v2", "v3"])
  })
})
