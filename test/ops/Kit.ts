/** Reads the files of ops/, to compare them with the program. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { parse } from "yaml"
import * as NodeSettings from "../../src/cli/NodeSettings.js"
import * as Setting from "../../src/cli/settings/Setting.js"

const root = resolve(import.meta.dirname, "../..")

export const pathOf = (name: string): string => resolve(root, "ops", name)

export const textOf = (name: string): string => readFileSync(pathOf(name), "utf8")

export const yamlOf = (name: string): unknown => parse(textOf(name), { merge: true })

const settings = Object.values(NodeSettings.settings)

/** `--data-dir` and all other options of the node. */
export const options: ReadonlySet<string> = new Set(settings.map((setting) => Setting.flagOf(setting)))

/** `UDG_DATA_DIR` and all other variables of the node. */
export const variables: ReadonlySet<string> = new Set(settings.map((setting) => Setting.variableOf(setting)))

/** All options in a text. */
export const optionsIn = (text: string): ReadonlyArray<string> => text.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? []

/** All of our variables in a text. */
export const variablesIn = (text: string): ReadonlyArray<string> => text.match(/\bUDG_[A-Z_]+/g) ?? []

/** The series that a PromQL expression reads: names other than functions, labels and keywords. */
export const seriesIn = (expression: string): ReadonlyArray<string> =>
  expression
    .replace(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, "")
    .replace(/\b(?:and|or|unless|bool)\b|\boffset \w+/g, "")
    .match(/\b[a-zA-Z_:][\w:]*\b(?!\s*\()/g) ?? []

/** Whether to run a test that needs this program. In CI a missing program is a failure, not a skipped test. */
export const isTried = (program: string, ...words: ReadonlyArray<string>): boolean =>
  process.env["CI"] !== undefined || spawnSync(program, words).status === 0
