/** What vigils have run, by commit, and what failed. Each file is replaced at once, so a stop leaves a whole one. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import type { Watch } from "./Watches.js"

const Total = Schema.Struct({
  commit: Schema.String,
  watch: Schema.String,
  unit: Schema.String,
  amount: Schema.Number,
  seconds: Schema.Number,
  failures: Schema.Number,
})

/** A run that failed, to be repeated as a test until it passes. */
const Failure = Schema.Struct({
  watch: Schema.String,
  commit: Schema.String,
  command: Schema.Array(Schema.String),
  environment: Schema.Record({ key: Schema.String, value: Schema.String }),
})

const Contents = Schema.Struct({
  /** The seed with which each watch goes on. */
  next: Schema.Record({ key: Schema.String, value: Schema.Number }),
  totals: Schema.Array(Total),
  failures: Schema.Array(Failure),
})

export type Contents = typeof Contents.Type

export interface Ran {
  readonly watch: Watch
  readonly seed: number
  readonly commit: string
  readonly seconds: number
  readonly isPassed: boolean
}

const FILE = "record.json"
const decode = Schema.decodeUnknownSync(Schema.parseJson(Contents))

export const EMPTY: Contents = { next: {}, totals: [], failures: [] }

export const read = (folder: string): Contents =>
  existsSync(join(folder, FILE)) ? decode(readFileSync(join(folder, FILE), "utf8")) : EMPTY

export const replace = (file: string, text: string): void => {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

export const write = (folder: string, contents: Contents): void => {
  mkdirSync(folder, { recursive: true })
  replace(join(folder, FILE), `${JSON.stringify(contents, null, 2)}\n`)
}

export const seedOf = ({ next }: Contents, { name }: Watch): number => next[name] ?? 0

export const add = (contents: Contents, { watch, seed, commit, seconds, isPassed }: Ran): Contents => {
  const { name, unit } = watch
  const isOfIt = (total: typeof Total.Type): boolean => total.commit === commit && total.watch === name
  const before = contents.totals.find(isOfIt) ?? { amount: 0, seconds: 0, failures: 0 }
  const total = {
    ...{ commit, watch: name, unit },
    amount: before.amount + watch.amount,
    seconds: before.seconds + Math.max(1, Math.round(seconds)),
    failures: before.failures + (isPassed ? 0 : 1),
  }
  const failure = { watch: name, commit, command: watch.command(seed), environment: watch.environment?.(seed) ?? {} }
  return {
    next: { ...contents.next, [name]: seed + 1 },
    totals: [...contents.totals.filter((other) => !isOfIt(other)), total],
    failures: isPassed ? contents.failures : [...contents.failures, failure],
  }
}

/** The watch that has had the least time, so that all have the same however often a vigil is stopped. */
export const dueOf = ({ totals }: Contents, watches: ReadonlyArray<Watch>): Watch | undefined => {
  const secondsOf = ({ name }: Watch): number =>
    totals.reduce((sum, { watch, seconds }) => sum + (watch === name ? seconds : 0), 0)
  return [...watches].sort((a, b) => secondsOf(a) - secondsOf(b))[0]
}

const number = (value: number): string => value.toLocaleString("en")

const lineOf = ({ watch, amount, unit, failures }: typeof Total.Type): string =>
  `${watch} ${number(amount)} ${unit}${failures === 0 ? "" : `, ${failures} failed`}`

/** The page, with the newest commits first. */
export const page = ({ totals, failures }: Contents): string => {
  const commits = [...new Set(totals.map(({ commit }) => commit))].reverse()
  const hoursOf = (commit: string): string => {
    const seconds = totals.reduce((sum, total) => sum + (total.commit === commit ? total.seconds : 0), 0)
    return (seconds / 3_600).toFixed(1)
  }
  const ran = commits.map(
    (commit) =>
      `- \`${commit}\`, ${hoursOf(commit)} hours: ${totals
        .filter((total) => total.commit === commit)
        .map(lineOf)
        .join("; ")}`,
  )
  return `# Vigil

Which seeds, histories, fuzzed messages and attacks ran, by commit.

\`npm run vigil -- --hours 6\` runs them in turn and adds to this page; stop it at any time. \`test/vigil/record.json\` keeps
failed runs as tests of \`npm run test:all\`, now ${failures.length}.

${ran.length === 0 ? "Nothing ran yet." : ran.join("\n")}
`
}
