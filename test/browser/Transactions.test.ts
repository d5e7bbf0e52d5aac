/** Transactions, names and histories as a reader sees them, over a real node in a real browser. */
import { readFileSync } from "node:fs"
import { Option } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(250) }))
const visitor = Visitor.forTests()
let validator: Wallet.Account
let payment: string

beforeAll(async () => {
  const client = connect(node().url)
  const network = Wallet.network(await client.core.network())
  validator = Wallet.account(network, Option.getOrThrow(node().validatorKey))
  const faucet = Wallet.account(network, Option.getOrThrow(node().faucetKey))
  payment = await RealNode.finalized(
    node(),
    faucet.transfer({ nonce: 0, fee: 1_000, to: validator.address, amount: Wallet.sats("12.5") }),
  )
  await RealNode.finalized(node(), validator.registerName({ nonce: 0, fee: 100_000, name: "valerie" }))
})

describe("the explorer", () => {
  it("lists finalized transactions with amounts, filtered by type", async () => {
    const page = await visitor.visit(`${node().url}/explorer/transactions`)
    const table = page.getByRole("region", { name: "Finalized transactions, newest first" })
    await table.getByText("Register name").waitFor()
    const row = table.locator("tbody tr", { hasText: "Transfer" })
    expect(await row.textContent()).toContain("12.50")
    expect(await row.getByRole("link").first().getAttribute("href")).toBe(`/explorer/tx/${payment}`)
    await page.getByLabel("Type").selectOption("Transfer")
    await table.getByText("Register name").waitFor({ state: "detached" })
    await row.waitFor()
    await page.getByLabel("Type").selectOption("VoteTx")
    await page.getByText("No “Vote” has been finalized yet.").waitFor()
    expect(await Axe.seriousOn(page)).toEqual([])
  })

  it("shows a transaction's time also where no pointer shows a tooltip", async () => {
    const page = await visitor.visit(`${node().url}/explorer/transactions`, Browsers.phone)
    const table = page.getByRole("region", { name: "Finalized transactions, newest first" })
    await table
      .locator("time")
      .first()
      .getByText(/^\d\d:\d\d:\d\d$/)
      .waitFor()
  })

  it("lists one account's transactions, filtered by type, at a separate address", async () => {
    const page = await visitor.visit(`${node().url}/explorer/transactions`)
    const rows = page.getByRole("region", { name: "Finalized transactions, newest first" }).locator("tbody tr")
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByLabel("Account").fill("00000000000000000000000000000000000000aa")
    await page.getByRole("button", { name: "Apply" }).click()
    await page.getByText("No transaction of this account is finalized.").waitFor()
    await page.getByLabel("Account").fill("@valerie")
    await page.getByLabel("Account").press("Enter")
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByLabel("Type").selectOption("Transfer")
    await expect.poll(() => rows.count()).toBe(1)
    await page.reload()
    await rows.filter({ hasText: "12.50" }).waitFor()
    expect(await rows.count()).toBe(1)
    expect(new URL(page.url()).search).toBe("?type=Transfer&account=%40valerie")
    expect(await Axe.seriousOn(page)).toEqual([])
    await page.getByLabel("Type").selectOption("")
    await page.getByRole("button", { name: "Clear" }).click()
    await page.getByText("Finalized transactions of all accounts").waitFor()
    expect(new URL(page.url()).search).toBe("")
    await page.getByLabel("Account").fill("@nobody-has-this")
    await page.getByRole("button", { name: "Apply" }).click()
    await page.locator(".notice.missing", { hasText: "nobody-has-this" }).waitFor()
  })

  it("shows an account's name in lists", async () => {
    const page = await visitor.visit(`${node().url}/explorer/validators`)
    const link = page.getByRole("link", { name: "@valerie" })
    await link.waitFor()
    expect(await link.getAttribute("title")).toBe(validator.addressBech32)
    await page.goto(`${node().url}/explorer/`)
    await page.getByText("12.50").first().waitFor()
  })

  it("shows the changes of a balance, and saves them as a file that adds up", async () => {
    const page = await visitor.visit(`${node().url}/explorer/address/@valerie`)
    const table = page.getByRole("region", { name: "Changes of the account's balance, newest first" })
    await table.getByText("Rewards of its vertices").waitFor()
    await table.getByText("Fees in its vertices").waitFor()
    await table.getByText("Transfer, received").waitFor()
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as CSV" }).click(),
    ])
    const [head, ...rows] = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n")
    const column = head?.split(",").indexOf("change_udg") ?? -1
    const sum = rows.reduce((sats, row) => sats + BigInt((row.split(",")[column] ?? "").replace(".", "")), 0n)
    // The balance came with the first page of the file, and has only grown since.
    const { balance } = await connect(node().url).core.balance({ path: { address: "@valerie" } })
    expect(sum).toBeGreaterThan(12_00000000n)
    expect(sum).toBeLessThanOrEqual(BigInt(balance))
    expect(await Axe.seriousOn(page)).toEqual([])
  })

  it("shows the change and the time of each entry on a phone, with its unit", async () => {
    const page = await visitor.visit(`${node().url}/explorer/address/@valerie`, Browsers.phone)
    const table = page.getByRole("region", { name: "Changes of the account's balance, newest first" })
    const row = table.getByRole("row").filter({ hasText: "Transfer, received" })
    const change = row.getByRole("cell", { name: "+12.50 UDG" })
    for (const part of [change, row.locator("time"), row.getByRole("link").first()]) {
      const box = await part.boundingBox()
      expect((box?.x ?? 390) + (box?.width ?? 0)).toBeLessThan(390)
    }
  })

  it("shows the node's problem until it is resolved", async () => {
    const { page } = await visitor.open()
    const problem = { component: "network", status: "warning", reason: "only 1 peer is connected", since: Date.now() }
    const reason = `it waits for vertices of a quorum in round 7; missing: ${validator.address}`
    await page.route("**/health/detailed", async (route) => {
      const response = await route.fetch()
      const problems = [
        { ...problem, page: "docs/operations/alerts.md#udgpeercount" },
        { ...problem, component: "recovery", reason, page: "docs/recovery.md" },
      ]
      await route.fulfill({ response, json: { ...(await response.json()), status: "warning", problems } })
    })
    await page.goto(`${node().url}/explorer/validators`)
    const said = page.locator(".problems").getByText("only 1 peer is connected, since ")
    await said.waitFor()
    await page.locator(".problems").getByRole("link", { name: "@valerie" }).waitFor()
    expect(await page.locator(".problems").textContent()).not.toContain(validator.address)
    expect(await Axe.seriousOn(page)).toEqual([])
    await page.unroute("**/health/detailed")
    await said.waitFor({ state: "detached" })
  })

  it("shows the node's health in grey when the node is gone", async () => {
    const { page } = await visitor.openTroubled()
    await page.goto(`${node().url}/explorer/`)
    await page.locator(".health .badge.good").first().waitFor()
    await page.route("**/*", (route) => route.abort())
    await node().stop()
    await page.locator(".health.gone .badge.quiet", { hasText: "unknown" }).first().waitFor()
    expect(await page.locator(".health .badge.good").count()).toBe(0)
  })
})
