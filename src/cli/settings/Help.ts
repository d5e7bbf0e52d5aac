import { HelpDoc, Span } from "@effect/cli"
import { Option } from "effect"
import { wrapped } from "../terminal/Printable.js"
import * as Setting from "./Setting.js"

/** Commands that belong together. */
interface Commands {
  readonly title: string
  readonly commands: ReadonlyArray<{ readonly name: string; readonly about: string }>
}

/** A page of help. */
export interface Page {
  readonly title: string
  readonly usage: string
  /** The other commands, on the page of the whole program. */
  readonly commands?: ReadonlyArray<Commands>
  readonly settings: ReadonlyArray<Setting.Setting<unknown>>
  readonly examples: ReadonlyArray<readonly [about: string, line: string]>
  readonly footer: ReadonlyArray<string>
}

const width = 80
const column = 30

const room = width - column

/** A term on the left and its meaning on the right, or below if the term is too long. */
const entry = (term: string, meaning: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first = "", ...rest] = meaning
  const below = (line: string) => `${" ".repeat(column)}${line}`
  const head = `  ${term}`
  return head.length < column - 1
    ? [head.padEnd(column) + first, ...rest.map(below)]
    : [head, below(first), ...rest.map(below)]
}

/** The purpose of an option and its default, on separate lines if they do not fit on one. */
const settingEntry = (setting: Setting.Setting<unknown>): ReadonlyArray<string> => {
  const otherwise = Option.map(setting.otherwise, (text) => `[default: ${text}]`)
  const both = [setting.about, ...Option.toArray(otherwise)]
  const together = both.join(" ")
  const meaning = together.length <= room ? [together] : both.flatMap((text) => wrapped(text, room))
  return entry(Setting.termOf(setting), meaning)
}

const section = (title: string, lines: ReadonlyArray<string>): HelpDoc.HelpDoc =>
  HelpDoc.p(Span.spans([Span.strong(title), Span.text(`\n${lines.join("\n")}`)]))

const groups = (settings: ReadonlyArray<Setting.Setting<unknown>>): ReadonlyArray<HelpDoc.HelpDoc> =>
  [...new Set(settings.map(({ group }) => group))].map((group) =>
    section(group, settings.filter((setting) => setting.group === group).flatMap(settingEntry)),
  )

const listed = ({ title, commands }: Commands): HelpDoc.HelpDoc =>
  section(
    title,
    commands.flatMap(({ name, about }) => entry(`udg ${name}`, wrapped(about, room))),
  )

/** What follows the first line stands below what can be left out or chosen. */
const usageLines = (usage: string): ReadonlyArray<string> =>
  wrapped(usage, width - 6).map((text, i) => `${i === 0 ? "  " : "      "}${text}`)

/** A command line as a shell takes it. */
const continued = (line: string): ReadonlyArray<string> => {
  const lines = wrapped(line, width - 6)
  return lines.map((text, i) => `${i === 0 ? "" : "  "}${text}${i === lines.length - 1 ? "" : " \\"}`)
}

/** The page as a document of `@effect/cli`. */
export const toDoc = (page: Page): HelpDoc.HelpDoc =>
  HelpDoc.blocks([
    HelpDoc.p(wrapped(page.title, width).join("\n")),
    section("Usage", usageLines(page.usage)),
    ...(page.commands ?? []).map(listed),
    ...groups(page.settings),
    section("Other", [
      ...entry("--help, -h", ["show this page and exit"]),
      ...entry("--version", ["print the version and exit"]),
    ]),
    section(
      "Examples",
      page.examples.flatMap(([about, line]) => [
        ...wrapped(about, width - 4).map((text) => `  # ${text}`),
        ...continued(line).map((text) => `  ${text}`),
      ]),
    ),
    ...page.footer.map((text) => HelpDoc.p(wrapped(text, width).join("\n"))),
  ])

// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const styling = /\u001b\[[0-9;]*m/g

/** The page as text; `@effect/cli` always writes styling, so it is removed here if unwanted. */
export const render = (page: Page, styled: boolean): string => {
  const text = HelpDoc.toAnsiText(toDoc(page))
  return (styled ? text : text.replaceAll(styling, "")).trimEnd()
}
