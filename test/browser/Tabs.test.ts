/** Many tabs of one browser over one node: browsers open six connections at a time to an origin. */
import { Option } from "effect"
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import { streamsOfOne } from "../../src/edge/definition/EventStream.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Visitor from "./Visitor.js"

const TABS = 20

const node = forTests(() => RealNode.start({ roundMs: Option.some(500) }))
const visitor = Visitor.forTests()

const roundOn = async (page: Page): Promise<number> =>
  Number((await page.locator(".pulse.live b").textContent())?.replaceAll(",", ""))

it("twenty tabs follow the rounds over one event stream", async () => {
  const { page } = await visitor.open()
  const context = page.context()
  const tabs = [page]
  while (tabs.length < TABS) tabs.push(await context.newPage())
  for (const tab of tabs) {
    await tab.goto(`${node().url}/explorer/`, { waitUntil: "domcontentloaded" })
    await tab.locator(".figure-card").first().waitFor()
    await tab.getByRole("region", { name: "The latest rounds" }).getByText("committed").first().waitFor()
  }
  const before = await Promise.all(tabs.map(roundOn))
  for (const [n, tab] of tabs.entries()) await expect.poll(() => roundOn(tab)).toBeGreaterThan((before[n] ?? 0) + 1)
  // The node allows this address eight streams. All but one are still free.
  const others = Array.from({ length: streamsOfOne - 1 }, () => connect(node().url).events()[Symbol.asyncIterator]())
  for (const stream of others) expect((await stream.next()).done).toBe(false)
  for (const stream of others) await stream.return?.()
  await context.close()
})

it("a browser without shared workers follows the rounds too, without a stream", async () => {
  const { page, sent } = await visitor.open()
  await page.addInitScript("delete globalThis.SharedWorker")
  await page.goto(`${node().url}/explorer/`)
  const before = await roundOn(page)
  await expect.poll(() => roundOn(page)).toBeGreaterThan(before + 4)
  expect(sent.filter((request) => request.includes("/events"))).toEqual([])
})
