/** Time series of a real node, in a real browser. */
import { setTimeout as sleep } from "node:timers/promises"
import { Option } from "effect"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"
import * as Painted from "./Painted.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(100) }))
const visitor = Visitor.forTests()

beforeAll(async () => {
  const client = connect(node().url)
  while ((await client.monitoring.history({ urlParams: {} })).at.length < 8) await sleep(200)
})

const plot = (page: Page, title: string) => page.getByRole("region", { name: title }).getByRole("img")

/** A page over a gateway, with made-up responses to what a node cannot answer. */
const withArchive = (page: Page) =>
  page.route("**/network", async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), has_archive: true } })
  })

const DAY_MS = 86_400_000
/** Entries in one response. */
const A_PAGE = 500

describe("the charts", () => {
  it.each([
    ["on a desktop, dark", { colorScheme: "dark" }],
    ["on a phone, light", { ...Browsers.phone, colorScheme: "light" }],
  ] as const)(
    "draw the figures that the node kept before the page was opened, and announce them, %s",
    async (_, options) => {
      const page = await visitor.visit(`${node().url}/explorer/charts`, options)
      const rounds = plot(page, "Rounds per second")
      await rounds.waitFor()
      expect(await rounds.getAttribute("aria-label")).toMatch(
        /^Rounds per second, the last hour: between \S+ and \S+, now \d+/,
      )
      for (const title of ["Transactions per second", "Time to finality, seconds", "Supply, UDG", "Staked, UDG"]) {
        expect(await plot(page, title).getAttribute("aria-label"), title).toMatch(/now [\d,.]+$/)
      }
      expect(await Axe.coloursOf(rounds.locator("canvas"))).toBeGreaterThan(4)
      expect(await Browsers.isTooWide(page)).toBe(false)
      const right = async (title: string): Promise<number> => {
        const box = await page.getByRole("region", { name: title }).boundingBox()
        return Math.round((box?.x ?? 0) + (box?.width ?? 0))
      }
      // With an odd number of charts, the last one fills its row.
      expect(await right("Pending transactions")).toBe(await right("Staked, UDG"))
      expect(await Axe.seriousOn(page)).toEqual([])
    },
  )

  it("show the values under the pointer in all of them, and another period", async () => {
    const page = await visitor.visit(`${node().url}/explorer/charts`)
    await page.getByRole("radio", { name: "5 min" }).check()
    const chart = page.getByRole("region", { name: "Rounds per second" })
    await chart.getByText("now", { exact: true }).waitFor()
    expect(await plot(page, "Rounds per second").getAttribute("aria-label")).toContain("the last five minutes")
    const box = await chart.locator(".u-over").boundingBox()
    if (box === null) throw new Error("the chart has no place to point at")
    await page.mouse.move(box.x + box.width * 0.95, box.y + box.height / 2)
    const moment = /\d{4}, \d{2}:\d{2}:\d{2}/
    await chart.getByText(moment).waitFor()
    await page.getByRole("region", { name: "Time to finality, seconds" }).getByText(moment).waitFor()
    await page.mouse.move(5, 5)
    await chart.getByText("now", { exact: true }).waitFor()
    await page.getByRole("radio", { name: "1 y" }).check()
    await expect.poll(() => plot(page, "Supply, UDG").getAttribute("aria-label")).toContain("the last year")
  })

  it("draw a balance as steps that last until the next change", async () => {
    const { page } = await visitor.open()
    await withArchive(page)
    const began = Date.now() - 600_000
    const balances = [300, 100, 200].map((coins, i) => ({
      ...{ commit: 3 - i, nonce: 0, timestamp: began + (3 - i) * 60_000, balance: coins * 100_000_000 },
    }))
    const { validators } = await connect(node().url).staking.validators()
    const address = validators[0]?.address
    await page.route("**/account/*/balances?*", (route) =>
      route.fulfill({ json: { address, balances, next_commit: null } }),
    )
    await page.goto(`${node().url}/explorer/address/${address}`)
    const chart = plot(page, "Balance over time")
    await chart.waitFor()
    expect(await chart.getAttribute("aria-label")).toBe(
      "Balance, UDG, since the network began: between 100.00 and 300.00, now 300.00",
    )
    const line = await Painted.rowsOf(chart.locator("canvas"), "--accent")
    const tops = line.map(([top]) => top).filter((top) => top !== undefined)
    const heights = new Map<number, number>()
    for (const top of tops) heights.set(top, (heights.get(top) ?? 0) + 1)
    // The line goes from 200 to 100, and to 300 only at the right edge. A slope would have a different height in every
    // column.
    const levels = [...heights].filter(([, columns]) => columns > tops.length / 4).map(([top]) => top)
    expect(levels).toHaveLength(2)
    expect(levels[0]).toBeLessThan(levels[1] ?? 0)
    expect(heights.size).toBeLessThan(8)
  })

  it.each([2 * A_PAGE, 2 * A_PAGE + 1])("draw each of %i days, over several answers", async (days) => {
    const { page } = await visitor.open()
    await withArchive(page)
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
    const asked: Array<string | null> = []
    await page.route("**/statistics?*", async (route) => {
      const query = new URL(route.request().url()).searchParams
      asked.push(query.get("until"))
      const until = Number(query.get("until") ?? today + 1)
      // The first day has one vertex, and each later day one more.
      const statistics = Array.from({ length: days }, (_, back) => ({ timestamp: today - back * DAY_MS, back }))
        .filter(({ timestamp }) => timestamp < until)
        .slice(0, Number(query.get("limit")))
        .map(({ timestamp, back }) => ({
          ...{ timestamp, commits: 1, vertices: days - back, transactions: 0, failed: 0, fees: 0, total_supply: 1e8 },
        }))
      await route.fulfill({ json: { statistics } })
    })
    await page.goto(`${node().url}/explorer/charts`)
    const vertices = plot(page, "Vertices per day")
    await vertices.waitFor()
    const most = days.toLocaleString("en")
    expect(await vertices.getAttribute("aria-label")).toBe(
      `Vertices per day, since the network began: between 1 and ${most}, last ${most}`,
    )
    expect(asked).toHaveLength(3)
  })

  it("stack missed rounds on those that were made", async () => {
    const { page } = await visitor.open()
    await page.route("**/validator/*/rounds?*", async (route) => {
      const response = await route.fetch()
      const { step_ms: step, ...rest } = await response.json()
      const at = [3, 2, 1].map((back) => Math.floor(Date.now() / step - back) * step)
      await route.fulfill({ response, json: { ...rest, step_ms: step, at, made: [60, 60, 60], missed: [40, 40, 40] } })
    })
    const { validators } = await connect(node().url).staking.validators()
    await page.goto(`${node().url}/explorer/validator/${validators[0]?.address}`)
    const canvas = plot(page, "Rounds made and missed").locator("canvas")
    await canvas.waitFor()
    const made = await Painted.rowsOf(canvas, "--good")
    const missed = await Painted.rowsOf(canvas, "--bad")
    // Only the middle of each bar: colours mix at the edges.
    const bars = made.map((rows, x) => ({ made: rows, missed: missed[x] ?? [] })).filter(({ made }) => made.length > 30)
    expect(bars.length).toBeGreaterThan(30)
    for (const bar of bars) {
      expect(Math.max(...bar.missed)).toBeLessThan(Math.min(...bar.made))
      expect(bar.made.length / (bar.made.length + bar.missed.length)).toBeCloseTo(0.6, 1)
    }
  })

  it("appear in small on a freshly loaded overview", async () => {
    const page = await visitor.visit(`${node().url}/explorer/`)
    const trend = page.getByRole("img", { name: /^Rounds per second: between/ })
    await trend.waitFor()
    await page.reload()
    await trend.waitFor()
  })
})
