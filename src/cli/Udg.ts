import type { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Cause, Clock, Console, Effect, Exit, Layer, Option } from "effect"
import * as Visible from "../client/Visible.js"
import * as Ending from "../node/lifecycle/Ending.js"
import * as Command from "./settings/Command.js"
import type * as Help from "./settings/Help.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { quote, type WrongUsage, wrongUsage } from "./settings/WrongUsage.js"
import * as Environment from "./terminal/Environment.js"
import * as Paint from "./terminal/Paint.js"
import { wrapped } from "./terminal/Printable.js"
import * as Terminal from "./terminal/Terminal.js"

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

/** Commands are loaded on demand: loading all of them takes longer than most commands run. */
type Load = () => Promise<Command.Command>

const loadNode: Load = async () => (await import("./NodeCommand.js")).command

const loadCompletion: Load = async () => {
  const { commandFor } = await import("./Completion.js")
  return commandFor(async () => [await loadNode(), ...(await commands())])
}

const help = Command.make({
  name: "help",
  about: "shows the help page of a command",
  settings: { command: Setting.optionalArgument("COMMAND", "its name", Reader.text, "the page of udg itself") },
  examples: [["the same page as udg send --help", "udg help send"]],
  run: ({ command }, { version }) =>
    Effect.flatten(Effect.promise(() => showPage(version, Option.getOrUndefined(command)))),
})

const version = Command.make({
  name: "version",
  about: "prints the version",
  settings: {},
  examples: [["the same as udg --version", "udg version"]],
  run: (_, { version }) => Console.log(version),
})

const tools: ReadonlyMap<string, Load> = new Map<string, Load>([
  ["dev", async () => (await import("./Dev.js")).command],
  ["localnet", async () => (await import("./Localnet.js")).command],
  ["archive", async () => (await import("./ArchiveCommand.js")).command],
  ["gateway", async () => (await import("./GatewayCommand.js")).command],
  ["signer", async () => (await import("./SignerCommand.js")).command],
  ["exporter", async () => (await import("./Exporter.js")).command],
  ["db", async () => (await import("./DatabaseTools.js")).command],
  ["genesis", async () => (await import("./GenesisTools.js")).command],
  ["doctor", async () => (await import("./doctor/Doctor.js")).command],
  ["config", async () => (await import("./Config.js")).command],
  ["recover", async () => (await import("./Recover.js")).command],
])

const loadWallet = () => import("./wallet/Wallet.js")

/** The named commands, grouped as on the help page. */
const groups = async () => [
  { title: "Nodes and networks", commands: await Promise.all([...tools.values()].map((load) => load())) },
  ...(await loadWallet()).groups,
  { title: "This program", commands: [await loadCompletion(), help, version] },
]

export const commands = async (): Promise<ReadonlyArray<Command.Command>> =>
  (await groups()).flatMap(({ commands }) => commands)

const loadNamed = async (name: string): Promise<Command.Command | undefined> => {
  if (name === "completion") return loadCompletion()
  if (name === "help") return help
  if (name === "version") return version
  const load = tools.get(name)
  return load === undefined ? (await loadWallet()).verbs.find((verb) => verb.name === name) : load()
}

export interface Call {
  readonly run: Effect.Effect<void, Command.Failed, Command.Environment>
  /** The exit code after a signal, or after Ctrl-C at a prompt. */
  readonly exitCodeWhenInterrupted: number
  /** Whether final errors are logged as JSON. */
  readonly logsJson: Effect.Effect<boolean, never, FileSystem.FileSystem>
}

/** What shells report after Ctrl-C. */
const INTERRUPTED = 130

const called = (run: Call["run"], runsUntilStopped = false, words: ReadonlyArray<string> = []): Call => ({
  run,
  exitCodeWhenInterrupted: runsUntilStopped ? 0 : INTERRUPTED,
  logsJson: runsUntilStopped ? logsJson(words) : Effect.succeed(false),
})

/** Reads the log format on its own, so that a JSON log stays parseable even if another option is invalid. */
const logsJson = (words: ReadonlyArray<string>): Call["logsJson"] =>
  Effect.gen(function* () {
    const format = (yield* saidOf(words, "--log-format", "UDG_LOG_FORMAT")).toLowerCase()
    const file = format === "" ? yield* saidOf(words, "--config", "UDG_CONFIG") : ""
    if (file === "") return format === "json"
    const { logFormatOf } = yield* Effect.promise(() => import("./settings/ConfigFile.js"))
    return (yield* logFormatOf(file)) === "json"
  })

/** The value of an option on the command line or in its variable; empty if unset. */
const saidOf = (words: ReadonlyArray<string>, option: string, variable: string): Effect.Effect<string> => {
  const at = words.findLastIndex((word) => word === option || word.startsWith(`${option}=`))
  if (at < 0) return Environment.variable(variable)
  return Effect.succeed(words[at] === option ? (words[at + 1] ?? "") : (words[at] ?? "").slice(option.length + 1))
}

