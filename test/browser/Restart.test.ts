/** A node that restarts while its pages are open: unchanged, without its database, or as another network. */
import { rmSync } from "node:fs"
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Processes from "../network/Processes.js"
import * as Browsers from "./Browser.js"

let browser: Browser

beforeAll(async () => {
  browser = await Browsers.launch()
})
afterAll(() => browser?.close())
afterEach(() => Processes.removeAll())

const found = (networkId: string) => Processes.found({ validators: 1, roundMs: 150, epochRounds: 60, networkId })

const OPEN = ["--rate-limits", "off"]

/** The options that give a node the HTTP address of another one. */
const where = ({ http }: Processes.Started): ReadonlyArray<string> => [...OPEN, "--rpc-port", new URL(http ?? "").port]

const open = async ({ http }: Processes.Started, path: string, of = browser.newContext()) => {
  const page = await (await of).newPage()
  page.setDefaultTimeout(240_000)
  const errors: Array<string> = []
  page.on("pageerror", (error) => errors.push(error.message))
  await page.goto(`${http}/explorer/${path}`)
  await page.locator(".pulse.live b").waitFor()
  await page.evaluate(() => Object.assign(globalThis, { isFirstLoad: true }))
  return { page, errors }
}

const isFirstLoad = (page: Page): Promise<boolean> => page.evaluate(() => "isFirstLoad" in globalThis)

const roundOn = async (page: Page): Promise<number> =>
  Number((await page.locator(".pulse b").textContent())?.replaceAll(",", ""))

const headline = (page: Page) => page.locator(".headline").first()

it("pages follow a restarted node again without a reload", async () => {
  const network = found("udg-restarts")
  const node = await Processes.startValidator(network, 0, [], OPEN)
  const overview = await open(node, "")
  const list = await open(node, "transactions", Promise.resolve(overview.page.context()))
  await overview.page.bringToFront()
  const before = await roundOn(overview.page)
  await node.stop()
  await overview.page.locator(".pulse.lost").waitFor()
  const again = await Processes.startValidator(network, 0, [], where(node))
  await overview.page.locator(".pulse.live").waitFor()
  await expect.poll(() => roundOn(overview.page)).toBeGreaterThan(before + 5)
  await expect.poll(() => overview.page.getByText(/^as of \d/).count()).toBe(0)
  await list.page.bringToFront()
  await list.page.locator(".pulse.live").waitFor()
  const client = connect(again.http ?? "")
  const of = Wallet.network(await client.core.network())
  const [rich, { address: to }] = [Wallet.account(of, network.rich), Wallet.account(of, Wallet.generate())]
  await client.sendAndWait(rich.transfer({ nonce: 0, fee: 1_000, to, amount: Wallet.sats("3.21") }))
  await list.page.getByText("3.21").first().waitFor()
  expect(await Promise.all([overview.page, list.page].map(isFirstLoad))).toEqual([true, true])
  expect([...overview.errors, ...list.errors]).toEqual([])
  await overview.page.context().close()
})

it("a node that lost its database shows its progress while it catches up, and then the current state", async () => {
  const network = found("udg-forgets")
  const validator = await Processes.startValidator(network, 0, [], OPEN)
  const words = ["--peer", validator.p2p]
  const node = await Processes.start(network, "observer", [...words, ...OPEN])
  const client = connect(validator.http ?? "")
  const rich = Wallet.account(Wallet.network(await client.core.network()), network.rich)
  const { page, errors } = await open(node, `address/${rich.address}`)
  await headline(page).getByText("1,000,000.00").waitFor()
  await node.kill()
  await page.locator(".pulse.lost").waitFor()
  rmSync(node.directory, { recursive: true })
  const to = Wallet.account(Wallet.network(await client.core.network()), Wallet.generate()).address
  await client.sendAndWait(rich.transfer({ nonce: 0, fee: 1_000, to, amount: Wallet.sats("999") }))
  const again = await Processes.start(network, "observer", [...words, ...where(node)])
  await headline(page).getByText("999,000.99999").waitFor()
  await page.locator(".pulse.live").waitFor()
  const { last_finalized_round: round } = await connect(again.http ?? "").core.status()
  await expect.poll(() => roundOn(page)).toBeGreaterThanOrEqual(round)
  await page.getByText(/^checked against checkpoint/).waitFor()
  expect(await page.getByText("Do not rely on this balance").count()).toBe(0)
  expect([await isFirstLoad(page), errors]).toEqual([true, []])
  await page.context().close()
})

it("pages reload when another network answers at the address", async () => {
  const [first, second] = [found("udg-first"), found("udg-second")]
  const node = await Processes.startValidator(first, 0, [], OPEN)
  const client = connect(node.http ?? "")
  const rich = Wallet.account(Wallet.network(await client.core.network()), first.rich)
  await client.sendAndWait(rich.registerName({ nonce: 0, fee: 100_000, name: "gone" }))
  const { page, errors } = await open(node, "transactions")
  await page.getByRole("link", { name: "@gone" }).first().waitFor()
  await node.stop()
  await page.locator(".pulse.lost").waitFor()
  await Processes.startValidator(second, 0, [], where(node))
  await page.locator("footer").getByText("udg-second").waitFor()
  await page.locator(".pulse.live").waitFor()
  expect([await isFirstLoad(page), await page.getByText("@gone").count()]).toEqual([false, 0])
  expect(errors).toEqual([])
  await page.context().close()
})

const OUTDATED = "The node now runs another version, which this page may not understand."

it("pages ask to be reloaded once another version of the program answers, and only then", async () => {
  const node = await Processes.startValidator(found("udg-renewed"), 0, [], OPEN)
  const { page, errors } = await open(node, "validators")
  const asked = page.waitForResponse("**/network")
  await asked
  await page.getByRole("heading", { level: 1, name: "Validators" }).waitFor()
  expect(await page.getByText(OUTDATED).count()).toBe(0)
  await page.route("**/network", async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), version: "99.0.0" } })
  })
  await page.getByText(OUTDATED).waitFor()
  await page.unroute("**/network")
  await page.getByRole("button", { name: "Reload" }).click()
  await page.locator(".pulse.live").waitFor()
  await page.waitForResponse("**/network")
  expect([await isFirstLoad(page), await page.getByText(OUTDATED).count()]).toEqual([false, 0])

  await page.route("**/network", (route) => route.fulfill({ json: { renamed: true } }))
  await page.getByText(OUTDATED).waitFor()
  expect(errors).toEqual([])
  await page.context().close()
})
