import type { FileSystem } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import * as Reader from "./Reader.js"
import { quote, type WrongUsage, wrongUsage } from "./WrongUsage.js"

/** A value as it was written, not yet parsed. */
export interface Given {
  /** The name for error messages: `--rpc-port` or `UDG_RPC_PORT`. */
  readonly origin: string
  readonly value: string
}

/**
 * A setting: an option, which is also an environment variable, or a positional argument, which is named by its
 * placeholder.
 */
export interface Setting<A> {
  /** `rpc-port` for `--rpc-port` and `UDG_RPC_PORT`. An argument's name is its placeholder. */
  readonly name: string
  readonly group: string
  readonly placeholder: string
  /**
   * `flag`: a value is optional. `values`: repeatable. `argument`: one positional word. `arguments`: all remaining
   * words.
   */
  readonly takes: "value" | "values" | "flag" | "argument" | "arguments"
  readonly isRequired: boolean
  readonly about: string
  /** The default, as help shows it. */
  readonly otherwise: Option.Option<string>
  readonly read: (given: ReadonlyArray<Given>) => Effect.Effect<A, WrongUsage, FileSystem.FileSystem>
}

export type Value<S> = S extends Setting<infer A> ? A : never

export const isArgument = ({ takes }: Pick<Setting<unknown>, "takes">): boolean =>
  takes === "argument" || takes === "arguments"

export const flagOf = (setting: Pick<Setting<unknown>, "name">): string => `--${setting.name}`

export const variableOf = (setting: Setting<unknown>): string =>
  `UDG_${setting.name.toUpperCase().replaceAll("-", "_")}`

type Named = Pick<Setting<unknown>, "name" | "placeholder" | "takes" | "about">

/** The setting's name on help pages. */
export const termOf = (setting: Named): string =>
  isArgument(setting) ? setting.placeholder : `${flagOf(setting)} ${setting.placeholder}`.trimEnd()

export const missing = (setting: Named): string => `${termOf(setting)} is missing: ${setting.about}; see --help`

const one =
  <A>(read: Reader.Reader<A>) =>
  ({ origin, value }: Given) =>
    Effect.mapError(read(value), (complaint) => wrongUsage(`${origin} ${quote(value)} ${complaint}`))

const oneOr =
  <A>(standard: A, read: Reader.Reader<A>): Setting<A>["read"] =>
  ([given]) =>
    given === undefined ? Effect.succeed(standard) : one(read)(given)

const make = <A>(
  group: string,
  term: string,
  about: string,
  takes: Setting<A>["takes"],
  read: Setting<A>["read"],
  otherwise?: string,
): Setting<A> => {
  const [, name = term, placeholder = term] = /^--(\S+) ?(.*)$/.exec(term) ?? []
  return { name, group, placeholder, takes, about, isRequired: false, otherwise: Option.fromNullable(otherwise), read }
}

/** The options in one section of a help page, each written as on the page: `--port PORT`. */
export const group = (title: string) => ({
  required: <A>(term: string, about: string, reader: Reader.Reader<A>): Setting<A> => {
    const { read, ...rest } = group(title).optional(term, about, reader)
    const present = Either.fromOption(() => wrongUsage(missing(rest)))
    return { ...rest, isRequired: true, read: (given) => Effect.flatMap(read(given), present) }
  },

  optional: <A>(term: string, about: string, read: Reader.Reader<A>, otherwise?: string): Setting<Option.Option<A>> => {
    const some = (text: string) => Effect.asSome(read(text))
    return make(title, term, about, "value", oneOr(Option.none<A>(), some), otherwise)
  },

  /** `shown` is the default as help prints it. */
  withDefault: <A>(term: string, about: string, read: Reader.Reader<A>, standard: A, shown = String(standard)) =>
    make(title, term, about, "value", oneOr(standard, read), shown),

  /** Repeatable; in the environment, a list separated by commas. */
  repeated: <A>(term: string, about: string, read: Reader.Reader<A>, otherwise?: string): Setting<ReadonlyArray<A>> =>
    make(title, term, about, "values", Effect.forEach(one(read)), otherwise),

  /** True when present; `--name false` and `UDG_NAME=false` make it false. */
  flag: (term: string, about: string) =>
    make(title, term, about, "flag", oneOr(false, Reader.boolean("true", "false"))),
})

const ARGUMENTS = "Arguments"

/** A required positional word, written as on the help page: `AMOUNT`. */
export const argument = <A>(term: string, about: string, read: Reader.Reader<A>): Setting<A> => ({
  ...group(ARGUMENTS).required(term, about, read),
  takes: "argument",
})

/** An optional positional word; no required argument can follow it. */
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
