import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Cause, Console, Effect, Exit, Layer, Option } from "effect"
import * as Visible from "../client/Visible.js"
import * as Ending from "../node/lifecycle/Ending.js"
import type * as Help from "./settings/Help.js"
import * as Terminal from "./settings/Terminal.js"
import { quote, WrongUsage } from "./settings/WrongUsage.js"

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

/** The environment of every command. */
type Platform = Layer.Layer.Success<typeof platform> | Terminal.Terminal

/** What a command can end of, besides success. Without an exit code of its own, its tag decides. */
interface Failed {
  readonly _tag: string
  readonly message: string
  readonly exitCode?: number
}

interface Command {
  /** What it is for, in the list of all commands. */
  readonly about: string
  readonly page: (version: string) => Help.Page
  /** It goes on until it is asked to stop, and has done its work then. */
  readonly runsUntilStopped?: boolean
  readonly run: (words: ReadonlyArray<string>, version: string) => Effect.Effect<void, Failed, Platform>
}

/** A command is loaded when it is asked for: reading the text of all of them takes longer than most of them run. */
type Load = () => Promise<Command>

type Named = readonly [name: string, command: Command]

/** The command without a name. */
const loadNode: Load = async () => {
  const Node = await import("./Node.js")
  return {
    about: "runs a node",
    page: Node.page,
    runsUntilStopped: true,
    run: (words, version) => Node.run(version, words),
  }
}

const tools: ReadonlyMap<string, Load> = new Map<string, Load>([
  ["localnet", () => import("./Localnet.js")],
  ["exporter", () => import("./Exporter.js")],
  ["db", () => import("./DatabaseTools.js")],
  ["genesis", () => import("./GenesisTools.js")],
])

const loadVerbs = async (): Promise<ReadonlyArray<Named>> => {
  const { verbs } = await import("./wallet/Wallet.js")
  return verbs.map((verb) => [verb.name, verb])
}

const loadCompletion: Load = async () => {
  const { about, page, run } = await import("./Completion.js")
  const completed = async () =>
    [["", await loadNode()] as const, ...(await loadAll())].map(([name, command]) => ({
      name,
      about: command.about,
      settings: command.page("").settings,
    }))
  return { about, page, run: (words) => Effect.flatMap(Effect.promise(completed), (all) => run(all)(words)) }
}

/** All that have a name, as help lists them. */
const loadAll = async (): Promise<ReadonlyArray<Named>> => [
  ...(await Promise.all([...tools].map(async ([name, load]) => [name, await load()] as const))),
  ...(await loadVerbs()),
  ["completion", await loadCompletion()],
]

/** The command of that name; none where there is no such command. */
const loadNamed = async (name: string): Promise<Command | undefined> => {
  if (name === "completion") return loadCompletion()
  const load = tools.get(name)
  return load === undefined ? new Map(await loadVerbs()).get(name) : load()
}

/** What the words ask for: one command, its page of help, or the version. */
export interface Call {
  readonly run: Effect.Effect<void, Failed, Platform>
  /** What the process ends with when a signal, or Ctrl-C at a prompt, has ended it. */
  readonly exitCodeWhenInterrupted: number
}

/** As shells say it of what Ctrl-C has ended. */
const INTERRUPTED = 130

const called = (run: Call["run"], runsUntilStopped = false): Call => ({
  run,
  exitCodeWhenInterrupted: runsUntilStopped ? 0 : INTERRUPTED,
})

const failUnknown = async (name: string): Promise<Call> => {
  const { nearest } = await import("./settings/Words.js")
  const names = (await loadAll()).map(([each]) => each)
  const message = Option.match(nearest(name.toLowerCase(), names), {
    onNone: () => `${quote(name)} is not a command; udg --help lists those there are`,
    onSome: (meant) => `${quote(name)} is not a command; did you mean udg ${meant}? udg --help lists all`,
  })
  return called(new WrongUsage({ message }))
}

const showPage = async (page: Help.Page): Promise<Call> => {
  const { render } = await import("./settings/Help.js")
  return called(Effect.flatMap(Terminal.Terminal, ({ colours }) => Console.log(render(page, colours.stdout))))
}

const showNodePage = async (version: string): Promise<Call> => {
  const [{ page }, all] = [await loadNode(), await loadAll()]
  return showPage({ ...page(version), commands: all.map(([name, { about }]) => [name, about] as const) })
}

/** Finds what the words ask for. Whatever begins with a dash is for the node; any other first word means a command. */
export const find = async (version: string, words: ReadonlyArray<string>): Promise<Call> => {
  const asksFor = (...options: ReadonlyArray<string>) => words.some((word) => options.includes(word))
  const asksForHelp = asksFor("--help", "-h")
  if (!asksForHelp && asksFor("--version")) return called(Console.log(version))
  const [first = "-", ...rest] = words
  const named = first.startsWith("-") ? undefined : await loadNamed(first)
  if (named === undefined && asksForHelp) return showNodePage(version)
  if (named === undefined && !first.startsWith("-")) return failUnknown(first)
  const [command, own] = named === undefined ? [await loadNode(), words] : [named, rest]
  return asksForHelp ? showPage(command.page(version)) : called(command.run(own, version), command.runsUntilStopped)
}

/** What the process says when it ends badly: one line for what a person can act on, everything for a bug of ours. */
const complaint = (cause: Cause.Cause<Failed>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => `udg: a bug, please report it: ${Cause.pretty(cause)}\n`,
    onSome: ({ message }) => `udg: ${Visible.line(message)}\n`,
  })

const exitCodeOf = (failed: Failed): number => failed.exitCode ?? Ending.exitCodeOf(failed)

/** Does what was asked for and gives the exit code. */
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

/** The exit code of the process: what the program said, or the one for what a signal has ended. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>, { exitCodeWhenInterrupted }: Call): number =>
  Exit.match(exit, {
    onSuccess: (code) => (typeof code === "number" ? code : 0),
    onFailure: (cause) => (Cause.isInterruptedOnly(cause) ? exitCodeWhenInterrupted : 1),
  })
