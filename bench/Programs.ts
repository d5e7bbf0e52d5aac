/**
 * The builds that a bench compares, in turn. `UDG_PROGRAMS` names their `main.js`, with commas between, each with the Node that
 * runs it before it where that is not this one; without it there is only the one of this tree.
 */
import { join } from "node:path"
import process from "node:process"

const OWN = join(import.meta.dirname, "..", "dist", "main.js")

interface Named {
  /** As it was named, which is its title; of the only one, nothing. */
  readonly words: string
  readonly program: { readonly program: string; readonly node: string }
}

const named = (words: string): Named => {
  const [program = OWN, node = process.execPath] = words.split(" ").reverse()
  return { words, program: { program, node } }
}

export const all = (): ReadonlyArray<Named> => (process.env["UDG_PROGRAMS"]?.split(",") ?? [OWN]).map(named)
