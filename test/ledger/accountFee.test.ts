/** The price of the first transfer to an address, and its recipient. One validator `val` proposes, without rewards. */
import { describe, expect, it } from "vitest"
import * as Rejection from "../../src/ledger/rules/Rejection.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person, told, type World } from "./builders.js"

const [alice, bob, val, eve, fay] = [person("alice"), person("bob"), person("val"), person("eve"), person("fay")]

const MIN = 1_000
const PRICE = 1_100_000
const FULL = MIN + PRICE

const world: World = {
  accounts: { alice: 9_000, bob: 50 },
  parameters: { accountFee: PRICE },
  protocol: { roundReward: Sats.ZERO },
}

const paidTo = (chain: Chain) => ({ treasury: chain.ledger.read.totals.treasury, author: chain.balance(val) })

describe("a transfer to an address without an account", () => {
  it("pays the treasury exactly the price of the account, and the author the rest", () => {
    const chain = new Chain(world)
    expect(chain.run(chain.transfer(alice, eve, 5, FULL + 7))).toEqual([
      { _tag: "Applied", fee: FULL + 7, toTreasury: PRICE, taken: 5, proposalId: null },
    ])
    expect(paidTo(chain)).toEqual({ treasury: PRICE, author: MIN + 7 })
    expect([chain.balance(alice), chain.balance(eve)]).toEqual([coins(9_000) - FULL - 12, 5])
    chain.ledger.recount()
  })

  it("fails with a sat less, creates nothing, and leaves the fee to the author", () => {
    const chain = new Chain(world)
    expect(chain.run(chain.transfer(alice, eve, 5, FULL - 1)).map(told)).toEqual(["failed: fee_below_minimum"])
    expect(paidTo(chain)).toEqual({ treasury: 0, author: FULL - 1 })
    expect(chain.run(chain.transfer(alice, eve, 5, MIN)).map(told)).toEqual(["failed: fee_below_minimum"])
  })

  it("pays for the account once: a second one in the same vertex or commit needs only the minimum", () => {
    const chain = new Chain(world)
    expect(chain.run(chain.transfer(alice, eve, 5, FULL), chain.transfer(bob, eve, 5, MIN)).map(told)).toEqual([
      "applied",
      "applied",
    ])
    const vertices = [
      { by: val, transactions: [chain.transfer(alice, fay, 5, FULL)] },
      { by: val, round: chain.round + 2, transactions: [chain.transfer(bob, fay, 5, MIN)] },
    ]
    const { vertices: outcomes } = chain.commit(vertices, chain.round + 2)
    expect(outcomes.flatMap(({ transactions }) => transactions.map(told))).toEqual(["applied", "applied"])
    expect(paidTo(chain)).toEqual({ treasury: 2 * PRICE, author: 4 * MIN })
  })

  it("fails when a cheap one is executed first", () => {
    const chain = new Chain(world)
    expect(chain.run(chain.transfer(bob, eve, 5, MIN), chain.transfer(alice, eve, 5, FULL)).map(told)).toEqual([
      "failed: fee_below_minimum",
      "applied",
    ])
    expect(paidTo(chain)).toEqual({ treasury: PRICE, author: 2 * MIN })
  })

  it("leaves the author the surcharge for an account that another transfer created first", () => {
    const chain = new Chain(world)
    const late = chain.transfer(bob, eve, 5, FULL)
    expect(chain.ledger.admission(late, 0)).toBeUndefined()
    expect(chain.run(chain.transfer(alice, eve, 5, FULL), late).map(told)).toEqual(["applied", "applied"])
    expect(paidTo(chain)).toEqual({ treasury: PRICE, author: FULL + MIN })
  })

  it("is refused at admission with the fee that it needs", () => {
    const chain = new Chain(world)
    const refusal = chain.ledger.admission(chain.transfer(alice, eve, 5, MIN), 0)
    expect(refusal).toMatchObject({ _tag: "InvalidTransaction", rule: "fee_below_minimum" })
    expect(refusal && Rejection.describe(refusal)).toBe(
      "the fee is 0.00001 UDG (1000 sats); at least 0.01101 UDG (1101000 sats) is required, " +
        "0.011 UDG (1100000 sats) of it because the recipient has no account yet",
    )
    expect(chain.ledger.admission(chain.transfer(alice, bob, 5, MIN), 0)).toBeUndefined()
  })

  it("costs only the minimum where the price is zero", () => {
    const chain = new Chain({ ...world, parameters: {} })
    expect(chain.run(chain.transfer(alice, eve, 5, MIN)).map(told)).toEqual(["applied"])
    expect(paidTo(chain)).toEqual({ treasury: 0, author: MIN })
  })
})

