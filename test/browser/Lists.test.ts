/** Lists and their filters, a validator's history, and private labels, over a real node with short epochs. */
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect, type PromiseClient } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Processes from "../network/Processes.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"
import * as Visitor from "./Visitor.js"

let url: string
let client: PromiseClient
const visitor = Visitor.forTests()
let rich: Wallet.Account
let validator: Wallet.Account

const MEMO = "October's rent, =1+1 and all that it takes to fill a line"

const finalized = async (payload: Wallet.SignedTransaction): Promise<void> => {
  expect((await client.sendAndWait(payload)).applied).toBe(true)
}

beforeAll(async () => {
  const network = Processes.found({ validators: 1, roundMs: 60, epochRounds: 60, networkId: "udg-lists" })
  const [started] = await Processes.startAll(network, ["--rate-limits", "off"])
  url = started?.http ?? ""
  client = connect(url)
  const of = Wallet.network(await client.core.network())
  rich = Wallet.account(of, network.rich)
  validator = Wallet.account(of, network.keys[0] ?? expect.fail())
  const to = validator.address
  await finalized(rich.transfer({ nonce: 0, fee: 2_000, to, amount: Wallet.sats("12.5"), memo: MEMO }))
  await finalized(rich.registerName({ nonce: 1, fee: 100_000, name: "rich" }))
  await finalized(validator.transfer({ nonce: 0, fee: 1_000, to: rich.address, amount: Wallet.sats("1") }))
  await finalized(validator.setCommission({ nonce: 1, fee: 0, commission_percent: 25 }))
  await Processes.until("two epochs have closed", async () => {
    const { checkpoints } = await client.checkpoints.list({ urlParams: { closing: "only" } })
    return checkpoints.length >= 2
  })
})
afterAll(async () => {
  await Processes.removeAll()
})

const desktop = { viewport: { width: 1280, height: 900 } }

const rows = (page: Page, caption: string) => page.getByRole("region", { name: caption }).locator("tbody tr")

const TRANSACTIONS = "Finalized transactions, newest first"
const HISTORY = "Changes of the account's balance, newest first"

