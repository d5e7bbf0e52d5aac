import { setImmediate as turn } from "node:timers/promises"
import { Either, identity } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import { Ledger } from "../../src/ledger/Ledger.js"
import type { Input } from "../../src/ledger/rules/Execution.js"
import type { Frozen } from "../../src/ledger/tables/Frozen.js"
import { Assembly } from "../../src/ledger/trie/Assembly.js"
import * as Subtree from "../../src/ledger/trie/Subtree.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import * as Rest from "../support/Rest.js"
import { fromRecords } from "../support/Restored.js"
import { bytesOf, Chain, coins, type Person, person, tableKey } from "./builders.js"
import { lives, Play, play } from "./Play.js"

const SEED = 20_260_202

// The lives are synchronous, and the runner gives up on a worker that is silent for a minute.
afterEach(() => turn())

type LawOfALife = Parameters<typeof lives>[1]

/** The trie over everything a ledger holds, built at once. */
const rebuilt = (ledger: Ledger): Trie.Trie =>
  Trie.apply(
    Trie.empty,
    [...ledger.records()].map((record) => ({ key: StateRecord.placeOf(record), value: StateRecord.encode(record) })),
  )

const same = (actual: unknown, expected: unknown, what: string): void => {
  if (actual !== expected) throw new Error(`${what}: ${String(actual)}, expected ${String(expected)}`)
}

const digests = (ledger: Ledger, inputs: ReadonlyArray<Input>): ReadonlyArray<Hash> =>
  inputs.map((input) => Either.getOrThrowWith(ledger.execute(input), identity).effectsDigest)

/** A checkpoint's batch, taken in small steps. */
interface Batch {
  readonly changes: Array<Trie.Change>
  readonly rest: Iterator<Trie.Change>
  readonly root: Hash
}

const begin = (frozen: Frozen, root: Hash): Batch => ({ changes: [], rest: frozen[Symbol.iterator](), root })

const takeOne = ({ changes, rest }: Batch): boolean => {
  const next = rest.next()
  if (!next.done) changes.push(next.value)
  return !next.done
}

/** A law of every life: checked on a tenth of these, and on the others with the rest of the tests. */
const itHoldsInLives = (name: string, { seed, count, length }: Parameters<typeof lives>[0], law: LawOfALife): void => {
  const usual = count / 10
  it(name, { timeout: 600_000 }, () => lives({ seed, count: usual, length }, law))
  it(Rest.of("more lives", name), { timeout: 600_000 }, () =>
    lives({ seed: seed + usual, count: count - usual, length }, law),
  )
}

describe("the state root", () => {
  itHoldsInLives(
    "from views frozen while commits continue is the root built from scratch",
    { seed: SEED, count: 60, length: 100 },
    (stage, steps) => {
      const play = new Play(stage)
      const { ledger } = play.chain
      const batches: Array<Batch> = []
      steps.forEach((step, i) => {
        play.take(step)
        // What is left of the last batch when the next begins is taken at the end, long after.
        if (i % 9 === 8) batches.push(begin(ledger.freeze(), rebuilt(ledger).hash))
        const newest = batches.at(-1)
        if (newest !== undefined && step.size > 2) takeOne(newest)
      })
      let trie = Trie.empty
      for (const batch of batches) {
        while (takeOne(batch));
        trie = Trie.apply(trie, batch.changes)
        same(trie.hash, batch.root, "root")
      }
    },
  )

  itHoldsInLives(
    "is that of all commits' changes applied in order",
    { seed: SEED + 10_000, count: 20, length: 60 },
    (stage, steps) => {
      const play = new Play(stage)
      let trie = rebuilt(play.chain.ledger)
      for (const step of steps) {
        const changes = [...play.take(step).changes].map(({ kind, key, value }) => ({
          key: StateRecord.placeOf({ kind, key, value: key }),
          value: value && StateRecord.encode({ kind, key, value }),
        }))
        trie = Trie.apply(trie, changes)
        same(trie.hash, rebuilt(play.chain.ledger).hash, "root")
      }
      same(Trie.apply(Trie.empty, play.chain.ledger.entries()).hash, trie.hash, "root of the entries")
    },
  )
})

