/** A command: its settings, its help page and its effect. */
import type { FileSystem, Path, Terminal as PlatformTerminal } from "@effect/platform"
import { Effect, Record } from "effect"
import type { Terminal } from "../terminal/Terminal.js"
import * as ConfigFile from "./ConfigFile.js"
import type * as Help from "./Help.js"
import * as Setting from "./Setting.js"
import * as Words from "./Words.js"
import { quote, type WrongUsage, wrongUsage } from "./WrongUsage.js"

export type Settings = Record<string, Setting.Setting<unknown>>

/** The values of a record of settings, under the same keys. */
export type Values<S extends Settings> = { readonly [K in keyof S]: Setting.Value<S[K]> }

/** The name under which each setting was given; if it was not, its option's name. */
export type Origins<S extends Settings> = { readonly [K in keyof S]: string }

/** The settings' values, from everything that was said about them. */
export const valuesOf = <S extends Settings>(settings: S, said: ReadonlyArray<Words.Said>) =>
  Effect.gen(function* () {
    const of = (setting: Setting.Setting<unknown>) => said.filter((each) => each.setting === setting)
    const origins = Record.map(settings, (setting) => of(setting)[0]?.origin ?? Setting.flagOf(setting))
    const values = yield* Effect.all(Record.map(settings, (setting) => setting.read(of(setting))))
    return { values: values as Values<S>, origins: origins as Origins<S> }
  })

/** Reads the settings from the command line, then from the environment, then from a configuration file. */
export const read = <S extends Settings>(settings: S, words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const all = Record.values(settings)
    const typed = yield* Words.parse(words, all)
    const named = [...typed, ...(yield* Words.fromEnvironment(all, typed))]
    return yield* valuesOf(settings, [...named, ...(yield* ConfigFile.rest(all, named))])
  })

/** Services that a command can use. */
export type Environment = FileSystem.FileSystem | Path.Path | PlatformTerminal.Terminal | Terminal

/** How a command fails. Without an exit code of its own, the error's tag determines it. */
export interface Failed {
  readonly _tag: string
  readonly message: string
  readonly exitCode?: number
}

export interface Command {
  /** Empty for the node, which runs when no command is named. */
  readonly name: string
  readonly about: string
  readonly settings: ReadonlyArray<Setting.Setting<unknown>>
  /** Allowed first words; empty if the first word is not an action. */
  readonly actions: ReadonlyArray<string>
  readonly page: (version: string) => Help.Page
  /** Whether it runs until it is stopped. An interruption is then a success. */
  readonly runsUntilStopped: boolean
  readonly run: (words: ReadonlyArray<string>, version: string) => Effect.Effect<void, Failed, Environment>
}

/** The text of a help page besides the settings. */
export interface Description {
  readonly name: string
  readonly about: string
  readonly examples: Help.Page["examples"]
  readonly footer?: ReadonlyArray<string>
  readonly runsUntilStopped?: boolean
}

export interface Definition<S extends Settings> extends Description {
  readonly settings: S
  readonly usage?: string
  readonly run: (
    values: Values<S>,
    context: { readonly version: string; readonly origins: Origins<S> },
  ) => Effect.Effect<void, Failed, Environment>
}

const usageOf = ({ takes, placeholder, isRequired }: Setting.Setting<unknown>): string =>
  isRequired ? `${placeholder}${takes === "arguments" ? "..." : ""}` : `[${placeholder}]`

const described = (
  { name, about, examples, footer = [], runsUntilStopped = false }: Description,
  settings: Command["settings"],
  actions: Command["actions"],
  usage: string,
  run: Command["run"],
): Command => ({
  name,
  about,
  settings,
  actions,
  page: (version) => ({ title: `udg ${version}: ${about}`, usage, settings, examples, footer }),
  runsUntilStopped,
  run,
})

export const make = <const S extends Settings>(definition: Definition<S>): Command => {
  const { name, settings, run } = definition
  const all = Record.values(settings)
  const usage = ["udg", name, ...all.filter(Setting.isArgument).map(usageOf), "[options]"].join(" ")
  return described(definition, all, [], definition.usage ?? usage, (words, version) =>
    Effect.flatMap(read(settings, words), ({ values, origins }) => run(values, { version, origins })),
  )
}

/** One action of a command such as `udg db`, with its own settings. */
export interface Action {
  readonly settings: Settings
  readonly run: (words: ReadonlyArray<string>) => Effect.Effect<void, Failed, Environment>
}

export const action = <const S extends Settings>(
  settings: S,
  run: (values: Values<S>) => Effect.Effect<void, Failed, Environment>,
): Action => ({ settings, run: (words) => Effect.flatMap(read(settings, words), ({ values }) => run(values)) })

const missingAction = (name: string, word: string | undefined, choices: ReadonlyArray<string>): WrongUsage =>
  wrongUsage(
    `udg ${name} ${word === undefined ? "needs an action" : `has no action ${quote(word)}`}; use ${choices.join(", ")} or --help`,
  )

/** A command whose first word names an action. `otherwise` runs without one. */
export const withActions = (
  description: Description,
  actions: ReadonlyMap<string, Action>,
  otherwise?: Command,
): Command => {
  const ofActions = [...actions.values()].flatMap((each) => Object.values(each.settings))
  const settings = [...new Set([...(otherwise?.settings ?? []), ...ofActions])]
  const choices = [...actions.keys()]
  const places = [...new Set(settings.filter(Setting.isArgument).map(({ placeholder }) => `[${placeholder}]`))]
  // With many actions, spaces allow a line break between two.
  const words = choices.join(otherwise === undefined ? "|" : " | ")
  const usage = ["udg", description.name, words, ...places, "[options]"].join(" ")
  const whole = otherwise === undefined ? usage : `udg ${description.name} [options], or ${usage}`
  return described(description, settings, choices, whole, (given, version) => {
    const [word, ...rest] = given
    const chosen = actions.get(word ?? "")
    if (chosen !== undefined) return chosen.run(rest)
    if (otherwise !== undefined && (word ?? "-").startsWith("-")) return otherwise.run(given, version)
    return missingAction(description.name, word, choices)
  })
}