describe("an address", () => {
  it("has an account if it holds nothing and has spent, stakes from the beginning, or has a seat", () => {
    const chain = new Chain({ ...world, accounts: { alice: 9_000, bob: 0.00002 }, council: ["fay"] })
    chain.run(chain.transfer(bob, alice, 1_000, MIN))
    expect([chain.balance(bob), chain.account(bob).nonce, chain.balance(fay)]).toEqual([0, 1, 0])
    const outcomes = chain.run(...[bob, val, fay, alice].map((whom) => chain.transfer(alice, whom, 5, MIN)))
    expect(outcomes.map(told)).toEqual(["applied", "applied", "applied", "applied"])
    expect(chain.ledger.read.totals.treasury).toBe(0)
  })

  it("loses its account when a vote takes its seat and it has nothing else, even if a node keeps a row", () => {
    const chain = new Chain({ ...world, council: ["alice", "fay"] })
    decide(chain, { _tag: "CouncilMembership", action: "remove", address: fay.address })
    expect(chain.run(chain.transfer(alice, fay, 5, MIN), chain.transfer(alice, fay, 5, FULL)).map(told)).toEqual([
      "failed: fee_below_minimum",
      "applied",
    ])
  })
})

/** Executes a proposal of alice with the vote of the only validator. */
const decide = (chain: Chain, payload: Parameters<typeof proposing>[1]): void => {
  chain.run(proposing(chain, payload))
  chain.run(
    chain.transfer(alice, val, coins(1)),
    chain.tx(val, { _tag: "VoteTx", proposalId: Natural.proposalId(1), vote: true }, { fee: MIN }),
  )
  const due = chain.ledger.read.proposal(Natural.proposalId(1))?.executesAtRound ?? 0
  while (chain.round < due) {
    if (due > chain.lastRound && chain.round < chain.lastRound) chain.closeEpoch()
    else chain.advanceTo(due)
  }
  expect(chain.ledger.read.proposal(Natural.proposalId(1))?.status).toBe("Executed")
}

const proposing = (
  chain: Chain,
  payload:
    | { readonly _tag: "ParameterChange"; readonly param: string; readonly value: number }
    | { readonly _tag: "CouncilMembership"; readonly action: "remove"; readonly address: typeof fay.address },
) => chain.tx(alice, { _tag: "CreateProposalTx", title: "A title", description: "", payload }, { fee: MIN })

it("costs the new price from the commit after a vote is executed, so a transfer admitted before fails", () => {
  const chain = new Chain({ ...world, council: ["alice"] })
  const admitted = chain.transfer(bob, eve, 5, FULL)
  expect(chain.ledger.admission(admitted, 0)).toBeUndefined()
  decide(chain, { _tag: "ParameterChange", param: "account_fee_sats", value: PRICE + 1 })
  const before = paidTo(chain)
  expect(chain.run(admitted, chain.transfer(alice, eve, 5, FULL + 1)).map(told)).toEqual([
    "failed: fee_below_minimum",
    "applied",
  ])
  expect(paidTo(chain)).toEqual({ treasury: before.treasury + PRICE + 1, author: before.author + FULL + MIN })
})
