/**
 * The formulas of docs/operations/sizing.md, over constants that the suites have recorded. Constants are rounded as the
 * page shows them, so that a reader computes the same figures.
 */
import { table } from "./Page.js"
import type { Record } from "./Record.js"

/** A network as its operators plan it. */
export interface Plan {
  readonly validators: number
  readonly transfers: number
  readonly roundMs: number
}

/** What one validator takes. */
export interface Needs {
  readonly cores: number
  readonly memoryMiB: number
  /** After a year, without history and with it. */
  readonly leanGB: number
  readonly fullGB: number
  readonly writtenMB: number
  readonly iops: number
  /** In each direction. */
  readonly mbits: number
}

const find = ({ suites }: Record, suite: string, name: string, unit = ""): number => {
  const figure = suites[suite]?.figures.find((one) => one.name === name && one.unit.includes(unit))
  if (figure === undefined) throw new Error(`bench: ${suite} measured no "${name}"`)
  return figure.value
}

const rounded = (value: number): number => Number(value.toPrecision(3))

/** Times that a core takes which checks a signature in 59 µs, the machine of docs/performance.md. */
const SIGNATURE_US = 59
const [FEW, MORE] = [4, 10]

export const constantsOf = (record: Record) => {
  const at = (members: number, phase: string, what: string) =>
    find(record, "sizing", `${members} validators, ${phase}: ${what}`)
  const perRound = (members: number, what: string) => at(members, "idle", what) / at(members, "idle", "rounds")
  const slope = (few: number, more: number) => (more - few) / (MORE - FEW)

  const idle = (roundMs: number, unit: string) =>
    find(record, "pace", `4 validators at ${roundMs} ms, idle: processor, each node`, unit)
  const rounds = (roundMs: number) => find(record, "pace", `4 validators at ${roundMs} ms, idle: rounds`)
  const ofRounds = (idle(50, "a second") - idle(250, "a second")) / (rounds(50) - rounds(250))
  const baseMs = rounded(idle(250, "a second") - rounds(250) * ofRounds)

  const roundOf = (members: number) => {
    const speed = SIGNATURE_US / find(record, "sizing", `${members} validators: a signature check`)
    return (at(members, "idle", "processor") * speed - baseMs) / at(members, "idle", "rounds")
  }
  const roundEachMs = rounded(slope(roundOf(FEW), roundOf(MORE)))

  const vertexOf = (members: number) => at(members, "idle", "vertices in udg.db")
  const vertexEach = rounded(slope(vertexOf(FEW), vertexOf(MORE)))
  const vertexBytes = rounded(vertexOf(FEW) - FEW * vertexEach)

  // A vertex is written twice: into the log, and from the log into the database.
  const writtenOf = (members: number) => perRound(members, "given to the disk") / members - 2 * vertexOf(members)
  const writtenByTransfers = (phase: string) => {
    const [perSecond, final] = [at(FEW, phase, "rounds"), at(FEW, phase, "final")]
    return (
      (at(FEW, phase, "given to the disk") - perSecond * perRound(FEW, "given to the disk")) /
      Math.sqrt(perSecond * final)
    )
  }

  const keptOf = (phase: string) => {
    const [perSecond, final] = [at(FEW, phase, "rounds"), at(FEW, phase, "final")]
    return { commits: Math.min(1, perSecond / final), bytes: at(FEW, phase, "kept with history") }
  }
  const [alone, together] = [keptOf("20 a second"), keptOf("200 a second")]
  const commitBytes = rounded((alone.bytes - together.bytes) / (alone.commits - together.commits))

  const sentOf = (members: number, phase: string) => {
    const bytes = at(members, phase, "sent") - at(members, phase, "rounds") * perRound(members, "sent")
    return bytes / at(members, phase, "final")
  }
  return {
    baseMs,
    roundMs: rounded(roundOf(FEW) - FEW * roundEachMs),
    roundEachMs,
    transferMs: rounded(find(record, "cost", "four validators, one a request: processor") / 4 / 1_000),
    memoryMiB: rounded(at(FEW, "idle", "memory")),
    memoryEach: rounded(
      (at(FEW, "200 a second", "memory") - at(FEW, "idle", "memory")) / at(FEW, "200 a second", "final"),
    ),
    vertexBytes,
    vertexEach,
    writtenEach: rounded(Math.max(writtenOf(FEW), writtenOf(MORE))),
    writtenRoot: rounded(Math.max(...["20 a second", "200 a second", "1000 a second"].map(writtenByTransfers))),
    syncs: rounded(perRound(FEW, "syncs")),
    keptBytes: rounded(together.bytes - together.commits * commitBytes),
    commitBytes,
    /** Of a vertex without its parents, in messages. */
    messageBytes: rounded(perRound(FEW, "sent") / (FEW - 1) - 60 * FEW),
    /** While a transfer's vertex is kept. */
    windowBytes: rounded(find(record, "disk", "all of the data directory")),
    /** Calculated: a hundred rounds in memory, of which each vertex takes 250 bytes for a parent. */
    dagMiB: 0.024,
    headerBytes: rounded(at(FEW, "idle", "headers and encryption")),
    sentBytes: rounded(sentOf(MORE, "200 a second")),
  }
}

