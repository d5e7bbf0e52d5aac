/**
 * The amounts on the explorer's pages, compared with a count over the chain: after restarts, and with an absent
 * validator.
 */
import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { connect, type PromiseClient } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Absence from "../network/Absence.js"
import * as Processes from "../network/Processes.js"
import * as Recount from "../network/Recount.js"
import * as Visitor from "./Visitor.js"

const EPOCH_ROUNDS = 60
const OPEN = ["--rate-limits", "off"]
const FEE = 1_000
const NAME_FEE = 100_000
const ACCOUNT_FEE = 1_100_000

const network = Processes.found({
  ...{ roundMs: 150, epochRounds: EPOCH_ROUNDS, networkId: "udg-recount" },
  parameters: { accountFee: ACCOUNT_FEE, cooldownRounds: EPOCH_ROUNDS },
})

const visitor = Visitor.forTests()
let client: PromiseClient
let url: string
let recount: Recount.Recount
let alice: Wallet.Account
let bob: Wallet.Account
let validators: ReadonlyArray<Wallet.Account>

/** Payments, a name that two accounts want, delegations one of which leaves, and a changed commission. */
const trade = async (node: PromiseClient): Promise<void> => {
  const of = Wallet.network(await node.core.network())
  const rich = Wallet.account(of, network.rich)
  alice = Wallet.account(of, Wallet.generate())
  bob = Wallet.account(of, Wallet.generate())
  validators = network.keys.map((key) => Wallet.account(of, key))
  const [first, second] = validators
  if (first === undefined || second === undefined) return expect.fail()
  const [toAlice, toBob] = [
    { to: alice.address, amount: Wallet.sats("5000.00000007") },
    { to: bob.address, amount: Wallet.sats("3000") },
  ]
  const opening = FEE + ACCOUNT_FEE
  const send = (payload: ReadonlyArray<Wallet.SignedTransaction>) => node.transactions.submit({ payload })
  await send([
    rich.transfer({ nonce: 0, fee: opening, ...toAlice }),
    rich.transfer({ nonce: 1, fee: opening, ...toBob }),
  ])
  await Processes.until("both have coins", async () => {
    const { balance } = await node.core.balance({ path: { address: bob.address } })
    return balance > 0
  })
  const delegation = bob.delegate({ nonce: 1, fee: 0, validator: second.address, amount: Wallet.sats("700.00000001") })
  await send([
    alice.registerName({ nonce: 0, fee: NAME_FEE, name: "alice" }),
    bob.registerName({ nonce: 0, fee: NAME_FEE + 1, name: "alice" }),
    alice.delegate({ nonce: 1, fee: FEE, validator: first.address, amount: Wallet.sats("1200") }),
    delegation,
    alice.transfer({ nonce: 2, fee: FEE, to: bob.address, amount: Wallet.sats("12.5"), memo: "October's rent" }),
    second.setCommission({ nonce: 0, fee: 0, commission_percent: 25 }),
  ])
  await node.sendAndWait(delegation)
  await node.sendAndWait(bob.undelegate({ nonce: 2, fee: FEE }))
}

const payAgain = async (node: PromiseClient): Promise<void> => {
  const payments = Array.from({ length: 30 }, (_, n) =>
    alice.transfer({ nonce: 3 + n, fee: FEE + n, to: bob.address, amount: n + 1 }),
  )
  await node.transactions.submit({ payload: payments })
  await node.sendAndWait(bob.transfer({ nonce: 3, fee: FEE, to: alice.address, amount: Wallet.sats("1") }))
}

/** The first node makes no more rounds, so every page shows the same moment. */
const standStill = async (): Promise<Processes.Started> => {
  const meanwhile = ({ http }: Processes.Started) => trade(connect(http ?? ""))
  const [first, second, third] = await Absence.live(network, { epochs: 3, words: OPEN, meanwhile })
  await first.stop()
  const again = await Processes.startValidator(network, 0, [second, third], OPEN)
  await payAgain(connect(again.http ?? ""))
  await Processes.everybodyAt([again, second, third], 4 * EPOCH_ROUNDS + 5)
  await Promise.all([second.stop(), third.stop()])
  let round = 0
  await Processes.until("nothing is decided any more", async () => {
    const before = round
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    round = Processes.finalizedRound(again)
    return round === before
  })
  return again
}

beforeAll(async () => {
  const node = await standStill()
  url = node.http ?? ""
  client = connect(url)
  recount = new Recount.Recount(network, await Recount.read(client, network, node))
}, 600_000)
afterAll(async () => {
  await Processes.removeAll()
})

