/** Targets, each with the figure that tells whether it is met. */
import type { Figure } from "./Harness.js"

type Find = (name: string, unit?: string) => Figure

export interface Target {
  readonly what: string
  readonly target: string
  readonly suite: string
  readonly of: (find: Find, all: ReadonlyArray<Figure>) => number
  readonly isMet: (value: number) => boolean
}

const atLeast = (least: number) => (value: number) => value >= least
const atMost = (most: number) => (value: number) => value <= most

const spaced = (value: number): string => value.toLocaleString("en").replaceAll(",", " ")

const figure =
  (name: string, unit?: string): Target["of"] =>
  (find) =>
    find(name, unit).value

const rate = (what: string, least: number, suite: string, of: Target["of"]): Target => ({
  what: `${what}, a second`,
  target: `≥ ${spaced(least)}`,
  suite,
  of,
  isMet: atLeast(least),
})

const limit = (what: string, most: number, unit: string, suite: string, of: Target["of"]): Target => ({
  what,
  target: `≤ ${spaced(most)} ${unit}`,
  suite,
  of,
  isMet: atMost(most),
})

/** The slowest of these endpoints compared with a bare server of the same bytes, by processor time. */
const share = (what: string, paths: ReadonlyArray<string>, least: number): Target => ({
  what: `${what}, relative to bare node:http`,
  target: `≥ ${least}`,
  suite: "rpc",
  of: (find) => Math.min(...paths.map((path) => find(`GET ${path}, of bare`).value)),
  isMet: atLeast(least),
})

/** All nodes' processor time for a final transfer, in units of one signature check by each. */
const cost = (load: string, most: number): Target =>
  limit(`K, ${load}`, most, "signatures", "cost", figure(`${load}: K`))

/** Three and a half copies of an encoded transfer for each of the three nodes that did not get it from the client. */
const BYTES_BETWEEN_FOUR = Math.round(3.5 * 3 * 164)

const FREQUENT_READS = ["/status", "/balance", "/tx", "/validators", "/metrics/json"]
const OTHER_READS = ["/vertex", "/account/…/transactions", "/mempool", "/health/detailed"]

