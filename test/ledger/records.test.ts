import { setImmediate as turn } from "node:timers/promises"
import { Either } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { fromHex, toHex } from "#crypto"
import { Ledger } from "../../src/ledger/Ledger.js"
import type { Input } from "../../src/ledger/rules/Execution.js"
import type { Frozen } from "../../src/ledger/tables/Frozen.js"
import { Recount } from "../../src/ledger/tables/Recount.js"
import { Assembly } from "../../src/ledger/trie/Assembly.js"
import * as Subtree from "../../src/ledger/trie/Subtree.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import { fromRecords } from "../support/Restored.js"
import { bytesOf, Chain, coins, person, tableKey } from "./builders.js"
import { lives, Play, play } from "./Play.js"

const SEED = 20_260_202

const fail = (failure: unknown): unknown => failure

// The lives are synchronous, and the runner gives up on a worker that does not speak to it for a minute.
afterEach(() => turn())

/** The trie over everything a ledger holds, made at once. */
const rebuilt = (ledger: Ledger): Trie.Trie =>
  Trie.apply(
    Trie.empty,
    [...ledger.records()].map((record) => ({ key: StateRecord.placeOf(record), value: StateRecord.encode(record) })),
  )

const same = (actual: unknown, expected: unknown, what: string): void => {
  if (actual !== expected) throw new Error(`${what}: ${String(actual)}, expected ${String(expected)}`)
}

const digests = (ledger: Ledger, inputs: ReadonlyArray<Input>): ReadonlyArray<Hash> =>
  inputs.map((input) => Either.getOrThrowWith(ledger.execute(input), fail).effectsDigest)

/** A checkpoint's batch, taken bit by bit. */
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

describe("the state root", () => {
  it("from frozen views, taken while commits go on, is the root built from scratch", { timeout: 600_000 }, () => {
    lives({ seed: SEED, count: 60, length: 100 }, (stage, steps) => {
      const play = new Play(stage)
      const { ledger } = play.chain
      const batches: Array<Batch> = []
      steps.forEach((step, i) => {
        play.take(step)
        // Whatever is left of the last batch when the next begins is taken at the end, long after.
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
    })
  })

  it("is that of the changes of every commit put one upon the other", { timeout: 300_000 }, () => {
    lives({ seed: SEED + 10_000, count: 20, length: 60 }, (stage, steps) => {
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
    })
  })
})

describe("a replay", () => {
  it("has the same digests, wherever the rows of the accounts lie", { timeout: 300_000 }, () => {
    lives({ seed: SEED + 20_000, count: 40, length: 100 }, (stage, steps) => {
      const { chain } = play(stage, steps)
      for (const low of [0, 1]) {
        const again = Ledger.fromGenesis(chain.genesis, { low, high: 0 })
        same(digests(again, chain.inputs).at(-1), chain.ledger.effectsDigest, "digest")
      }
    })
  })
})

describe("a ledger restored from records", () => {
  it("goes on exactly as the one that wrote them, in whatever order they come back", { timeout: 300_000 }, () => {
    lives({ seed: SEED + 30_000, count: 60, length: 100 }, (stage, steps) => {
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
        fail,
      )
      same(rebuilt(second).hash, rebuilt(first).hash, "root")
      Either.getOrThrowWith(second.recount(), fail)
      same(digests(second, chain.inputs.slice(at)).at(-1), chain.ledger.effectsDigest, "digest")
    })
  })

  it("goes on also when they came as subtrees that were checked against the root", { timeout: 300_000 }, () => {
    lives({ seed: SEED + 40_000, count: 20, length: 80 }, (stage, steps) => {
      const { chain } = play(stage, steps)
      const at = chain.inputs.length >>> 1
      const first = Ledger.fromGenesis(chain.genesis, tableKey)
      digests(first, chain.inputs.slice(0, at))
      const exported = rebuilt(first)
      const assembly = new Assembly(exported.hash)
      for (const piece of [...Subtree.all(exported, 2_000)].reverse()) {
        Either.getOrThrowWith(assembly.accept(Subtree.encode(piece)), fail)
      }
      const imported = assembly.trie
      if (imported === undefined) throw new Error("records are missing")
      const records = [...Trie.entries(imported)].map(({ value }) => Either.getOrThrow(StateRecord.decode(value)))
      const second = Either.getOrThrowWith(
        fromRecords(chain.genesis.protocol, { low: 3, high: 5 }, records, first.effectsDigest),
        fail,
      )
      same(rebuilt(second).hash, exported.hash, "root")
      same(digests(second, chain.inputs.slice(at)).at(-1), chain.ledger.effectsDigest, "digest")
    })
  })

  it("holds also the ballot of an account that holds nothing", () => {
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
    const second = Either.getOrThrowWith(fromRecords(genesis.protocol, tableKey, records, ledger.effectsDigest), fail)
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

describe("a recount over the leaves of a frozen state", () => {
  const alice = person("alice")
  const bob = person("bob")
  const story = (): Chain => {
    const chain = new Chain({ accounts: { alice: 9_000, bob: 50 }, council: ["bob"], treasury: 3 })
    chain.run(chain.stake(alice, coins(2_500)), chain.delegate(bob, person("val"), coins(7)))
    return chain
  }
  const count = (records: ReadonlyArray<StateRecord.StateRecord>) => {
    const trie = Trie.apply(
      Trie.empty,
      records.map((record) => ({ key: StateRecord.placeOf(record), value: StateRecord.encode(record) })),
    )
    const recount = new Recount()
    for (const leaf of Trie.leaves(trie)) Either.getOrThrowWith(recount.leaf(leaf), fail)
    return recount.finish()
  }

  it("finds what the running totals say", () => {
    const { ledger } = story()
    expect(count([...ledger.records()])).toEqual(Either.right(ledger.read.totals))
  })

  it("finds leaf by leaf what it finds record by record", () => {
    lives({ seed: SEED + 50_000, count: 20, length: 80 }, (stage, steps) => {
      const { ledger } = play(stage, steps).chain
      const byRecord = new Recount()
      for (const record of ledger.records()) Either.getOrThrowWith(byRecord.add(record), fail)
      expect(count([...ledger.records()])).toEqual(byRecord.finish())
    })
  })

  it("takes no balance that cannot be for one that is", () => {
    const key = fromHex(alice.address)
    const tooMuch = Binary.encode((writer) =>
      writer
        .u64(Sats.MAX_SUPPLY + 1)
        .u64(0)
        .u8(0),
    )
    const record = { kind: "Account", key, value: tooMuch } as const
    expect(() => count([record])).toThrow(/above the maximum supply/)
  })

  it("finds a missing account, a pool too large and shares that nobody holds", () => {
    const records = [...story().ledger.records()]
    for (const kind of ["Account", "Validator"] as const) {
      const missing = records.find((record) => record.kind === kind)
      const result = count(records.filter((record) => record !== missing))
      expect(Either.isLeft(result) && result.left).toMatchObject({ _tag: "SupplyInvariantViolated" })
    }
  })
})
