import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Cause, Console, Effect, Exit, Layer, Option } from "effect"
import * as Visible from "../client/Visible.js"
import * as Ending from "../node/lifecycle/Ending.js"
import type { Command, Environment, Failed } from "./settings/Command.js"
import type * as Help from "./settings/Help.js"
import { quote, wrongUsage } from "./settings/WrongUsage.js"
import * as Terminal from "./terminal/Terminal.js"

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

/** A command is loaded when it is needed: reading the code of all of them takes longer than most of them run. */
type Load = () => Promise<Command>

const loadNode: Load = async () => (await import("./Node.js")).command

const loadCompletion: Load = async () => {
  const { commandFor } = await import("./Completion.js")
  return commandFor(async () => [await loadNode(), ...(await loadAll())])
}

const tools: ReadonlyMap<string, Load> = new Map<string, Load>([
  ["localnet", async () => (await import("./Localnet.js")).command],
  ["exporter", async () => (await import("./Exporter.js")).command],
  ["db", async () => (await import("./DatabaseTools.js")).command],
  ["genesis", async () => (await import("./GenesisTools.js")).command],
  ["doctor", async () => (await import("./doctor/Doctor.js")).command],
])

const loadVerbs = async (): Promise<ReadonlyArray<Command>> => (await import("./wallet/Wallet.js")).verbs

/** All that have a name, in the order of the help page. */
const loadAll = async (): Promise<ReadonlyArray<Command>> => [
  ...(await Promise.all([...tools.values()].map((load) => load()))),
  ...(await loadVerbs()),
  await loadCompletion(),
]

const loadNamed = async (name: string): Promise<Command | undefined> => {
  if (name === "completion") return loadCompletion()
  const load = tools.get(name)
  return load === undefined ? (await loadVerbs()).find((verb) => verb.name === name) : load()
}

/** A command, its help page, or the version. */
export interface Call {
  readonly run: Effect.Effect<void, Failed, Environment>
  /** The exit code after a signal, or Ctrl-C at a prompt. */
  readonly exitCodeWhenInterrupted: number
}

/** The exit code that shells report after Ctrl-C. */
const INTERRUPTED = 130

const called = (run: Call["run"], runsUntilStopped = false): Call => ({
  run,
  exitCodeWhenInterrupted: runsUntilStopped ? 0 : INTERRUPTED,
})

const failUnknown = async (name: string): Promise<Call> => {
  const { nearest } = await import("./settings/Words.js")
  const names = (await loadAll()).map((command) => command.name)
  const message = Option.match(nearest(name.toLowerCase(), names), {
    onNone: () => `${quote(name)} is not a command; udg --help lists all`,
    onSome: (meant) => `${quote(name)} is not a command; did you mean udg ${meant}? udg --help lists all`,
  })
  return called(wrongUsage(message))
}

const showPage = async (page: Help.Page): Promise<Call> => {
  const { render } = await import("./settings/Help.js")
  return called(Effect.flatMap(Terminal.Terminal, ({ colours }) => Console.log(render(page, colours.stdout))))
}

const showNodePage = async (version: string): Promise<Call> => {
  const [{ page }, all] = [await loadNode(), await loadAll()]
  return showPage({ ...page(version), commands: all.map(({ name, about }) => [name, about] as const) })
}

/** For a script that decides whether two programs may follow each other. */
const showVersions = async (version: string): Promise<Call> => {
  const Versions = await import("../node/start/Versions.js")
  return called(Console.log(JSON.stringify(Versions.of(version))))
}

/** A first word that begins with a dash is an option of the node; any other first word names a command. */
export const find = async (version: string, words: ReadonlyArray<string>): Promise<Call> => {
  const asksFor = (...options: ReadonlyArray<string>) => words.some((word) => options.includes(word))
  const asksForHelp = asksFor("--help", "-h")
  if (!asksForHelp && asksFor("--version"))
    return asksFor("--json") ? showVersions(version) : called(Console.log(version))
  const [first = "-", ...rest] = words
  const named = first.startsWith("-") ? undefined : await loadNamed(first)
  if (named === undefined && asksForHelp) return showNodePage(version)
  if (named === undefined && !first.startsWith("-")) return failUnknown(first)
  const [command, own] = named === undefined ? [await loadNode(), words] : [named, rest]
  return asksForHelp ? showPage(command.page(version)) : called(command.run(own, version), command.runsUntilStopped)
}

/** The last words after a failure: one line if a person can act on it, the whole cause for a bug. */
const complaint = (cause: Cause.Cause<Failed>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => `udg: a bug, please report it: ${Cause.pretty(cause)}\n`,
    onSome: ({ message }) => `udg: ${Visible.line(message)}\n`,
  })

const exitCodeOf = (failed: Failed): number => failed.exitCode ?? Ending.exitCodeOf(failed)

/** Runs the command and returns the exit code. */
export const program = ({ run, exitCodeWhenInterrupted }: Call): Effect.Effect<number, never, Terminal.Terminal> =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    const exit = yield* Effect.exit(run)
    if (Exit.isSuccess(exit)) return 0
    if (Cause.isInterruptedOnly(exit.cause)) return exitCodeWhenInterrupted
    const failure = Cause.failureOption(exit.cause)
    const code = Option.match(failure, { onNone: () => 1, onSome: exitCodeOf })
    // The log has said why the node ended.
    if (code < 100) terminal.writeError(complaint(exit.cause))
    return code
  }).pipe(Effect.provide(platform))

/** The exit code of the process: the program's own, or the one for an interruption. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>, { exitCodeWhenInterrupted }: Call): number =>
  Exit.match(exit, {
    onSuccess: (code) => (typeof code === "number" ? code : 0),
    onFailure: (cause) => (Cause.isInterruptedOnly(cause) ? exitCodeWhenInterrupted : 1),
  })
