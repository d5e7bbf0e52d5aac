/** A ledger of a developers' network, which accepts one key for every account. */
import { describe, expect, it } from "vitest"
import { Chain, coins, type Draft, person, signedBy, singleKey, told } from "./builders.js"
import { expectOutcomes } from "./Outcomes.js"
import { alice, bob, carol, val } from "./People.js"

const standIn = person("standIn")
const world = { accounts: { alice: 10_000, bob: 10_000 }, validators: { val: 10_000 } }
const fee = 1_000

const policy = (...keys: ReadonlyArray<typeof alice>): Draft["operation"] => ({
  _tag: "SetAccountPolicyTx",
  threshold: 2,
  keys: keys.map(({ publicKey }) => publicKey),
})

const withStandIn = (): Chain => {
  const chain = new Chain(world)
  chain.ledger.letSignForAll(standIn.publicKey)
  return chain
}

describe("a key that may sign for every account", () => {
  it("pays for a single key and for a smart account, which still sign for themselves", () => {
    const chain = withStandIn()
    const { operation } = chain.transfer(alice, bob, 5)
    expectOutcomes(chain, [
      [chain.tx(alice, operation, { fee, nonce: 0, authorization: signedBy(standIn) }), "applied"],
      [chain.tx(alice, policy(bob, carol), { fee, nonce: 1 }), "applied"],
      [chain.tx(alice, operation, { fee, nonce: 2, authorization: signedBy(standIn) }), "applied"],
      [chain.tx(alice, operation, { fee, nonce: 3, authorization: signedBy(bob, carol) }), "applied"],
      [chain.tx(bob, operation, { fee, nonce: 0 }), "applied"],
    ])
    expect(chain.account(alice).nonce).toBe(4)
  })

  it("is accepted at admission as at execution, and no other key or form is", () => {
    const chain = withStandIn()
    const { operation } = chain.transfer(alice, bob, 5)
    const by = (authorization: Draft["authorization"]) =>
      chain.tx(alice, operation, { fee, nonce: 0, ...(authorization && { authorization }) })
    const refused = [singleKey(bob), singleKey(standIn), signedBy(val), signedBy(alice), signedBy(standIn, bob)]
    for (const authorization of refused) {
      expect(chain.ledger.admission(by(authorization), 0)).toMatchObject({ _tag: "InvalidSignature" })
      expect(chain.run(by(authorization)).map(told)).toEqual(["no effect: InvalidSignature"])
    }
    expect(chain.ledger.admission(by(signedBy(standIn)), 0)).toBeUndefined()
    expect(chain.run(by(signedBy(standIn))).map(told)).toEqual(["applied"])
  })

  it("is never stored as an account's own: its stake has no key, and gets no seat before the account signs", () => {
    const chain = withStandIn()
    const stake: Draft["operation"] = { _tag: "StakeTx", amount: coins(2_500) }
    const authorization = signedBy(standIn)
    expectOutcomes(chain, [
      [chain.tx(alice, stake, { nonce: 0, authorization }), "applied"],
      [chain.tx(bob, policy(alice, carol), { fee, nonce: 0, authorization }), "applied"],
      [chain.tx(bob, stake, { nonce: 1, authorization: signedBy(alice, carol) }), "applied"],
    ])
    for (const each of [alice, bob])
      expect(chain.account(each)).toMatchObject({ publicKey: null, stake: { amount: coins(2_500) } })
    chain.closeEpoch()
    chain.closeEpoch(chain.committee, [alice, bob, standIn])
    expect(chain.epoch.members.map(({ publicKey }) => publicKey)).toEqual([val.publicKey])
    expect(chain.run(chain.tx(alice, stake, { nonce: 1 })).map(told)).toEqual(["applied"])
    expect(chain.account(alice)).toMatchObject({ publicKey: alice.publicKey, stake: { amount: coins(5_000) } })
    chain.closeEpoch(chain.committee, [alice])
    expect(chain.epoch.members.map(({ publicKey }) => publicKey)).toContain(alice.publicKey)
  })

  it("does not sign for others in a ledger without this option, even over the same records", () => {
    const chain = new Chain(world)
    const { operation } = chain.transfer(alice, bob, 5)
    const forged = chain.tx(alice, operation, { fee, nonce: 0, authorization: signedBy(standIn) })
    expect(chain.run(forged).map(told)).toEqual(["no effect: InvalidSignature"])
    expect([...withStandIn().ledger.records()]).toEqual([...new Chain(world).ledger.records()])
  })
})
