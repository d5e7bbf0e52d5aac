/** Layouts at screen sizes where content used to be cut off, hidden or formatted differently than elsewhere. */
import { Option } from "effect"
import { expect, it } from "vitest"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Browsers from "./Browser.js"
import * as Purse from "./Purse.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(250) }))
const visitor = Visitor.forTests()

it("fits the latest rounds beside the transactions, with their time", async () => {
  const page = await visitor.visit(`${node().url}/explorer/`, { viewport: { width: 1280, height: 900 } })
  const table = page.getByRole("region", { name: "The latest rounds" })
  await table.getByText("ago").first().waitFor()
  expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
})

it("fits a peer's row, with separate columns for its key and its address", async () => {
  const { page } = await visitor.open({ viewport: { width: 1280, height: 900 } })
  const id = "6a4c1f7d0e5b92c83d14a6f70b9e28d5c3f1a07e4b6d8290f5c7e3a1b2d4f608"
  const peer = { id, address: `${id}@203.0.113.7:9333`, direction: "outbound", latency_ms: 12.4 }
  const more = { agent: "udg/0.1.0 (protocol 2, database 6)", connected_since: Date.now() }
  const json = { connected: 1, peers: [{ ...peer, ...more }], bootstrap_nodes: [] }
  await page.route("**/peers", (route) =>
    route.request().resourceType() === "document" ? route.continue() : route.fulfill({ json }),
  )
  await page.goto(`${node().url}/explorer/peers`)
  const table = page.getByRole("region", { name: "Connected nodes" })
  await table.getByText("203.0.113.7:9333", { exact: true }).waitFor()
  expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
})

it("shows the wallet on a phone's screen without scrolling the menu", async () => {
  const page = await visitor.visit(`${node().url}/explorer/`, Browsers.phone)
  const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Wallet" })
  const box = await link.boundingBox()
  expect((box?.x ?? 1_000) + (box?.width ?? 0)).toBeLessThanOrEqual(Browsers.phone.viewport.width)
})

it("keeps the focus on the page after an import, and hides the secret only once it was shown", async () => {
  const page = await visitor.visit(`${node().url}/explorer/wallet`, Browsers.phone)
  await Purse.bringKey(page, Option.getOrThrow(node().validatorKey).toSecretHex())
  await expect.poll(() => page.evaluate("document.activeElement?.tagName")).toBe("H1")
  expect(await page.evaluate("scrollY")).toBe(0)
  await page.getByRole("button", { name: /^Show the secret key/ }).click()
  expect(await page.getByRole("button", { name: "Hide the secret key" }).count()).toBe(0)
  await page.getByRole("button", { name: "Cancel" }).click()
  await page.getByRole("button", { name: /^Show the secret key/ }).waitFor()
})
