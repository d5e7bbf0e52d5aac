/** Replays traces of the model with the production consensus, and shows that the replay can fail. */
import { rmSync } from "node:fs"
import { basename } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Committee } from "../../src/consensus/dag/Committee.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { equalWeights, recordOf, seedOf } from "../consensus/TestCommittee.js"
import * as Bundle from "../support/Bundle.js"
import * as Chosen from "../support/Chosen.js"
import type * as Planting from "../support/Planting.js"
import * as Rest from "../support/Rest.js"
import * as Faults from "./Faults.js"
import * as Quint from "./Quint.js"
import { replay } from "./Replay.js"
import * as Signing from "./Signing.js"
import * as Trace from "./Trace.js"

const REASON = "a hundred steps of the model take a second"
const TIMEOUT = { timeout: 1_200_000 }
const STEPS = 140
const TRACES = Number(process.env["UDG_SPEC_TRACES"] ?? 8)
const SEED = Number(process.env["UDG_SPEC_SEED"] ?? 2)

it("draws the leaders of the model", () => {
  const written = Array.from({ length: 16 }, (_, i) => {
    const committee = new Committee(recordOf(equalWeights(4), { seed: seedOf(`spec ${i}`) }))
    return `List(${Array.from({ length: 24 }, (_, r) => committee.leaderOf(Natural.round(r + 1))).join(", ")})`
  })
  expect(Quint.listed("leaders.qnt")).toEqual(written)
})

describe("the program", TIMEOUT, () => {
  const follows = async (seed: number, traces: number): Promise<void> => {
    for (const trace of await Trace.make(seed, traces, STEPS)) expect(replay(trace)).toBeNull()
  }

  it("commits, collects, hands over and joins as in a trace of the model", () => follows(1, 1))
  it(Rest.of(REASON, "does so in more traces"), () => follows(SEED, TRACES))
})

const signingTraces = (seed: number, traces: number) =>
  Trace.of({ module: "signing", state: Signing.State, seed, traces, steps: 160 })

describe("the guard", TIMEOUT, () => {
  const follows = async (seed: number, traces: number): Promise<void> => {
    for (const trace of await signingTraces(seed, traces)) expect(Signing.replay(trace)).toBeNull()
  }

  it("allows the rounds that the model allows", () => follows(1, 2))
  it(Rest.of(REASON, "does so in more traces"), () => follows(SEED, TRACES))
})

/** A program with all faults, each of which must fail in one of these traces. */
const planted = <T>(
  entry: string,
  faults: ReadonlyArray<Planting.Fault>,
  make: () => Promise<ReadonlyArray<T>>,
): void => {
  let path = ""
  let program: { readonly replay: (trace: T) => string | null }
  let traces: ReadonlyArray<T> = []

  beforeAll(async () => {
    const outfile = `spec/${basename(entry, ".ts")}-${process.pid}.mjs`
    path = await Bundle.make({ entry, outfile, choice: faults, arePackagesExternal: true })
    program = await import(pathToFileURL(path).href)
    traces = await make()
  }, 600_000)

  afterAll(() => rmSync(path, { force: true }))

  it.each(faults.map(({ name }) => name))(Rest.of(REASON, "finds %s"), (name) => {
    Chosen.choose(name)
    try {
      const found = traces.findIndex((trace) => program.replay(trace) !== null)
      process.stdout.write(`${name}: trace ${found + 1}\n`)
      expect(found).toBeGreaterThanOrEqual(0)
    } finally {
      Chosen.choose(undefined)
    }
  })

  it(Rest.of(REASON, "finds nothing without a fault"), () => {
    expect(traces.map((trace) => program.replay(trace))).toEqual(traces.map(() => null))
  })
}

describe("the replay of a program with a fault", TIMEOUT, () => {
  describe("in the consensus", () => planted("test/spec/Replay.ts", Faults.faults, () => Trace.make(3, TRACES, STEPS)))
  describe("in signing", () => planted("test/spec/Signing.ts", Faults.signing, () => signingTraces(3, TRACES)))
})
