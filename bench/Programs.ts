/**
 * The builds that a bench compares in turns. `UDG_PROGRAMS` lists their `main.js`, separated by commas, each preceded
 * by its Node.js unless that is the current one. Without it, only this tree's build runs.
 */
import { join } from "node:path"
import process from "node:process"

const OWN = join(import.meta.dirname, "..", "dist", "main.js")

interface Named {
  /** As named, which is the title; empty for a single build. */
  readonly words: string
  readonly program: { readonly program: string; readonly node: string }
}

const named = (words: string): Named => {
  const [program = OWN, node = process.execPath] = words.split(" ").reverse()
  return { words, program: { program, node } }
}

export const all = (): ReadonlyArray<Named> => (process.env["UDG_PROGRAMS"]?.split(",") ?? [OWN]).map(named)