/** Parses "+1,200.5" or "−1,200.5 UDG" into sats. */
const satsOf = (text: string | null): number => {
  const [, sign, whole = "", decimals = ""] = /^([+−]?)([\d,]+)\.(\d+)/.exec(text ?? "") ?? []
  const sats = Number(`${whole.replaceAll(",", "")}${decimals.slice(0, 8).padEnd(8, "0")}`)
  return sign === "−" ? -sats : sats
}

const kinds: Readonly<Record<string, string>> = {
  "Rewards of its vertices": "reward",
  "Fees in its vertices": "fees",
  "Genesis allocation": "genesis",
  "Delegation released": "delegation_released",
}

const rowsOf = (page: Page) =>
  page.getByRole("region", { name: "Changes of the account's balance, newest first" }).locator("tbody tr")

/** The rows of one page of the history. */
const entriesOn = async (page: Page) => {
  const entries: Array<Parameters<typeof Recount.statementOf>[0][number]> = []
  for (const row of await rowsOf(page).all()) {
    const text = async (title: string) => (await row.locator(`td[data-title="${title}"]`).textContent()) ?? ""
    const links = await row.locator('td[data-title="Entry"] a').evaluateAll((all) => all.map((one) => `${one}`))
    const hash = /tx\/([0-9a-f]{64})$/.exec(links[0] ?? "")?.[1] ?? null
    const words = await text(hash === null ? "Entry" : "Type")
    const kind = hash === null ? kinds[words] : /, (sent|received)( failed)?$/.exec(words)?.[1]
    entries.push({ kind: kind ?? words, hash, change: satsOf(await text("Change")) })
  }
  return entries
}

const statementOn = async (page: Page): Promise<Recount.Statement> => {
  const entries = await entriesOn(page)
  const older = page.getByRole("button", { name: "Older →" })
  while ((await older.count()) > 0 && (await older.getAttribute("aria-disabled")) !== "true") {
    const newest = await rowsOf(page).first().textContent()
    await older.click()
    await expect.poll(() => rowsOf(page).first().textContent()).not.toBe(newest)
    entries.push(...(await entriesOn(page)))
  }
  return Recount.statementOf(entries)
}

const open = async (path: string): Promise<Page> => {
  const page = await visitor.visit(`${url}/explorer/${path}`)
  return page
}

const fact = (page: Page, name: string) =>
  page.locator(".facts > div", { has: page.getByText(name, { exact: true }) }).locator("dd")

it("finds in every vertex the reward of its round and weight, and the supply as their sum", async () => {
  expect(recount.falseClaims).toEqual([])
  expect((await client.core.status()).total_supply).toBe(Number(recount.total))
})

it("shows on each account's page the balance and the statement that the chain gives", async () => {
  const counted = [alice, bob, ...validators].map(({ address }) => address)
  expect(recount.accounts).toEqual(expect.arrayContaining(counted))
  for (const account of counted) {
    const page = await open(`address/${account}`)
    expect(satsOf(await page.locator(".headline").textContent())).toBe(recount.balance(account))
    const history = page.getByText("Changes of the account's balance, newest first")
    await history.or(page.getByText("This account has neither sent nor received anything.")).waitFor()
    expect(await statementOn(page)).toEqual(recount.statement(account))
  }
})

it("covers a failure, earnings of every kind, and a returned delegation", () => {
  const [first, second, third, absent] = validators.map(({ address }) => recount.statement(address))
  for (const earned of [first, second, third]) expect(earned).toMatchObject({ reward: expect.any(Number) })
  expect({ ...first, ...second, ...third }).toMatchObject({ fees: expect.any(Number) })
  expect(absent).toEqual({})
  expect(recount.statement(bob.address)).toMatchObject({ delegation_released: expect.any(Number) })
  expect(Object.values(recount.statement(bob.address))).toContain(-NAME_FEE - 1)
})

it("shows a validator's delegations, and its uptime as the node counts it", async () => {
  const [first] = validators
  const worth = recount.delegation(alice.address)
  const page = await open(`validator/${first?.address}`)
  const delegators = page.getByRole("region", { name: "Delegators, largest first" }).locator("tbody tr")
  expect(satsOf(await delegators.locator('td[data-title="Amount"]').textContent())).toBe(worth)
  await page.goto(`${url}/explorer/address/${alice.address}`)
  expect(satsOf(await fact(page, "Worth now").textContent())).toBe(worth)
  const { validators: counted } = await client.monitoring.attendance({ urlParams: { range: "day" } })
  for (const { address, made, missed } of counted) {
    await page.goto(`${url}/explorer/validator/${address}`)
    await fact(page, "Uptime")
      .getByText(new RegExp(`: ${missed} rounds? missed of ${made + missed} with a seat$`))
      .waitFor()
  }
  expect(counted).toHaveLength(4)
})
