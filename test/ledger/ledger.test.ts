/** The ledger's public side: its reads, its refusals, and the bytes of its records. */
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { Ledger } from "../../src/ledger/Ledger.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import type { StateRecord } from "../../src/protocol/state/StateRecord.js"
import * as Charges from "../../src/protocol/transaction/Charges.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import { Chain, coins, person, tableKey } from "./builders.js"
import { alice, bob, val } from "./People.js"
import { lives, Play } from "./Play.js"
import { voted } from "./Proposals.js"
import { again } from "./Recoding.js"

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

  it("distributes its allocations", () => {
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

  it("has its own digest", () => {
    const other = Ledger.fromGenesis({ ...chain.genesis, treasury: coins(12) }, tableKey)
    expect(other.effectsDigest).not.toBe(chain.ledger.effectsDigest)
    expect(Ledger.fromGenesis(chain.genesis, tableKey).effectsDigest).toBe(chain.ledger.effectsDigest)
  })
})

describe("a commit that does not follow the last one", () => {
  it("is a bug of the caller, reported with the expected commit", () => {
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

describe("a commit", () => {
  it("is executed only if its index, predecessor, epoch and round all follow", () => {
    const faultOf = (change: Partial<Pick<Commit.Commit, "index" | "previous" | "epoch" | "leaderRound">>) => {
      const chain = new Chain({})
      chain.commit([{ by: val }], 5)
      const { index, hash } = chain.ledger.read.head
      const following = {
        index: Natural.commitIndex(index + 1),
        epoch: Natural.epoch(1),
        leaderRound: Natural.round(6),
        leaderHash: Hash.ZERO,
        previous: hash,
      }
      const commit = Commit.make({ ...following, ...change })
      const executed = chain.ledger.execute({
        commit,
        time: Natural.timestamp(chain.genesis.time + 3_000),
        vertices: [],
      })
      return Either.match(executed, {
        onLeft: (fault) => (fault._tag === "ExecutionFault" ? fault.place : fault._tag),
        onRight: () => "none",
      })
    }
    const nowhere = { vertex: null, transaction: null }
    expect(faultOf({})).toBe("none")
    const { ledger } = new Chain({})
    const wrong = Commit.make({
      index: Natural.commitIndex(2),
      epoch: Natural.epoch(1),
      leaderRound: Natural.round(1),
      leaderHash: Hash.ZERO,
      previous: ledger.read.head.hash,
    })
    expect(Either.flip(ledger.execute({ commit: wrong, time: Natural.timestamp(0), vertices: [] }))).toMatchObject({
      right: { place: nowhere },
    })
    for (const index of [1, 3]) expect(faultOf({ index: Natural.commitIndex(index) })).toEqual(nowhere)
    expect(faultOf({ previous: Hash.ZERO })).toEqual(nowhere)
    for (const epoch of [0, 2]) expect(faultOf({ epoch: Natural.epoch(epoch) })).toEqual(nowhere)
    for (const round of [4, 5]) expect(faultOf({ leaderRound: Natural.round(round) })).toEqual(nowhere)
  })

  it("gives its epoch the base of the first vertex executed in it, and no other", () => {
    const chain = new Chain({ validators: { val: 6_000, other: 4_000 } })
    chain.commit([{ by: val }])
    const { header, body, encoded } = chain.vertex({ by: val, round: 2 }, 2)
    const base = "f".repeat(64) as typeof header.base
    chain.executeVertices([{ header: { ...header, base }, body, encoded }], 2)
    const evidence = chain.evidence(person("other"), 2)
    const foreign = { first: { ...evidence.first, base }, second: { ...evidence.second, base } }
    expect([evidence, foreign].map((one) => chain.ledger.read.isPunishable(one))).toEqual([true, false])
  })

  it("changes accounts, which count as unfrozen until they are frozen", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    chain.ledger.freeze()
    expect(chain.ledger.unfrozen).toBe(0)
    chain.run(chain.transfer(alice, bob, 5))
    // The payer, the recipient, and the author with its fee and reward.
    expect(chain.ledger.unfrozen).toBe(3)
    chain.ledger.freeze()
    expect(chain.ledger.unfrozen).toBe(0)
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

  it("list validators by effective stake, with the active and the seated ones", () => {
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

  it("list equal validators by address, and take the lower of more than a hundred as active", () => {
    const names = Array.from({ length: 101 }, (_, i) => `equal ${i}`)
    const lowest = names.map((name) => person(name).address).sort()
    const equal = new Chain({
      accounts: Object.fromEntries(names.map((name) => [name, 2_000])),
      validators: { val: 3_000 },
    })
    equal.run(...names.map((name) => equal.stake(person(name), coins(2_000))))
    const { read } = equal.ledger
    expect(read.validators(500).map(({ address }) => address)).toEqual([val.address, ...lowest])
    expect(read.activeValidatorCount).toBe(100)
    const inactive = read.validators(500).filter(({ isActiveValidator }) => !isActiveValidator)
    expect(inactive.map(({ address }) => address)).toEqual(lowest.slice(99))
  })

  it("know the commits that heartbeats may name, and count the accounts", () => {
    const { read } = chain.ledger
    const { index, hash, leaderRound } = read.head
    expect(read.recentCommit(index)).toEqual({ hash, leaderRound })
    expect(read.recentCommit(Natural.commitIndex(index + 1))).toBeUndefined()
    expect(read.accountCount).toBe([...chain.ledger.records()].filter(({ kind }) => kind === "Account").length)
  })

  it("list validators without any read before the first commit", () => {
    const fresh = new Chain({ validators: { val: 3_000, other: 2_500 } })
    fresh.commit([{ by: val }])
    expect(fresh.ledger.read.head.index).toBe(1)
    expect([fresh.ledger.read.validators(9).length, fresh.ledger.read.activeValidatorCount]).toEqual([2, 2])
  })

  it("report an account without a stake as no validator, with its delegators' amounts", () => {
    const other = person("other")
    const left = new Chain({ validators: { val: 3_000, other: 2_500 }, accounts: { alice: 9, other: 1 } })
    left.run(left.delegate(alice, other, coins(4)), left.unstake(other))
    for (let i = 0; i < 3; i++) left.closeEpoch([val])
    const amount = left.ledger.read.delegation(alice.address)?.amount ?? 0
    expect(amount).toBeGreaterThanOrEqual(coins(4))
    const nothing = { stakedAmount: 0, isActiveValidator: false, isInCommittee: false, leaving: null }
    expect(left.ledger.read.stake(other.address)).toEqual({
      ...nothing,
      address: other.address,
      commissionPercent: 10,
      effectiveStake: amount,
      delegatorCount: 1,
    })
    expect(left.ledger.read.stake(bob.address)).toEqual({
      ...nothing,
      address: bob.address,
      commissionPercent: 0,
      effectiveStake: 0,
      delegatorCount: 0,
    })
  })

  it("list the voters of a proposal in the order of their addresses", () => {
    const names = Array.from({ length: 7 }, (_, i) => `voter ${i}`)
    const validators = Object.fromEntries(names.map((name, i) => [name, 2_000 + 100 * ((i * 3) % 7)]))
    const asked = new Chain({ validators, accounts: { alice: 5 }, council: ["alice"] })
    const propose = { _tag: "CreateProposalTx", title: "t", description: "", payload: { _tag: "Text" } } as const
    asked.run(asked.tx(alice, propose, { fee: 1_000 }))
    expect(asked.ledger.read.voters(Natural.proposalId(1)).map(({ address }) => address)).toEqual(
      names.map((name) => person(name).address).sort(),
    )
  })

  it("list the largest delegators first, cut to the limit but counted whole", () => {
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

  it("reflect an unstake at once", () => {
    chain.run(chain.unstake(alice))
    expect(chain.ledger.read.stake(alice.address)).toMatchObject({ isActiveValidator: false, leaving: { epoch: 1 } })
    expect(chain.ledger.read.activeValidatorCount).toBe(2)
  })
})

describe("a transaction's history", () => {
  it("lists it once each for its sender and its recipient", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    expect(Charges.addressesOf(chain.transfer(alice, bob, 1))).toEqual([alice.address, bob.address])
    expect(Charges.addressesOf(chain.transfer(alice, alice, 1))).toEqual([alice.address])
    expect(Charges.addressesOf(chain.unstake(alice))).toEqual([alice.address])
  })
})

describe("the bytes of a record", () => {
  const seen = new Map<string, StateRecord>()
  lives({ seed: 99, count: 4, length: 120 }, (stage, steps) => {
    const play = new Play(stage)
    for (const step of steps) {
      play.take(step)
      for (const record of play.chain.ledger.records()) seen.set(`${record.kind} ${record.value.length}`, record)
    }
  })
  const upgrading = voted({ _tag: "ParameterChange", param: "protocol_version", value: 3 }, [
    [person("val"), true],
    [person("other"), true],
  ])
  upgrading.advanceTo(16)
  for (const record of upgrading.ledger.records()) seen.set(`${record.kind} ${record.value.length}`, record)
  upgrading.closeEpoch()
  const proof = "5".repeat(128) as Signature
  const rotation = { _tag: "RotateKeyTx", validatorKey: person("next").publicKey, proof } as const
  upgrading.run(upgrading.tx(person("val"), rotation, { fee: 1_000 }))
  for (const record of upgrading.ledger.records()) seen.set(`${record.kind} ${record.value.length}`, record)
  const samples = [...seen.values()]

  it("survive decoding and encoding for every kind", () => {
    expect([...new Set(samples.map(({ kind }) => kind))].sort()).toEqual(Object.keys(StateKey.KINDS).sort())
    for (const sample of samples) expect(again(sample)).toEqual(sample.value)
  })

  it("are the only encoding of their content: changed bytes are refused or mean something else", () => {
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

  it("start with a different byte for each kind", () => {
    const bytes = Object.values(StateKey.KINDS).map(({ byte }) => byte)
    expect(new Set(bytes).size).toBe(bytes.length)
    for (const [kind, { byte }] of Object.entries(StateKey.KINDS)) expect(StateKey.kindOf(byte)).toBe(kind)
    expect(StateKey.kindOf(0)).toBeUndefined()
    expect(StateKey.counter(Natural.epoch(Number.MAX_SAFE_INTEGER))).toBe("001fffffffffffff")
  })
})
