/** The complete life of one testnet user over HTTP, with every record read back. */
import { Either, Option } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { RequestRefused } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as StateProof from "../../src/protocol/state/StateProof.js"
import * as TestNode from "./TestNode.js"

const coins = (amount: number): Sats.Sats => Sats.make(amount * Sats.SATS_PER_COIN)
const FEE = Sats.make(1_000)

let node: TestNode.TestNode
beforeAll(async () => {
  // As short as possible, but long enough for a vote on a busy machine.
  const parameters = { cooldown_rounds: 40, voting_period_rounds: 250, execution_delay_rounds: 10 }
  node = await TestNode.start({ parameters, roundMs: 20 })
})
afterAll(() => node.stop())

const codeOf = (refused: Promise<unknown>): Promise<unknown> =>
  refused.then(
    (answer) => answer,
    (error: unknown) => (error instanceof RequestRefused ? error.code : error),
  )

/** A user with only a key that the node made; the name comes later. */
const newcomer = async () => {
  const { client, network } = node
  const { secret_key: key, address, address_bech32 } = await client.core.keygen()
  const wallet = Wallet.account(network, key)
  expect([wallet.address, wallet.addressBech32]).toEqual([address, address_bech32])
  const path = { address }
  const balance = () => client.core.balance({ path })
  /** Waits until the transaction is final, and looks it up everywhere. */
  const done = async (sent: Promise<{ readonly tx_hash: string }>) => {
    const { tx_hash } = await sent
    const lookup = await TestNode.finalized(client, tx_hash)
    expect(lookup).toMatchObject({ hash: tx_hash, applied: true, failure: null, transaction: { from: wallet.address } })
    const { vertex_hash, round, transaction } = lookup
    const vertex = await client.dag.vertex({ path: { hash: vertex_hash as never } })
    expect(vertex).toMatchObject({ round, finalized: true })
    const { type, fee } = transaction
    expect(vertex.transactions).toContainEqual({ type, hash: tx_hash, fee, outcome: "applied" })
    const inRound = await client.dag.round({ path: { round: round as never } })
    expect(inRound.vertices.map(({ hash }) => hash)).toContain(vertex_hash)
    const history = await client.transactions.history({ path, urlParams: { limit: 1 } })
    expect(history.transactions[0]).toMatchObject({ hash: tx_hash, direction: "sent" })
    const { nonce, next_nonce } = await balance()
    expect(nonce).toBe((transaction.nonce ?? 0) + 1)
    expect(next_nonce).toBe(nonce)
    return lookup
  }
  const submit = async (make: (nonce: number) => Wallet.SignedTransaction) => {
    const answer = await client.transactions.submit({ payload: make((await balance()).next_nonce) })
    if (!("tx_hash" in answer)) throw new Error("one transaction, one answer")
    return answer
  }
  return { key, wallet, path, balance, done, submit }
}

type Person = Awaited<ReturnType<typeof newcomer>>

const fund = async (person: Person, amount: Sats.Sats): Promise<void> => {
  const { tx_hash } = await node.client.core.faucet({ payload: { ...person.path, amount } })
  await TestNode.finalized(node.client, tx_hash)
  expect(await person.balance()).toMatchObject({ balance: amount, balance_coin: amount / 1e8, nonce: 0 })
}

const send = (from: Person, to: string, amount: Sats.Sats, fee: Sats.Sats) =>
  node.client.transactions.send({ payload: { secret_key: from.key, to, amount, fee } })

