import { AutoCorrect, CliConfig } from "@effect/cli"
import { Config, Effect, Either, Option } from "effect"
import * as Setting from "./Setting.js"
import { quote, WrongUsage } from "./WrongUsage.js"

/**
 * What was said, before it is judged: each setting once per value, and where it was said. `@effect/cli` reads words
 * leniently (a missing value falls back to the default, a misspelt option is left over, `--peer=…` is not seen), so
 * everything is brought into the one form here that it reads without surprises: `--name value`.
 */
export interface Said {
  readonly setting: Setting.Setting<unknown>
  /** `--rpc-port` or `UDG_RPC_PORT`: the name a complaint must use. */
  readonly origin: string
  readonly value: string
}

type Settings = ReadonlyArray<Setting.Setting<unknown>>

const complain = (message: string): Either.Either<never, WrongUsage> => Either.left(new WrongUsage({ message }))

const exactly = CliConfig.make({ isCaseSensitive: true })

/** The option that was most likely meant, if one is near enough. */
const nearest = (word: string, settings: Settings): Option.Option<string> => {
  const plain = word.toLowerCase().replace(/^-*/, "--").replaceAll("_", "-")
  const [best] = ["--help", "--version", ...settings.map(Setting.flagOf)]
    .map((option) => ({ option, distance: AutoCorrect.levensteinDistance(plain, option, exactly) }))
    .filter(({ option, distance }) => distance <= Math.max(2, option.length / 4) && distance < plain.length - 2)
    .sort((a, b) => a.distance - b.distance)
  return Option.map(Option.fromNullable(best), ({ option }) => option)
}

const unknown = (word: string, settings: Settings) => {
  const what = word.startsWith("-") ? "is not an option" : "is an argument, and none is expected here"
  const hint = Option.match(nearest(word, settings), {
    onNone: () => "see --help for the options there are",
    onSome: (option) => `did you mean ${option}? See --help`,
  })
  return complain(`${quote(word)} ${what}; ${hint}`)
}

const missing = (setting: Setting.Setting<unknown>, instead: string | undefined) => {
  const found = instead === undefined ? "nothing follows" : `${quote(instead)} follows`
  const option = Setting.flagOf(setting)
  return complain(`${option} needs a value, but ${found}; write ${option} ${setting.placeholder}`)
}

const isOption = (word: string): boolean => word.startsWith("--") || /^-[a-z]/i.test(word)

/** Reads the words of the command line, or names the first that cannot be meant. */
export const parse = (
  words: ReadonlyArray<string>,
  settings: Settings,
): Either.Either<ReadonlyArray<Said>, WrongUsage> =>
  Either.gen(function* () {
    const said: Array<Said> = []
    for (let i = 0; i < words.length; i++) {
      const word = words[i] ?? ""
      const [, option = word, attached] = /^(--[^=]+)=(.*)$/s.exec(word) ?? []
      const setting = settings.find((each) => Setting.flagOf(each) === option)
      if (setting === undefined) return yield* unknown(option, settings)
      const following = words[i + 1]
      const follows = attached === undefined && following !== undefined && !isOption(following)
      const bare = setting.takes === "flag" && attached === undefined && !follows
      const value = bare ? "true" : (attached ?? (follows ? following : ""))
      if (value === "") return yield* missing(setting, attached ?? following)
      if (follows) i++
      const before = said.find((each) => each.setting === setting)
      if (setting.takes !== "values" && before !== undefined)
        return yield* complain(`${option} is given twice, ${quote(before.value)} and ${quote(value)}; give it once`)
      said.push({ setting, origin: option, value })
    }
    return said
  })

/** What the environment says about the settings that the command line left alone. An empty variable says nothing. */
export const fromEnvironment = (
  settings: Settings,
  said: ReadonlyArray<Said>,
): Effect.Effect<ReadonlyArray<Said>, never> =>
  Effect.forEach(
    settings.filter((setting) => !said.some((each) => each.setting === setting)),
    (setting) =>
      variable(Setting.variableOf(setting)).pipe(
        Effect.map((text) => (setting.takes === "values" ? text.split(",") : [text])),
        Effect.map((texts) => texts.map((each) => each.trim()).filter((each) => each !== "")),
        Effect.map((texts) => texts.map((value) => ({ setting, origin: Setting.variableOf(setting), value }))),
      ),
  ).pipe(Effect.map((each) => each.flat()))

/** The text of one environment variable; empty when it is not set. */
export const variable = (name: string): Effect.Effect<string> => Effect.orElseSucceed(Config.string(name), () => "")
