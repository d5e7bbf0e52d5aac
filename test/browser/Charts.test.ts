/** Figures over time, as the node kept them: over a real node, in a real browser. */
import { setTimeout as sleep } from "node:timers/promises"
import { Option } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as RealNode from "../rpc/RealNode.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"

let node: RealNode.RealNode
let browser: Browser

beforeAll(async () => {
  node = await RealNode.start({ roundMs: Option.some(100) })
  browser = await Browsers.launch()
  const client = connect(node.url)
  while ((await client.monitoring.history({ urlParams: {} })).at.length < 8) await sleep(200)
})
afterAll(async () => {
  await browser?.close()
  await node?.stop()
})

const plot = (page: Page, title: string) => page.getByRole("region", { name: title }).getByRole("img")

describe("the charts", () => {
  it.each([
    ["on a desktop, dark", { colorScheme: "dark" }],
    ["on a phone, light", { ...Browsers.phone, colorScheme: "light" }],
  ] as const)(
    "draw the figures that the node kept before the page was opened, and say them, %s",
    async (_, options) => {
      const { page, troubles } = await Browsers.open(browser, options)
      await page.goto(`${node.url}/explorer/charts`)
      const rounds = plot(page, "Rounds per second")
      await rounds.waitFor()
      expect(await rounds.getAttribute("aria-label")).toMatch(
        /^Rounds per second, the last hour: between \S+ and \S+, now \d+/,
      )
      for (const title of ["Transactions per second", "Time to finality, seconds", "Supply, UDG", "Staked, UDG"]) {
        expect(await plot(page, title).getAttribute("aria-label"), title).toMatch(/now [\d,.]+$/)
      }
      expect(await Axe.coloursOf(rounds.locator("canvas"))).toBeGreaterThan(4)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(await Axe.seriousOn(page)).toEqual([])
      expect(troubles).toEqual([])
      await page.context().close()
    },
  )

  it("say what is under the pointer, in all of them, and show another stretch of time", async () => {
    const { page, troubles } = await Browsers.open(browser)
    await page.goto(`${node.url}/explorer/charts`)
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
    expect(troubles).toEqual([])
    await page.context().close()
  })

  it("are there again, in small, on the overview that was just loaded", async () => {
    const { page } = await Browsers.open(browser)
    await page.goto(`${node.url}/explorer/`)
    const trend = page.getByRole("img", { name: /^Rounds per second: between/ })
    await trend.waitFor()
    await page.reload()
    await trend.waitFor()
    await page.context().close()
  })
})
