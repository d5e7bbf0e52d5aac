/**
 * What the assertions of the pure rooms cost: the same work with every `if (…) throw …` in them and without, in a process
 * each, turn by turn. The least processor time of many runs in a process is what the work takes where nothing disturbs it.
 */
import { execFileSync } from "node:child_process"
import { parseSync, Visitor } from "vite"
import * as Bundle from "../test/support/Bundle.js"
import type { Measured } from "./Asserted.js"
import { type Figure, median, quantile, type Suite } from "./Harness.js"

const ROOMS = /^src\/(protocol|ledger|consensus|replica)\//
const PAIRS = Number(process.env["UDG_ASSERTION_PAIRS"] ?? 12)

let removed = 0

/** The source without statements that do nothing but throw on a condition. */
const withoutAssertions: Bundle.Plant = (file, source) => {
  if (!ROOMS.test(file)) return undefined
  const cuts: Array<{ readonly start: number; readonly end: number }> = []
  const visitor = new Visitor({
    IfStatement: ({ consequent, alternate, start, end }) => {
      const [only, ...others] = consequent.type === "BlockStatement" ? consequent.body : [consequent]
      if (alternate === null && others.length === 0 && only?.type === "ThrowStatement") cuts.push({ start, end })
    },
  })
  visitor.visit(parseSync(file, source).program)
  removed += cuts.length
  // From the end, so that earlier places stay where they are.
  return cuts
    .sort((a, b) => b.start - a.start)
    .reduce((text, { start, end }) => `${text.slice(0, start)};${text.slice(end)}`, source)
}

const bundled = (outfile: string, rewrite?: Bundle.Plant): Promise<string> =>
  Bundle.make({ entry: "bench/Asserted.ts", outfile, ...(rewrite && { rewrite }) })

const measured = (path: string): Measured =>
  JSON.parse(execFileSync(process.execPath, [path], { encoding: "utf8" })) as Measured

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const withThem = await bundled("asserted/with.js")
  const without = await bundled("asserted/without.js", withoutAssertions)
  const pairs = Array.from({ length: PAIRS }, (_, i) => {
    if (i % 2 === 0) return [measured(withThem), measured(without)] as const
    const later = measured(without)
    return [measured(withThem), later] as const
  })
  const all: Array<Figure> = [{ name: "assertions taken out", value: removed, unit: "" }]
  for (const name of Object.keys(pairs[0]?.[0] ?? {})) {
    const times = pairs.map(([one, other]) => [one[name] ?? 0, other[name] ?? 0] as const)
    const costs = times.map(([one, other]) => (100 * one) / other - 100)
    all.push({ name: `${name}: with them`, value: median(times.map(([one]) => one)), unit: "ms" })
    all.push({ name: `${name}: cost of the assertions, median`, value: median(costs), unit: "%" })
    all.push({ name: `${name}: … the middle half from`, value: quantile(costs, 0.25), unit: "%" })
    all.push({ name: `${name}: … to`, value: quantile(costs, 0.75), unit: "%" })
  }
  return all
}

export const suite: Suite = { about: `what the assertions cost, ${PAIRS} pairs`, isLong: true, figures }
