/**
 * Changed files: flipped bits, foreign pages, missing ends, older copies. A node must start correctly and continue, or
 * be refused in one line. It never stalls, has wrong balances or prints a stack trace. UDG_TAMPERINGS sets the number
 * of cases, UDG_TAMPERING_SEED the seed.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Cause, Effect, Exit, Logger, LogLevel, Option } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Ending from "../../src/node/lifecycle/Ending.js"
import { Supervisor } from "../../src/node/lifecycle/Supervisor.js"
import { Mempool } from "../../src/node/reads/Mempool.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import { Sqlite as Database } from "../../src/storage/sqlite/Driver.js"
import { Chance } from "../simulation/Chance.js"
import * as PowerCut from "../storage/PowerCut.js"
import * as Rest from "../support/Rest.js"
import * as world from "./world.js"

const USUAL_CASES = 3
const CASES = Number(process.env["UDG_TAMPERINGS"] ?? 25)
const SEED = Number(process.env["UDG_TAMPERING_SEED"] ?? 20_260_201)
const PAGE_BYTES = 4_096
const EPOCH_ROUNDS = 40
/** The older copy is of the second epoch, the tampered files of the fourth. */
const [OLDER_ROUND, NEWER_ROUND] = [70, 140]
/** Of the epoch that runs at the end, which has transactions, too. */
const RUNNING_ROUND = 122
const GOES_ON_ROUNDS = 6
const STANDS_AFTER_MS = 120_000
const PAYMENTS = 40

const FILES = ["udg.db", "udg.db-wal", "signed.db", "signed.db-wal"] as const
const settings = { roundMs: Option.none() }

const addressOf = (n: number): Address => n.toString(16).padStart(40, "0") as Address

const pay = (from: number) =>
  Effect.gen(function* () {
    const mempool = yield* Mempool
    for (let n = from; n < from + PAYMENTS; n++)
      yield* mempool.submit(yield* Effect.orDie(world.payment(addressOf(n), n)))
  })

/** Only the log of one file grows, so the files in this order are of one moment, or the second is slightly newer. */
const copyAlive = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true })
  for (const file of [...FILES, "genesis.json", "validator.key", "faucet.key"]) {
    if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file))
  }
}

/** The data before a byte changed. */
interface Truth {
  readonly commits: ReadonlyMap<unknown, unknown>
  readonly accounts: ReadonlyMap<unknown, unknown>
  readonly vertices: ReadonlyMap<unknown, unknown>
  readonly round: number
}

const COMMITS = "select commit_index, hex(hash) from commits"
/**
 * Older records are never read, and nothing is left to check them against. The same holds for the effects of a single
 * commit.
 */
const LOADED_COMMITS = `${COMMITS} where epoch >= (select max(epoch) from openings) - 1`
const ACCOUNTS = "select address, balance || ' ' || nonce || ' ' || hex(extras) from accounts where balance < 1000"
const VERTICES = "select epoch || '/' || round, hex(hash) from vertices"

const mapOf = (rows: ReadonlyArray<ReadonlyArray<unknown>>): ReadonlyMap<unknown, unknown> =>
  new Map(rows.map(([key, value]) => [key, value]))

const truthOf = (directory: string): Truth => {
  const look = (statement: string) => PowerCut.look(join(directory, "udg.db"), statement)
  const [[round] = []] = look("select max(leader_round) from commits")
  return {
    commits: mapOf(look(LOADED_COMMITS)),
    accounts: mapOf(look(ACCOUNTS)),
    vertices: mapOf(look(VERTICES)),
    round: Number(round),
  }
}

