import { describe, expect, it } from "vitest"
import type { Ended } from "../../../src/cli/tracing/Ended.js"
import { FollowedTransactions, MOST, PATIENCE_MS } from "../../../src/cli/tracing/FollowedTransactions.js"
import * as SpanIds from "../../../src/cli/tracing/SpanIds.js"
import type { Outcome } from "../../../src/ledger/rules/Execution.js"
import type { NodeEvent } from "../../../src/node/engine/NodeEvent.js"
import type { Address } from "../../../src/protocol/identity/Address.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import { Cluster, coins, transfer } from "../../replica/Cluster.js"

const CALLER = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", sampled: true }
const START = 1_700_000_000_000
const NANOS = 1_000_000n

const itself = (key: Address): Address => key

const following = (ratio: number) => {
  const spans: Array<Ended> = []
  let now = START
  const transactions = new FollowedTransactions({ ratio, now: () => now, ended: (span) => spans.push(span) })
  return {
    spans,
    transactions,
    at: (next: number) => {
      now = next
      return transactions
    },
    named: (name: string) => spans.filter((span) => span.name === name),
  }
}

const attributesOf = (span: Ended | undefined) => Object.fromEntries(span?.attributes ?? [])

const isEvent = (output: { readonly _tag: string }): output is Extract<NodeEvent, { _tag: "TakenIn" }> =>
  output._tag === "TakenIn"

/** A payment among four validators, and what each of their nodes has published, with the time. */
const paid = (() => {
  const cluster = new Cluster({ validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } })
  cluster.start()
  cluster.runRounds(4)
  const payment = transfer("alice", 0, "bob", coins(1))
  const published = cluster.machines.map(() => [] as { at: number; event: NodeEvent }[])
  const seen = cluster.machines.map(({ outputs }) => outputs.length)
  cluster.machine("ann").replica.submit(payment, cluster.now)
  const submittedAt: number = cluster.now
  for (let ms = 0; ms < 2_000; ms++) {
    cluster.run(1)
    for (const [n, { outputs }] of cluster.machines.entries()) {
      for (const output of outputs.slice(seen[n])) {
        if (isEvent(output)) published[n]?.push({ at: cluster.now, event: output })
        if (output._tag === "Write" && output.write._tag === "Executed") {
          published[n]?.push({ at: cluster.now, event: output.write })
        }
      }
      seen[n] = outputs.length
    }
  }
  return { payment, submittedAt, published }
})()

const [ofAnn = []] = paid.published
const taking = ofAnn.filter(({ event }) => event._tag === "TakenIn")
const executing = ofAnn.filter(
  ({ event }) =>
    event._tag === "Executed" &&
    event.vertices.some(({ body }) => body.transactions.some(({ id }) => id === paid.payment.id)),
)

const feed = (one: ReturnType<typeof following>, events: typeof ofAnn): void => {
  for (const { at, event } of events) one.at(at).published(event, itself)
}

/** The commit, as if the payment had another outcome. */
const withOutcome = (outcome: Outcome): typeof ofAnn =>
  executing.map(({ at, event }) => {
    if (event._tag !== "Executed") throw new Error("a commit is expected")
    const vertices = event.execution.vertices.map((vertex) => ({
      ...vertex,
      transactions: vertex.transactions.map(() => outcome),
    }))
    return { at, event: { ...event, execution: { ...event.execution, vertices } } }
  })

const received = (count: number): NodeEvent => ({
  _tag: "TakenIn",
  received: Array.from({ length: count }, (_, nonce) => ({
    transaction: transfer("alice", nonce, "bob", 1),
    receivedAt: Natural.timestamp(START),
  })),
})

describe("a transaction that the ratio samples", () => {
  it("has one trace on all nodes, with the same place and a span of its own on each", () => {
    const nodes = paid.published.map((events) => {
      const one = following(1)
      feed(one, events)
      expect(one.spans.map(({ name }) => name)).toEqual(["transaction mempool", "transaction commit", "transaction"])
      const [mempool, commit, whole] = one.spans
      expect(attributesOf(whole)).toEqual({ tx: paid.payment.id, type: "Transfer", outcome: "Applied" })
      expect([whole?.parentId, whole?.hasFailed, whole?.links]).toEqual([null, false, []])
      for (const child of [mempool, commit]) expect(child?.parentId).toBe(whole?.spanId)
      expect(mempool?.startNanos).toBe(whole?.startNanos)
      expect(mempool?.endNanos).toBe(commit?.startNanos)
      expect(commit?.endNanos).toBe(whole?.endNanos)
      return { whole, place: attributesOf(commit) }
    })
    expect(new Set(nodes.map(({ whole }) => whole?.traceId))).toEqual(new Set([paid.payment.id.slice(0, 32)]))
    expect(new Set(nodes.map(({ whole }) => whole?.spanId)).size).toBe(4)
    expect(new Set(nodes.map(({ place }) => JSON.stringify(place))).size).toBe(1)
    expect(Object.keys(nodes[0]?.place ?? {})).toEqual(["commit", "leader_round", "vertex", "round", "author"])
  })

  it("begins with its arrival and ends when its commit is written", () => {
    const one = following(1)
    feed(one, ofAnn)
    const [whole] = one.named("transaction")
    expect(whole?.startNanos).toBe(BigInt(paid.submittedAt) * NANOS)
    expect(whole?.endNanos).toBe(BigInt(executing[0]?.at ?? 0) * NANOS)
  })

  it("that came in a vertex has not waited in the mempool", () => {
    const one = following(1)
    feed(one, executing)
    expect(one.spans.map(({ name }) => name)).toEqual(["transaction commit", "transaction"])
  })

  it("ends with the reason for which it failed", () => {
    const one = following(1)
    feed(one, taking)
    const reason = { _tag: "NonceTooLow", nonce: Natural.nonce(0), next: Natural.nonce(1) } as const
    feed(one, withOutcome({ _tag: "NoEffect", reason }))
    const [whole] = one.named("transaction")
    expect([attributesOf(whole)["outcome"], whole?.hasFailed]).toEqual(["NoEffect: NonceTooLow", true])
  })

  it("is followed further if it can return to the mempool", () => {
    const one = following(1)
    feed(one, taking)
    const reason = { _tag: "NonceTooHigh", nonce: Natural.nonce(0), next: Natural.nonce(0) } as const
    feed(one, withOutcome({ _tag: "NoEffect", reason }))
    expect(one.spans).toEqual([])
    feed(one, executing)
    expect(attributesOf(one.named("transaction")[0])["outcome"]).toBe("Applied")
  })
})

