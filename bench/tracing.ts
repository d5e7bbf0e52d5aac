/** What traces cost a request and a commit, in processor time, where no collector is named and where one takes one in a hundred. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { Effect, Layer, ManagedRuntime } from "effect"
import * as Tracing from "../src/cli/tracing/Tracing.js"
import type { Answered } from "../src/edge/server/Responder.js"
import * as RequestSpans from "../src/rpc/server/RequestSpans.js"
import { type Figure, median, type Suite } from "./Harness.js"

const REPETITIONS = 31
const OPERATIONS = 1_000

const answered: Answered = { route: "/balance/:address", method: "GET", status: 200, milliseconds: 0.4 }
const commit = Effect.withSpan(Effect.void, "commit", { attributes: { commit: 1_205, round: 2_409 } })

const costOf = async (name: string, run: () => unknown): Promise<Figure> => {
  const costs: Array<number> = []
  for (let i = 0; i < REPETITIONS; i++) {
    const before = process.cpuUsage()
    for (let j = 0; j < OPERATIONS; j++) run()
    const { user, system } = process.cpuUsage(before)
    costs.push((user + system) / OPERATIONS)
    // The spans leave meanwhile.
    await turn()
  }
  return { name, value: median(costs), unit: "µs" }
}

const costsWith = async (what: string, layer: Layer.Layer<never>): Promise<ReadonlyArray<Figure>> => {
  const runtime = ManagedRuntime.make(layer)
  const onAnswer = await runtime.runPromise(RequestSpans.over(() => {}))
  const figures = [
    await costOf(`a request, ${what}`, () => onAnswer(answered)),
    await costOf(`a commit's span, ${what}`, () => runtime.runSync(commit)),
  ]
  await runtime.dispose()
  return figures
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const collector = createServer((request, response) => request.resume().on("end", () => response.end("{}")))
  await once(collector.listen(0, "127.0.0.1"), "listening")
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const traced = Tracing.layer({ endpoint, ratio: 0.01, version: "0.1.0" })
  try {
    return [...(await costsWith("no collector", Layer.empty)), ...(await costsWith("one trace in a hundred", traced))]
  } finally {
    collector.close()
  }
}

export const suite: Suite = { about: "what traces cost where they are off, and where they are on", figures }
