/** Runs the model in docs/spec, with its invariants, and with changes that break one. */
import { describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as Changes from "./Changes.js"
import * as Quint from "./Quint.js"
import * as Simulated from "./Simulated.js"

const REASON = "a hundred steps of the model take a second"
const TIMEOUT = { timeout: 1_200_000 }
const TRACES = Number(process.env["UDG_SPEC_TRACES"] ?? 8)

const NETWORK = {
  module: "network",
  invariants: ["oneOrder", "orderedOnce", "collectionChangesNothing", "oneHandover", "commitsInTheCalm"],
  witnesses: ["collects", "skips", "opensAnother", "joinsIn", "calms"],
  steps: 140,
}

const holds = async (run: Quint.Run): Promise<void> => {
  const { violated, witnessed, text } = await Quint.run(run)
  expect(violated, text).toEqual([])
  for (const witness of run.witnesses ?? []) expect(witnessed[witness], witness).toBeGreaterThan(0)
}

const SIGNING = {
  module: "signing",
  invariants: ["signedOnce"],
  witnesses: ["signsAfterALoss", "silences"],
  steps: 160,
}

const breaks = async (model: Omit<Quint.Run, "seed" | "traces">, change: Changes.Broken): Promise<void> => {
  const { seed = "1" } = change
  const { violated, text } = await Quint.copied({ change }, async (folder) => {
    const known = await Quint.run({ ...model, seed, traces: 1 }, folder)
    return known.violated.length > 0 ? known : Quint.run({ ...model, seed: 1, traces: 100 }, folder)
  })
  expect(violated.length, text.slice(-2_000)).toBeGreaterThan(0)
  expect(change.breaks).toEqual(expect.arrayContaining([...violated]))
}

const named = (changes: ReadonlyArray<Changes.Broken>) => changes.map((change) => [change.name, change] as const)

describe("the model of a network", TIMEOUT, () => {
  it("keeps its invariants in a trace", () => holds({ ...NETWORK, witnesses: ["collects"], seed: 1, traces: 1 }))
  it(Rest.of(REASON, "keeps its invariants"), () => holds({ ...NETWORK, seed: 1, traces: TRACES }))
  it.each(named(Changes.network))(Rest.of(REASON, "breaks one if %s"), (_, change) => breaks(NETWORK, change))
})

describe("the model of signing", TIMEOUT, () => {
  it("signs nothing twice in a few traces", () => holds({ ...SIGNING, witnesses: ["silences"], seed: 1, traces: 2 }))
  it(Rest.of(REASON, "signs nothing twice"), () => holds({ ...SIGNING, seed: 1, traces: 5 * TRACES }))
  it.each(named(Changes.signing))(Rest.of(REASON, "does if %s"), (_, change) => breaks(SIGNING, change))
})

describe("the model, given epochs of the simulator", TIMEOUT, () => {
  const agrees = async (epochs: ReadonlyArray<Simulated.Epoch>, change?: Changes.Broken): Promise<boolean> => {
    const module = "simulated"
    const added = { module, text: Simulated.moduleOf(epochs) }
    const run = { module, invariants: ["agrees"], seed: 1, traces: 1, steps: 1 }
    const { violated } = await Quint.copied({ ...(change && { change }), added }, (folder) => Quint.run(run, folder))
    return violated.length === 0
  }

  let made: Promise<ReadonlyArray<Simulated.Epoch>> | undefined
  const epochs = () => (made ??= Simulated.epochsFrom(2, 3))

  it(Rest.of(REASON, "commits the same"), async () => expect(await agrees(await epochs())).toBe(true))
  const changes = Changes.network.filter(({ isSimulated }) => isSimulated)
  it.each(named(changes))(Rest.of(REASON, "commits something else if %s"), async (_, change) => {
    expect(await agrees(await epochs(), change)).toBe(false)
  })
})
