import { Option } from "effect"
import * as Paint from "../terminal/Paint.js"
import { wrapped } from "../terminal/Printable.js"
import * as Setting from "./Setting.js"

/** A group of commands. */
interface Commands {
  readonly title: string
  readonly commands: ReadonlyArray<{ readonly name: string; readonly about: string }>
}

/** A help page. */
export interface Page {
  readonly title: string
  readonly usage: string
  /** All commands, on the program's own page. */
  readonly commands?: ReadonlyArray<Commands>
  readonly settings: ReadonlyArray<Setting.Setting<unknown>>
  readonly examples: ReadonlyArray<readonly [about: string, line: string]>
  readonly footer: ReadonlyArray<string>
}

const width = 80
const column = 30

const room = width - column

/** A term with its meaning beside it, or below it if the term is too long. */
const entry = (term: string, meaning: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first = "", ...rest] = meaning
  const below = (line: string) => `${" ".repeat(column)}${line}`
  const head = `  ${term}`
  return head.length < column - 1
    ? [head.padEnd(column) + first, ...rest.map(below)]
    : [head, below(first), ...rest.map(below)]
}

/** An option's purpose and default, on separate lines if one line is too short. */
const settingEntry = (setting: Setting.Setting<unknown>): ReadonlyArray<string> => {
  const otherwise = Option.map(setting.otherwise, (text) => `[default: ${text}]`)
  const both = [setting.about, ...Option.toArray(otherwise)]
  const together = both.join(" ")
  const meaning = together.length <= room ? [together] : both.flatMap((text) => wrapped(text, room))
  return entry(Setting.termOf(setting), meaning)
}

interface Section {
  readonly title: string
  readonly lines: ReadonlyArray<string>
}

const groups = (settings: ReadonlyArray<Setting.Setting<unknown>>): ReadonlyArray<Section> =>
  [...new Set(settings.map(({ group }) => group))].map((title) => ({
    title,
    lines: settings.filter(({ group }) => group === title).flatMap(settingEntry),
  }))

const listed = ({ title, commands }: Commands): Section => ({
  title,
  lines: commands.flatMap(({ name, about }) => entry(`udg ${name}`, wrapped(about, room))),
})

/** Indents continuation lines. */
const usageLines = (usage: string): ReadonlyArray<string> =>
  wrapped(usage, width - 6).map((text, i) => `${i === 0 ? "  " : "      "}${text}`)

/** Breaks a command line with backslashes. */
const continued = (line: string): ReadonlyArray<string> => {
  const lines = wrapped(line, width - 6)
  return lines.map((text, i) => `${i === 0 ? "" : "  "}${text}${i === lines.length - 1 ? "" : " \\"}`)
}

const example = ([about, line]: Page["examples"][number]): ReadonlyArray<string> => [
  ...wrapped(about, width - 4).map((text) => `  # ${text}`),
  ...continued(line).map((text) => `  ${text}`),
]

const sectionsOf = (page: Page): ReadonlyArray<Section> => [
  { title: "Usage", lines: usageLines(page.usage) },
  ...(page.commands ?? []).map(listed),
  ...groups(page.settings),
  {
    title: "Other",
    lines: [...entry("--help, -h", ["show this page and exit"]), ...entry("--version", ["print the version and exit"])],
  },
  { title: "Examples", lines: page.examples.flatMap(example) },
]

/** Renders the page; `styled` makes headings bold. */
export const render = (page: Page, styled: boolean): string => {
  const heading = styled ? Paint.strong : Paint.plain
  const section = ({ title, lines }: Section): string => [heading(title), ...lines].join("\n")
  const parts = [wrapped(page.title, width).join("\n"), ...sectionsOf(page).map(section)]
  return [...parts, ...page.footer.map((text) => wrapped(text, width).join("\n"))].join("\n\n").trimEnd()
}
