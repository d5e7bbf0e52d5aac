import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Cause, Console, Effect, Exit, Layer, Option } from "effect"
import * as Ending from "../node/Ending.js"
import * as Exporter from "./Exporter.js"
import * as GenesisTools from "./GenesisTools.js"
import * as Help from "./Help.js"
import * as Localnet from "./Localnet.js"
import * as Node from "./Node.js"
import * as Terminal from "./Terminal.js"

/** The environment of every command. */
const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer, Terminal.layer)

type Platform = Layer.Layer.Success<typeof platform>

/** What a command can end of, besides success. */
type Failed = { readonly _tag: string; readonly message: string }

const asksFor = (words: ReadonlyArray<string>, ...names: ReadonlyArray<string>): boolean =>
  words.some((word) => names.includes(word))

const showHelp = (page: Help.Page) =>
  Effect.flatMap(Terminal.Terminal, ({ colours }) => Console.log(Help.render(page, colours.stdout)))

interface Command {
  readonly page: (version: string) => Help.Page
  readonly run: (words: ReadonlyArray<string>, version: string) => Effect.Effect<void, Failed, Platform>
}

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["localnet", Localnet],
  ["exporter", Exporter],
  ["genesis", GenesisTools],
])

/** The command without a name. */
const node: Command = { page: Node.page, run: (words, version) => Node.run(version, words) }

/** Does what one command does, or shows its page. */
const command = (version: string, words: ReadonlyArray<string>): Effect.Effect<void, Failed, Platform> => {
  const [name = "", ...rest] = words
  const named = commands.get(name)
  if (asksFor(words, "--help", "-h")) return showHelp((named ?? node).page(version))
  if (asksFor(words, "--version")) return Console.log(version)
  return named === undefined ? node.run(words, version) : named.run(rest, version)
}

/** What the process says when it ends badly: one line for what a person can act on, everything for a bug of ours. */
const complaint = (cause: Cause.Cause<Failed>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => `udg: a bug, please report it: ${Cause.pretty(cause)}\n`,
    onSome: ({ message }) => `udg: ${message}\n`,
  })

/** The whole program: does what the words ask and gives the exit code. */
export const program = (version: string, words: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    const exit = yield* Effect.exit(command(version, words))
    if (Exit.isSuccess(exit)) return 0
    const code = Option.match(Cause.failureOption(exit.cause), { onNone: () => 1, onSome: Ending.exitCodeOf })
    // The log has said the others already.
    if (code === 1) terminal.writeError(complaint(exit.cause))
    return code
  }).pipe(Effect.provide(platform))

/** The exit code of the process: what the program said, or 0 when a signal asked it to stop. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.match(exit, {
    onSuccess: (code) => (typeof code === "number" ? code : 0),
    onFailure: (cause) => (Cause.isInterruptedOnly(cause) ? 0 : 1),
  })
