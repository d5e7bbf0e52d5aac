/** A validator's page from a delegator's view, and vertices in the DAG, over a real node in a real browser. */
import { setTimeout as sleep } from "node:timers/promises"
import { Option } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(100) }))
const visitor = Visitor.forTests()
let validator: Wallet.Account

beforeAll(async () => {
  const client = connect(node().url)
  validator = Wallet.account(Wallet.network(await client.core.network()), Option.getOrThrow(node().validatorKey))
  await client.transactions.submit({ payload: validator.setCommission({ nonce: 0, fee: 0, commission_percent: 25 }) })
  while ((await client.monitoring.attendance({ urlParams: {} })).validators.length === 0) await sleep(200)
})

describe("a validator's page", () => {
  it("shows its reliability, its commission, and the expected earnings with their reason", async () => {
    const page = await visitor.visit(`${node().url}/explorer/validator/${validator.address}`)
    // The address is in hex; the page uses the usual form.
    await page
      .getByRole("heading", {
        level: 1,
        name: `Validator ${validator.addressBech32.slice(0, 10)}…${validator.addressBech32.slice(-6)}`,
      })
      .waitFor()
    await page.getByText(/^100 %\s+over (?:\d+ min|[\d<]+ s|\d+ min \d+ s): 0 rounds missed of \d+/).waitFor()
    const commissions = page.getByRole("region", { name: "Commission changes, newest first" })
    await commissions.getByText("25 %").waitFor()
    const reward = page.getByRole("region", { name: "Estimated yearly reward" })
    await reward.getByText(/^[\d,]+ UDG, [\d,]+\.\d % of its own stake$/).waitFor()
    await reward.getByText("How this is estimated").click()
    await reward.getByText(/^0\.02 UDG × [\d,]+ × 100\.00 % × 100\.00 % × 80 % = [\d,]+ UDG$/).waitFor()
    const rounds = page.getByRole("img", { name: /^Rounds made and missed/ })
    await rounds.waitFor()
    expect(await rounds.getAttribute("aria-label")).toMatch(
      /: made between \d+ and \d+, last \d+; missed between 0 and 0, last 0$/,
    )
    await page.getByText(/^made \d+$/).waitFor()
    await page.getByText("missed 0").waitFor()
    expect(await Axe.seriousOn(page)).toEqual([])
    await page.getByRole("link", { name: "Delegate to it" }).click()
    await page.waitForURL(/\/explorer\/wallet\?action=delegate&validator=/)
  })
})

it("shows a slashing with its time", async () => {
  const { page } = await visitor.open()
  const slash = { kind: "stake_slashed", change: 0, amount: 100_000_000_000, round: 7, since: 1_700_000_000_000 }
  const nothing = {
    fee: null,
    type: null,
    hash: null,
    counterparty: null,
    applied: null,
    proposal_id: null,
    memo: null,
  }
  await page.route("**/statement?*", async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    const entries = [...answer.entries, { ...slash, ...nothing, timestamp: slash.since }]
    await route.fulfill({ response, json: { ...answer, entries } })
  })
  await page.goto(`${node().url}/explorer/validator/${validator.address}`)
  await page.getByText(/^Slashed in round 7 \(.*\): 1,000\.00 UDG of its stake burned\.$/).waitFor()
})

it("shows the reliability of each validator in the list too", async () => {
  const page = await visitor.visit(`${node().url}/explorer/validators`)
  await page.getByRole("columnheader", { name: /^Uptime \(\d+ (s|min)\)$/ }).waitFor()
  await page.getByRole("cell", { name: "100 %", exact: true }).waitFor()
})

describe("a vertex's page", () => {
  it("shows its commit and children, and its position in the picture", async () => {
    const { page } = await visitor.open()
    const { columns } = await connect(node().url).dag.columns({ urlParams: { rounds: 30 } })
    const column = columns.find(({ finalized }) => finalized)
    const hash = column?.vertices[0]?.hash ?? ""
    const child = columns.find(({ round }) => round === (column?.round ?? 0) + 1)?.vertices[0]?.hash ?? ""
    await page.goto(`${node().url}/explorer/vertex/${hash}`)
    await page.getByText(/^commit \d/).waitFor()
    const children = page.getByRole("region", { name: "Children" })
    expect(await children.getByRole("link").getAttribute("href")).toBe(`/explorer/vertex/${child}`)
    await page.getByRole("link", { name: "show it in the picture" }).click()
    const hint = page.locator(".hint")
    await hint.waitFor()
    expect(await hint.textContent()).toContain(`Round ${column?.round.toLocaleString("en")}`)
  })

  it("returns to the picture when the timeline is dragged back to its round", async () => {
    const page = await visitor.visit(`${node().url}/explorer/dag`)
    const timeline = page.getByRole("slider", { name: /^Replay/ })
    await page.getByRole("region", { name: "The latest rounds" }).getByText("committed").first().waitFor()
    await timeline.fill("12")
    await page.getByRole("button", { name: "Latest" }).waitFor()
    expect(await timeline.getAttribute("aria-valuetext")).toBe("up to round 12")
    await expect.poll(() => Axe.coloursOf(page.locator(".dag canvas"))).toBeGreaterThan(5)
  })
})