/** The differences. Data that is made again may be missing, but nothing may differ. */
const untrueOf = (directory: string, truth: Truth): ReadonlyArray<string> => {
  const look = (statement: string) => mapOf(PowerCut.look(join(directory, "udg.db"), statement))
  const differing = (what: string, before: ReadonlyMap<unknown, unknown>, now: ReadonlyMap<unknown, unknown>) =>
    [...before].flatMap(([key, value]) => {
      const found = now.get(key)
      return found === undefined || found === value ? [] : [`${what} ${key}: ${value}, now ${found}`]
    })
  const accounts = look(ACCOUNTS)
  return [
    ...[...truth.accounts.keys()].filter((address) => !accounts.has(address)).map((address) => `${address} is gone`),
    ...differing("account", truth.accounts, accounts),
    ...differing("commit", truth.commits, look(COMMITS)),
    ...differing("vertex", truth.vertices, look(VERTICES)),
  ]
}

type Tampering = (directory: string, older: string, chance: Chance) => string

const fileOf = (chance: Chance): (typeof FILES)[number] => chance.pick(FILES)

/** Changes the bytes of one file, page by page. */
const inBytes =
  (what: string, change: (bytes: Buffer, pages: number, chance: Chance) => Buffer): Tampering =>
  (directory, _, chance) => {
    const file = fileOf(chance)
    const bytes = readFileSync(join(directory, file))
    writeFileSync(join(directory, file), change(bytes, Math.ceil(bytes.length / PAGE_BYTES), chance))
    return `${what} in ${file}`
  }

const page = (bytes: Buffer, n: number): Buffer => bytes.subarray(n * PAGE_BYTES, (n + 1) * PAGE_BYTES)

const TAMPERINGS: ReadonlyArray<Tampering> = [
  inBytes("bits", (bytes, pages, chance) => {
    const changed = page(bytes, chance.below(pages))
    for (let flips = 1 + chance.below(8); flips > 0; flips--) {
      const at = chance.below(changed.length)
      changed[at] = (changed[at] ?? 0) ^ (1 << chance.below(8))
    }
    return bytes
  }),
  inBytes("a zeroed page", (bytes, pages, chance) => {
    page(bytes, chance.below(pages)).fill(0)
    return bytes
  }),
  inBytes("swapped pages", (bytes, pages, chance) => {
    const [one, other] = [page(bytes, chance.below(pages)), page(bytes, chance.below(pages))]
    if (one.length !== other.length) return bytes
    const kept = Buffer.from(one)
    other.copy(one)
    kept.copy(other)
    return bytes
  }),
  inBytes("a lost end", (bytes, pages, chance) => bytes.subarray(0, chance.below(pages) * PAGE_BYTES)),
  (directory, older, chance) => {
    const file = fileOf(chance)
    if (existsSync(join(older, file))) copyFileSync(join(older, file), join(directory, file))
    else rmSync(join(directory, file))
    return `an older ${file}`
  },
]

/** The outcome of a node. */
type Outcome =
  | { readonly _tag: "WentOn" }
  | { readonly _tag: "Refused"; readonly code: number; readonly line: string }
  | { readonly _tag: "Wrong"; readonly what: string }

const outcomeOf = (exit: Exit.Exit<Outcome, { readonly _tag: string; readonly message: string }>): Outcome => {
  if (Exit.isSuccess(exit)) return exit.value
  const error = Option.getOrNull(Cause.failureOption(exit.cause))
  if (error === null) return { _tag: "Wrong", what: Cause.pretty(exit.cause) }
  const line = error.message
  const code = Ending.exitCodeOf(error)
  const isWrong = error._tag === "ComponentDied" || line.includes("\n") || ![1, 100, 101].includes(code)
  return isWrong ? { _tag: "Wrong", what: `${code} ${error._tag}: ${line}` } : { _tag: "Refused", code, line }
}

