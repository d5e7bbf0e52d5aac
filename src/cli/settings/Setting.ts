import { HelpDoc, Options, ValidationError } from "@effect/cli"
import { Effect, Option } from "effect"
import * as Reader from "./Reader.js"
import * as WrongUsage from "./WrongUsage.js"

/**
 * One thing a person can decide: an option of the command line that is also an environment variable, or an argument, which
 * is given by its place among the words and called by its placeholder.
 */
export interface Setting<A> {
  /** Without dashes: `rpc-port` is `--rpc-port` and `UDG_RPC_PORT`. An argument's name is its placeholder. */
  readonly name: string
  readonly group: string
  readonly placeholder: string
  /**
   * `flag`: present or absent, a value may follow. `values`: may be repeated. `argument`: one word by its place;
   * `arguments`: all remaining words.
   */
  readonly takes: "value" | "values" | "flag" | "argument" | "arguments"
  readonly isRequired: boolean
  readonly about: string
  /** The default, as help shows it. */
  readonly otherwise: Option.Option<string>
  readonly toOptions: (origin: string) => Options.Options<A>
}

export type Value<S> = S extends Setting<infer A> ? A : never

export const isArgument = ({ takes }: Pick<Setting<unknown>, "takes">): boolean =>
  takes === "argument" || takes === "arguments"

export const flagOf = (setting: Pick<Setting<unknown>, "name">): string => `--${setting.name}`

export const variableOf = (setting: Setting<unknown>): string =>
  `UDG_${setting.name.toUpperCase().replaceAll("-", "_")}`

type Named = Pick<Setting<unknown>, "name" | "placeholder" | "takes" | "about">

/** As help shows it. */
export const termOf = (setting: Named): string =>
  isArgument(setting) ? setting.placeholder : `${flagOf(setting)} ${setting.placeholder}`.trimEnd()

export const missing = (setting: Named): string => `${termOf(setting)} is missing: ${setting.about}; see --help`

const complaining = <A>(origin: string, text: string, read: Reader.Reader<A>) =>
  Effect.mapError(read(text), (complaint) =>
    ValidationError.invalidValue(HelpDoc.p(`${origin} ${WrongUsage.quote(text)} ${complaint}`)),
  )

/** Options that read their text with `read`, and complain about it under the name by which it was given. */
const one =
  <A>(name: string, read: Reader.Reader<A>) =>
  (origin: string): Options.Options<A> =>
    Options.mapEffect(Options.text(name), (text) => complaining(origin, text, read))

const several =
  <A>(name: string, read: Reader.Reader<A>) =>
  (origin: string): Options.Options<ReadonlyArray<A>> =>
    Options.mapEffect(Options.repeated(Options.text(name)), (texts) =>
      Effect.forEach(texts, (text) => complaining(origin, text, read)),
    )

const make = <A>(
  group: string,
  term: string,
  about: string,
  takes: Setting<A>["takes"],
  toOptions: (name: string) => Setting<A>["toOptions"],
  otherwise?: string,
): Setting<A> => {
  const [, name = term, placeholder = term] = /^--(\S+) ?(.*)$/.exec(term) ?? []
  const shown = Option.fromNullable(otherwise)
  return { name, group, placeholder, takes, about, isRequired: false, otherwise: shown, toOptions: toOptions(name) }
}

/** The options in one section of a help page. Each is written as help shows it: `--port PORT`. */
export const group = (title: string) => ({
  required: <A>(term: string, about: string, read: Reader.Reader<A>): Setting<A> => {
    const { toOptions, ...rest } = group(title).optional(term, about, read)
    const present = Option.match({
      onNone: () => Effect.fail(ValidationError.missingValue(HelpDoc.p(missing(rest)))),
      onSome: Effect.succeed<A>,
    })
    return { ...rest, isRequired: true, toOptions: (origin) => Options.mapEffect(toOptions(origin), present) }
  },

  optional: <A>(term: string, about: string, read: Reader.Reader<A>, otherwise?: string): Setting<Option.Option<A>> =>
    make(title, term, about, "value", (name) => (origin) => Options.optional(one(name, read)(origin)), otherwise),

  /** `shown` is the default as a person would write it. */
  withDefault: <A>(
    term: string,
    about: string,
    read: Reader.Reader<A>,
    standard: A,
    shown = String(standard),
  ): Setting<A> =>
    make(
      title,
      term,
      about,
      "value",
      (name) => (origin) => Options.withDefault(one(name, read)(origin), standard),
      shown,
    ),

  /** Given any number of times; in the environment, separated by commas. */
  repeated: <A>(term: string, about: string, read: Reader.Reader<A>, otherwise?: string): Setting<ReadonlyArray<A>> =>
    make(title, term, about, "values", (name) => several(name, read), otherwise),

  /** On when named; `--name false` and `UDG_NAME=false` turn it off. */
  flag: (term: string, about: string): Setting<boolean> =>
    make(title, term, about, "flag", (name) => (origin) => {
      const read = one(name, Reader.boolean("true", "false"))
      return Options.withDefault(read(origin), false)
    }),
})

const ARGUMENTS = "Arguments"

/** A required word, written as help shows it: `AMOUNT`. */
export const argument = <A>(term: string, about: string, read: Reader.Reader<A>): Setting<A> => ({
  ...make(ARGUMENTS, term, about, "argument", (name) => one(name, read)),
  isRequired: true,
})

/** A word that may be left out; no required argument may follow it. */
export const optionalArgument = <A>(
  term: string,
  about: string,
  read: Reader.Reader<A>,
  otherwise?: string,
): Setting<Option.Option<A>> => ({ ...group(ARGUMENTS).optional(term, about, read, otherwise), takes: "argument" })

/** All remaining words, at least one. */
export const remainingArguments = <A>(
  term: string,
  about: string,
  read: Reader.Reader<A>,
): Setting<ReadonlyArray<A>> => ({
  ...group(ARGUMENTS).repeated(term, about, read),
  takes: "arguments",
  isRequired: true,
})
