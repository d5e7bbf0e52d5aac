// What the authenticated state costs, beside what hashing costs here. Keys are hashed before the clock runs. Slices are
// asked for 10 ms, as the node does; what is longer is one piece of work, or the collector's.
import { createHash } from "node:crypto"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Either } from "effect"
import * as Assembly from "../src/ledger/trie/Assembly.js"
import * as Subtree from "../src/ledger/trie/Subtree.js"
import * as Trie from "../src/ledger/trie/Trie.js"
import * as Hash from "../src/protocol/identity/Hash.js"
import * as StateProof from "../src/protocol/state/StateProof.js"
import { type Figure, median, type Suite } from "./Harness.js"

const RECORDS = 1_000_000
const CHANGED = 10_000
const CHECKPOINTS = 9
const SENT = 100_000
const PROOFS = 5_000
const VALUE_BYTES = 60
const SLICE_MS = 10

const timed = <A>(run: () => A): readonly [A, number] => {
  const started = performance.now()
  const result = run()
  return [result, performance.now() - started]
}

const KEY_BYTES = 32
/** Outside of the heap: a million texts on it would be what the collector's pauses are spent on. */
const keys = Buffer.alloc(RECORDS * KEY_BYTES)
for (let n = 0; n < RECORDS; n++)
  createHash("sha256")
    .update(`${n}`)
    .digest()
    .copy(keys, n * KEY_BYTES)
const keyAt = (n: number): Hash.Hash => {
  const at = (n % RECORDS) * KEY_BYTES
  return keys.toString("hex", at, at + KEY_BYTES) as Hash.Hash
}

function* records(from: number, count: number, salt: number): Generator<Trie.Change> {
  const value = new Uint8Array(VALUE_BYTES)
  const view = new DataView(value.buffer)
  for (let n = from; n < from + count; n++) {
    view.setUint32(0, n)
    view.setUint32(4, salt)
    yield { key: keyAt(n), value }
  }
}

const inSlices = (trie: Trie.Trie, changes: Iterable<Trie.Change>) => {
  const job = Trie.update(trie, changes)
  const slices: Array<number> = []
  for (;;) {
    const [updated, ms] = timed(() => {
      const until = performance.now() + SLICE_MS
      return job.step(() => performance.now() < until)
    })
    slices.push(ms)
    if (updated !== undefined) {
      return { updated, total: slices.reduce((a, b) => a + b, 0), longest: Math.max(...slices) }
    }
  }
}

const milliseconds = (name: string, value: number): Figure => ({ name, value, unit: "ms" })
const rate = (name: string, count: number, ms: number): Figure => ({
  name,
  value: (count / ms) * 1_000,
  unit: "a second",
})

