import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Cause, Console, Effect, Exit, Layer, Option } from "effect"
import * as Ending from "../node/Ending.js"
import * as Completion from "./Completion.js"
import * as DatabaseTools from "./DatabaseTools.js"
import * as Exporter from "./Exporter.js"
import * as GenesisTools from "./GenesisTools.js"
import * as Help from "./Help.js"
import * as Localnet from "./Localnet.js"
import * as Node from "./Node.js"
import * as Printable from "./Printable.js"
import * as Terminal from "./Terminal.js"
import * as Words from "./Words.js"
import { quote, WrongUsage } from "./WrongUsage.js"
import * as Wallet from "./wallet/Wallet.js"

/** The environment of every command. */
const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer, Terminal.layer)

type Platform = Layer.Layer.Success<typeof platform>

/** What a command can end of, besides success. Without an exit code of its own, its tag decides. */
interface Failed {
  readonly _tag: string
  readonly message: string
  readonly exitCode?: number
}

const asksFor = (words: ReadonlyArray<string>, ...names: ReadonlyArray<string>): boolean =>
  words.some((word) => names.includes(word))

const showHelp = (page: Help.Page) =>
  Effect.flatMap(Terminal.Terminal, ({ colours }) => Console.log(Help.render(page, colours.stdout)))

interface Command {
  /** What it is for, in the list of all commands. */
  readonly about: string
  readonly page: (version: string) => Help.Page
  /** It goes on until it is asked to stop, and has done its work then. */
  readonly runsUntilStopped?: boolean
  readonly run: (words: ReadonlyArray<string>, version: string) => Effect.Effect<void, Failed, Platform>
}

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["localnet", Localnet],
  ["exporter", Exporter],
  ["db", DatabaseTools],
  ["genesis", GenesisTools],
  ...Wallet.verbs.map((verb) => [verb.name, verb] as const),
  ["completion", { ...Completion, run: (words) => Completion.run(completed())(words) }],
])

/** The command without a name. */
const node: Command = {
  about: "runs a node",
  page: (version) => ({
    ...Node.page(version),
    commands: [...commands].map(([name, { about }]) => [name, about] as const),
  }),
  runsUntilStopped: true,
  run: (words, version) => Node.run(version, words),
}

/** Every command with its words, the node's under no name. */
const completed = (): ReadonlyArray<Completion.Completed> =>
  [["", node] as const, ...commands].map(([name, { about, page }]) => ({ name, about, settings: page("").settings }))

/** The command that the words ask for, and the words that are its own. */
const commandOf = (words: ReadonlyArray<string>): readonly [Command, ReadonlyArray<string>] => {
  const [name = "", ...rest] = words
  const named = commands.get(name)
  return named === undefined ? [node, words] : [named, rest]
}

/** Whatever begins with a dash is for the node; any other first word is meant to be a command. */
const noCommand = (name: string) =>
  new WrongUsage({
    message: Option.match(Words.nearest(name.toLowerCase(), [...commands.keys()]), {
      onNone: () => `${quote(name)} is not a command; udg --help lists those there are`,
      onSome: (meant) => `${quote(name)} is not a command; did you mean udg ${meant}? udg --help lists all`,
    }),
  })

/** Does what one command does, or shows its page. */
const run = (version: string, words: ReadonlyArray<string>): Effect.Effect<void, Failed, Platform> => {
  const [command, own] = commandOf(words)
  if (asksFor(words, "--help", "-h")) return showHelp(command.page(version))
  if (asksFor(words, "--version")) return Console.log(version)
  const [first = "-"] = words
  return command === node && !first.startsWith("-") ? noCommand(first) : command.run(own, version)
}

/** As shells say it of what Ctrl-C has ended. */
const INTERRUPTED = 130

/** The exit code where a signal, or Ctrl-C at a prompt, has ended it. */
export const whenInterrupted = (words: ReadonlyArray<string>): number =>
  commandOf(words)[0].runsUntilStopped === true ? 0 : INTERRUPTED

/** What the process says when it ends badly: one line for what a person can act on, everything for a bug of ours. */
const complaint = (cause: Cause.Cause<Failed>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => `udg: a bug, please report it: ${Cause.pretty(cause)}\n`,
    onSome: ({ message }) => `udg: ${Printable.line(message)}\n`,
  })

const exitCodeOf = (failed: Failed): number => failed.exitCode ?? Ending.exitCodeOf(failed)

/** The whole program: does what the words ask and gives the exit code. */
export const program = (version: string, words: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    const exit = yield* Effect.exit(run(version, words))
    if (Exit.isSuccess(exit)) return 0
    if (Cause.isInterruptedOnly(exit.cause)) return whenInterrupted(words)
    const failure = Cause.failureOption(exit.cause)
    const code = Option.match(failure, { onNone: () => 1, onSome: exitCodeOf })
    // The log has said why the node ended.
    if (code < 100) terminal.writeError(complaint(exit.cause))
    return code
  }).pipe(Effect.provide(platform))

/** The exit code of the process: what the program said, or the one for what a signal has ended. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>, interrupted: number): number =>
  Exit.match(exit, {
    onSuccess: (code) => (typeof code === "number" ? code : 0),
    onFailure: (cause) => (Cause.isInterruptedOnly(cause) ? interrupted : 1),
  })
