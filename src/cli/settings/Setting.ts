import { HelpDoc, Options, ValidationError } from "@effect/cli"
import { Effect, Option } from "effect"
import type { Reader } from "./Reader.js"
import * as WrongUsage from "./WrongUsage.js"

/**
 * One thing a person can decide: an option of the command line that is also an environment variable, or an argument, which
 * is given by its place among the words and called by its placeholder.
 */
export interface Setting<A> {
  /** Without dashes; `rpc-port` is `--rpc-port` and `UDG_RPC_PORT`. */
  readonly name: string
  readonly group: string
  readonly placeholder: string
  /**
   * `flag`: present or absent, a value may follow. `values`: may be given many times. `argument`: one word by its place;
   * `arguments`: all words that are left.
   */
  readonly takes: "value" | "values" | "flag" | "argument" | "arguments"
  readonly isRequired: boolean
  readonly about: string
  /** What holds when it is not given, as help says it. */
  readonly otherwise: Option.Option<string>
  readonly toOptions: (origin: string) => Options.Options<A>
}

export type Value<S> = S extends Setting<infer A> ? A : never

interface Description {
  readonly group: string
  readonly placeholder: string
  readonly about: string
  readonly otherwise?: string
}

export const isArgument = ({ takes }: Setting<unknown>): boolean => takes === "argument" || takes === "arguments"

export const flagOf = (setting: Setting<unknown>): string => `--${setting.name}`

export const variableOf = (setting: Setting<unknown>): string =>
  `UDG_${setting.name.toUpperCase().replaceAll("-", "_")}`

/** As help shows it. */
export const termOf = (setting: Setting<unknown>): string =>
  isArgument(setting) ? setting.placeholder : `${flagOf(setting)} ${setting.placeholder}`.trimEnd()

const describe = ({ group, placeholder, about, otherwise }: Description) => ({
  group,
  placeholder,
  about,
  otherwise: Option.fromNullable(otherwise),
  isRequired: false,
})

/** Options that read their text with `read`, and complain about it under the name by which it was given. */
const reading =
  <A>(name: string, read: Reader<A>) =>
  (origin: string): Options.Options<A> =>
    Options.mapEffect(Options.text(name), (text) => complaining(origin, text, read))

const complaining = <A>(origin: string, text: string, read: Reader<A>) =>
  Effect.mapError(read(text), (complaint) =>
    ValidationError.invalidValue(HelpDoc.p(`${origin} ${WrongUsage.quote(text)} ${complaint}`)),
  )

/** Given at most once. */
export const value = <A>(name: string, description: Description, read: Reader<A>): Setting<Option.Option<A>> => ({
  name,
  takes: "value",
  ...describe(description),
  toOptions: (origin) => Options.optional(reading(name, read)(origin)),
})

/** Given any number of times; in the environment separated by commas. */
export const values = <A>(name: string, description: Description, read: Reader<A>): Setting<ReadonlyArray<A>> => ({
  name,
  takes: "values",
  ...describe(description),
  toOptions: (origin) =>
    Options.mapEffect(Options.repeated(Options.text(name)), (texts) =>
      Effect.forEach(texts, (text) => complaining(origin, text, read)),
    ),
})

/** On when named; `--name false` and `UDG_NAME=false` say that it stays off. */
export const flag = (name: string, description: Description, read: Reader<boolean>): Setting<boolean> => ({
  name,
  takes: "flag",
  ...describe(description),
  toOptions: (origin) => Options.withDefault(reading(name, read)(origin), false),
})

const ARGUMENTS = "Arguments"

type Argument = Omit<Description, "group">

/** A word that must be there. */
export const argument = <A>(name: string, description: Argument, read: Reader<A>): Setting<A> => ({
  name,
  takes: "argument",
  ...describe({ group: ARGUMENTS, ...description }),
  isRequired: true,
  toOptions: reading(name, read),
})

/** A word that may be left out; behind it there can be no argument that may not. */
export const optionalArgument = <A>(
  name: string,
  description: Argument,
  read: Reader<A>,
): Setting<Option.Option<A>> => ({
  ...value(name, { group: ARGUMENTS, ...description }, read),
  takes: "argument",
})

/** All words that are left, one at least. */
export const remainingArguments = <A>(
  name: string,
  description: Argument,
  read: Reader<A>,
): Setting<ReadonlyArray<A>> => ({
  ...values(name, { group: ARGUMENTS, ...description }, read),
  takes: "arguments",
  isRequired: true,
})