const day = (days: number): string => {
  const moment = new Date(Date.now() + days * 86_400_000)
  const two = (number: number): string => `${number}`.padStart(2, "0")
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`
}

describe("lists of transactions", () => {
  it.each([
    ["on a desktop", desktop],
    ["on a phone", Browsers.phone],
  ])("show fees and memos without executing any of it, %s", async (_, options) => {
    const page = await visitor.visit(`${url}/explorer/transactions`, options)
    const paid = rows(page, TRANSACTIONS).filter({ hasText: "12.50" })
    const memo = paid.getByText(MEMO)
    // Phones have no tooltips, so the memo is not truncated there.
    const isCut = await memo.evaluate((element) => element.scrollWidth > element.clientWidth && element.clientWidth > 0)
    expect([isCut, await memo.getAttribute("title")]).toEqual([options === desktop, MEMO])
    expect(await paid.textContent()).toContain("0.00002")
    await page.goto(`${url}/explorer/address/@rich`)
    const sent = rows(page, HISTORY).filter({ hasText: "12.50" })
    await sent.getByText(MEMO).waitFor()
    expect(await sent.textContent()).toContain("0.00002")
    for (const path of ["transactions", "address/@rich", "checkpoints"]) {
      await page.goto(`${url}/explorer/${path}`)
      await page.locator("tbody tr").first().waitFor()
      const tooWide = "[...document.querySelectorAll('.table')].filter((it) => it.scrollWidth > it.clientWidth).length"
      expect([path, await page.evaluate<number>(tooWide)]).toEqual([path, 0])
      expect(await Browsers.isTooWide(page)).toBe(false)
    }
    expect(await Axe.seriousOn(page)).toEqual([])
  })

  it("align the decimal points of amounts, with or without a unit", async () => {
    const page = await visitor.visit(`${url}/explorer/transactions`, desktop)
    await rows(page, TRANSACTIONS).first().waitFor()
    const points = rows(page, TRANSACTIONS).locator('td[data-title="Fee"] .decimals')
    expect(new Set(await points.allTextContents()).size).toBeGreaterThan(1)
    const places = await points.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)))
    expect(new Set(places).size).toBe(1)
  })

  it("are filtered by direction and by days, for one account and everybody, each at its own address", async () => {
    const page = await visitor.visit(`${url}/explorer/address/@rich`)
    await page.getByRole("link", { name: "Filter its transactions" }).click()
    const all = rows(page, TRANSACTIONS)
    await expect.poll(() => all.count()).toBe(3)
    await page.getByLabel("Direction").selectOption("received by it")
    await expect.poll(() => all.count()).toBe(1)
    await page.getByLabel("Direction").selectOption("sent by it")
    await expect.poll(() => all.count()).toBe(2)
    await page.getByLabel("Last day").fill(day(-1))
    await page.getByRole("button", { name: "Apply" }).click()
    await page.getByText("No transaction sent by this account is finalized in these days.").waitFor()
    await page.getByLabel("Last day").fill(day(0))
    await page.getByLabel("First day").fill(day(0))
    await page.getByRole("button", { name: "Apply" }).click()
    await page.reload()
    await expect.poll(() => all.count()).toBe(2)
    expect(new URL(page.url()).searchParams.get("direction")).toBe("sent")
    expect(await Axe.seriousOn(page)).toEqual([])
    await page.getByRole("button", { name: "Clear" }).click()
    await expect.poll(() => all.count()).toBe(4)
    await page.getByLabel("First day").fill(day(2))
    await page.getByRole("button", { name: "Apply" }).click()
    await page.getByText("No transaction was finalized in these days.").waitFor()
  })
})

it("show all checkpoints, or only those that closed epochs, each with its page", async () => {
  const page = await visitor.visit(`${url}/explorer/checkpoints`)
  const listed = rows(page, "Checkpoints, newest first")
  await listed.first().waitFor()
  expect(await listed.getByText("within its epoch").count()).toBeGreaterThan(0)
  await page.getByLabel("Kind").selectOption("those that closed an epoch")
  await expect.poll(() => listed.getByText("within its epoch").count()).toBe(0)
  await page.reload()
  await listed.getByText("closes epoch 1", { exact: true }).waitFor()
  const { checkpoints } = await client.checkpoints.list({ urlParams: { closing: "only", limit: 100 } })
  const first = checkpoints.at(-1)
  await page.getByRole("link", { name: `${first?.round}`, exact: true }).click()
  await page.getByRole("heading", { level: 1, name: `Checkpoint of round ${first?.round}` }).waitFor()
  await page.getByText("closes its epoch").waitFor()
  await page.goBack()
  expect(await Axe.seriousOn(page)).toEqual([])
})

it("link each epoch's page, with its rounds, committee and checkpoints, to its neighbours", async () => {
  const page = await visitor.visit(`${url}/explorer/checkpoints?closing=only`)
  await rows(page, "Checkpoints, newest first").getByRole("link", { name: "2", exact: true }).click()
  await page.getByRole("heading", { level: 1, name: "Epoch 2" }).waitFor()
  const [opening, closing] = await Promise.all([
    client.checkpoints.closing({ path: { epoch: 1 as never } }),
    client.checkpoints.closing({ path: { epoch: 2 as never } }),
  ])
  const fact = (name: string) =>
    page.locator(".facts > div", { has: page.getByText(name, { exact: true }) }).locator("dd")
  expect(await fact("State").textContent()).toBe("closed")
  expect(await fact("First round").textContent()).toBe(`${opening.next_epoch?.first_round}`)
  expect(await fact("Last round").textContent()).toBe(`${closing.round}`)
  const [, created = ""] = /^\+([\d.]+) UDG$/.exec((await fact("Change of the supply").textContent()) ?? "") ?? []
  expect(Number(created)).toBeCloseTo((closing.total_supply - opening.total_supply) / 100_000_000, 8)
  expect(await rows(page, "Committee of the epoch").allTextContents()).toEqual([expect.stringContaining("100.0 %")])
  const own = rows(page, "Checkpoints, newest first")
  const { checkpoints } = await client.checkpoints.list({ urlParams: { limit: 100 } })
  const first = own.getByRole("link", { name: `${closing.round}`, exact: true })
  expect(await first.getAttribute("href")).toBe(`/explorer/checkpoint/${closing.round}`)
  expect(await own.count()).toBe(checkpoints.filter(({ epoch }) => epoch === 2).length)
  expect(await Axe.seriousOn(page)).toEqual([])
  await page.getByRole("navigation", { name: "Neighbouring epochs" }).getByRole("link", { name: "← 1" }).click()
  await page.getByRole("heading", { level: 1, name: "Epoch 1" }).waitFor()
  await page.getByText("The genesis names the committee of the first epoch.").waitFor()
  await page.goBack()
  await page.getByRole("heading", { level: 1, name: "Epoch 2" }).waitFor()
  const { epoch: running } = await client.checkpoints.latest()
  await page.getByRole("combobox", { name: /^Search/ }).fill(`epoch ${running + 1}`)
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { level: 1, name: `Epoch ${running + 1}` }).waitFor()
  await page
    .getByText(/^running$|the epoch has not closed yet/)
    .first()
    .waitFor()
  await page.goto(`${url}/explorer/epoch/0`)
  await page.getByText(/there is no epoch 0; the first one is 1/).waitFor()
})

it("show a validator's stake, commission, delegators and earnings over time, as its node records them", async () => {
  await finalized(rich.delegate({ nonce: 2, fee: 0, validator: validator.address, amount: Wallet.sats("1500") }))
  const path = { address: validator.address }
  await Processes.until("the delegation is recorded", async () => {
    const { delegators } = await client.monitoring.validatorRounds({ path, urlParams: {} })
    return delegators.at(-1) === 1
  })
  const page = await visitor.visit(`${url}/explorer/validator/${validator.address}`)
  const chart = (title: string) => page.getByRole("img", { name: new RegExp(`^${title}`) })
  await chart("Stake with a seat, UDG").waitFor()
  const label = async (title: string) => (await chart(title).getAttribute("aria-label")) ?? ""
  // An epoch may close between the page's request and this one.
  const { checkpoints } = await client.checkpoints.list({ urlParams: { closing: "only", limit: 3 } })
  const openings = await Promise.all(checkpoints.map(({ round }) => client.checkpoints.checkpoint({ path: { round } })))
  const weights = openings.map(({ next_epoch: opened }) => opened?.members[0]?.weight)
  const [, stake = ""] = /now ([\d,.]+)$/.exec(await label("Stake with a seat, UDG")) ?? []
  expect(weights).toContain(Wallet.sats(stake.replaceAll(",", "")))
  expect(await chart("Commission").getAttribute("aria-label")).toMatch(/between 25 % and 25 %, now 25 %$/)
  expect(await chart("Delegators").getAttribute("aria-label")).toMatch(/now 1$/)
  const { total_delegated: delegated } = await client.delegation.delegators({ path })
  const [, drawn = ""] = /now ([\d,.]+)$/.exec((await chart("Delegated, UDG").getAttribute("aria-label")) ?? "") ?? []
  expect(Number(drawn.replaceAll(",", ""))).toBeGreaterThanOrEqual(1_500)
  expect(Number(drawn.replaceAll(",", ""))).toBeLessThanOrEqual(Number(Wallet.coins(delegated)))
  const earnings = await label("Earned per day, UDG")
  const [, said = ""] = /rewards between [\d,.]+ and [\d,.]+, last ([\d,.]+);/.exec(earnings) ?? []
  const { entries } = await client.transactions.statement({ path: { address: validator.address }, urlParams: {} })
  const earned = entries.filter(({ kind }) => kind === "reward").reduce((sum, { amount }) => sum + amount, 0)
  expect(Number(said.replaceAll(",", ""))).toBeGreaterThan(0)
  expect(Number(said.replaceAll(",", ""))).toBeLessThanOrEqual(Number(Wallet.coins(earned)))
  expect(await Axe.seriousOn(page)).toEqual([])
})

it("show the reader's own label for an account, only in this browser", async () => {
  const { page, sent } = await visitor.open()
  await page.goto(`${url}/explorer/address/@rich`)
  const form = page.getByRole("form", { name: "Private label" })
  await form.getByLabel("Private label").fill("@alice")
  await form.getByRole("button", { name: "Keep" }).click()
  await form.getByText("a label has up to 30 characters, and no @ at its beginning").waitFor()
  await form.getByLabel("Private label").fill("My landlord, old")
  await form.getByLabel("Private label").press("Enter")
  await page.goto(`${url}/explorer/transactions`)
  const link = rows(page, TRANSACTIONS).getByRole("link", { name: "My landlord, old" }).first()
  await link.waitFor()
  expect(await link.getAttribute("title")).toBe(`your label for ${rich.addressBech32}`)
  await page.getByRole("combobox", { name: /^Search/ }).fill("landl")
  await page.getByRole("option", { name: "Label My landlord, old" }).click()
  await page.waitForURL(new RegExp(`/explorer/address/${rich.address}$`))
  expect(await Axe.seriousOn(page)).toEqual([])
  await page.goto(`${url}/explorer/address/${validator.address}`)
  const saving = page.waitForEvent("download")
  await page.getByRole("button", { name: "Save as CSV" }).click()
  const csv = readFileSync(await (await saving).path(), "utf8")
  expect(csv).toContain(`,rich,"My landlord, old","${MEMO}"`)
  expect(sent.filter((request) => request.includes("landlord"))).toEqual([])
  await page.goto(`${url}/explorer/address/@rich`)
  const other = await page.context().newPage()
  await other.goto(`${url}/explorer/address/@rich`)
  const field = other.getByRole("textbox", { name: "Private label" })
  await expect.poll(() => field.inputValue()).toBe("My landlord, old")
  await form.getByLabel("Private label").fill("")
  await form.getByRole("button", { name: "Keep" }).click()
  await expect.poll(() => field.inputValue()).toBe("")
  await other.close()
  await page.goto(`${url}/explorer/transactions`)
  await rows(page, TRANSACTIONS).getByRole("link", { name: "@rich" }).first().waitFor()
})
