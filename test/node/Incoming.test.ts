/** The cost of admitting a client's transactions, counted in signature checks, beside a real replica. */
import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import { Network, offline } from "../../src/network/Network.js"
import { Incoming } from "../../src/node/engine/Incoming.js"
import { Bulkhead } from "../../src/node/signatures/Bulkhead.js"
import { OpenQuestions } from "../../src/node/signatures/OpenQuestions.js"
import type { Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { type Check, VerifiedTransactions } from "../../src/protocol/transaction/Verification.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { Cluster, coins, signerOf, transfer } from "../replica/Cluster.js"
import { countersOf } from "./CountersOf.js"

const bad = "00".repeat(64) as Signature

const world = () => {
  const cluster = new Cluster({ validators: { ann: 10_000 }, accounts: { alice: 1_000, bob: 1_000 } })
    .start()
    .runRounds(3)
  return { cluster, replica: cluster.machine("ann").replica, networkId: cluster.genesis.networkId }
}

const scene = (meanwhile: () => void = () => {}) => {
  const { cluster, replica, networkId } = world()
  const checked: Array<Check> = []
  const verified = new VerifiedTransactions(10_000)
  const noPeer = (): never => {
    throw new Error("a check for a peer")
  }
  const counters = countersOf()
  const door = new Incoming({
    replica,
    networkId,
    counters,
    network: Effect.runSync(Effect.provide(Network, offline)),
    fork: (effect) => void Effect.runFork(effect),
    asked: new OpenQuestions(),
    bulkhead: new Bulkhead(counters, () => {}),
    signatures: {
      verified,
      check: noPeer,
      checkByZip215: noPeer,
      results: (checks) =>
        Effect.sync(() => {
          checked.push(...checks)
          meanwhile()
          return Uint8Array.from(checks, (check) => (FakeKeys.isValid(check) ? 1 : 0))
        }),
    },
  })
  const submit = (...transactions: ReadonlyArray<Transaction.Transaction>) =>
    Effect.runSync(door.submit(transactions, Effect.succeed(cluster.now))).map((answer) =>
      Either.isRight(answer) ? answer.right.nonce : answer.left._tag,
    )
  const underBadSignature = (transaction: Transaction.Transaction): Transaction.Transaction => {
    const publicKey = signerOf("alice").publicKey
    return Transaction.make(networkId, transaction, { _tag: "SingleKey", publicKey, signature: bad })
  }
  const underKeys = (transaction: Transaction.Transaction, count: number): Transaction.Transaction =>
    Transaction.make(networkId, transaction, {
      _tag: "Policy",
      signatures: Array.from({ length: count }, (_, i) => ({
        publicKey: FakeKeys.publicKeyOf(`key ${i}`),
        signature: bad,
      })),
    })
  return { cluster, replica, checked, door, verified, submit, underBadSignature, underKeys }
}

describe("a client's transaction", () => {
  it("costs no signature check where the replica would refuse it with any signatures", () => {
    const { submit, checked, underKeys } = scene()
    const bogus = (n: number) => transfer(`nobody ${n}`, 0, "bob", 1)
    expect(submit(bogus(0))).toEqual(["InsufficientBalance"])
    expect(submit(underKeys(bogus(1), 16))).toEqual(["InvalidSignature"])
    expect(submit(transfer("alice", 900, "bob", 1))).toEqual(["NonceTooHigh"])
    const many = Array.from({ length: 1_000 }, (_, n) => bogus(n))
    expect(new Set(submit(...many))).toEqual(new Set(["InsufficientBalance"]))
    expect(checked).toHaveLength(0)
    // Nor behind one of the same account that is admissible.
    const own = transfer("alice", 0, "bob", 1)
    const others = many.map((_, n) => underKeys(transfer("alice", 0, "bob", n), 16))
    expect(new Set(submit(own, ...others, ...many))).toEqual(new Set([0, "InvalidSignature", "InsufficientBalance"]))
    expect(checked).toHaveLength(1)
  })

  it("is verified if it is admissible, and refused if its signature is invalid", () => {
    const { submit, checked, underBadSignature, replica } = scene()
    expect(submit(underBadSignature(transfer("alice", 0, "bob", 1)))).toEqual(["InvalidSignature"])
    expect(checked).toHaveLength(1)
    expect(replica.pool.size).toBe(0)
  })

  it("is judged after those before it in an array, since its outcome may depend on them", () => {
    const { submit } = scene()
    const most = coins(1_000) - 1_000
    expect(submit(transfer("alice", 0, "bob", most))).toEqual([0])
    // Alone, the second one would find nothing left.
    expect(submit(transfer("alice", 1, "bob", 1))).toEqual(["InsufficientBalance"])
    expect(submit(transfer("alice", 0, "bob", 1, 2_000), transfer("alice", 1, "bob", 1))).toEqual([0, 1])
  })

  it("costs no check while it is pending, and does not return if the pending one leaves meanwhile", () => {
    let meanwhile = (): void => {}
    const { cluster, submit, checked, underBadSignature, replica } = scene(() => meanwhile())
    const first = transfer("alice", 0, "bob", 1)
    expect(submit(first)).toEqual([0])
    checked.length = 0
    meanwhile = () => cluster.runRounds(12)
    // Another account's transaction makes the admission wait.
    expect(submit(underBadSignature(first), transfer("bob", 0, "alice", 1))).toEqual([0, 0])
    expect(checked).toHaveLength(1)
    expect(replica.pool.get(first.id)).toBeUndefined()
  })

  it("is not refused for reasons that a node behind the network cannot know", () => {
    const { submit, replica, checked } = scene()
    const early = [transfer("alice", 900, "bob", 1), transfer("nobody", 0, "bob", 1)] as const
    const asIs = { ...replica.recovery(Natural.timestamp(0)) }
    const following = { _tag: "Behind", round: Natural.round(3), reachedRound: Natural.round(900) }
    Object.defineProperty(replica, "recovery", { configurable: true, value: () => ({ ...asIs, following }) })
    expect(submit(...early)).toEqual(["NotReady", "NotReady"])
    expect(checked).toHaveLength(0)
    // Reasons that hold in any later state are still reported, and valid transactions accepted.
    expect(submit(transfer("alice", 0, "bob", 1), transfer("alice", 0, "bob", 2))).toEqual([0, "NoncePending"])
    Object.defineProperty(replica, "recovery", { configurable: true, value: () => asIs })
    expect(submit(...early)).toEqual(["NonceTooHigh", "InsufficientBalance"])
  })

  it("is refused without a check while the replica accepts nothing", () => {
    const { submit, checked, replica } = scene()
    Object.defineProperty(replica, "isHalted", { value: true })
    expect(submit(transfer("alice", 0, "bob", 1))).toEqual(["NotReady"])
    expect(checked).toHaveLength(0)
  })
})

it("signs no change of a validator's key without the proof by that key", () => {
  const { cluster, door, verified } = scene()
  const operation = { _tag: "RotateKeyTx", validatorKey: signerOf("bob").publicKey, proof: bad } as const
  const request = { key: signerOf("alice"), operation, fee: coins(1) }
  const answer = Effect.runSync(Effect.either(door.signAndSubmit(request, cluster.now)))
  expect(Either.isLeft(answer) && answer.left._tag).toBe("InvalidSignature")
  expect(verified.size).toBe(0)
})
