/** The API reference in a real browser: search, requests to this node, and a phone. */
import { Option } from "effect"
import { describe, expect, it } from "vitest"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(250) }))
const visitor = Visitor.forTests()

describe("the API reference", () => {
  it("finds an endpoint, calls this node, and leads back to the explorer", async () => {
    const page = await visitor.visit(`${node().url}/docs`)
    await page.getByLabel("Search the reference").fill("whether node running")
    const health = page.locator("#core\\.health")
    await health.locator("summary").click()
    expect(await page.locator("#core\\.keygen").isVisible()).toBe(false)
    expect(await health.locator(".curl").textContent()).toBe(`curl '${node().url}/health'`)
    await health.getByRole("button", { name: "Send to this node" }).click()
    await health.locator(".answer", { hasText: '"status": "ok"' }).waitFor()
    expect(await page.locator("main").textContent()).not.toContain("`")
    await page.getByRole("link", { name: "← Explorer" }).click()
    await page.waitForURL(/\/explorer\/$/)
  })

  it("fills in an address that this node knows", async () => {
    const page = await visitor.visit(`${node().url}/docs#staking.stakeOf`)
    const stake = page.locator("#staking\\.stakeOf")
    await expect.poll(() => stake.locator(".curl").textContent()).toMatch(/\/stake\/[0-9a-f]{40}'$/)
    await stake.getByRole("button").click()
    await stake.locator(".answer", { hasText: '"in_committee": true' }).waitFor()
  })

  it.each([
    ["a desktop, light", { colorScheme: "light" }],
    ["a phone, dark", { ...Browsers.phone, colorScheme: "dark" }],
  ] as const)("fits the screen of %s with everything open, without serious findings of axe", async (_, how) => {
    const page = await visitor.visit(`${node().url}/docs`, how)
    await page.locator("summary").first().waitFor()
    expect(await Axe.seriousOn(page)).toEqual([])
    await page.evaluate(() => {
      for (const one of document.querySelectorAll("details")) one.open = true
    })
    expect(await Browsers.isTooWide(page)).toBe(false)
  })
})