export const targets: ReadonlyArray<Target> = [
  rate("solo node, arrays of 100: transfers final, with disk", 15_000, "solo", figure("arrays of 100: final")),
  rate("solo node, one a request: transfers final, with disk", 6_000, "solo", figure("one a request: final")),
  {
    what: "signature checks in threads, relative to the cores alone",
    target: "≥ 0.8",
    suite: "signatures",
    of: figure("in the node's threads, of that"),
    isMet: atLeast(0.8),
  },
  cost("solo, arrays of 100", 1.7),
  cost("solo, one a request", 2.7),
  cost("four validators, one a request", 3),
  limit(
    "K, four validators, 250 a second beside idle",
    3,
    "signatures",
    "network",
    figure("250 offered: CPU of all nodes beside idle", "signatures a node"),
  ),
  limit(
    "four validators: sent per final transfer",
    BYTES_BETWEEN_FOUR,
    "bytes",
    "cost",
    figure("four validators, one a request: between them"),
  ),
  {
    what: "solo node, arrays of 100: share of the processors in use",
    target: "≥ 0.95",
    suite: "solo",
    of: figure("arrays of 100: used by node and load"),
    isMet: atLeast(0.95),
  },
  limit("from start to the first answer, small state", 700, "ms", "boot", figure("until /status answers, median")),
  limit("event loop delay under full load, p99", 30, "ms", "solo", figure("arrays of 100: event loop delayed, p99")),
  limit(
    "event loop delay under full load, maximum",
    20,
    "ms",
    "solo",
    figure("arrays of 100: event loop delayed, most"),
  ),
  rate("four validators on this machine: transfers final", 4_000, "network", (_, all) =>
    Math.max(...all.filter(({ name }) => name.endsWith(": final")).map(({ value }) => value)),
  ),
  limit("four validators, idle: finality, p50", 3.2, "rounds", "network", figure("idle: p50", "round intervals")),
  limit("four validators at half load: finality, p50", 3, "rounds", "network", figure("half of the most: p50")),
  limit("four validators at half load: finality, p99", 6, "rounds", "network", figure("half of the most: p99")),
  limit(
    "half load, 40 % of the machine withheld: finality, p50",
    3,
    "rounds",
    "network",
    figure("half of the most, 40 % of the machine withheld: p50"),
  ),
  limit(
    "half load, 40 % of the machine withheld: finality, p99",
    6,
    "rounds",
    "network",
    figure("half of the most, 40 % of the machine withheld: p99"),
  ),
  limit("one of four down: finality, p50, relative to all four", 1.6, "times", "network", (_, all) => {
    const found = all.find(({ name, unit }) => name.endsWith("one of four gone: p50") && unit.startsWith("times"))
    if (found === undefined) throw new Error("bench: network measured nothing with one of four gone")
    return found.value
  }),
  limit("fast sync of 100 000 accounts", 20, "s", "network", (find) => {
    const name = "fast sync of 100000 accounts"
    return find(`${name}: until it runs, at its genesis`).value + find(`${name}: from there until it follows`).value
  }),
  limit("explorer: the slowest page, 100 validators, 100 000 payments", 1_000, "ms", "explorer", (_, all) =>
    Math.max(
      ...all.filter(({ name }) => name.startsWith("100 validators, 100,000 payments: ")).map(({ value }) => value),
    ),
  ),
  share("the slowest of five frequent reads", FREQUENT_READS, 0.85),
  share("the slowest of four other reads", OTHER_READS, 0.15),
  rate("POST /tx/submit, arrays of 100", 5_000, "rpc", figure("POST /tx/submit, arrays of 100, throughput")),
  rate("POST /tx/submit, one a request", 5_000, "rpc", figure("POST /tx/submit, throughput")),
  limit("GET /balance under that load, p99", 20, "ms", "rpc", figure("GET /balance beside POST /tx/submit, p99")),
  rate(
    "ledger: transfers among 1 000 000 accounts",
    300_000,
    "ledger",
    figure("plain transfers executed, changes collected and chained, median"),
  ),
  limit(
    "solo node: cost among 1 000 000 accounts, relative to 10 000",
    1.2,
    "times",
    "growth",
    figure("… among 1 000 000, of that"),
  ),
  limit(
    "ledger alone: cost among 1 000 000 accounts, relative to 10 000",
    1.4,
    "times",
    "ledger",
    figure("… cost among 1 000 000 beside that"),
  ),
  limit("a transfer in udg.db", 320, "bytes", "disk", figure("udg.db")),
  limit("a transfer in the data directory", 320, "bytes", "disk", figure("all of the data directory")),
  limit("start with 1 000 000 accounts", 15_000, "ms", "start", figure("start")),
  limit(
    "a week of rounds: memory at the end, relative to half way",
    1.1,
    "times",
    "week",
    figure("memory at the end beside that half way"),
  ),
  limit(
    "a week of rounds: data directory, relative to half way",
    1.1,
    "times",
    "week",
    figure("data directory at the end beside that half way"),
  ),
  limit("a week of rounds: start, relative to the first", 1.1, "times", "week", figure("start at the end beside that")),
  limit(
    "a lean validator under load: data directory, relative to half way",
    1.1,
    "times",
    "lean",
    figure("data directory at the end beside that half way"),
  ),
  limit("100 validators, wide area: finality, p50, virtual time", 500, "ms", "wide", figure("finality, p50")),
  limit("memory at rest with 1 000 000 accounts", 1_228, "MiB", "start", figure("memory at rest")),
  limit("pause around a checkpoint of 1 000 000 accounts", 50, "ms", "start", figure("longest pause around it")),
]