describe("a replay", () => {
  itHoldsInLives(
    "has the same digests, wherever the rows of the accounts lie",
    { seed: SEED + 20_000, count: 40, length: 100 },
    (stage, steps) => {
      const { chain } = play(stage, steps)
      for (const low of [0, 1]) {
        const again = Ledger.fromGenesis(chain.genesis, { low, high: 0 })
        same(digests(again, chain.inputs).at(-1), chain.ledger.effectsDigest, "digest")
      }
    },
  )
})

describe("a ledger restored from records", () => {
  itHoldsInLives(
    "continues exactly like the one that wrote them, in whatever order they return",
    { seed: SEED + 30_000, count: 60, length: 100 },
    (stage, steps) => {
      const { chain } = play(stage, steps)
      const at = (steps[0]?.size ?? 0) * 13
      const first = Ledger.fromGenesis(chain.genesis, tableKey)
      digests(first, chain.inputs.slice(0, at))
      const records = [...first.records()]
      const shuffled = records
        .map((record, i) => ({ record, place: (i * 7_919) % 1_009 }))
        .sort((a, b) => a.place - b.place)
        .map(({ record }) => record)
      const second = Either.getOrThrowWith(
        fromRecords(chain.genesis.protocol, { low: 9, high: 9 }, shuffled, first.effectsDigest),
        identity,
      )
      same(rebuilt(second).hash, rebuilt(first).hash, "root")
      Either.getOrThrowWith(second.recount(), identity)
      same(digests(second, chain.inputs.slice(at)).at(-1), chain.ledger.effectsDigest, "digest")
    },
  )

  itHoldsInLives(
    "continues also when they came as subtrees that were checked against the root",
    { seed: SEED + 40_000, count: 20, length: 80 },
    (stage, steps) => {
      const { chain } = play(stage, steps)
      const at = chain.inputs.length >>> 1
      const first = Ledger.fromGenesis(chain.genesis, tableKey)
      digests(first, chain.inputs.slice(0, at))
      const exported = rebuilt(first)
      const assembly = new Assembly(exported.hash)
      for (const piece of [...Subtree.all(exported, 2_000)].reverse()) {
        Either.getOrThrowWith(assembly.accept(Subtree.encode(piece)), identity)
      }
      const imported = assembly.trie
      if (imported === undefined) throw new Error("records are missing")
      const records = [...Trie.entries(imported)].map(({ value }) => Either.getOrThrow(StateRecord.decode(value)))
      const second = Either.getOrThrowWith(
        fromRecords(chain.genesis.protocol, { low: 3, high: 5 }, records, first.effectsDigest),
        identity,
      )
      same(rebuilt(second).hash, exported.hash, "root")
      same(digests(second, chain.inputs.slice(at)).at(-1), chain.ledger.effectsDigest, "digest")
    },
  )

  it("is the same whether its accounts come plain or with extra data", () => {
    const chain = new Chain({ accounts: { alice: 9_000, bob: 50 }, names: { bobs: "bob" } })
    chain.run(chain.transfer(person("alice"), person("carol"), 5), chain.stake(person("alice"), coins(2_500)))
    const { ledger, genesis } = chain
    const restoring = Ledger.restoring(genesis.protocol, tableKey)
    const came = { plain: 0, withMore: 0 }
    for (const record of ledger.records()) {
      if (record.kind !== "Account") Either.getOrThrowWith(restoring.record(record), identity)
      else {
        const address = toHex(record.key) as Person["address"]
        const account = Either.getOrThrow(AccountRecord.decode(record.value))
        const isPlain = account.stake === null && account.name === null
        if (isPlain) restoring.plainAccount(address, account.balance, account.nonce)
        else restoring.account(address, account)
        came[isPlain ? "plain" : "withMore"]++
      }
    }
    const second = Either.getOrThrowWith(restoring.finish(ledger.effectsDigest), identity)
    expect(came).toEqual({ plain: 1, withMore: 3 })
    expect(rebuilt(second).hash).toBe(rebuilt(ledger).hash)
    expect(second.recount()).toEqual(Either.right(ledger.read.totals))
    expect(second.read.addressOf("bobs" as never)).toBe(person("bob").address)
  })

  it("keeps the ballot of an account that holds nothing", () => {
    const chain = new Chain({ accounts: { alice: 5 }, validators: { val: 6_000 }, council: ["alice"] })
    const operation = {
      _tag: "CreateProposalTx",
      title: "A title",
      description: "",
      payload: { _tag: "Text" },
    } as const
    chain.run(chain.tx(person("alice"), operation, { fee: 1_000 }))
    const { ledger, genesis } = chain
    const nobody = person("nobody").address
    const key = bytesOf(`${StateKey.counter(1)}${nobody}`)
    const value = new Uint8Array([7, 0, 0, 0, 0, 0, 0, 0, 2])
    const records = [...ledger.records(), { kind: "Ballot", key, value } as const]
    const second = Either.getOrThrowWith(
      fromRecords(genesis.protocol, tableKey, records, ledger.effectsDigest),
      identity,
    )
    expect(second.read.voters(Natural.proposalId(1))).toContainEqual({ address: nobody, weight: 7, vote: true })
    expect([...second.records()]).toHaveLength(records.length)
  })

  it("is refused when a record is damaged or missing", () => {
    const { ledger, genesis } = new Chain({ accounts: { alice: 5 } })
    const records = [...ledger.records()]
    const load = (some: ReadonlyArray<StateRecord.StateRecord>) =>
      fromRecords(genesis.protocol, tableKey, some, ledger.effectsDigest)
    expect(Either.isRight(load(records))).toBe(true)
    for (const kind of ["Head", "Totals", "Parameters", "Epoch"]) {
      expect(Either.isLeft(load(records.filter((record) => record.kind !== kind)))).toBe(true)
    }
    for (const record of records) {
      const damaged = { ...record, value: new Uint8Array([...record.value, 0]) }
      expect(Either.isLeft(load(records.map((other) => (other === record ? damaged : other))))).toBe(true)
    }
  })

  it("is refused when its parts contradict one another, with the contradiction", () => {
    const chain = new Chain({ accounts: { alice: 50 }, validators: { val: 6_000 }, council: ["alice"] })
    const propose = { _tag: "CreateProposalTx", title: "t", description: "", payload: { _tag: "Text" } } as const
    const alice = person("alice")
    chain.run(chain.tx(alice, propose, { fee: 1_000 }), chain.delegate(alice, person("val"), coins(5)))
    const records = [...chain.ledger.records()]
    const reasonOf = (change: (record: StateRecord.StateRecord) => ReadonlyArray<StateRecord.StateRecord>) =>
      Either.match(fromRecords(chain.genesis.protocol, tableKey, records.flatMap(change), chain.ledger.effectsDigest), {
        onLeft: ({ reason }) => reason,
        onRight: () => "none",
      })
    const without = (kind: StateKey.Kind) => reasonOf((record) => (record.kind === kind ? [] : [record]))
    expect(reasonOf((record) => [record])).toBe("none")
    expect(["Head", "Totals", "Parameters", "Epoch"].map((kind) => without(kind as StateKey.Kind))).toEqual([
      "the state has no Head record",
      "the state has no Totals record",
      "the state has no Parameters record",
      "the state has no Epoch record",
    ])
    expect(without("Proposal")).toBe("the proposals are not numbered from 1 to 1 without gaps")
    const numbered = (id: number) => (record: StateRecord.StateRecord) =>
      record.kind === "Proposal" ? [{ ...record, key: bytesOf(StateKey.counter(id)) }] : [record]
    expect(reasonOf(numbered(2))).toBe("the proposals are not numbered from 1 to 1 without gaps")
    const ballotOn = (id: number) => (record: StateRecord.StateRecord) =>
      record.kind === "Ballot"
        ? [record, { ...record, key: bytesOf(`${StateKey.counter(id)}${person("nobody").address}`) }]
        : [record]
    expect([0, 1, 2].map((id) => reasonOf(ballotOn(id)))).toEqual([
      "ballot on proposal 0, which does not exist",
      "none",
      "ballot on proposal 2, which does not exist",
    ])
    const holding = (more: bigint) => (record: StateRecord.StateRecord) => {
      if (record.kind !== "Account" || toHex(record.key) !== alice.address) return [record]
      const { delegation, ...account } = Either.getOrThrow(AccountRecord.decode(record.value))
      if (delegation === null) throw new Error("alice delegates")
      const changed = { ...account, delegation: { ...delegation, shares: delegation.shares + more } }
      return [{ ...record, value: AccountRecord.encode(changed) }]
    }
    expect([0n, 1n].map((more) => reasonOf(holding(more)))).toEqual([
      "none",
      `${alice.address} holds more shares of a pool than exist`,
    ])
  })

  it("is accepted with dead shares, even more of them than the next pool has", () => {
    const [alice, bob, other] = ["alice", "bob", "other"].map(person)
    if (!alice || !bob || !other) throw new Error("three people")
    const chain = new Chain({
      accounts: { alice: 50, bob: 50, other: 2_000 },
      validators: { val: 6_000, other: 4_000 },
      parameters: { slashPercent: 100 },
    })
    chain.run(chain.delegate(alice, other, coins(9)))
    chain.commit([{ by: person("val"), evidence: [chain.evidence(other, 2)] }])
    chain.closeEpoch([person("val")])
    chain.run(chain.stake(other, coins(2_000)), chain.delegate(bob, other, coins(1)))
    const { ledger, genesis } = chain
    const restored = fromRecords(genesis.protocol, tableKey, ledger.records(), ledger.effectsDigest)
    const { read } = Either.getOrThrowWith(restored, identity)
    expect([alice, bob].map(({ address }) => read.delegation(address)?.amount)).toEqual([undefined, coins(1)])
    expect(read.delegators(other.address, 9)).toEqual(ledger.read.delegators(other.address, 9))
    expect(read.stake(other.address).delegatorCount).toBe(1)
  })

  it("slashes accounts that left before it was restored", () => {
    const [alice, other, val] = ["alice", "other", "val"].map(person)
    if (!alice || !other || !val) throw new Error("three people")
    const chain = new Chain({ accounts: { alice: 50 }, validators: { val: 6_000, other: 4_000 } })
    chain.run(chain.delegate(alice, other, coins(8)), chain.undelegate(alice))
    chain.closeEpoch()
    const { ledger, genesis } = chain
    const restored = fromRecords(genesis.protocol, tableKey, ledger.records(), ledger.effectsDigest)
    const second = Either.getOrThrowWith(restored, identity)
    const before = second.read.delegation(alice.address)?.amount ?? 0
    chain.commit([{ by: val, evidence: [chain.evidence(other, 41)] }])
    same(digests(second, chain.inputs.slice(-1))[0], ledger.effectsDigest, "digest")
    expect(second.read.delegation(alice.address)?.amount).toBe(Math.ceil(before / 2))
  })

  it("is refused when two accounts have one name", () => {
    const { ledger, genesis } = new Chain({ accounts: { alice: 5, bob: 6 }, names: { mine: "alice" } })
    const records = [...ledger.records()]
    const [named, other] = ["alice", "bob"].map((name) =>
      records.find(({ key }) => toHex(key) === person(name).address),
    )
    if (named === undefined || other === undefined) throw new Error("two accounts expected")
    const twin = { ...other, value: named.value }
    const loaded = fromRecords(
      genesis.protocol,
      tableKey,
      records.map((record) => (record === other ? twin : record)),
      ledger.effectsDigest,
    )
    expect(Either.mapLeft(loaded, String)).toEqual(
      Either.left(expect.stringContaining("two accounts have the name @mine")),
    )
  })
})
