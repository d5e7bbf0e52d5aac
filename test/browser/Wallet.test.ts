/** The browser wallet: keys are made, kept and used in it, and only signed transactions leave it. */
import { Effect, Option } from "effect"
import type { Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as world from "../node/world.js"
import * as RealNode from "../rpc/RealNode.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as Axe from "./Axe.js"
import * as Purse from "./Purse.js"
import * as Visitor from "./Visitor.js"

const somebody = "00000000000000000000000000000000000000aa" as Address.Address

let node: RealNode.RealNode | undefined

afterEach(async () => {
  await node?.stop()
  node = undefined
})
const visitor = Visitor.forTests()

const begin = async (changes: Parameters<typeof RealNode.start>[0] = {}, open = visitor.open) => {
  const started = await RealNode.start({ roundMs: Option.some(150), ...changes })
  node = started
  const watched = await open()
  await watched.page.goto(`${started.url}/explorer/wallet`)
  return { ...watched, started }
}

const secretOf = async (page: Page): Promise<string> => {
  await page.getByRole("button", { name: /^Show the secret key/ }).click()
  const form = page.getByRole("form", { name: "Show the secret key" })
  await form.getByLabel("Passphrase").fill("somebody else's")
  await form.getByRole("button", { name: "Show it" }).click()
  await form.getByText("this passphrase is wrong").waitFor()
  await form.getByLabel("Passphrase").fill(Purse.PASSPHRASE)
  await form.getByRole("button", { name: "Show it" }).click()
  await page.locator(".backup .mono").waitFor()
  const text = (await page.locator(".backup .mono").textContent()) ?? ""
  await page.getByRole("button", { name: "Hide the secret key" }).click()
  return text
}

describe("the wallet", () => {
  it("makes a key, gets coins, sends and delegates, and never reveals the key", async () => {
    const { page, sent, started } = await begin()
    await Purse.makeKey(page)
    const secret = await secretOf(page)
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    await page.getByRole("button", { name: /from the faucet$/ }).click()
    await Purse.finalized(page, "1,000.00 UDG from the faucet")
    const client = connect(started.url)
    const { validators } = await client.staking.validators()
    const validator = Address.toBech32(validators[0]?.address ?? somebody, "tudg")
    await Purse.act(page, "Send", { To: validator, "Amount in UDG": "12.5", Memo: "thanks" })
    await Purse.finalized(page, "Send 12.50 UDG")
    await Purse.act(page, "Delegate", { Validator: validator, "Amount in UDG": "100" })
    await Purse.finalized(page, "Delegate 100.00 UDG")
    await Purse.act(page, "Name", { Name: "browser-bob" })
    await Purse.finalized(page, "Register @browser-bob")
    expect(await Axe.seriousOn(page)).toEqual([])

    const delegation = await client.delegation.delegationOf({ path: { address: "@browser-bob" } })
    expect(Address.toBech32(delegation.validator, "tudg")).toBe(validator)
    const together = page.locator(".purse .facts", { hasText: "Together" })
    await together
      .getByText(/^100\.\d\d UDG to/)
      .or(together.getByText("Delegated"))
      .first()
      .waitFor()
    await page.locator(".receipt", { hasText: "Send 12.50 UDG" }).getByRole("link").click()
    await page.getByText("thanks", { exact: true }).waitFor()
    expect(sent.filter((request) => request.toLowerCase().includes(secret))).toEqual([])
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(secret)
  })

  it("keeps the key only under its passphrase, and deletes it after two confirmations", async () => {
    const { page } = await begin()
    await page.getByLabel("Passphrase", { exact: true }).first().fill("short")
    await page.getByLabel("Passphrase again").first().fill("short")
    await page.getByRole("button", { name: "Make a key" }).click()
    await page.getByText("a passphrase needs at least 10 characters").waitFor()
    await page.getByLabel("Passphrase", { exact: true }).first().fill(Purse.PASSPHRASE)
    await page.getByLabel("Passphrase again").first().fill(`${Purse.PASSPHRASE}!`)
    await page.getByRole("button", { name: "Make a key" }).click()
    await page.getByText("the two passphrases differ").waitFor()
    await Purse.makeKey(page)
    const address = await page.locator(".purse a.mono").textContent()
    const secret = await secretOf(page)
    await page.reload()
    await page.getByText(address ?? "").waitFor()
    await page.getByLabel("Passphrase").fill("not the passphrase")
    await page.getByRole("button", { name: "Unlock" }).click()
    await page.getByText("this passphrase is wrong").waitFor()
    await page.getByLabel("Passphrase").fill(Purse.PASSPHRASE)
    await page.getByRole("button", { name: "Unlock" }).click()
    await page.getByRole("button", { name: "Lock" }).waitFor()
    expect(await secretOf(page)).toBe(secret)
    await page.getByRole("button", { name: "Lock" }).click()
    await Purse.forget(page)
    await page.getByRole("button", { name: "Make a key" }).waitFor()
    expect(await page.evaluate(() => localStorage.length)).toBe(0)
  })

  it("lets a validator propose and vote, and shows the result so far", async () => {
    // With the default period a decision takes a whole epoch, which is long while the network is idle.
    const dataDirectory = TemporaryFolder.forTest("wallet")
    const short = { votingPeriodRounds: 400, executionDelayRounds: 100 }
    await Effect.runPromise(world.found(dataDirectory, {}, short))
    const { page, started } = await begin({ ephemeral: false, dataDirectory, roundMs: Option.some(50) })
    const validator = Option.getOrThrow(started.validatorKey)
    await RealNode.earned(started, Address.fromPublicKey(validator.publicKey), 5_000_000)
    await Purse.bringKey(page, validator.toSecretHex())
    await Purse.act(page, "Propose", {
      Title: "Lower the least fee",
      Effect: "ParameterChange",
      Parameter: "min_fee_sats",
      "New value in UDG": "0.000005",
    })
    await Purse.finalized(page, 'Propose "Lower the least fee"')
    await Purse.act(page, "Vote", { Proposal: "1", Vote: "yes" })
    await Purse.finalized(page, "Vote yes on proposal #1")
    await page.goto(`${started.url}/explorer/proposals`)
    await page.getByRole("link", { name: "#1 Lower the least fee" }).click()
    await page.getByText("100 % yes").waitFor()
    await page.getByText(", 66 % needed").waitFor()
    await page.getByText(", 10 % needed").waitFor()
    await page.getByText("min_fee_sats").waitFor()
    await page.getByText("0.00001 UDG → 0.000005 UDG").waitFor()
    await page.getByText("Executed", { exact: true }).waitFor()
    expect(await page.getByText("→").count()).toBe(0)

    await page.goto(`${started.url}/explorer/wallet`)
    await page.getByLabel("Passphrase").fill(Purse.PASSPHRASE)
    await page.getByRole("button", { name: "Unlock" }).click()
    await Purse.act(page, "Propose", { Title: "Protocol 3", Effect: "Upgrade", "Protocol version": "3" })
    await Purse.finalized(page, 'Propose "Protocol 3": upgrade to protocol version 3')
    await page.goto(`${started.url}/explorer/proposal/2`)
    await page.getByText("Protocol version 3 from the epoch after it passes").waitFor()
    await page.getByText(", 66 % needed and more than two thirds of all stake").waitFor()
    await page.goto(`${started.url}/explorer/parameters`)
    await page.getByRole("row", { name: /^min_fee_sats .* 0\.000005 UDG/ }).waitFor()
    expect(await Axe.seriousOn(page)).toEqual([])
  })

  it("stakes, sets a commission, delegates, and withdraws both", async () => {
    const { page, started } = await begin()
    const client = connect(started.url)
    const network = Wallet.network(await client.core.network())
    const faucet = Wallet.account(network, Option.getOrThrow(started.faucetKey))
    const [staker, delegator] = [Wallet.generate(), Wallet.generate()]
    for (const [nonce, key] of [staker, delegator].entries()) {
      const { address } = Wallet.account(network, key)
      const amount = Wallet.sats("2500")
      await client.transactions.submit({ payload: faucet.transfer({ nonce, fee: 1_000, to: address, amount }) })
    }
    await Purse.bringKey(page, staker.toSecretHex())
    await page.getByText("2,500").first().waitFor()
    await Purse.act(page, "Stake", { "Amount in UDG": "2,000" })
    await Purse.finalized(page, "Stake 2,000.00 UDG")
    await page.locator(".purse .facts").getByText("Staked").waitFor()
    await Purse.act(page, "Commission", { "Commission in percent": "20" })
    await Purse.finalized(page, "Set the commission to 20 %")
    const { addressBech32 } = Wallet.account(network, staker)
    await page.getByRole("button", { name: "Lock" }).click()
    await Purse.forget(page)

    await page.goto(`${started.url}/explorer/validator/${addressBech32}`)
    await page.getByRole("link", { name: "Delegate to it" }).click()
    await Purse.bringKey(page, delegator.toSecretHex())
    await expect.poll(() => page.getByLabel("Validator").inputValue()).toBe(addressBech32)
    await Purse.act(page, "Delegate", { "Amount in UDG": "50" })
    await Purse.finalized(page, "Delegate 50.00 UDG")
    await Purse.act(page, "Undelegate", {})
    await Purse.finalized(page, "Take the whole delegation back")
    await page.locator(".purse .facts").getByText("Delegated").waitFor()
    const delegation = await client.delegation.delegationOf({
      path: { address: Wallet.account(network, delegator).address },
    })
    expect(delegation.undelegating).toBe(true)
  })

  it("reports invalid input and the node's refusals", async () => {
    const { page } = await begin({}, visitor.openTroubled)
    await Purse.makeKey(page)
    const form = page.getByRole("form", { name: "Send" })
    await form.getByLabel("To").fill("tudg1nonsense")
    await form.getByLabel("Amount in UDG").fill("1")
    await form.getByRole("button", { name: "Review" }).click()
    await form.getByRole("alert").waitFor()
    expect(await form.getByRole("alert").textContent()).toContain("to:")
    await form.getByLabel("To").fill("11".repeat(20))
    await form.getByRole("button", { name: "Review" }).click()
    await form.getByText("This would fail: it needs 1.00001 UDG").waitFor()
    await form.getByRole("button", { name: "Send it" }).click()
    await form.getByText("1.00001 UDG needed, 0 UDG available", { exact: true }).waitFor()
  })

  it("only signs on a mainnet, with a key that it does not keep", async () => {
    const { page, started } = await begin({ mode: Option.some("mainnet") })
    await page.getByText("This is a mainnet").waitFor()
    expect(await page.getByRole("button", { name: "Make a key" }).count()).toBe(0)
    const secret = Option.getOrThrow(started.validatorKey).toSecretHex()
    await page.getByLabel("Secret key, 64 hex characters").fill(secret)
    await page.getByRole("button", { name: "Use the key" }).click()
    await page.getByRole("button", { name: "Lock" }).waitFor()
    expect(await page.getByRole("button", { name: /faucet/ }).count()).toBe(0)
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(secret)
  })
})
