/** The review before sending shows everything that is signed, and warns of what cannot work. */
import { Option } from "effect"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"
import * as Purse from "./Purse.js"
import * as Visitor from "./Visitor.js"

const SOMEBODY = "11".repeat(20)

const node = forTests(() => RealNode.start({ roundMs: Option.some(100) }))
const visitor = Visitor.forTests()
let owner: Wallet.SecretKey
let network: Wallet.WalletNetwork

beforeAll(async () => {
  owner = Wallet.generate()
  network = Wallet.network(await connect(node().url).core.network())
  const faucet = Wallet.account(network, Option.getOrThrow(node().faucetKey))
  const to = Wallet.account(network, owner).address
  await RealNode.finalized(node(), faucet.transfer({ nonce: 0, fee: 10_000_000, to, amount: Wallet.sats("1000") }))
})

const openWallet = async (): Promise<Page> => {
  const page = await visitor.visit(`${node().url}/explorer/wallet`)
  await Purse.bringKey(page, owner.toSecretHex())
  await page.locator(".purse .headline").waitFor()
  return page
}

const review = async (page: Page, action: string, typed: Readonly<Record<string, string>>) => {
  await page.getByRole("button", { name: action, exact: true }).click()
  const form = page.getByRole("form", { name: action })
  for (const [label, value] of Object.entries(typed)) await form.getByLabel(label).fill(value)
  await form.getByRole("button", { name: "Review" }).click()
  await page.locator(".review").waitFor()
}

const fact = (page: Page, name: string) =>
  page.locator(".review .facts > div", { has: page.getByText(name, { exact: true }) }).locator("dd")

describe("the review", () => {
  it("shows every field, the total and the balance after, and takes the focus", async () => {
    const page = await openWallet()
    await review(page, "Send", { To: SOMEBODY, "Amount in UDG": "12.5", Memo: "for <b>you</b>" })
    expect(await fact(page, "To").textContent()).toMatch(/^tudg1[0-9a-z]{38}/)
    expect(await fact(page, "Amount").textContent()).toBe("12.50 UDG")
    expect(await fact(page, "Memo").textContent()).toBe("for <b>you</b>")
    expect(await fact(page, "Nonce").textContent()).toBe("0")
    expect(await fact(page, "Fee").textContent()).toMatch(/^0\.\d+ UDG/)
    expect(await fact(page, "Total").textContent()).toMatch(/^12\.5\d* UDG$/)
    expect(await fact(page, "Balance after").textContent()).toMatch(/^987\.4\d* UDG$/)
    expect(await page.getByText(/^This would fail/).count()).toBe(0)
    expect(await page.evaluate(() => document.activeElement?.closest(".review") !== null)).toBe(true)
    expect(await Axe.seriousOn(page)).toEqual([])
    await page.setViewportSize(Browsers.phone.viewport)
    expect(await Browsers.isTooWide(page)).toBe(false)
  })

  it("follows the price of a transaction until a fee is typed", async () => {
    const page = await openWallet()
    await page.getByRole("button", { name: "Send", exact: true }).click()
    const fee = page.getByRole("form", { name: "Send" }).getByLabel("Fee in UDG")
    const price = await fee.inputValue()
    expect(Number(price)).toBeGreaterThan(0)
    await page.route("**/network", async (route) => {
      const response = await route.fetch()
      const info = await response.json()
      const parameters = { ...info.parameters, min_fee_sats: 10 * info.parameters.min_fee_sats }
      await route.fulfill({ response, json: { ...info, parameters } })
    })
    await expect.poll(() => fee.inputValue()).not.toBe(price)
    expect(Number(await fee.inputValue())).toBeGreaterThan(Number(price))
    await fee.fill("0.5")
    await page.unroute("**/network")
    await page.getByText(new RegExp(`at least ${price}`)).waitFor()
    expect(await fee.inputValue()).toBe("0.5")
  })

  it("warns of a transaction that cannot work before it is sent", async () => {
    const page = await openWallet()
    await review(page, "Send", { To: SOMEBODY, "Amount in UDG": "99,999" })
    await page.getByText(/^This would fail: it needs 99,999\.\d+ UDG, but the account has 1,000\.00 UDG\.$/).waitFor()
    expect(await fact(page, "Balance after").textContent()).toBe("–")
    await page.getByRole("button", { name: "Back" }).click()
    await review(page, "Unstake", {})
    await page.getByText("This would fail: this account has no stake.").waitFor()
    await page.getByRole("button", { name: "Back" }).click()
    await review(page, "Undelegate", {})
    await page.getByText("This would fail: this account has no delegation.").waitFor()
  })

  it("keeps the focus where the reader continues: after unlocking, going back, sending and locking", async () => {
    const page = await openWallet()
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    await expect.poll(focused).toBe("Wallet")
    await page.keyboard.press("Tab")
    await review(page, "Send", { To: SOMEBODY, "Amount in UDG": "1" })
    await page.getByRole("button", { name: "Back" }).focus()
    await page.keyboard.press("Enter")
    await expect.poll(focused).toBe("Review")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Send it" }).focus()
    await page.keyboard.press("Enter")
    await Purse.finalized(page, "Send 1.00 UDG")
    await expect.poll(focused).toBe("Review")
    // Invalid input that is rejected before the review does not lose the focus either.
    await page.getByLabel("To", { exact: true }).fill("tudg1nonsense")
    await page.getByLabel("Amount in UDG").fill("1")
    await page.getByLabel("Amount in UDG").press("Enter")
    await page.getByRole("form", { name: "Send" }).getByRole("alert").waitFor()
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("BODY")
    await page.getByRole("button", { name: "Lock" }).focus()
    await page.keyboard.press("Enter")
    await expect.poll(focused).toBe("Wallet")
  })

  it("is not reached with a key that cannot sign alone, which the page says before anything is typed", async () => {
    const account = Wallet.account(network, owner)
    const keys = [account.publicKey, Wallet.generate().publicKey]
    await RealNode.finalized(node(), account.setAccountPolicy({ nonce: 1, fee: 1_000, threshold: 2, keys }))
    const page = await openWallet()
    await page.getByText("2 of 2 keys must sign for this account.").waitFor()
    await page.getByText("udg multisig sign FILE").waitFor()
    expect(await page.getByRole("button", { name: "Review" }).count()).toBe(0)
    expect(await page.getByRole("button", { name: "Send", exact: true }).count()).toBe(0)
    expect(await Axe.seriousOn(page)).toEqual([])
  })
})