setFlagsFromString("--expose-gc")
const collect: unknown = runInNewContext("gc")
const memoryNow = (): number => {
  for (let i = 0; i < 3; i++) if (typeof collect === "function") collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const sha256 = (): ReadonlyArray<Figure> => {
  const branch = new Uint8Array(72)
  const leaf = new Uint8Array(22 * (34 + VALUE_BYTES))
  const repeat = (count: number, run: () => unknown): number => {
    for (let i = 0; i < 20_000; i++) run()
    return timed(() => {
      for (let i = 0; i < count; i++) run()
    })[1]
  }
  return [
    rate(
      "SHA-256 of a branch, one core",
      300_000,
      repeat(300_000, () => Hash.of("udg/node", branch)),
    ),
    rate(
      "SHA-256 of a usual leaf, one core",
      100_000,
      repeat(100_000, () => Hash.of("udg/leaf", leaf)),
    ),
  ]
}

const build = (): readonly [Trie.Trie, ReadonlyArray<Figure>] => {
  const before = memoryNow()
  const { updated, total, longest } = inSlices(Trie.empty, records(0, RECORDS, 0))
  const bytes = Math.round((memoryNow() - before) * (1 / RECORDS))
  return [
    updated,
    [
      milliseconds("1 000 000 records from scratch", total),
      milliseconds("… longest slice", longest),
      { name: "memory a record (key hash, value of 60 bytes, nodes)", value: bytes, unit: "bytes" },
    ],
  ]
}

const update = (trie: Trie.Trie): ReadonlyArray<Figure> => {
  const runs: Array<{ readonly total: number; readonly longest: number }> = []
  let current = trie
  for (let checkpoint = 1; checkpoint <= CHECKPOINTS; checkpoint++) {
    const { updated, total, longest } = inSlices(current, records(checkpoint * CHANGED, CHANGED, checkpoint))
    current = updated
    runs.push({ total, longest })
  }
  const totals = runs.map(({ total }) => total)
  const longests = runs.map(({ longest }) => longest)
  return [
    milliseconds("10 000 changes among 1 000 000, median", median(totals)),
    milliseconds("… the slowest of nine", Math.max(...totals)),
    milliseconds("… longest slice, median", median(longests)),
    milliseconds("… longest slice of all", Math.max(...longests)),
  ]
}

const prove = (trie: Trie.Trie): ReadonlyArray<Figure> => {
  const asked = Array.from({ length: PROOFS }, (_, n) => keyAt(n * 199))
  const [proofs, making] = timed(() => asked.map((key) => [key, StateProof.encode(Trie.prove(trie, key))] as const))
  const holds = ([key, bytes]: readonly [Hash.Hash, Uint8Array]): boolean =>
    Either.isRight(Either.flatMap(StateProof.decode(bytes), (proof) => StateProof.verify(trie.hash, key, proof)))
  const [held, verifying] = timed(() => proofs.filter(holds).length)
  if (held !== PROOFS) throw new Error(`${held} of ${PROOFS} proofs hold`)
  const size = proofs.reduce((sum, [, { length }]) => sum + length, 0) / PROOFS
  return [
    rate("proofs made and encoded", PROOFS, making),
    rate("proofs decoded and verified", PROOFS, verifying),
    { name: "size of a proof", value: Math.round(size), unit: "bytes" },
  ]
}

const send = (): ReadonlyArray<Figure> => {
  const trie = Trie.apply(Trie.empty, records(0, SENT, 0))
  const [messages, exporting] = timed(() => [...Subtree.all(trie, Subtree.MAX_BYTES)].map(Subtree.encode))
  const assembly = new Assembly.Assembly(trie.hash)
  const times = messages.map((message) => {
    const [answer, ms] = timed(() => assembly.accept(message))
    if (Either.isLeft(answer)) throw answer.left
    return ms
  })
  if (assembly.trie?.hash !== trie.hash) throw new Error("the assembled trie has another root")
  return [
    milliseconds(`100 000 records exported in ${messages.length} subtrees`, exporting),
    milliseconds(
      "… checked and imported",
      times.reduce((a, b) => a + b, 0),
    ),
    milliseconds("… longest check of a subtree", Math.max(...times)),
  ]
}

/** As many keys as fit one message, in clusters so close that every cluster hangs on a chain of branches. */
const worstForgery = (): ReadonlyArray<Figure> => {
  const close = Array.from({ length: Math.floor(Subtree.MAX_BYTES / 34) - 2 }, (_, n) => {
    const cluster = Math.floor(n / 33)
      .toString(16)
      .padStart(4, "0")
    return { key: `${cluster}${(n % 33).toString(16).padStart(60, "0")}` as Hash.Hash, value: new Uint8Array(0) }
  })
  const [forgery] = Subtree.all(Trie.apply(Trie.empty, close), Subtree.MAX_BYTES)
  if (forgery === undefined) throw new Error("a forgery is needed here")
  const [answer, ms] = timed(() => new Assembly.Assembly(Hash.ZERO).accept(Subtree.encode(forgery)))
  if (Either.isRight(answer)) throw new Error("the forgery was accepted")
  return [milliseconds("refusing the most laborious forged subtree", ms)]
}

export const suite: Suite = {
  about:
    "the state trie: building it, applying the changes of a checkpoint, memory, proofs, and sending it to a joiner",
  figures: () => {
    const hashing = sha256()
    const [trie, building] = build()
    return [...hashing, ...building, ...update(trie), ...prove(trie), ...send(), ...worstForgery()]
  },
}
