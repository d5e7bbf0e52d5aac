/** What axe-core reports for a page, and what a canvas shows. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Locator, Page } from "playwright-core"

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
}

/**
 * Serious and critical findings, one line each. axe runs through the debugger, so that the page's policy stays
 * unchanged.
 */
export const seriousOn = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(source)
  const violations = await page.evaluate<ReadonlyArray<Violation>>("axe.run().then(({ violations }) => violations)")
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`))
}

/** The number of painted colours; an empty canvas has one. */
export const coloursOf = (canvas: Locator): Promise<number> =>
  canvas.evaluate((element) => {
    if (!(element instanceof HTMLCanvasElement)) throw new Error("no canvas")
    const { data } = element.getContext("2d")?.getImageData(0, 0, element.width, element.height) ?? { data: [] }
    const colours = new Set<number>()
    for (let i = 0; i < data.length; i += 4) {
      colours.add(((data[i] ?? 0) << 16) | ((data[i + 1] ?? 0) << 8) | (data[i + 2] ?? 0))
    }
    return colours.size
  })
