/** Numbers as people type them, and the review, which always shows what is signed. */
import { describe, expect, it } from "vitest"
import * as Wallet from "../../../src/client/Wallet.js"
import { actions, type Typed } from "../../../src/explorer/wallet/Action.js"

const network = Wallet.network({ network_id: "udg-test", address_prefix: "tudg" })
const account = Wallet.account(network, Wallet.secretKey("11".repeat(32)))
const common = { nonce: 0, fee: 1_000 }

const act = (id: string, typed: Typed) => {
  const action = actions.find((each) => each.id === id)
  if (action === undefined) throw new Error(`there is no action ${id}`)
  return { signed: action.sign(account, typed, common), summary: action.summary(typed) }
}

const send = (amount: string) => act("send", { to: account.address, amount, memo: "" })

describe("an amount", () => {
  it.each([
    ["2.5", 250_000_000, "2.50"],
    ["1234.5", 123_450_000_000, "1,234.50"],
    ["1,234.5", 123_450_000_000, "1,234.50"],
    ["1,500", 150_000_000_000, "1,500.00"],
    [" 1,234,567.00000001 ", 123_456_700_000_001, "1,234,567.00000001"],
    ["007", 700_000_000, "7.00"],
  ])("typed as %s has the right sats, and the review shows it", (typed, sats, said) => {
    const { signed, summary } = send(typed)
    expect(signed).toMatchObject({ amount: sats })
    expect(summary).toBe(`Send ${said} UDG to ${account.address}`)
  })

  it.each([
    "2,5",
    "0,5",
    "1,00",
    "10,0000",
    "1234,567",
    "1,234,5",
    ",5",
    "1,,000",
    "1.5,000",
    "1.234,50",
    "",
    "1e3",
    "-1",
  ])("typed as %s is refused, not guessed", (typed) => {
    expect(() => send(typed)).toThrow(Wallet.InvalidInput)
  })

  it("is refused with the position of a wrong comma", () => {
    expect(() => send("2,5")).toThrow(
      '"2,5": use commas only between groups of three digits, and a point before the decimals',
    )
  })
})

describe("the review", () => {
  it("shows the signed number in every action that has one", () => {
    const to = account.address
    expect(act("stake", { amount: "2000" }).summary).toBe("Stake 2,000.00 UDG")
    expect(act("delegate", { validator: to, amount: "1,000.1" }).summary).toBe(`Delegate 1,000.10 UDG to ${to}`)
    expect(act("commission", { percent: "05" }).summary).toBe("Set the commission to 5 %")
    expect(act("vote", { proposal: "1,000", vote: "yes" }).summary).toBe("Vote yes on proposal #1000")
    const propose = (typed: Typed) => act("propose", { title: "T", description: "", ...typed }).summary
    expect(propose({ type: "ParameterChange", param: "min_fee_sats", "value-coins": "0.002" })).toBe(
      'Propose "T": set min_fee_sats to 0.002 UDG',
    )
    expect(propose({ type: "ParameterChange", param: "cooldown_rounds", "value-rounds": "2,000" })).toBe(
      'Propose "T": set cooldown_rounds to 2,000 rounds',
    )
    expect(propose({ type: "Upgrade", version: "3" })).toBe('Propose "T": upgrade to protocol version 3')
    expect(propose({ type: "TreasurySpend", recipient: to, amount: "1,000" })).toBe(
      `Propose "T": pay 1,000.00 UDG from the treasury to ${to}`,
    )
  })

  it("refuses a decimal comma in whole numbers too", () => {
    expect(() => act("vote", { proposal: "1,2", vote: "yes" })).toThrow(Wallet.InvalidInput)
    expect(() => act("commission", { percent: "1,5" })).toThrow(Wallet.InvalidInput)
  })
})
