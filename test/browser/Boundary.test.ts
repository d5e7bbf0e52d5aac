/** What remains of the explorer when an invalid response or a bug of its own breaks part of a page. */
import { setTimeout as sleep } from "node:timers/promises"
import { Option } from "effect"
import type { Page } from "playwright-core"
import { beforeAll, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(250) }))
const visitor = Visitor.forTests()
let vertex: string

beforeAll(async () => {
  const client = connect(node().url)
  for (;;) {
    const { columns } = await client.dag.columns({ urlParams: {} })
    const settled = columns.find(({ finalized }) => finalized)?.vertices[0]
    if (settled !== undefined) {
      vertex = settled.hash
      break
    }
    await sleep(200)
  }
})

/** Navigation and search still work. */
const leadsOn = async (page: Page): Promise<void> => {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Parameters" }).click()
  await page.getByRole("heading", { level: 1, name: "Parameters" }).waitFor()
  await page.getByText("min_fee_sats").first().waitFor()
}

it("refuses a vertex with an impossible time, and keeps the rest of the page alive", async () => {
  const { page } = await visitor.open()
  await page.route(`**/vertex/${vertex}`, async (route) => {
    if (route.request().resourceType() === "document") return route.continue()
    const answered = await route.fetch()
    const json: unknown = await answered.json()
    await route.fulfill({ response: answered, json: Object.assign({}, json, { timestamp: Number.MAX_SAFE_INTEGER }) })
  })
  await page.goto(`${node().url}/explorer/vertex/${vertex}`)
  expect(await page.getByRole("alert").textContent()).toMatch(/^Could not load this vertex: .*253402300799999/)
  expect(await Axe.seriousOn(page)).toEqual([])
  await leadsOn(page)
  await page.unrouteAll({ behavior: "ignoreErrors" })
})

it("offers a retry only for what can change", async () => {
  const { page } = await visitor.openTroubled()
  await page.goto(`${node().url}/explorer/accounts`)
  const alert = page.getByRole("alert")
  expect(await alert.textContent()).toMatch(/^Could not load the accounts: .*archive/)
  expect(await alert.getByRole("button").count()).toBe(0)
  await page.route("**/peers", (route) => {
    if (route.request().resourceType() === "document") return route.continue()
    return route.abort()
  })
  await page.goto(`${node().url}/explorer/peers`)
  await page.getByRole("button", { name: "Try again" }).waitFor()
  await page.unrouteAll({ behavior: "ignoreErrors" })
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByText("No connections.").waitFor()
})

it("shows the error of a failed part with a retry, and keeps its surroundings alive", async () => {
  const { page } = await visitor.openTroubled()
  await page.addInitScript(`
    globalThis.isBroken = true
    const whole = Date.prototype.toISOString
    Date.prototype.toISOString = function () {
      if (globalThis.isBroken) throw new Error("planted")
      return whole.call(this)
    }
  `)
  await page.goto(`${node().url}/explorer/vertex/${vertex}`)
  const alert = page.getByRole("alert")
  expect(await alert.textContent()).toContain("Could not show this page: planted.")
  await page.getByRole("heading", { level: 1, name: /^Vertex / }).waitFor()
  await leadsOn(page)
  expect(await alert.count()).toBe(0)

  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "DAG" }).click()
  expect(await alert.textContent()).toContain("Could not show “Rounds”: planted.")
  expect(await page.locator(".dag canvas").count()).toBe(1)

  await page.evaluate("globalThis.isBroken = false")
  await alert.getByRole("button", { name: "Try again" }).click()
  await page.getByRole("region", { name: "The latest rounds" }).getByText("committed").first().waitFor()
  expect(await alert.count()).toBe(0)
})