export type Constants = ReturnType<typeof constantsOf>

const EPOCH_SECONDS = 3_600
const YEAR_SECONDS = 31_557_600
/** A node keeps vertices of this many rounds, or of two epochs. */
const KEPT_ROUNDS = 10_000
/** A parent in a vertex: round, author and hash. */
const PARENT_BYTES = 60
const PAGE_BYTES = 4_096

export const roundsPerSecond = ({ transfers, roundMs }: Plan): number => 1_000 / (transfers > 0 ? roundMs : 2 * roundMs)

/** Bytes of a transfer that stay with all history: those of the transfer, and its part of its commit. */
const keptBytes = (c: Constants, plan: Plan): number =>
  c.keptBytes + c.commitBytes * Math.min(1, roundsPerSecond(plan) / plan.transfers)

export const needsOf = (c: Constants, plan: Plan): Needs => {
  const { validators: n, transfers, roundMs } = plan
  const rounds = roundsPerSecond(plan)
  const vertex = c.vertexBytes + c.vertexEach * n
  const windowRounds = Math.max(KEPT_ROUNDS, (2 * EPOCH_SECONDS * 1_000) / roundMs)
  const window = windowRounds * (n + 1) * vertex + 2 * EPOCH_SECONDS * transfers * c.windowBytes
  const closings = (YEAR_SECONDS / EPOCH_SECONDS) * (400 + 120 * n)
  const history = transfers === 0 ? 0 : YEAR_SECONDS * transfers * keptBytes(c, plan)
  const written = rounds * n * (c.writtenEach + 2 * vertex) + c.writtenRoot * Math.sqrt(transfers * rounds)
  const message = c.messageBytes + PARENT_BYTES * n + c.headerBytes
  return {
    cores: (c.baseMs + rounds * (c.roundMs + c.roundEachMs * n) + transfers * c.transferMs) / 1_000,
    memoryMiB: c.memoryMiB + c.memoryEach * transfers + c.dagMiB * n * n,
    leanGB: (window + closings) / 1e9,
    fullGB: (window + closings + history) / 1e9,
    writtenMB: written / 1e6,
    iops: written / PAGE_BYTES + c.syncs * rounds,
    mbits: (8 * (rounds * (n - 1) * message + transfers * c.sentBytes)) / 1e6,
  }
}

const LOADS = [0, 20, 200, 1_000]
const SIZES = [4, 10, 30, 100]

const planOf = (validators: number, transfers: number): Plan => ({
  validators,
  transfers,
  roundMs: validators > 30 ? 250 : 100,
})

/** Two digits: the constants have no more that would be the same on another day. */
const shown = (value: number): string => Number(value.toPrecision(2)).toLocaleString("en", { maximumFractionDigits: 4 })