describe("a transaction of a sampled client", () => {
  it.each([
    ["before the node reports it", [true, false]],
    ["after the node has reported it", [false, true]],
  ])("is a child of the request, handed in %s, and refers to its own trace", (_, [isBefore, isAfter]) => {
    for (const ratio of [0, 1]) {
      const one = following(ratio)
      const submit = () => one.at(paid.submittedAt + 1).submitted(paid.payment.id, CALLER)
      if (isBefore) submit()
      feed(one, taking)
      if (isAfter) submit()
      feed(one, executing)
      const [child, ...more] = one.named("transaction").filter(({ traceId }) => traceId === CALLER.traceId)
      expect([child?.parentId, more]).toEqual([CALLER.spanId, []])
      expect(child?.links).toEqual([one.transactions.contextOf(paid.payment.id)])
      expect(child?.links[0]?.sampled).toBe(ratio === 1)
      const ofChild = one.spans.filter(({ parentId }) => parentId === child?.spanId).map(({ name }) => name)
      expect(ofChild).toEqual(["transaction mempool", "transaction commit"])
      const own = one.named("transaction").filter(({ traceId }) => traceId === SpanIds.traceOf(paid.payment.id))
      expect(own.map(({ spanId }) => spanId)).toEqual(ratio === 1 ? [child?.links[0]?.spanId] : [])
      expect(one.transactions.size).toBe(0)
    }
  })

  it("belongs to the first request that has handed it in", () => {
    const one = following(0)
    one.transactions.submitted(paid.payment.id, CALLER)
    one.transactions.submitted(paid.payment.id, { ...CALLER, traceId: "a".repeat(32) })
    feed(one, executing)
    expect(new Set(one.spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLER.traceId]))
  })
})

describe("strangers", () => {
  it("cannot have more than a hundred transactions a second followed by choosing hashes", () => {
    const one = following(1)
    one.at(START).published(received(500), itself)
    expect(one.transactions.size).toBe(100)
    one.at(START + 1_000).published(received(500), itself)
    expect(one.transactions.size).toBe(200)
  })

  it("cannot have more than a thousand followed at once: the oldest end as pending", () => {
    const one = following(0)
    const ids = Array.from({ length: MOST + 10 }, () => SpanIds.trace() + SpanIds.trace())
    for (const id of ids) one.transactions.submitted(id, CALLER)
    expect(one.transactions.size).toBe(MOST)
    expect(one.spans.map((span) => attributesOf(span))).toEqual(
      ids.slice(0, 10).map((tx) => ({ tx, outcome: "Pending" })),
    )
    expect(one.spans.every(({ hasFailed }) => hasFailed)).toBe(true)
  })

  it("cannot have one followed for longer than a minute", () => {
    const one = following(0)
    one.at(START).submitted(paid.payment.id, CALLER)
    one.at(START + PATIENCE_MS - 1).giveUpOld()
    expect(one.transactions.size).toBe(1)
    one.at(START + PATIENCE_MS).giveUpOld()
    expect([one.transactions.size, one.spans.length]).toEqual([0, 1])
  })

  it("cannot make two spans with the same id by a transaction that becomes final late", () => {
    const one = following(1)
    const earlier = taking.map(({ at, event }) => ({ at: at - PATIENCE_MS, event }))
    feed(one, earlier)
    one.at(Math.max(...taking.map(({ at }) => at))).giveUpOld()
    feed(one, executing)
    const ids = one.named("transaction").map(({ spanId }) => spanId)
    expect([ids.length, new Set(ids).size]).toEqual([2, 2])
    expect(ids.at(-1)).toBe(one.transactions.contextOf(paid.payment.id).spanId)
  })
})

it("begins nothing for what a node executes while it catches up", () => {
  const one = following(1)
  const later = executing.map(({ at, event }) => ({ at: at + 2 * PATIENCE_MS, event }))
  feed(one, later)
  expect(one.spans).toEqual([])
})

it("follows nothing at a ratio of 0 without a sampled client", () => {
  const one = following(0)
  feed(one, ofAnn)
  expect([one.spans, one.transactions.size]).toEqual([[], 0])
})
