/** Uses the explorer with the keyboard alone, and with the browser's back and forward. */
import { Option } from "effect"
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Purse from "./Purse.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(150) }))
const visitor = Visitor.forTests()

interface Focused {
  readonly words: string
  readonly isVisible: boolean
}

/** The accessible name of the focused element, and whether its focus is visible. */
const focused = (page: Page): Promise<Focused> =>
  page.evaluate(() => {
    const element = document.activeElement
    if (!(element instanceof HTMLElement)) return { words: "", isVisible: false }
    const labels = "labels" in element && element.labels instanceof NodeList ? [...element.labels] : []
    const words = [element.getAttribute("aria-label"), ...labels.map((label) => label.textContent), element.textContent]
    // A box around a field may show the field's focus.
    const isVisible = [element, element.parentElement ?? element].some((one) => {
      const { outlineStyle, boxShadow } = getComputedStyle(one)
      return outlineStyle !== "none" || boxShadow !== "none"
    })
    return { words: words.join(" ").trim(), isVisible }
  })

const MOST = 120

/** Presses Tab until this element has the focus. The focus must be visible at each step. */
const tabTo = async (page: Page, wanted: RegExp): Promise<void> => {
  for (let presses = 0; presses < MOST; presses++) {
    await page.keyboard.press("Tab")
    const { words, isVisible } = await focused(page)
    expect(isVisible, words).toBe(true)
    if (wanted.test(words)) return
  }
  expect.fail(`Tab does not lead to ${wanted}`)
}

const heading = (page: Page, name: RegExp) => page.getByRole("heading", { level: 1, name }).waitFor()

it("leads from the overview to a payment by keyboard alone", async () => {
  const page = await visitor.visit(`${node().url}/explorer/`, { reducedMotion: "reduce" })
  await page.locator(".figure-card").first().waitFor()
  await page.keyboard.press("Tab")
  expect((await focused(page)).words).toBe("Skip to content")
  await page.keyboard.press("/")
  await page.keyboard.type("validators")
  await page.keyboard.press("Enter")
  await heading(page, /^Validators$/)
  expect((await focused(page)).words).toBe("Validators")
  await page.locator("tbody tr").first().waitFor()
  await tabTo(page, /^tudg1.*…/)
  await page.keyboard.press("Enter")
  await heading(page, /^Validator tudg1/)
  await page.getByText("Delegate to it").waitFor()
  await page.goBack()
  await heading(page, /^Validators$/)

  await page.goto(`${node().url}/explorer/wallet`)
  await page.getByRole("button", { name: "Make a key" }).waitFor()
  await tabTo(page, /^Passphrase$/)
  await page.keyboard.type(Purse.PASSPHRASE)
  await tabTo(page, /^Passphrase again$/)
  await page.keyboard.type(Purse.PASSPHRASE)
  await tabTo(page, /^Make a key$/)
  await page.keyboard.press("Enter")
  await page.getByRole("button", { name: "Lock" }).waitFor()
  await tabTo(page, /from the faucet$/)
  await page.keyboard.press("Enter")
  await Purse.finalized(page, "1,000.00 UDG from the faucet")
  const { validators } = await connect(node().url).staking.validators()
  await tabTo(page, /^To$/)
  await page.keyboard.type(validators[0]?.address ?? "")
  await tabTo(page, /^Amount in UDG/)
  await page.keyboard.type("7.5")
  await tabTo(page, /^Review$/)
  await page.keyboard.press("Enter")
  await page.locator(".review").waitFor()
  expect(await Axe.seriousOn(page)).toEqual([])
  await tabTo(page, /^Send it$/)
  await page.keyboard.press("Enter")
  await Purse.finalized(page, "Send 7.50 UDG")
})

it("restores pages and their filters with back and forward", async () => {
  const page = await visitor.visit(`${node().url}/explorer/`)
  const menu = page.getByRole("navigation", { name: "Pages" })
  await menu.getByRole("link", { name: "Transactions" }).click()
  await page.getByLabel("Type").selectOption("VoteTx")
  await page.getByRole("button", { name: "Apply" }).click()
  await page.waitForURL(/\?type=VoteTx$/)
  await menu.getByRole("link", { name: "Transactions" }).click()
  await page.waitForURL(/\/transactions$/)
  await expect.poll(() => page.getByLabel("Type").inputValue()).not.toBe("VoteTx")
  await menu.getByRole("link", { name: "Checkpoints" }).click()
  await page.getByLabel("Kind").selectOption("those that closed an epoch")
  await menu.getByRole("link", { name: "Checkpoints" }).click()
  await expect.poll(() => page.getByLabel("Kind").inputValue()).toBe("all")
  await page.goBack()
  await expect.poll(() => page.getByLabel("Kind").inputValue()).toBe("epochs")
  await page.goBack()
  await heading(page, /^Transactions$/)
  await expect.poll(() => page.getByLabel("Type").inputValue()).not.toBe("VoteTx")
  await page.goBack()
  await expect.poll(() => page.getByLabel("Type").inputValue()).toBe("VoteTx")
  await page.goBack()
  await heading(page, /^Overview$/)
  await page.goForward()
  await expect.poll(() => page.getByLabel("Type").inputValue()).toBe("VoteTx")
  await page.goForward()
  await page.goForward()
  await heading(page, /^Checkpoints$/)
  await expect.poll(() => page.getByLabel("Kind").inputValue()).toBe("epochs")
})