const rowsOfValidators = (record: Record): ReadonlyArray<ReadonlyArray<string>> => {
  const constants = constantsOf(record)
  return SIZES.flatMap((n) => LOADS.map((transfers) => planOf(n, transfers))).map((plan) => {
    const { cores, memoryMiB, leanGB, fullGB, iops, mbits } = needsOf(constants, plan)
    const first = [plan.validators, plan.transfers].map((value) => value.toLocaleString("en"))
    return [...first, ...[cores, memoryMiB, leanGB, fullGB, iops, mbits].map(shown)]
  })
}

const grouped = (value: number): string => value.toLocaleString("en")

/** `n` validators, `R` rounds and `T` transfers a second, and `v`, the bytes of a stored vertex. */
const rowsOfFormulas = (record: Record): ReadonlyArray<ReadonlyArray<string>> => {
  const c = constantsOf(record)
  const year = `${grouped(YEAR_SECONDS)} × T`
  const epochs = grouped(YEAR_SECONDS / EPOCH_SECONDS)
  const window = grouped(2 * EPOCH_SECONDS)
  return [
    ["R", "1 ÷ i; half that when idle", "pace"],
    [
      "cores",
      `(${c.baseMs} + R × (${c.roundMs} + ${c.roundEachMs} n) + ${c.transferMs} T) ÷ 1,000`,
      "pace, sizing, cost",
    ],
    [
      "MiB",
      `${c.memoryMiB} + ${c.memoryEach} T + ${c.dagMiB} n², and 160 bytes an account`,
      "sizing, ledger; n² calculated",
    ],
    ["v", `${c.vertexBytes} + ${c.vertexEach} n`, "sizing"],
    ["lean", `W × (n + 1) × v + ${window} × ${c.windowBytes} T + ${epochs} × (400 + 120 n) bytes`, "sizing, disk"],
    ["full", `lean + ${year} × (${c.keptBytes} + ${c.commitBytes} × min(1, R ÷ T)) bytes`, "sizing"],
    [
      "written",
      `R × n × (${grouped(c.writtenEach)} + 2 v) + ${grouped(c.writtenRoot)} × √(T × R) bytes a second`,
      "sizing",
    ],
    ["IOPS", `written ÷ ${grouped(PAGE_BYTES)} + ${c.syncs} R`, "sizing"],
    [
      "sent",
      `R × (n − 1) × (${c.messageBytes + c.headerBytes} + ${PARENT_BYTES} n) + ${c.sentBytes} T bytes a second`,
      "sizing",
    ],
  ]
}

/** What the page says in sentences. */
export const sentences = (record: Record): ReadonlyArray<string> => {
  const a = archiveOf(record)
  const memory = (name: string): string => shown(find(record, "archive", name))
  const simulated = (name: string) => find(record, "wide", name)
  const wide = needsOf(constantsOf(record), {
    ...{ validators: 100, transfers: 1, roundMs: 1_000 / simulated("rounds") },
  })
  return [
    `PostgreSQL takes ${a.roundMs} ms of processor for a round and ${a.transferMs} ms for a transfer`,
    `writes ${grouped(a.writtenRound / 1_000)} KB for a round and ${a.writtenTransfer / 1_000} KB for a transfer`,
    `keeps ${grouped(a.vertexBytes)} + 60 n bytes of a vertex and ${grouped(a.transferBytes)} bytes of a transfer`,
    `takes ${memory("gateway: memory, idle")} to ${memory("gateway: memory after these")} MiB`,
    `sent ${shown(simulated("bytes sent") / 1_000)} MB a second at ${simulated("rounds")} rounds, for which the formula gives ${shown(wide.mbits / 8)}`,
    deviations(record),
  ]
}