/** Starts a node and runs it to this round. */
const run = (directory: string, round: number): Promise<Outcome> => {
  const complaints: Array<string> = []
  const listening = Logger.make(({ logLevel, message, cause }) => {
    if (LogLevel.greaterThanEqual(logLevel, LogLevel.Error) || !Cause.isEmpty(cause))
      complaints.push(`${String(message)} ${Cause.pretty(cause)}`)
  })
  const goesOn = Effect.as(world.untilRound(round), { _tag: "WentOn" } as Outcome)
  const stands = Effect.delay(Effect.succeed<Outcome>({ _tag: "Wrong", what: "it stands" }), STANDS_AFTER_MS)
  const life = Effect.flatMap(Supervisor, ({ ended }) => Effect.raceFirst(Effect.race(goesOn, stands), ended)).pipe(
    Effect.provide(world.node(directory, settings)),
    Effect.provide(Logger.add(listening)),
  )
  return Effect.runPromise(
    Effect.map(Effect.exit(life), (exit): Outcome => {
      const outcome = outcomeOf(exit)
      return complaints.length === 0 ? outcome : { _tag: "Wrong", what: complaints.join("\n") }
    }),
  )
}

describe("a node with changed files", () => {
  let folder = ""
  let truth: Truth
  const place = (name: string): string => join(folder, name)

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "udg-tampering-"))
    const protocol = { epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 20, roundIntervalMs: 5 }
    const live = place("live")
    const first = Effect.zipRight(pay(1), world.untilRound(OLDER_ROUND))
    const second = Effect.gen(function* () {
      yield* pay(1 + PAYMENTS)
      yield* world.untilRound(RUNNING_ROUND)
      yield* pay(1 + 2 * PAYMENTS)
      yield* world.untilRound(NEWER_ROUND)
      yield* Effect.sync(() => copyAlive(live, place("newer")))
    })
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* world.found(live, protocol)
        yield* Effect.provide(first, world.node(live, settings))
        yield* Effect.sync(() => cpSync(live, place("older"), { recursive: true }))
        yield* Effect.provide(second, world.node(live, settings))
      }),
    )
    truth = truthOf(place("newer"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const RUNNING = "(select max(epoch) from openings)"
  const NEWEST = "(select max(id) from vertices)"
  const LAST = "(select max(commit_index) from commits)"

  // The first one once restarted its epoch from nothing, far below the last commit, and never continued.
  it.each([
    ["the running epoch has no opening", "udg.db", `delete from openings where epoch = ${RUNNING}`, 1],
    [
      "the running epoch follows on another commit",
      "udg.db",
      `update openings set commit_index = commit_index + 1 where epoch = ${RUNNING}`,
      1,
    ],
    ["the last commit has no record", "udg.db", `delete from commits where commit_index = ${LAST}`, 1],
    ["the epoch before has no closing checkpoint", "udg.db", `delete from checkpoints where epoch = ${RUNNING} - 1`, 1],
    [
      "a checkpoint is another one than its hash says",
      "udg.db",
      `update checkpoints set hash = zeroblob(32) where epoch = ${RUNNING} - 1 and is_closing = 1`,
      1,
    ],
    [
      "a vertex counts as ordered that no commit has ordered",
      "udg.db",
      `update vertices set commit_index = ${LAST}, position = 99 where id = ${NEWEST}`,
      1,
    ],
    [
      "a vertex is another one than its hash says",
      "udg.db",
      `update vertices set hash = zeroblob(32) where id = ${NEWEST}`,
      1,
    ],
    [
      "the transactions of an ordered vertex are other ones",
      "udg.db",
      `update transaction_packs set bytes = zeroblob(length(bytes)) where last_sequence =
        (select max(last_sequence) from vertices where epoch = ${RUNNING})`,
      1,
    ],
    [
      "the transactions of an ordered vertex are gone",
      "udg.db",
      `delete from transaction_packs where last_sequence =
        (select max(last_sequence) from vertices where epoch = ${RUNNING})`,
      1,
    ],
    [
      "a vertex has the transactions of another one",
      "udg.db",
      `update vertices set first_sequence = first_sequence - 1 where id =
        (select max(id) from vertices where epoch = ${RUNNING} and first_sequence is not null)`,
      1,
    ],
    [
      "a commit of the running epoch is recorded of another round",
      "udg.db",
      `update commits set leader_round = leader_round + 1
        where commit_index = (select min(commit_index) from commits where epoch = ${RUNNING})`,
      100,
    ],
    [
      "an own vertex is another one than its hash says",
      "signed.db",
      "update own_vertices set hash = zeroblob(32) where round = (select max(round) from own_vertices)",
      1,
    ],
  ])("is refused where %s", async (_, file, statement, code) => {
    const directory = place("row")
    cpSync(place("newer"), directory, { recursive: true })
    const database = new Database(join(directory, file))
    database.prepare(statement).run()
    database.close()
    const outcome = await run(directory, truth.round + GOES_ON_ROUNDS)
    rmSync(directory, { recursive: true })
    expect(outcome).toMatchObject({ _tag: "Refused", code })
  })

  it("is refused where an index of the vertices differs from its table", async () => {
    const directory = place("index")
    cpSync(place("newer"), directory, { recursive: true })
    const database = new Database(join(directory, "udg.db"))
    database.unsafeMode(true)
    database.exec("pragma writable_schema = on")
    const sql = "create index vertices_by_round on vertices (author, round)"
    database.prepare(`update sqlite_schema set sql = '${sql}' where name = 'vertices_by_round'`).run()
    database.close()
    const outcome = await run(directory, truth.round + GOES_ON_ROUNDS)
    expect(outcome).toMatchObject({ code: 1, line: expect.stringContaining("index vertices_by_round") })
  })

  it("is refused in one line also where SQLite quotes the bytes of a damaged file", async () => {
    const directory = place("quoted")
    cpSync(place("newer"), directory, { recursive: true })
    const database = new Database(join(directory, "udg.db"))
    database.unsafeMode(true)
    database.exec("pragma writable_schema = on")
    database
      .prepare("update sqlite_schema set name = ?, sql = 'create no table' where name = 'checkpoints'")
      .run("two\nlines, \u001b[2J")
    database.close()
    const outcome = await run(directory, truth.round + GOES_ON_ROUNDS)
    expect(outcome).toMatchObject({ _tag: "Refused", code: 1, line: expect.stringContaining("(two lines,  [2J)") })
  })

  const goesOnOrIsRefused = async (from: number, to: number): Promise<void> => {
    const wrong: Array<string> = []
    const outcomes = new Map<string, number>()
    for (let n = from; n < to; n++) {
      const chance = new Chance(SEED + n)
      const directory = place("case")
      cpSync(place("newer"), directory, { recursive: true })
      const what = TAMPERINGS[n % TAMPERINGS.length]?.(directory, place("older"), chance)
      const outcome = await run(directory, truth.round + GOES_ON_ROUNDS)
      const untrue = outcome._tag === "WentOn" ? untrueOf(directory, truth) : []
      if (outcome._tag === "Wrong") wrong.push(`case ${n}, ${what}: ${outcome.what}`)
      if (untrue.length > 0) wrong.push(`case ${n}, ${what}: ${untrue.join("; ")}`)
      const name = outcome._tag === "Refused" ? `exit ${outcome.code}` : outcome._tag
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
      if (process.env["UDG_TAMPERINGS"])
        process.stderr.write(`${[`${n} ${what}: ${JSON.stringify(outcome)}`, ...untrue].join("; ")}\n`)
      rmSync(directory, { recursive: true })
    }
    process.stderr.write(`${[...outcomes].map(([name, count]) => `${name}: ${count}`).join(", ")}\n`)
    expect(wrong).toEqual([])
  }

  const NAME = `goes on or is refused in one line (seed ${SEED})`
  it(`${NAME}, in ${USUAL_CASES} cases`, () => goesOnOrIsRefused(0, USUAL_CASES), 60_000 + USUAL_CASES * 30_000)
  it(
    Rest.of("more cases", `${NAME}, in the cases up to ${CASES}`),
    () => goesOnOrIsRefused(USUAL_CASES, CASES),
    60_000 + CASES * 30_000,
  )
})
