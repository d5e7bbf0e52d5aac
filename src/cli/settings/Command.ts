import { CliConfig, HelpDoc, Options, Span, type ValidationError } from "@effect/cli"
import { Effect, Record } from "effect"
import type * as Setting from "./Setting.js"
import * as Words from "./Words.js"
import { WrongUsage } from "./WrongUsage.js"

type Settings = Record<string, Setting.Setting<unknown>>

/** The values of a record of settings, under the same keys. */
export type Values<S extends Settings> = { readonly [K in keyof S]: Setting.Value<S[K]> }

/** The name under which each setting was given, its option's where it was not. */
export type Origins<S extends Settings> = { readonly [K in keyof S]: string }

export interface Read<S extends Settings> {
  readonly values: Values<S>
  readonly origins: Origins<S>
}

const exactly = CliConfig.make({ isCaseSensitive: true })

/** The first line of what `@effect/cli` collected: one complaint at a time is enough to act on. */
const firstLine = (doc: HelpDoc.HelpDoc): string => {
  if (HelpDoc.isSequence(doc)) return firstLine(doc.left)
  const span = HelpDoc.getSpan(doc)
  return Span.isText(span) ? span.value : "the command line cannot be read; see --help"
}

const wrongUsage = ({ error }: ValidationError.ValidationError) => new WrongUsage({ message: firstLine(error) })

const originOf = (said: ReadonlyArray<Words.Said>, setting: Setting.Setting<unknown>): string =>
  said.find((each) => each.setting === setting)?.origin ?? `--${setting.name}`

/** Reads the settings from the command line and, where that is silent, from the environment. */
export const read = <S extends Settings>(settings: S, words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const all = Record.values(settings)
    const given = yield* Words.parse(words, all)
    const said = [...given, ...(yield* Words.fromEnvironment(all, given))]
    const origins = Record.map(settings, (setting) => originOf(said, setting))
    const options = Options.all(Record.map(settings, (setting) => setting.toOptions(originOf(said, setting))))
    const line = said.flatMap(({ setting, value }) => [`--${setting.name}`, value])
    const [, , values] = yield* Effect.mapError(Options.processCommandLine(options, line, exactly), wrongUsage)
    return { values: values as Values<S>, origins: origins as Origins<S> } satisfies Read<S>
  })
