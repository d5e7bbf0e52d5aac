/** OpenTelemetry's own variables, read without loading what they configure. */
import { Effect, Option } from "effect"
import { wrongUsage } from "../settings/WrongUsage.js"
import * as Environment from "../terminal/Environment.js"

export interface TraceSettings {
  readonly endpoint: string
  /** The sampled share of traces, from 0 to 1. */
  readonly ratio: number
  /** What the operator wants said of this node. */
  readonly resource: ReadonlyMap<string, string>
}

/** Without parts that can hold a secret, because it is logged. */
const isPlain = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:"
  return isWeb && url.username === "" && url.password === "" && url.search === "" && url.hash === ""
}

/** The attributes `key=value,…`, with %-escapes in the values. */
const attributesIn = (text: string) =>
  Effect.try({
    try: () =>
      text.split(",").map((pair): readonly [string, string] => {
        const [, key, value] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? []
        if (key === undefined || value === undefined) throw new Error(pair)
        return [key, decodeURIComponent(value.trim())]
      }),
    catch: () => wrongUsage("OTEL_RESOURCE_ATTRIBUTES is not a list of key=value, separated by commas"),
  })

/** None without a collector. */
export const read = (version: string) =>
  Effect.gen(function* () {
    const endpoint = yield* Environment.variable("OTEL_EXPORTER_OTLP_ENDPOINT")
    if (endpoint === "") return Option.none<TraceSettings>()
    if (!isPlain(endpoint)) {
      return yield* wrongUsage(
        "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL of scheme, host, port and path; use one such as http://127.0.0.1:4318",
      )
    }
    const ratio = Number((yield* Environment.variable("OTEL_TRACES_SAMPLER_ARG")) || "0.01")
    if (!(ratio >= 0 && ratio <= 1)) {
      return yield* wrongUsage("OTEL_TRACES_SAMPLER_ARG is not a sampling ratio; use a number from 0 to 1")
    }
    const attributes = yield* Environment.variable("OTEL_RESOURCE_ATTRIBUTES")
    const name = yield* Environment.variable("OTEL_SERVICE_NAME")
    const resource = new Map([
      ["service.name", "udg"],
      ["service.version", version],
      ...(attributes === "" ? [] : yield* attributesIn(attributes)),
      ...(name === "" ? [] : [["service.name", name] as const]),
    ])
    return Option.some<TraceSettings>({ endpoint, ratio, resource })
  })
