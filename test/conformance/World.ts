/**
 * A node on which everything has happened once, by signed transactions only, so that a testnet and a mainnet look the
 * same: all ten types, a name, a validator with a delegator, a proposal with a vote, a smart account, a withdrawal and
 * a pending transaction.
 */
import * as Wallet from "../../src/client/Wallet.js"
import { applied, finalized, type TestNode, until } from "./TestNode.js"

export interface World {
  readonly node: TestNode
  /** Whether a gateway answers, and not the node itself. */
  readonly isGateway: boolean
  /** The number of connected peers. */
  readonly peers: number
  /** Hashes of a final transaction of each type in protocol version 1. */
  readonly done: Readonly<Record<Exclude<Wallet.Type, "RotateKeyTx">, string>>
  /** A final transaction that failed and only paid its fee. */
  readonly failed: string
  /** A transaction without effect in a final vertex, and that vertex, in which an applied one comes first. */
  readonly withoutEffect: { readonly hash: string; readonly vertex: string; readonly round: number }
  /** A transaction that is pending because an earlier one is missing. */
  readonly pending: string
  readonly vertex: string
  readonly round: number
  readonly checkpoint: number
  /** The hash of the checkpoint that closed the first epoch. */
  readonly firstClose: string
}

const COIN = 100_000_000
const FEE = 1_000

/** Withdrawals and the vote last longer than any test. */
export const parameters = { cooldown_rounds: 1_000_000, voting_period_rounds: 1_000_000 }

export const populate = async (node: TestNode): Promise<World> => {
  const { client, accounts, keys, network } = node
  const { alice, bob, carol, dave, erin, frank } = accounts
  const done = async (transaction: Wallet.SignedTransaction) => (await applied(node, transaction)).hash

  const [registered, transferred, , { policy, withoutEffect }] = await Promise.all([
    done(alice.registerName({ name: "alice", fee: 100_000, nonce: 0 })),
    done(bob.transfer({ to: carol.address, amount: 7 * COIN, fee: FEE, nonce: 0, memo: "for the \u{1f600}" })),
    done(dave.stake({ amount: 3_000 * COIN, nonce: 0 })),
    rotating(node),
  ])
  const staked = await done(alice.stake({ amount: 20_000 * COIN, nonce: 1 }))
  const [delegated, commission, unstaked] = await Promise.all([
    done(bob.delegate({ validator: alice.address, amount: 500 * COIN, nonce: 1 })),
    done(alice.setCommission({ commission_percent: 25, nonce: 2 })),
    done(dave.unstake({ nonce: 1 })),
  ])
  const proposed = await done(
    alice.createProposal({
      title: "Lower the minimum fee",
      description: "Transfers are cheap to serve.",
      proposal_type: { ParameterChange: { param: "min_fee_sats", value: 500 } },
      fee: FEE,
      nonce: 3,
    }),
  )
  const failed = await failing(node)
  const [voted, undelegated] = await Promise.all([
    done(alice.vote({ proposal_id: 1, vote: true, fee: FEE, nonce: 4 })),
    done(bob.undelegate({ nonce: 2 })),
    done(frank.delegate({ validator: alice.address, amount: 300 * COIN, nonce: 1 })),
  ])
  const common = Wallet.unsigned(network, carol.address, "Transfer", { to: bob.address, amount: 1, fee: FEE, nonce: 1 })
  await done(Wallet.combine(common, [Wallet.cosign(common, keys.frank), Wallet.cosign(common, keys.carol)]))
  const waiting = await client.transactions.submit({
    payload: erin.transfer({ to: bob.address, amount: 5, fee: 2 * FEE, nonce: 7 }),
  })
  const { round, vertex_hash } = await client.transactions.lookup({ path: { hash: transferred as never } })
  const { components } = await until(
    () => client.core.healthReport(),
    ({ components }) => components.checkpoints.latest_round > 0,
  )
  const { hash: firstClose } = await until(
    () => client.checkpoints.closing({ path: { epoch: 1 as never } }).catch(() => ({ hash: "" })),
    ({ hash }) => hash !== "",
  )
  return {
    node,
    isGateway: false,
    peers: 0,
    done: {
      Transfer: transferred,
      StakeTx: staked,
      UnstakeTx: unstaked,
      DelegateTx: delegated,
      UndelegateTx: undelegated,
      SetCommissionTx: commission,
      CreateProposalTx: proposed,
      VoteTx: voted,
      RegisterNameTx: registered,
      SetAccountPolicyTx: policy,
    },
    failed,
    withoutEffect,
    pending: "tx_hash" in waiting ? waiting.tx_hash : "",
    vertex: vertex_hash ?? "",
    round: round ?? 0,
    checkpoint: components.checkpoints.latest_round,
    firstClose,
  }
}

/** A transaction that changes an account's keys and, in the same vertex, one signed with the old key. */
const rotating = async ({ client, keys, accounts: { carol, bob } }: TestNode) => {
  const answers = await client.transactions.submit({
    payload: [
      carol.setAccountPolicy({ threshold: 2, keys: [keys.carol.publicKey, keys.frank.publicKey], fee: FEE, nonce: 0 }),
      carol.transfer({ to: bob.address, amount: 2, fee: FEE, nonce: 1 }),
    ],
  })
  if ("tx_hash" in answers) throw new Error("an array is answered with an array")
  const [policy, hash] = answers.map((answer) => {
    if (!("tx_hash" in answer)) throw new Error(`not taken: ${JSON.stringify(answer)}`)
    return String(answer.tx_hash)
  })
  if (policy === undefined || hash === undefined) throw new Error("two transactions, two answers")
  const { round, vertex_hash } = await finalized(client, policy)
  return { policy, withoutEffect: { hash, vertex: vertex_hash ?? "", round: round ?? 0 } }
}

/** Two transactions that the node accepts one after the other, although the first leaves the second nothing to do. */
const failing = async ({ client, accounts: { frank, erin } }: TestNode): Promise<string> => {
  const answers = await client.transactions.submit({
    payload: [
      frank.registerName({ name: "frank", fee: 200_000, nonce: 0 }),
      erin.registerName({ name: "frank", fee: 100_000, nonce: 0 }),
    ],
  })
  if ("tx_hash" in answers) throw new Error("an array is answered with an array")
  const second = answers[1]
  if (second === undefined || !("tx_hash" in second)) throw new Error(`not taken: ${JSON.stringify(second)}`)
  const hash = String(second.tx_hash)
  const lookup = await until(
    () => client.transactions.lookup({ path: { hash: hash as never } }),
    ({ status }) => status === "finalized",
  )
  if (lookup.applied !== false) throw new Error(`the name was there twice: ${JSON.stringify(lookup)}`)
  return hash
}
