/** The suggestions of the search box: everything that pages show, in the same form, and nothing that does not exist. */
import { Option } from "effect"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(100) }))
const visitor = Visitor.forTests()
let network: Wallet.WalletNetwork
let validator: Wallet.Account

beforeAll(async () => {
  const client = connect(node().url)
  const info = await client.core.network()
  network = Wallet.network(info)
  validator = Wallet.account(network, Option.getOrThrow(node().validatorKey))
  const fee = info.parameters.name_fee_sats
  await RealNode.earned(node(), validator.address, fee)
  expect((await client.sendAndWait(validator.registerName({ nonce: 0, fee, name: "alice" }))).applied).toBe(true)
})

/** Opens a page that mentions no account. */
const open = async (): Promise<Page> => {
  const page = await visitor.visit(`${node().url}/explorer/nowhere`)
  await page.locator(".pulse.live b").waitFor()
  return page
}

const type = (page: Page, text: string) => page.getByRole("combobox", { name: /^Search/ }).fill(text)

describe("the search box", () => {
  it("suggests a name that no page has met", async () => {
    const page = await open()
    await type(page, "@alice")
    await page.getByRole("option", { name: "Name @alice" }).click()
    await page.waitForURL(/\/explorer\/address\/@alice$/)
  })

  it("suggests a name by its beginning, also one that no page has shown", async () => {
    const page = await open()
    await type(page, "alic")
    await page.getByRole("option", { name: "Name @alice" }).click()
    await page.waitForURL(/\/explorer\/address\/@alice$/)
  })

  it("suggests an account by the beginning of its address, and accepts the abbreviated form of lists", async () => {
    const page = await open()
    const { addressBech32: written } = validator
    await type(page, written.slice(0, 12))
    await page.getByRole("option", { name: `Account ${written.slice(0, 10)}…${written.slice(-6)}` }).click()
    await page.waitForURL(new RegExp(`/explorer/address/${validator.address}$`))
    // The page used to find nothing if it learned later how this network writes addresses.
    await page.route("**/network", (route) => void setTimeout(() => route.continue(), 1_500))
    await page.goto(
      `${node().url}/explorer/search?q=${encodeURIComponent(`${written.slice(0, 10)}…${written.slice(-6)}`)}`,
    )
    await page.waitForURL(new RegExp(`/explorer/address/${validator.address}$`))
  })

  it("suggests no missing proposal or round", async () => {
    const page = await open()
    await type(page, "2")
    await page.getByRole("option", { name: "Round 2" }).waitFor()
    expect(await page.getByRole("option", { name: "Proposal #2" }).count()).toBe(0)
    await type(page, "99999999")
    await expect.poll(() => page.getByRole("option").count()).toBe(0)
  })

  it("suggests nothing of an older text while it asks for a newer one", async () => {
    const page = await open()
    await type(page, "2")
    await page.getByRole("option", { name: "Round 2" }).waitFor()
    await page.route("**/search?*", () => undefined)
    await type(page, "2abc")
    expect(await page.getByRole("option").count()).toBe(0)
  })

  it("suggests a round that was typed before the node's first status", async () => {
    const { page } = await visitor.open()
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.addInitScript("delete globalThis.SharedWorker")
    await page.route("**/status", (route) => released.then(() => route.fallback()).catch(() => undefined))
    await page.goto(`${node().url}/explorer/nowhere`)
    const asked = page.waitForResponse(/\/proposal\/2$/)
    await type(page, "2")
    await asked
    release()
    await page.getByRole("option", { name: "Round 2" }).waitFor({ timeout: 10_000 })
  })
})

describe("the page of a search", () => {
  it("shows a transaction that reaches the node after the search", async () => {
    const page = await open()
    const key = Option.getOrThrow(node().faucetKey)
    const fields = { nonce: 0, fee: 10_000_000, to: validator.address, amount: 1 }
    const unsigned = Wallet.unsigned(network, Wallet.account(network, key).address, "Transfer", fields)
    const hash = Wallet.hashOf(unsigned)
    await page.goto(`${node().url}/explorer/search?q=${hash}`)
    await page.getByText(/^Not found: /).waitFor()
    await RealNode.finalized(node(), Wallet.sign(unsigned, key))
    await page.waitForURL(new RegExp(`/explorer/tx/${hash}$`), { timeout: 30_000 })
  })
})
