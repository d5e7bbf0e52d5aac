import { Effect, Either, Option } from "effect"
import * as Environment from "../terminal/Environment.js"
import * as Setting from "./Setting.js"
import { quote, WrongUsage } from "./WrongUsage.js"

export interface Said extends Setting.Given {
  readonly setting: Setting.Setting<unknown>
}

type Settings = ReadonlyArray<Setting.Setting<unknown>>

const complain = (message: string): Either.Either<never, WrongUsage> => Either.left(new WrongUsage({ message }))

/** Whether two adjacent letters are swapped, the most common typing error: "sned". */
const isSwapped = (word: string, candidate: string): boolean =>
  [...word].some((letter, i) => {
    const swapped = word.slice(0, i) + word.charAt(i + 1) + letter + word.slice(i + 2)
    return i + 1 < word.length && swapped === candidate
  })

/** The Levenshtein distance. */
const edits = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let at = 0; at < from.length; at++) {
    const next = [at + 1]
    for (const [i, above] of row.slice(1).entries()) {
      const changed = (row[i] ?? 0) + (from[at] === to[i] ? 0 : 1)
      next.push(Math.min(changed, above + 1, (next[i] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

const distanceOf = (word: string, candidate: string): number =>
  isSwapped(word, candidate) ? 1 : edits(word, candidate)

/** The most similar candidate, if it is similar enough. */
export const nearest = (word: string, candidates: ReadonlyArray<string>): Option.Option<string> => {
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, candidate.length / 4) && distance < word.length - 2)
    .sort((a, b) => a.distance - b.distance)
  return Option.map(Option.fromNullable(best), ({ candidate }) => candidate)
}

const unknown = (word: string, options: Settings) => {
  const what = word.startsWith("-") ? "is not an option" : "is an argument, and none is expected here"
  const plain = word.toLowerCase().replace(/^-*/, "--").replaceAll("_", "-")
  const flags = ["--help", "--version", ...options.map(Setting.flagOf)]
  // `--port` for `--rpc-port`: the first option with this ending.
  const longer = Option.fromNullable(flags.find((flag) => plain.length > 2 && flag.endsWith(plain.slice(1))))
  const hint = Option.match(
    Option.orElse(nearest(plain, flags), () => longer),
    {
      onNone: () => "see --help for all options",
      onSome: (option) => `did you mean ${option}? See --help`,
    },
  )
  return complain(`${quote(word)} ${what}; ${hint}`)
}

const missing = (setting: Setting.Setting<unknown>, instead: string | undefined) => {
  const found = instead === undefined ? "nothing follows" : `${quote(instead)} follows`
  const option = Setting.flagOf(setting)
  return complain(`${option} needs a value, but ${found}; write ${option} ${setting.placeholder}`)
}

const isOption = (word: string): boolean => word.startsWith("--") || /^-[a-z]/i.test(word)

interface Line {
  readonly words: ReadonlyArray<string>
  readonly options: Settings
  /** With positional arguments, a word after a flag is an argument: `vote 1 --json yes`. */
  readonly flagsStandAlone: boolean
}

/** The option at this position and the number of words it takes. */
const optionAt = (
  { words, options, flagsStandAlone }: Line,
  at: number,
): Either.Either<{ readonly said: Said; readonly taken: number }, WrongUsage> =>
  Either.gen(function* () {
    const [, option = words[at] ?? "", attached] = /^(--[^=]+)=(.*)$/s.exec(words[at] ?? "") ?? []
    const setting = options.find((each) => Setting.flagOf(each) === option)
    if (setting === undefined) return yield* unknown(option, options)
    const following = words[at + 1]
    const mayFollow = setting.takes !== "flag" || !flagsStandAlone
    const follows = attached === undefined && mayFollow && following !== undefined && !isOption(following)
    const bare = setting.takes === "flag" && attached === undefined && !follows
    const value = bare ? "true" : (attached ?? (follows ? following : ""))
    if (value === "") return yield* missing(setting, attached ?? following)
    return { said: { setting, origin: option, value }, taken: follows ? 2 : 1 }
  })

const isOneTooMany = ({ setting, origin, value }: Said, before: Said | undefined) =>
  setting.takes !== "values" && before !== undefined
    ? complain(`${origin} is set twice, to ${quote(before.value)} and ${quote(value)}; set it once`)
    : Either.void

/** The argument at this word's position. */
const argumentAt = (word: string, places: Settings, said: ReadonlyArray<Said>): Either.Either<Said, WrongUsage> => {
  const isFree = (place: Setting.Setting<unknown>) =>
    place.takes === "arguments" || !said.some(({ setting }) => setting === place)
  const setting = places.find(isFree)
  return setting === undefined
    ? complain(`${quote(word)} is one argument too many; see --help`)
    : Either.right({ setting, origin: setting.placeholder, value: word })
}

/** Parses the command line, or fails with the first invalid word. */
export const parse = (
  words: ReadonlyArray<string>,
  settings: Settings,
): Either.Either<ReadonlyArray<Said>, WrongUsage> =>
  Either.gen(function* () {
    const said: Array<Said> = []
    const places = settings.filter(Setting.isArgument)
    const options = settings.filter((setting) => !Setting.isArgument(setting))
    const line: Line = { words, options, flagsStandAlone: places.length > 0 }
    // After a lone `--`, every word is an argument.
    const dashes = places.length === 0 ? -1 : words.indexOf("--")
    const end = dashes === -1 ? words.length : dashes
    for (let i = 0; i < end; ) {
      const word = words[i] ?? ""
      if (places.length > 0 && !isOption(word)) {
        said.push(yield* argumentAt(word, places, said))
        i++
        continue
      }
      const option = yield* optionAt(line, i)
      const before = said.find(({ setting }) => setting === option.said.setting)
      yield* isOneTooMany(option.said, before)
      said.push(option.said)
      i += option.taken
    }
    for (const word of words.slice(end + 1)) said.push(yield* argumentAt(word, places, said))
    const absent = places.find((place) => place.isRequired && !said.some(({ setting }) => setting === place))
    if (absent !== undefined) return yield* complain(Setting.missing(absent))
    return said
  })

/** Values from the environment for settings that the command line omits. An empty variable counts as unset. */
export const fromEnvironment = (
  settings: Settings,
  said: ReadonlyArray<Said>,
): Effect.Effect<ReadonlyArray<Said>, never> =>
  Effect.forEach(
    settings.filter((setting) => !Setting.isArgument(setting) && !said.some((each) => each.setting === setting)),
    (setting) =>
      Environment.variable(Setting.variableOf(setting)).pipe(
        Effect.map((text) => (setting.takes === "values" ? text.split(",") : [text])),
        Effect.map((texts) => texts.map((each) => each.trim()).filter((each) => each !== "")),
        Effect.map((texts) => texts.map((value) => ({ setting, origin: Setting.variableOf(setting), value }))),
      ),
  ).pipe(Effect.map((each) => each.flat()))
