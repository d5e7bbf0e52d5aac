/** Traces of docs/spec/network.qnt and the other modules, in the Informal Trace Format (Apalache, ADR 015). */
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import * as Quint from "./Quint.js"

/** ITF writes every integer as text, and sets and maps as lists. */
export const Int = Schema.transform(Schema.Struct({ "#bigint": Schema.NumberFromString }), Schema.Number, {
  strict: true,
  decode: ({ "#bigint": int }) => int,
  encode: (int) => ({ "#bigint": int }),
})

export const setOf = <A, I>(item: Schema.Schema<A, I>) =>
  Schema.transform(Schema.Struct({ "#set": Schema.Array(item) }), Schema.Array(Schema.typeSchema(item)), {
    strict: true,
    decode: ({ "#set": items }) => items,
    encode: (items) => ({ "#set": items }),
  })

export const mapOf = <A, I>(value: Schema.Schema<A, I>) =>
  Schema.transform(
    Schema.Struct({ "#map": Schema.Array(Schema.Tuple(Int, value)) }),
    Schema.ReadonlyMapFromSelf({ key: Schema.Number, value: Schema.typeSchema(value) }),
    { strict: true, decode: ({ "#map": entries }) => new Map(entries), encode: (map) => ({ "#map": [...map] }) },
  )

const Ordered = Schema.Struct({ leader: Int, vertices: setOf(Int) })

const Opening = Schema.Struct({ first: Int, members: setOf(Int), seed: Int })

const Node = Schema.Struct({
  epoch: Int,
  openings: mapOf(Opening),
  commits: mapOf(Schema.Array(Ordered)),
  progress: Schema.Struct({ collected: Int, isClosed: Schema.Boolean }),
})

const State = Schema.Struct({
  dag: Schema.Struct({ parents: mapOf(setOf(Int)) }),
  nodes: mapOf(Node),
  event: Schema.Struct({ name: Schema.String, member: Int, heard: setOf(Int), made: Int }),
})

export type Ordered = typeof Ordered.Type
export type Opening = typeof Opening.Type
export type Node = typeof Node.Type
export type State = typeof State.Type
export type Trace = ReadonlyArray<State>

interface Wanted<A, I> {
  readonly module: string
  readonly state: Schema.Schema<A, I>
  readonly seed: number
  readonly traces: number
  readonly steps: number
}

/** The simulator keeps all traces of a run in memory. */
const BATCH = 10

/** Traces that a module of the model makes from this seed and the next ones, ten from each. */
export const of = async <A, I>(wanted: Wanted<A, I>): Promise<ReadonlyArray<ReadonlyArray<A>>> => {
  const { module, state, seed, traces, steps } = wanted
  const decode = Schema.decodeUnknownSync(Schema.parseJson(Schema.Struct({ states: Schema.Array(state) })))
  const prefix = `udg-spec-${process.pid}-${module}-${seed}-`
  const outItf = join(tmpdir(), `${prefix}{seq}.itf.json`)
  const batch = Math.min(BATCH, traces)
  try {
    await Quint.run({ module, invariants: ["true"], seed, traces: batch, steps, outItf })
    const made = written(prefix).map((file) => decode(readFileSync(file, "utf8")).states)
    return traces > batch ? [...made, ...(await of({ ...wanted, seed: seed + 1, traces: traces - batch }))] : made
  } finally {
    for (const file of written(prefix)) rmSync(file)
  }
}

export const make = (seed: number, traces: number, steps: number): Promise<ReadonlyArray<Trace>> =>
  of({ module: "network", state: State, seed, traces, steps })

const written = (prefix: string): ReadonlyArray<string> =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(tmpdir(), name))
