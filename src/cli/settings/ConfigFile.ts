/**
 * A configuration file: a JSON object whose fields are options without dashes. The command line and the environment
 * override it.
 */
import type { FileSystem } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import * as JsonText from "../../protocol/encoding/JsonText.js"
import * as AtomicFile from "../../storage/files/AtomicFile.js"
import * as Reader from "./Reader.js"
import * as Setting from "./Setting.js"
import type { Said } from "./Words.js"
import * as Words from "./Words.js"
import { quote, type WrongUsage, wrongUsage } from "./WrongUsage.js"

type Settings = ReadonlyArray<Setting.Setting<unknown>>

/** The option that commands with a configuration file have. */
export const setting = Setting.group("Configuration").optional(
  "--config FILE",
  "a JSON file with any of these options, without the dashes; the command line and the environment override it",
  Reader.file,
)

/** Editors find the schema of the file here. */
const SCHEMA = "$schema"

const optionsOf = (settings: Settings): Settings =>
  settings.filter((each) => each !== setting && !Setting.isArgument(each))

/** Room for every option a hundred times. Each peer costs microseconds at the start and a place in the address book. */
const MAX_BYTES = 262_144
const MAX_VALUES = 4_096

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields of the file, each once. Fails with the rest of a sentence that begins with the file's name. */
const entriesOf = (
  file: string,
): Effect.Effect<ReadonlyArray<readonly [string, unknown]>, string, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const text = yield* Effect.mapError(AtomicFile.readText(file, MAX_BYTES), (why) => ` cannot be read: ${why}`)
    const excess = JsonText.excessOf(text, { values: MAX_VALUES, depth: JsonText.MAX_DEPTH })
    if (excess !== undefined) return yield* Effect.fail(` is too large: ${excess}`)
    const isNone = ' is not a JSON object; write { "rpc-port": 10333 }'
    const value = yield* Effect.mapError(JsonText.parse(text, ""), ({ field, reason }) =>
      field === "" ? isNone : `: ${field} ${reason}`,
    )
    return isObject(value) ? Object.entries(value) : yield* Effect.fail(isNone)
  })

const isSingle = Schema.is(Schema.Union(Schema.String, Schema.Number, Schema.Boolean))
const isList = Schema.is(Schema.Array(Schema.Union(Schema.String, Schema.Number, Schema.Boolean)))

const unknown = (file: string, name: string, options: Settings): WrongUsage => {
  const names = options.map(({ name }) => name)
  const hint = Option.match(Words.nearest(name.toLowerCase(), names), {
    onNone: () => "udg config schema lists all",
    onSome: (meant) => `did you mean ${meant}?`,
  })
  return wrongUsage(`${file}: ${quote(name)} is not an option; ${hint}`)
}

/** Does not show the value, which can be secret or too deep to print. */
const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : typeof value

const textsOf = (origin: string, { takes }: Setting.Setting<unknown>, value: unknown) => {
  if (value === "") return wrongUsage(`${origin} is empty; leave it out, or give it a value`)
  if (isSingle(value)) return Effect.succeed([String(value)])
  if (takes === "values" && isList(value)) return Effect.succeed(value.map(String))
  const expected = takes === "values" ? "a text or a list of texts" : "a text, a number, true or false"
  return wrongUsage(`${origin} is ${kindOf(value)}; use ${expected}`)
}

/** The settings that the file contains. */
export const read = (
  settings: Settings,
  file: string,
): Effect.Effect<ReadonlyArray<Said>, WrongUsage, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const options = optionsOf(settings)
    const entries = yield* Effect.mapError(entriesOf(file), (why) => wrongUsage(`${file}${why}`))
    const said: Array<Said> = []
    for (const [name, value] of entries) {
      if (name === SCHEMA) continue
      const option = options.find((each) => each.name === name)
      if (option === undefined) return yield* unknown(file, name, options)
      const origin = `${file}: ${name}`
      for (const text of yield* textsOf(origin, option, value)) said.push({ setting: option, origin, value: text })
    }
    return said
  })

/** The settings from the file, except those that the command line or the environment has set. */
export const rest = (settings: Settings, said: ReadonlyArray<Said>) =>
  Effect.gen(function* () {
    const named = said.filter((each) => each.setting === setting)
    const file = settings.some((each) => each === setting) ? yield* setting.read(named) : Option.none<string>()
    if (Option.isNone(file)) return []
    const all = yield* read(settings, file.value)
    return all.filter((each) => !said.some((other) => other.setting === each.setting))
  })

/** The log format for the final error of a program that could not read its settings. */
export const logFormatOf = (file: string): Effect.Effect<unknown, never, FileSystem.FileSystem> =>
  Effect.match(entriesOf(file), {
    onFailure: () => undefined,
    onSuccess: (entries) => entries.find(([name]) => name === "log-format")?.[1],
  })

const typeOf = ({ takes }: Setting.Setting<unknown>) => {
  const single = ["string", "number", "boolean"]
  if (takes === "flag") return { type: "boolean" }
  if (takes !== "values") return { type: single }
  return { type: [...single, "array"], items: { type: single } }
}

/** The JSON Schema of such a file. */
export const schemaOf = (title: string, settings: Settings) => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title,
  type: "object",
  additionalProperties: false,
  properties: {
    [SCHEMA]: { type: "string" },
    ...Object.fromEntries(
      optionsOf(settings).map((option) => [
        option.name,
        {
          description: `${option.placeholder === "" ? "" : `${option.placeholder}: `}${option.about}`,
          ...Option.match(option.otherwise, {
            onNone: () => ({}),
            onSome: (text) => ({ $comment: `default: ${text}` }),
          }),
          ...typeOf(option),
        },
      ]),
    ),
  },
})