const unknown = async (name: string): Promise<WrongUsage> => {
  const { nearest } = await import("./settings/Words.js")
  const names = (await commands()).map((command) => command.name)
  return Option.match(nearest(name.toLowerCase(), names), {
    onNone: () => wrongUsage(`${quote(name)} is not a command; udg --help lists all`),
    onSome: (meant) => wrongUsage(`${quote(name)} is not a command; did you mean udg ${meant}? udg --help lists all`),
  })
}

const nodePage = async (version: string): Promise<Help.Page> => {
  const { page } = await loadNode()
  return { ...page(version), commands: await groups() }
}

const showPage = async (version: string, name: string | undefined): Promise<Call["run"]> => {
  const named = name === undefined ? undefined : await loadNamed(name)
  if (named === undefined && name !== undefined) return unknown(name)
  const { render } = await import("./settings/Help.js")
  const page = named === undefined ? await nodePage(version) : named.page(version)
  return Effect.flatMap(Terminal.Terminal, ({ colours }) => Console.log(render(page, colours.stdout)))
}

/** Versions as JSON, for scripts that check whether one release can follow another. */
const showVersions = async (version: string): Promise<Call> => {
  const Versions = await import("../node/start/Versions.js")
  return called(Console.log(JSON.stringify(Versions.of(version))))
}

/** A first word that begins with a dash is an option of the node; any other names a command. */
export const find = async (version: string, words: ReadonlyArray<string>): Promise<Call> => {
  const asksFor = (...options: ReadonlyArray<string>) => words.some((word) => options.includes(word))
  const asksForHelp = asksFor("--help", "-h")
  if (!asksForHelp && asksFor("--version"))
    return asksFor("--json") ? showVersions(version) : called(Console.log(version))
  const [first = "-", ...rest] = words
  const name = first.startsWith("-") ? undefined : first
  if (asksForHelp) return called(await showPage(version, name))
  const named = name === undefined ? await loadNode() : await loadNamed(name)
  if (named === undefined) return called(await unknown(first))
  return called(named.run(name === undefined ? words : rest, version), named.runsUntilStopped, words)
}

/** The width that every terminal has. */
const COLUMNS = 80

const NAME = "udg:"

/** The final error: one line, wrapped on a terminal, if the user can act on it; the whole cause for a bug. */
const asText = (cause: Cause.Cause<Command.Failed>, room: number, name: string): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => `${name} a bug, please report it: ${Cause.pretty(cause)}\n`,
    onSome: ({ message }) =>
      `${wrapped(`${NAME} ${Visible.line(message)}`, room)
        .join("\n")
        .replace(NAME, name)}\n`,
  })

const asJson = (cause: Cause.Cause<Command.Failed>, code: number) =>
  Effect.gen(function* () {
    const { lastWords } = yield* Effect.promise(() => import("../node/log/Logging.js"))
    const at = yield* Clock.currentTimeMillis
    return Option.match(Cause.failureOption(cause), {
      onNone: () => lastWords("a bug, please report it", code, Option.some(Cause.pretty(cause)), at),
      onSome: ({ message }) => lastWords(message, code, Option.none(), at),
    })
  })

const complaint = (cause: Cause.Cause<Command.Failed>, code: number, inJson: boolean) =>
  Effect.gen(function* () {
    if (inJson) return yield* asJson(cause, code)
    const { isWatched, colours } = yield* Terminal.Terminal
    const room = isWatched ? COLUMNS : Number.POSITIVE_INFINITY
    return asText(cause, room, colours.stderr ? Paint.alarm(NAME) : NAME)
  })

export const program = ({
  run,
  exitCodeWhenInterrupted,
  logsJson,
}: Call): Effect.Effect<number, never, Terminal.Terminal> =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    const exit = yield* Effect.exit(run)
    if (Exit.isSuccess(exit)) return 0
    if (Cause.isInterruptedOnly(exit.cause)) return exitCodeWhenInterrupted
    const failure = Cause.failureOption(exit.cause)
    const code = Option.match(failure, { onNone: () => 1, onSome: Ending.exitCodeOf })
    // Above 99, the log has already given the reason.
    if (code < 100) terminal.writeError(yield* complaint(exit.cause, code, yield* logsJson))
    return code
  }).pipe(Effect.provide(platform))

/** The process's exit code: the program's own, or the one for an interruption. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>, { exitCodeWhenInterrupted }: Call): number =>
  Exit.match(exit, {
    onSuccess: (code) => (typeof code === "number" ? code : 0),
    onFailure: (cause) => (Cause.isInterruptedOnly(cause) ? exitCodeWhenInterrupted : 1),
  })
