/**
 * The downloaded state of a joining node, against anything that peers can send instead: pieces with a changed byte,
 * truncated or reassembled, and whole states signed by a forged quorum. `UDG_FUZZ_STATES` sets the number of lies of
 * each kind.
 */
import { setImmediate as turn } from "node:timers/promises"
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { fromHex } from "#crypto"
import type { Ledger } from "../../src/ledger/Ledger.js"
import { Assembly } from "../../src/ledger/trie/Assembly.js"
import * as Subtree from "../../src/ledger/trie/Subtree.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import { JoinedLedger } from "../../src/replica/joining/JoinedLedger.js"
import * as Play from "../ledger/Play.js"
import { Chance } from "../simulation/Chance.js"

const total = Number(process.env["UDG_FUZZ_STATES"] ?? 600)
const LIMIT_MS = 3 * 3_600_000
const PIECE_BYTES = 3_000
/** Records per slice: `JoinedLedger` yields the thread after each. */
const SLICE = 256
/** Lies between two turns of the event loop. Vitest gives up on a worker that never yields. */
const TURN_EVERY = 100

type Entry = Trie.Change & { readonly value: Uint8Array }

/** A state with records of every kind. */
const lives = [1, 2, 3].map((seed) => {
  const [stage] = fc.sample(Play.stage, { seed, numRuns: 1 })
  const steps = fc.sample(Play.step, { seed, numRuns: 150 })
  if (stage === undefined) throw new Error("a stage expected")
  const { chain } = Play.play(stage, steps)
  const entries: Array<Entry> = []
  // A value is only valid until the next one.
  for (const { key, value } of chain.ledger.entries())
    if (value !== null) entries.push({ key, value: Uint8Array.from(value) })
  return { ledger: chain.ledger, genesis: chain.genesis, entries, trie: Trie.apply(Trie.empty, entries) }
})
type Life = (typeof lives)[number]

const of = <A>(items: ReadonlyArray<A>, chance: Chance): A => {
  const item = items[chance.below(items.length)]
  if (item === undefined) throw new Error("nothing to choose from")
  return item
}

const EDGES = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff]

/** Bytes with one changed, truncated, or with others appended. */
const spoiled = (bytes: Uint8Array, chance: Chance): Uint8Array => {
  const at = chance.below(bytes.length)
  const kind = chance.below(8)
  if (kind === 0) return bytes.subarray(0, at)
  if (kind === 1) return Uint8Array.of(...bytes, of(EDGES, chance))
  const copy = Uint8Array.from(bytes)
  const width = kind === 2 ? 8 : 1
  if (kind < 5) for (let i = at; i < Math.min(copy.length, at + width); i++) copy[i] = of(EDGES, chance)
  else copy[at] = (copy[at] ?? 0) ^ (1 << chance.below(8))
  return copy
}

/** A piece with parts reordered, missing, repeated, or from elsewhere. */
const rearranged = (pieces: ReadonlyArray<Subtree.Subtree>, chance: Chance): Uint8Array => {
  const [one, other] = [of(pieces, chance), of(pieces, chance)]
  const records = [...one.records]
  const siblings = [...one.siblings]
  switch (chance.below(8)) {
    case 0:
      return Subtree.encode({ ...one, records: records.reverse() })
    case 1:
      return Subtree.encode({ ...one, records: records.slice(1) })
    case 2:
      return Subtree.encode({ ...one, records: [...records, ...other.records] })
    case 3:
      return Subtree.encode({ ...one, records: records.flatMap((record) => [record, record]) })
    case 4:
      return Subtree.encode({ ...one, position: other.position, siblings: other.siblings })
    case 5:
      return Subtree.encode({ ...one, siblings: siblings.reverse() })
    case 6: {
      // The sum stays right, each count is wrong.
      const [first, second, ...rest] = siblings
      if (first === undefined || second === undefined) return Subtree.encode({ ...one, records: [] })
      const moved = [{ ...first, records: first.records + 1 }, { ...second, records: second.records - 1 }, ...rest]
      return Subtree.encode({ ...one, siblings: moved })
    }
    default:
      return Subtree.encode({ ...one, siblings: siblings.map((sibling) => ({ ...sibling, records: 0 })) })
  }
}

describe("the pieces of a state", () => {
  it(
    "lead to the true state or to none, even mixed with others",
    async () => {
      let accepted = 0
      const chance = new Chance(1, "pieces")
      for (const { trie } of lives) {
        const pieces = [...Subtree.all(trie, PIECE_BYTES)]
        const honest = pieces.map(Subtree.encode)
        for (let n = 0; n < total; n++) {
          if (n % TURN_EVERY === 0) await turn()
          const assembly = new Assembly(trie.hash)
          const held = chance.below(honest.length)
          for (const piece of honest.slice(0, held)) assembly.accept(piece)
          const lie = chance.percent(50) ? spoiled(of(honest, chance), chance) : rearranged(pieces, chance)
          const before = assembly.heldRecords
          if (Either.isRight(assembly.accept(lie))) accepted++
          else expect(assembly.heldRecords).toBe(before)
          for (const piece of honest) assembly.accept(piece)
          expect(assembly.trie?.hash).toBe(trie.hash)
          expect([assembly.records, assembly.heldRecords]).toEqual([trie.records, trie.records])
        }
      }
      // For example the reverse of one record.
      expect(accepted).toBeLessThan(total)
    },
    LIMIT_MS,
  )
})

