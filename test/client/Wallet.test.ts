import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Fee from "../../src/client/Fee.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"

const network = Wallet.network({ network_id: "udg-test", address_prefix: "tudg" })
const key = Wallet.secretKey("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
const alice = Wallet.account(network, key)
const bob = Wallet.account(network, Wallet.generate())

/** The transaction as the node decodes it. */
const received = (json: Wallet.SignedTransaction) =>
  Either.getOrThrow(JsonForm.fromJson(network.networkId, network.prefix, json))

const holds = (json: Wallet.SignedTransaction): boolean =>
  Verification.checksOf(network.networkId, received(json)).every(Verification.isValid)

const common = { fee: 1000, nonce: 7 }

describe("an account", () => {
  it("has its address in both forms", () => {
    expect(alice.publicKey).toBe("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    expect(alice.addressBech32).toMatch(/^tudg1/)
    expect(Either.getOrThrow(Address.parse(alice.addressBech32, "tudg"))).toBe(alice.address)
    expect(bob.address).not.toBe(alice.address)
  })

  it.each<readonly [Wallet.Type, Wallet.SignedTransaction]>([
    ["Transfer", alice.transfer({ to: bob.addressBech32, amount: Wallet.sats("12.5"), memo: "für dich", ...common })],
    ["StakeTx", alice.stake({ amount: Wallet.sats("2000"), nonce: 0 })],
    ["UnstakeTx", alice.unstake({ nonce: 0 })],
    ["DelegateTx", alice.delegate({ validator: bob.address, amount: Wallet.sats("1"), nonce: 0 })],
    ["UndelegateTx", alice.undelegate({ nonce: 0 })],
    ["SetCommissionTx", alice.setCommission({ commission_percent: 7, nonce: 0 })],
    [
      "CreateProposalTx",
      alice.createProposal({
        title: "t",
        description: "",
        proposal_type: { TreasurySpend: { recipient: bob.addressBech32, amount: Wallet.sats("1") } },
        ...common,
      }),
    ],
    ["VoteTx", alice.vote({ proposal_id: 1, vote: false, ...common })],
    ["RegisterNameTx", alice.registerName({ name: "alice", ...common })],
    ["SetAccountPolicyTx", alice.setAccountPolicy({ threshold: 1, keys: [alice.publicKey, bob.publicKey], ...common })],
  ])("signs a %s that the node accepts", (type, json) => {
    expect(json.type).toBe(type)
    expect(holds(json)).toBe(true)
    expect(received(json).from).toBe(alice.address)
  })

  it("signs only for its network", () => {
    const other = Wallet.account(Wallet.network({ network_id: "udg-other", address_prefix: "tudg" }), key)
    expect(holds(other.unstake({ nonce: 0 }))).toBe(false)
  })
})

describe("a smart account", () => {
  it("is signed by several keys separately", () => {
    const draft = Wallet.unsigned(network, alice.address, "Transfer", { to: bob.address, amount: 5, ...common })
    const signatures = [key, Wallet.generate()].map((each) => Wallet.cosign(draft, each))
    const json = Wallet.combine(draft, signatures)
    expect(json.signatures).toHaveLength(2)
    expect(json.pub_key).toBeUndefined()
    expect(holds(json)).toBe(true)
    expect(received(json).id).toBe(Wallet.hashOf(draft))
    expect(() => Wallet.combine(draft, [])).toThrow(Wallet.InvalidInput)
  })
})

describe("the wallet's checks", () => {
  it.each([
    ["amount", () => alice.transfer({ to: bob.address, amount: 1.5, ...common })],
    ["to", () => alice.transfer({ to: "udg1nowhere", amount: 1, ...common })],
    ["amount", () => alice.stake({ amount: 1, nonce: 0 })],
    ["nonce", () => alice.unstake({ nonce: -1 })],
    ["name", () => alice.registerName({ name: "NO", ...common })],
    ["threshold", () => alice.setAccountPolicy({ threshold: 2, keys: [alice.publicKey], ...common })],
    ["network_id", () => Wallet.network({ network_id: "Not A Name", address_prefix: "udg" })],
    ["secret key", () => Wallet.secretKey("abc")],
    ["coins", () => Wallet.sats("1.123456789")],
  ])("refuse an invalid input with its field: %s", (field, build) => {
    expect(build).toThrow(Wallet.InvalidInput)
    expect(build).toThrow(field)
  })

  it("preserve an amount through parsing and printing", () => {
    for (const text of ["0", "0.00000001", "12.5", "21000000"]) expect(Wallet.coins(Wallet.sats(text))).toBe(text)
  })
})

it("a fee is called too high above a hundred times the usual fee of its type", () => {
  expect([Fee.isDear("Transfer", 100_000), Fee.isDear("Transfer", 100_001)]).toEqual([false, true])
  expect([Fee.isDear("RegisterNameTx", 10_000_000), Fee.isDear("RegisterNameTx", 10_000_001)]).toEqual([false, true])
})

it("a fee includes the price of an account exactly where the recipient has none, with ten times that price allowed", () => {
  const info = { parameters: { min_fee_sats: 7, name_fee_sats: 11, account_fee_sats: 13 } }
  expect(Wallet.fee(info, "Transfer")).toBe(7)
  expect(Wallet.fee(info, "Transfer", { exists: true })).toBe(7)
  expect(Wallet.fee(info, "Transfer", { exists: false })).toBe(20)
  expect([Wallet.fee(info, "RegisterNameTx"), Wallet.fee(info, "StakeTx")]).toEqual([11, 0])
  const isDear = (fee: number, exists: boolean) => Fee.isDear("Transfer", fee, { exists })
  expect([isDear(11_100_000, false), isDear(11_100_001, false), isDear(100_001, true)]).toEqual([false, true, true])
  expect(Fee.usual("Transfer", { exists: false })).toBe(1_101_000)
})