it("an account goes from its key to a vote and back to its coins", async () => {
  const { client } = node
  const [user, friend, club] = await Promise.all([newcomer(), newcomer(), newcomer()])
  await fund(user, coins(50_000))
  await fund(friend, coins(1_000))

  await user.done(send(user, friend.wallet.addressBech32, coins(5), FEE))
  expect((await user.balance()).balance).toBe(coins(49_995) - FEE)
  expect((await friend.balance()).balance).toBe(coins(1_005))

  await user.done(user.submit((nonce) => user.wallet.registerName({ name: "life", fee: 100_000, nonce })))
  expect(await client.core.balance({ path: { address: "@life" } })).toEqual(await user.balance())
  await friend.done(send(friend, "@life", coins(5), FEE))
  const beforeStake = await user.balance()
  expect(beforeStake).toMatchObject({ name: "life", balance: coins(50_000) - FEE - 100_000 })

  await user.done(client.staking.stake({ payload: { secret_key: user.key, amount: coins(20_000) } }))
  expect(await user.balance()).toMatchObject({ staked: coins(20_000), balance: beforeStake.balance - coins(20_000) })
  const active = { effective_stake: coins(20_000), commission_percent: 10, delegator_count: 0 }
  expect(await client.staking.stakeOf({ path: user.path })).toMatchObject({
    ...active,
    staked_amount: coins(20_000),
    is_active_validator: true,
    unstaking: false,
    unlock_at_round: null,
    // No node runs with this key: it can vote, but makes no vertices.
    in_committee: false,
  })
  const listed = await client.staking.validators()
  expect(listed).toMatchObject({ active_count: 2, validators: [{}, { address: user.wallet.address, ...active }] })

  await friend.done(
    client.delegation.delegate({ payload: { secret_key: friend.key, validator: "@life", amount: coins(500) } }),
  )
  const delegation = { delegator: friend.wallet.address, validator: user.wallet.address, amount: coins(500) }
  expect(await client.delegation.delegationOf({ path: friend.path })).toEqual({
    ...delegation,
    amount_coin: 500,
    undelegating: false,
    unlock_at_round: null,
  })
  expect(await client.delegation.delegators({ path: user.path })).toEqual({
    validator: user.wallet.address,
    delegator_count: 1,
    total_delegated: coins(500),
    delegators: [{ address: friend.wallet.address, amount: coins(500), amount_coin: 500, undelegating: false }],
  })

  await user.done(client.delegation.setCommission({ payload: { secret_key: user.key, commission_percent: 25 } }))
  expect(await client.staking.stakeOf({ path: user.path })).toMatchObject({
    commission_percent: 25,
    delegator_count: 1,
    effective_stake: coins(20_500),
  })

  const half = Sats.make(FEE / 2)
  expect(await codeOf(send(user, friend.wallet.address, coins(1), half))).toBe("InvalidTransaction")
  const proposed = await user.done(
    client.governance.propose({
      payload: {
        secret_key: user.key,
        title: "Halve the fee",
        description: "",
        proposal_type: { ParameterChange: { param: "min_fee_sats", value: half } },
        fee: FEE,
      },
    }),
  )
  const id = proposed.proposal_id
  if (id === null) throw new Error("the lookup does not say which proposal it made")
  const open = await client.governance.proposal({ path: { id } })
  expect(open).toMatchObject({
    id,
    status: "Active",
    proposer: user.wallet.address,
    proposal_type: "ParameterChange",
    payload: { param: "min_fee_sats", value: half },
    snapshot_total_stake: coins(120_500),
    votes_for: 0,
    voters: [],
  })
  expect(open.voting_ends_at_round).toBe(open.created_at_round + 250)
  expect(open.executes_at_round).toBe(open.voting_ends_at_round + 10)

  await user.done(client.governance.vote({ payload: { secret_key: user.key, proposal_id: id, vote: true, fee: FEE } }))
  const ballot = { address: user.wallet.address, vote: "yes", weight: coins(20_500) }
  expect(await client.governance.voteOf({ path: { id, address: "@life" } })).toEqual({ proposal_id: id, ...ballot })
  expect(await client.governance.proposal({ path: { id } })).toMatchObject({
    votes_for: coins(20_500),
    voters: [ballot],
  })
  expect(
    await codeOf(client.governance.vote({ payload: { secret_key: user.key, proposal_id: id, vote: false, fee: FEE } })),
  ).toBe("AlreadyVoted")

  // Meanwhile, an account gets a policy with two keys.
  await fund(club, coins(10))
  const keys = [club.key.publicKey, friend.key.publicKey]
  await club.done(club.submit((nonce) => club.wallet.setAccountPolicy({ threshold: 2, keys, fee: FEE, nonce })))
  expect(await club.balance()).toMatchObject({ is_smart_account: true, nonce: 1 })
  expect(await codeOf(send(club, "@life", coins(1), FEE))).toBe("NotAllowed")
  const payment = { to: user.wallet.address, amount: coins(1), fee: FEE }
  expect(await codeOf(club.submit((nonce) => club.wallet.transfer({ ...payment, nonce })))).toBe("InvalidSignature")
  const shared = (nonce: number) =>
    Wallet.unsigned(node.network, club.wallet.address, "Transfer", { ...payment, nonce })
  const signedBy =
    (...signers: ReadonlyArray<Person>) =>
    (nonce: number) =>
      Wallet.combine(
        shared(nonce),
        signers.map(({ key }) => Wallet.cosign(shared(nonce), key)),
      )
  expect(await codeOf(club.submit(signedBy(club)))).toBe("InvalidSignature")
  await club.done(club.submit(signedBy(friend, club)))
  expect((await club.balance()).balance).toBe(coins(9) - 2 * FEE)

  const carriedOut = await TestNode.until(
    () => client.governance.proposal({ path: { id } }),
    ({ status }) => status !== "Active" && status !== "Passed",
  )
  expect(carriedOut).toMatchObject({ status: "Executed", failure: null })
  expect((await client.governance.proposals()).proposals).toMatchObject([{ id, status: "Executed" }])
  const config = await client.governance.config()
  expect(config.min_fee_sats).toBe(half)
  expect(config.governable_params).toContainEqual({ name: "min_fee_sats", value: half, min: 1, max: 100_000_000 })
  expect((await client.core.network()).parameters.min_fee_sats).toBe(half)
  await user.done(send(user, friend.wallet.address, coins(1), half))

  const beforeLeaving = await Promise.all([user.balance(), friend.balance()])
  await friend.done(client.delegation.undelegate({ payload: { secret_key: friend.key } }))
  const leaving = await client.delegation.delegationOf({ path: friend.path })
  expect(leaving).toMatchObject({ ...delegation, undelegating: true })
  expect(leaving.unlock_at_round).toBeGreaterThanOrEqual(40)
  await user.done(client.staking.unstake({ payload: { secret_key: user.key } }))
  expect(await client.staking.stakeOf({ path: user.path })).toMatchObject({
    staked_amount: coins(20_000),
    is_active_validator: false,
    unstaking: true,
    unlock_at_round: expect.any(Number),
  })
  expect(await codeOf(client.staking.unstake({ payload: { secret_key: user.key } }))).toBe("InvalidTransaction")

  const unlocked = await TestNode.until(
    () => client.staking.stakeOf({ path: user.path }),
    ({ staked_amount }) => staked_amount === 0,
  )
  expect(unlocked).toMatchObject({ effective_stake: 0, unstaking: false, unlock_at_round: null, delegator_count: 0 })
  expect(await codeOf(client.delegation.delegationOf({ path: friend.path }))).toBe("DelegationNotFound")
  const [userAtLast, friendAtLast] = await Promise.all([user.balance(), friend.balance()])
  expect(userAtLast).toMatchObject({ staked: 0, balance: beforeLeaving[0].balance + coins(20_000) })
  expect(friendAtLast.balance).toBe(beforeLeaving[1].balance + coins(500))

  const { transactions, next_cursor } = await client.transactions.history({ path: user.path })
  const types = transactions.map(({ direction, transaction: { type } }) => `${direction} ${type}`)
  expect(types.reverse()).toEqual([
    "received Transfer",
    "sent Transfer",
    "sent RegisterNameTx",
    "received Transfer",
    "sent StakeTx",
    "sent SetCommissionTx",
    "sent CreateProposalTx",
    "sent VoteTx",
    "received Transfer",
    "sent Transfer",
    "sent UnstakeTx",
  ])
  expect(next_cursor).toBeNull()

  const proof = await TestNode.until(
    () => client.checkpoints.proof({ path: user.path }),
    ({ checkpoint }) => checkpoint.round > (leaving.unlock_at_round ?? 0),
  )
  const proven = StateProof.verify(proof.checkpoint.state_root, proof.key, proof.proof)
  expect(
    Either.map(
      proven,
      Option.map((record) => Buffer.from(record).toString("hex")),
    ),
  ).toEqual(Either.right(Option.fromNullable(proof.record)))
  expect(proof.record).not.toBeNull()
  expect((await client.core.healthReport()).components.state.status).toBe("healthy")
})