/** How the formulas compare with what was measured, at the rounds that were made. */
const deviations = (record: Record): string => {
  const c = constantsOf(record)
  const both = [FEW, MORE].flatMap((validators) => [20, 200].map((transfers) => ({ validators, transfers })))
  const phases = [...both, { validators: FEW, transfers: 1_000 }]
  const ratios = (of: (needs: Needs) => number, measured: (at: (what: string) => number, speed: number) => number) => {
    const all = phases.map(({ validators, transfers }) => {
      const at = (what: string) => find(record, "sizing", `${validators} validators, ${transfers} a second: ${what}`)
      const speed = SIGNATURE_US / find(record, "sizing", `${validators} validators: a signature check`)
      return of(needsOf(c, { validators, transfers, roundMs: 1_000 / at("rounds") })) / measured(at, speed)
    })
    return `${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)}`
  }
  const cores = ratios(
    ({ cores }) => cores,
    (at, speed) => (at("processor") * speed) / 1_000,
  )
  const memory = ratios(
    ({ memoryMiB }) => memoryMiB,
    (at) => at("memory"),
  )
  const written = ratios(
    ({ writtenMB }) => writtenMB,
    (at) => at("given to the disk") / 1e6,
  )
  const sent = ratios(
    ({ mbits }) => mbits,
    (at) => (8 * (at("sent") + at("messages sent") * c.headerBytes)) / 1e6,
  )
  return `${cores} times the measured cores, ${memory} times the memory, ${written} times the bytes written and ${sent} times those sent`
}

const REQUESTS = ["/status", "/balance", "/tx", "/account/…/transactions"]

/** What PostgreSQL takes, and what it keeps of a vertex and of a transfer. */
const archiveOf = (record: Record) => {
  const at = (phase: string, what: string) => find(record, "archive", `archive, ${phase}: ${what}`, "a second")
  const speed = SIGNATURE_US / find(record, "archive", "archive: a signature check")
  const [idle, busy] = ["idle", "200 a second"]
  const perRound = (what: string) => at(idle, what) / at(idle, "rounds")
  const perTransfer = (what: string) => (at(busy, what) - at(busy, "rounds") * perRound(what)) / at(busy, "final")
  return {
    vertexBytes: rounded(perRound("PostgreSQL grows") / FEW - PARENT_BYTES * FEW),
    transferBytes: rounded(perTransfer("PostgreSQL grows")),
    roundMs: rounded(perRound("processor of PostgreSQL") * speed),
    transferMs: rounded(perTransfer("processor of PostgreSQL") * speed),
    writtenRound: rounded(perRound("given to the disk by PostgreSQL")),
    writtenTransfer: rounded(perTransfer("given to the disk by PostgreSQL")),
  }
}

const rowsOfArchive = (record: Record): ReadonlyArray<ReadonlyArray<string>> => {
  const { vertexBytes, transferBytes } = archiveOf(record)
  return SIZES.map((n) => [
    String(n),
    ...LOADS.map((transfers) => {
      const rounds = roundsPerSecond(planOf(n, transfers))
      const bytes = rounds * n * (vertexBytes + PARENT_BYTES * n) + transfers * transferBytes
      return shown((YEAR_SECONDS * bytes) / 1e12)
    }),
  ])
}

const rowsOfGateway = (record: Record): ReadonlyArray<ReadonlyArray<string>> => {
  const speed = SIGNATURE_US / find(record, "archive", "archive: a signature check")
  return REQUESTS.map((path) => {
    const name = `gateway, GET ${path}`
    const own = find(record, "archive", name) * speed
    const postgres = find(record, "archive", `${name}: PostgreSQL`) * speed
    return [path, shown(own), shown(postgres), grouped(find(record, "archive", `${name}: body`))]
  })
}

/** The page's tables, in order. */
export const tables = (record: Record): ReadonlyArray<string> => [
  table(
    ["validators", "transfers/s", "cores", "MiB", "GB, lean", "GB, full", "IOPS", "Mbit/s"],
    rowsOfValidators(record),
  ),
  table(["figure", "formula", "suites"], rowsOfFormulas(record)),
  table(["archive of", "0", "20", "200", "1,000"], rowsOfArchive(record)),
  table(["request", "gateway", "PostgreSQL", "bytes"], rowsOfGateway(record)),
]
