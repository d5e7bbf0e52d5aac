/**
 * What the assertions of the pure rooms cost: the same work with every `if (…) throw …` in them and without, turn by turn
 * in one process. A ratio of medians of pairs holds on a busy machine too.
 */
import { pathToFileURL } from "node:url"
import { parseSync, Visitor } from "vite"
import * as Bundle from "../test/support/Bundle.js"
import type { works } from "./Asserted.js"
import { type Figure, median, quantile, type Suite } from "./Harness.js"

const ROOMS = /^src\/(protocol|ledger|consensus|replica)\//
const WARM_UP = 6
const PAIRS = Number(process.env["UDG_ASSERTION_PAIRS"] ?? 30)

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

const loaded = async (outfile: string, rewrite?: Bundle.Plant): Promise<typeof works> => {
  const path = await Bundle.make({ entry: "bench/Asserted.ts", outfile, ...(rewrite && { rewrite }) })
  const module = (await import(pathToFileURL(path).href)) as { readonly works: typeof works }
  return module.works
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const withThem = await loaded("asserted/with.js")
  const without = await loaded("asserted/without.js", withoutAssertions)
  const all: Array<Figure> = [{ name: "assertions taken out", value: removed, unit: "" }]
  for (const [name, make] of Object.entries(withThem)) {
    const [a, b] = [make(), without[name]?.() ?? make()]
    for (let i = 0; i < WARM_UP; i++) {
      a()
      b()
    }
    const pairs = Array.from({ length: PAIRS }, (_, i) => {
      if (i % 2 === 0) return [a(), b()] as const
      const later = b()
      return [a(), later] as const
    })
    const ratios = pairs.map(([one, other]) => (100 * one) / other - 100)
    all.push({ name: `${name}: with them`, value: median(pairs.map(([one]) => one)), unit: "ms" })
    all.push({ name: `${name}: cost of the assertions, median`, value: median(ratios), unit: "%" })
    all.push({ name: `${name}: … the middle half from`, value: quantile(ratios, 0.25), unit: "%" })
    all.push({ name: `${name}: … to`, value: quantile(ratios, 0.75), unit: "%" })
  }
  return all
}

export const suite: Suite = { about: `what the assertions cost, ${PAIRS} pairs`, isLong: true, figures }
