/** Terminal sessions on pages: the typed lines and their output, compared without what differs between runs. */
import { textOf } from "./Pages.js"

export interface Typed {
  readonly line: string
  readonly shown: string
}

export const BLOCK = /```console\n([\s\S]*?)```/g

/** The typed lines of a block, each with its output. */
export const typedIn = (block: string): ReadonlyArray<Typed> =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [line = "", ...shown] = part.split("\n")
      return { line, shown: shown.join("\n").trimEnd() }
    })

/** The steps of a page in order: a line of a `console` block, or a separate command that runs until it is stopped. */
export type Step = { readonly typed: Typed } | { readonly started: string }

export const stepsOf = (file: string): ReadonlyArray<Step> =>
  [...textOf(file).matchAll(/```console\n([\s\S]*?)```|^ {4}(udg(?: --.*)?)$/gm)].flatMap(
    ([, block, started]): ReadonlyArray<Step> =>
      block === undefined ? [{ started: started ?? "" }] : typedIn(block).map((typed) => ({ typed })),
  )

/** Replaces the output on the page by the real one. */
export const rewritten = (file: string, seen: ReadonlyArray<Typed>): string => {
  const shown = seen.values()
  return textOf(file).replaceAll(BLOCK, (_, block: string) => {
    const parts = typedIn(block).map(({ line }) => `$ ${line}\n${shown.next().value?.shown ?? ""}`.trimEnd())
    return `\`\`\`console\n${parts.join("\n\n")}\n\`\`\``
  })
}

/**
 * The output without what differs between runs: identities, times, amounts and column widths. A verified response has
 * one more line once an epoch has closed, which depends on the speed of the machine.
 */
export const shapeOf = (text: string): string =>
  text
    .replaceAll(/\n--trust +\d+:[0-9a-f]{64}$/gm, "")
    .replaceAll(/\b[0-9a-f]{128}\b|\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b|\bt?udg1[0-9a-z]{38}\b/g, "…")
    .replaceAll(/\b[0-9a-z]+…[0-9a-z]+\b/g, "…")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…")
    .replaceAll(/(?:udg-solo|trade)-[0-9a-f]{16}/g, "…")
    .replaceAll(/127\.0\.0\.1:\d+/g, "…")
    .replaceAll(/\d[\d,]*(?:\.\d+)?/g, "…")
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ $/gm, "")
