/** Follows withdrawals and votes to their end, on a network that makes rounds at once. */
import type { Page } from "playwright-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import * as Wallet from "../../src/client/Wallet.js"
import { type FundedAccount, type StartedNode, startNode } from "../../src/testing/Testing.js"
import * as Purse from "./Purse.js"
import * as Visitor from "./Visitor.js"

/** Enough rounds for a cooldown and the rest of its epoch, and for a vote. */
const UNTIL_THE_END = 120

/** Enough to outvote the network's own validator. */
const COINS = 5_000_000

let node: StartedNode

beforeEach(async () => {
  node = await startNode({ roundMs: 100, accounts: 1, coinsEach: COINS })
})
afterEach(() => node?.stop())
const visitor = Visitor.forTests()

const theOwner = (): FundedAccount => {
  const [found] = node.accounts
  if (found === undefined) throw new Error("the network has no account")
  return found
}

const openWallet = async (owner: FundedAccount): Promise<Page> => {
  const page = await visitor.visit(`${node.url}/explorer/wallet`)
  await Purse.bringKey(page, owner.secretKey.toSecretHex())
  return page
}

const make = async (payload: Wallet.SignedTransaction): Promise<void> => {
  const { tx_hash: hash } = await node.client.transactions.submit({ payload })
  expect((await node.finalized(hash)).applied).toBe(true)
}

const fact = (page: Page, name: string) =>
  page.locator(".facts > div", { has: page.getByText(name, { exact: true }) }).locator("dd")

/** Parses "round 1,240 (in about 2 min)". */
const roundIn = (text: string | null): number =>
  Number(/round ([\d,]+)/.exec(text ?? "")?.[1]?.replaceAll(",", "") ?? Number.NaN)

const historyOf = async (page: Page, of: FundedAccount) => {
  await page.goto(`${node.url}/explorer/address/${of.addressBech32}`)
  return page.getByRole("region", { name: "Changes of the account's balance, newest first" }).locator("tbody tr")
}

describe("a stake without a seat", () => {
  it("says how its validator gets one", async () => {
    const owner = theOwner()
    await make(owner.stake({ nonce: 0, fee: 1_000, amount: Wallet.sats("2500") }))
    const page = await visitor.visit(`${node.url}/explorer/validator/${owner.addressBech32}`)
    await fact(page, "State").getByText("no seat in this epoch; the next close can give it one").waitFor()
    const [member] = (await node.client.staking.validators()).validators.filter(({ in_committee }) => in_committee)
    await page.goto(`${node.url}/explorer/validator/${member?.address}`)
    await page.getByText("in committee", { exact: true }).waitFor()
    expect(await fact(page, "State").textContent()).toBe("in committee")
  })
})

describe("a withdrawn stake", () => {
  it("shows its payout date, and is in the balance and the history afterwards", async () => {
    const owner = theOwner()
    await make(owner.stake({ nonce: 0, fee: 1_000, amount: Wallet.sats("2500") }))
    const page = await openWallet(owner)
    await Purse.act(page, "Unstake", {})
    await Purse.finalized(page, "Take the whole stake back")
    const leaves = fact(page, "Stake leaves")
    await leaves.getByText(/^paid out at round [\d,]+/).waitFor()
    const { unlock_at_round: unlockAt } = await node.client.staking.stakeOf({ path: { address: owner.address } })
    expect(roundIn(await leaves.textContent())).toBe(unlockAt)
    await page.locator(".purse .headline", { hasText: "4,997,499." }).waitFor()

    await node.controls.advanceRounds(UNTIL_THE_END)
    await page.locator(".purse .headline", { hasText: "4,999,999." }).waitFor()
    await leaves.waitFor({ state: "detached" })
    const rows = await historyOf(page, owner)
    const released = rows.filter({ hasText: "Stake released" })
    expect(await released.textContent()).toContain("+2,500.00")
    expect(await page.getByRole("heading", { name: "Stake", exact: true }).count()).toBe(0)
  })
})

describe("a withdrawn delegation", () => {
  it("shows its payout date, and is in the balance and the history afterwards", async () => {
    const owner = theOwner()
    const [validator] = (await node.client.staking.validators()).validators
    await make(
      owner.delegate({ nonce: 0, fee: 1_000, validator: validator?.address ?? "", amount: Wallet.sats("1500") }),
    )
    const page = await openWallet(owner)
    await Purse.act(page, "Undelegate", {})
    await Purse.finalized(page, "Take the whole delegation back")
    const leaves = fact(page, "Delegation leaves")
    await leaves.getByText(/^paid out at round [\d,]+/).waitFor()
    const { unlock_at_round: unlockAt } = await node.client.delegation.delegationOf({
      path: { address: owner.address },
    })
    expect(roundIn(await leaves.textContent())).toBe(unlockAt)

    await node.controls.advanceRounds(UNTIL_THE_END)
    await leaves.waitFor({ state: "detached" })
    const rows = await historyOf(page, owner)
    const released = rows.filter({ hasText: "Delegation released" })
    // The delegated coins and what they earned.
    expect(await released.textContent()).toMatch(/\+1,50\d\./)
  })
})

describe("a rejected proposal", () => {
  const propose = async (page: Page): Promise<void> => {
    await Purse.act(page, "Propose", { Title: "Raise the least fee", Effect: "Text" })
    await Purse.finalized(page, 'Propose "Raise the least fee"')
  }

  it("reports a low turnout, and who has its bond", async () => {
    const owner = theOwner()
    await make(owner.stake({ nonce: 0, fee: 1_000, amount: Wallet.sats("2000") }))
    await node.controls.advanceRounds(UNTIL_THE_END)
    const page = await openWallet(owner)
    await propose(page)
    await page.goto(`${node.url}/explorer/proposal/1`)
    const vote = page.getByRole("link", { name: "Vote", exact: true })
    expect(await vote.getAttribute("href")).toBe("/explorer/wallet?action=vote&proposal=1")
    await fact(page, "Carried out from").waitFor()
    await node.controls.advanceRounds(UNTIL_THE_END)
    await page.getByText("Rejected: only 0.0 % of the stake voted.").waitFor()
    expect(await vote.count()).toBe(0)
    expect(await fact(page, "Carried out from").count()).toBe(0)
    await page.getByText("paid to the treasury: too few voted").waitFor()
  })

  it("reports a low approval", async () => {
    const owner = theOwner()
    await make(owner.stake({ nonce: 0, fee: 1_000, amount: Wallet.sats("4000000") }))
    await node.controls.advanceRounds(UNTIL_THE_END)
    const page = await openWallet(owner)
    await propose(page)
    await Purse.act(page, "Vote", { Proposal: "1", Vote: "no" })
    await Purse.finalized(page, "Vote no on proposal #1")
    await node.controls.advanceRounds(UNTIL_THE_END)
    await page.goto(`${node.url}/explorer/proposal/1`)
    await page.getByText("Rejected: only 0.0 % of the votes were yes.").waitFor()
    await page.getByText("returned to its proposer").waitFor()
  })
})
