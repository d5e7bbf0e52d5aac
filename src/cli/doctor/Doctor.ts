/** `udg doctor`: collects what support needs to know first about a data directory or a running node. */
import { join, resolve } from "node:path"
import { Console, Data, Effect, Option } from "effect"
import * as Versions from "../../node/start/Versions.js"
import * as Command from "../settings/Command.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import * as Paint from "../terminal/Paint.js"
import * as Sheet from "../terminal/Sheet.js"
import { Terminal } from "../terminal/Terminal.js"
import * as Directory from "./Directory.js"
import type { Finding } from "./Finding.js"
import * as LogFile from "./LogFile.js"
import * as RunningNode from "./RunningNode.js"

/** The default log file in the directory, as `udg localnet` names it. */
const LOG = "node.log"

const options = Setting.group("Options")

const settings = {
  place: Setting.optionalArgument(
    "DIR|URL",
    "a data directory, or the HTTP interface of a node",
    Reader.text,
    "./data",
  ),
  log: options.optional("--log FILE", "the node's log, for its last errors", Reader.file, `${LOG} in the directory`),
  json: options.flag("--json", "JSON for scripts, instead of text for people"),
}

class Ill extends Data.TaggedError("Ill")<{ readonly findings: ReadonlyArray<Finding> }> {
  override get message(): string {
    return `${Directory.counted(this.findings)}; the first: ${this.findings.find(({ status }) => status === "problem")?.message}`
  }
}

interface Report {
  readonly place: string
  readonly program: Versions.Versions & { readonly node: string; readonly platform: string }
  readonly findings: ReadonlyArray<Finding>
  readonly last_errors: ReadonlyArray<string>
  readonly settings: Readonly<Record<string, unknown>> | null
}

const ofDirectory = (path: string, log: Option.Option<string>, own: Versions.Versions) =>
  Effect.gen(function* () {
    if (!(yield* Directory.isThere(path))) {
      return { findings: [Directory.absent(path)], last_errors: [], settings: null }
    }
    const { findings, left, isRunning } = yield* Directory.examine(path)
    const served = isRunning && Option.isSome(left) ? yield* RunningNode.examine(left.value.rpc, own) : []
    const last_errors = yield* LogFile.lastErrors(Option.getOrElse(log, () => join(path, LOG)))
    const settings = Option.match(left, { onNone: () => null, onSome: (facts) => facts.settings })
    return { findings: [...findings, ...served], last_errors, settings }
  })

const ofUrl = (url: string, log: Option.Option<string>, own: Versions.Versions) =>
  Effect.gen(function* () {
    const last_errors = Option.isSome(log) ? yield* LogFile.lastErrors(log.value) : []
    return { findings: yield* RunningNode.examine(url, own), last_errors, settings: null }
  })

const shown = (value: unknown): string | ReadonlyArray<string> =>
  Array.isArray(value) ? value.map(String) : String(value)

const text = ({ place, program, findings, last_errors, settings }: Report, isStyled: boolean): string => {
  const { version, protocol, wire, database, node, platform } = program
  const head = Sheet.indented([
    ["looked at", place],
    ["with", `udg ${version} (protocol ${protocol}, wire ${wire}, database ${database}), Node ${node}, ${platform}`],
  ])
  const body = findings.map(({ part, status, message, page }) =>
    Sheet.indented([
      [status.padEnd(7), [`${part}: ${message}`, ...(page === undefined ? [] : [`see ${page}`])]],
    ]).replace(status, isStyled ? Paint.state : Paint.plain),
  )
  const errors =
    last_errors.length === 0 ? [] : ["", "last warnings and errors", ...last_errors.map((line) => `  ${line}`)]
  const entries = Object.entries(settings ?? {}).filter(([, value]) => value !== null)
  const configured =
    entries.length === 0
      ? []
      : ["", "settings", Sheet.indented(entries.map(([name, value]) => [name, shown(value)] as const))]
  return [head, "", ...body, ...errors, ...configured, "", Directory.counted(findings)].join("\n")
}

export const command = Command.make({
  name: "doctor",
  about: "checks a data directory or a running node for problems",
  settings,
  examples: [
    ["the node of this machine, whether it runs or not", "udg doctor /var/lib/udg"],
    ["a node elsewhere", "udg doctor https://node.example"],
    [
      "with its last errors, to attach to a report",
      "journalctl -u udg -o cat > log; udg doctor /var/lib/udg --log log --json",
    ],
  ],
  footer: [
    "It changes nothing, and shows no secret. Databases are checked in full if no node runs. Exit codes: 0 if there is no " +
      "problem, 1 if there is.",
  ],
  run: ({ place, log, json }, { version }) =>
    Effect.gen(function* () {
      const own = Versions.of(version)
      const named = Option.getOrElse(place, () => "./data")
      const url = yield* Effect.option(Effect.suspend(() => Reader.url(named)))
      const found = Option.isSome(url)
        ? yield* ofUrl(url.value, log, own)
        : yield* ofDirectory(resolve(named), log, own)
      const report: Report = {
        place: Option.getOrElse(url, () => resolve(named)),
        program: { ...own, node: process.version, platform: `${process.platform} ${process.arch}` },
        ...found,
      }
      const { colours } = yield* Terminal
      yield* Console.log(json ? JSON.stringify(report, null, 2) : text(report, colours.stdout))
      if (report.findings.some(({ status }) => status === "problem")) yield* new Ill({ findings: report.findings })
    }),
})