const targetOf = (ledger: Ledger, root: Hash.Hash): Checkpoint.SignedCheckpoint => ({
  checkpoint: Checkpoint.make({
    epoch: ledger.read.epoch.epoch,
    round: ledger.read.head.leaderRound,
    commitIndex: ledger.read.head.index,
    commitHash: ledger.read.head.hash,
    effectsDigest: ledger.effectsDigest,
    stateRoot: root,
    totalSupply: ledger.read.totals.total,
    nextEpoch: null,
    previous: Hash.ZERO,
  }),
  signatures: [],
})

/** The result of joining with a state signed by a quorum, and the number of slices. */
const joined = ({ ledger, genesis }: Life, trie: Trie.Trie) => {
  const target = targetOf(ledger, trie.hash)
  const making = new JoinedLedger(genesis.protocol, { low: 5, high: 7 }, { trie, target })
  let slices = 1
  let made = making.work(() => false)
  for (; made === undefined; slices++) made = making.work(() => false)
  return { made, slices }
}

/** Calls every read of a ledger. */
const look = ({ read }: Ledger): void => {
  for (const { address } of read.validators(500)) {
    read.stake(address)
    read.delegators(address, 10)
  }
  for (const { id } of read.proposals(100)) read.voters(id)
  for (const { address } of [...read.epoch.members, ...Play.cast]) {
    read.account(address)
    read.delegation(address)
  }
  read.council()
}

/** The entry at the key that its value implies; otherwise at its old key. */
const placed = ({ key, value }: Entry): Entry =>
  Either.match(StateRecord.decode(value), {
    onLeft: () => ({ key, value }),
    onRight: (record) => ({ key: StateRecord.placeOf(record), value }),
  })

const forged = (entries: ReadonlyArray<Entry>, strange: ReadonlyArray<Entry>, chance: Chance): ReadonlyArray<Entry> => {
  const at = chance.below(entries.length)
  const victim = entries[at] ?? of(entries, chance)
  const others = entries.filter((_, i) => i !== at)
  const elsewhere = of(chance.percent(50) ? entries : strange, chance)
  switch (chance.below(8)) {
    case 0:
      return others
    case 1:
      return [...entries, placed(elsewhere)]
    case 2:
      // Under a wrong key.
      return [...entries, { key: of(strange, chance).key, value: victim.value }]
    case 3:
      return [...others, { key: victim.key, value: elsewhere.value }]
    default: {
      const value = spoiled(victim.value, chance)
      return [...others, chance.percent(80) ? placed({ key: victim.key, value }) : { key: victim.key, value }]
    }
  }
}

describe("a state under a forged quorum", () => {
  it("is accepted only if it is the true one", () => {
    for (const life of lives) {
      const { made } = joined(life, life.trie)
      expect(Either.map(made, ({ entries }) => typeof entries)).toEqual(Either.right("function"))
    }
  })

  it.each([0, 9, Number.MAX_SAFE_INTEGER])("is rejected for a ballot on proposal %d, which does not exist", (id) => {
    const life = of(lives, new Chance(1, "ballots"))
    const [account] = life.ledger.read.validators(1)
    if (account === undefined) throw new Error("a validator expected")
    const key = fromHex(`${StateKey.counter(id)}${account.address}`)
    const value = StateRecord.encode({ kind: "Ballot", key, value: Uint8Array.from([...new Uint8Array(8), 0]) })
    const ballot = { key: StateKey.hash("Ballot", key), value }
    const { made } = joined(life, Trie.apply(Trie.empty, [...life.entries, ballot]))
    expect(made).toEqual(Either.left(expect.stringContaining(`ballot on proposal ${id}, which does not exist`)))
  })

  it(
    "becomes exactly the ledger that was signed, or is refused in words, in bounded steps",
    async () => {
      const chance = new Chance(1, "states")
      let refused = 0
      for (let n = 0; n < total; n++) {
        if (n % TURN_EVERY === 0) await turn()
        const life = of(lives, chance)
        let entries: ReadonlyArray<Entry> = life.entries
        for (let lies = chance.below(3); lies >= 0; lies--) entries = forged(entries, of(lives, chance).entries, chance)
        const trie = Trie.apply(Trie.empty, entries)
        const { made, slices } = joined(life, trie)
        expect(slices).toBeLessThanOrEqual(Math.ceil(trie.records / SLICE) + 1)
        if (Either.isLeft(made)) {
          refused++
          expect(made.left).toMatch(/^(?!a bug)[^\n]{1,500}$/)
        } else {
          expect(Trie.apply(Trie.empty, made.right.entries()).hash).toBe(trie.hash)
          expect(() => look(made.right)).not.toThrow()
        }
      }
      expect(refused).toBeGreaterThan(total / 4)
    },
    LIMIT_MS,
  )
})
