/**
 * Follows transactions from their arrival at this node until they are final on its disk, as spans of the trace that
 * their hash names and, for a sampled client, of the client's. Senders can choose hashes, so all of this is bounded.
 */
import type { NodeEvent } from "../../node/engine/NodeEvent.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Header } from "../../protocol/vertex/Header.js"
import { type Ended, nanosOf, type SpanContext } from "./Ended.js"
import { Quota } from "./Quota.js"
import * as SpanIds from "./SpanIds.js"

/** Followed because of their hash. At the default ratio, only more than 10,000 transactions a second reach it. */
const PER_SECOND = 100
/** At once. The oldest give way. */
export const MOST = 1_024
/** A minute is many times what finality takes, even on a slow network. */
export const PATIENCE_MS = 60_000

type Executed = Extract<NodeEvent, { readonly _tag: "Executed" }>
type Outcome = Executed["execution"]["vertices"][number]["transactions"][number]

interface Followed {
  /** Null for a transaction that came in a vertex. */
  readonly takenInAt: number | null
  readonly since: number
  /** Whether the trace that the hash names is sampled. */
  readonly isSampled: boolean
  /** The client's request. */
  readonly caller: SpanContext | undefined
}

/** Where a transaction was ordered. */
interface Place {
  readonly commit: number
  readonly leaderRound: number
  readonly vertex: Pick<Header, "hash" | "round" | "timestamp">
  readonly author: Address
}

/** A transaction's span in one of its traces. */
interface Root extends Pick<Ended, "traceId" | "spanId" | "parentId" | "links"> {}

export interface Surroundings {
  readonly ratio: number
  /** Steady milliseconds since 1970. */
  readonly now: () => number
  readonly ended: (span: Ended) => void
}

const wordsOf = (outcome: Outcome): string =>
  outcome._tag === "Applied" ? outcome._tag : `${outcome._tag}: ${outcome.reason._tag}`

export class FollowedTransactions {
  readonly #around: Surroundings
  readonly #salt = SpanIds.salt()
  readonly #quota = new Quota(PER_SECOND, PER_SECOND)
  /** The oldest first. */
  readonly #followed = new Map<string, Followed>()

  constructor(around: Surroundings) {
    this.#around = around
  }

  get size(): number {
    return this.#followed.size
  }

  /** This node's span in the transaction's own trace, whether or not it is sampled. */
  contextOf(id: string): SpanContext {
    const traceId = SpanIds.traceOf(id)
    const sampled = SpanIds.isSampled(traceId, this.#around.ratio)
    return { traceId, spanId: SpanIds.spanOf(id, this.#salt), sampled }
  }

  /** A sampled client's request has handed in this transaction. The first such request counts. */
  submitted(id: string, caller: SpanContext): void {
    const now = this.#around.now()
    const known = this.#followed.get(id) ?? { takenInAt: now, since: now, isSampled: this.#samples(id), caller }
    this.#follow(id, { ...known, caller: known.caller ?? caller })
  }

  published(event: NodeEvent, accountOf: (key: Address) => Address): void {
    if (this.#around.ratio === 0 && this.size === 0) return
    if (event._tag === "TakenIn") {
      for (const { transaction, receivedAt } of event.received) this.#takenIn(transaction.id, receivedAt)
    } else if (event._tag === "Executed") {
      this.#executed(event, accountOf)
    }
  }

  #samples(id: string): boolean {
    const { ratio, now } = this.#around
    return SpanIds.isSampled(SpanIds.traceOf(id), ratio) && this.#quota.take("", now())
  }

  #follow(id: string, followed: Followed): void {
    this.#followed.set(id, followed)
    if (this.size > MOST) this.#giveUpOldest()
  }

  /** May come after the client's answer. */
  #takenIn(id: string, receivedAt: number): void {
    const known = this.#followed.get(id)
    if (known !== undefined) this.#followed.set(id, { ...known, takenInAt: receivedAt })
    else if (this.#samples(id)) {
      this.#follow(id, { takenInAt: receivedAt, since: this.#around.now(), isSampled: true, caller: undefined })
    }
  }

  #executed({ execution, vertices }: Executed, accountOf: (key: Address) => Address): void {
    const { index: commit, leaderRound } = execution.commit
    for (const [i, { header, body }] of vertices.entries()) {
      for (const [j, transaction] of body.transactions.entries()) {
        const outcome = execution.vertices[i]?.transactions[j]
        const followed = outcome && this.#concluded(transaction.id, outcome, header.timestamp)
        if (outcome === undefined || followed === undefined) continue
        const place = { commit, leaderRound, vertex: header, author: accountOf(header.author) }
        this.#finish(transaction, followed, outcome, place)
      }
    }
  }

  /** Returns the transaction's record if it was followed, or if only its vertex has brought it here. */
  #concluded(id: string, outcome: Outcome, vertexAt: number): Followed | undefined {
    const known = this.#followed.get(id)
    if (outcome._tag === "NoEffect") {
      // Another vertex had the transaction first; or it may return to the mempool.
      if (known === undefined || outcome.reason._tag === "NonceTooHigh") return undefined
    }
    this.#followed.delete(id)
    if (known !== undefined) return known
    const now = this.#around.now()
    // A node that catches up executes what others have long executed.
    const isOld = vertexAt < now - PATIENCE_MS
    return isOld || !this.#samples(id) ? undefined : { takenInAt: null, since: now, isSampled: true, caller: undefined }
  }

  #rootsOf(id: string, { isSampled, caller }: Followed): ReadonlyArray<Root> {
    const own = this.contextOf(id)
    return [
      ...(isSampled ? [{ ...own, parentId: null, links: [] }] : []),
      ...(caller === undefined
        ? []
        : [{ traceId: caller.traceId, spanId: SpanIds.span(), parentId: caller.spanId, links: [own] }]),
    ]
  }

  #finish({ id, operation }: Transaction, followed: Followed, outcome: Outcome, place: Place): void {
    const { vertex, author, commit, leaderRound } = place
    const end = this.#around.now()
    const start = Math.min(followed.takenInAt ?? vertex.timestamp, end)
    // By the clock of the vertex's author, which may be wrong.
    const included = Math.min(Math.max(vertex.timestamp, start), end)
    const hasFailed = outcome._tag !== "Applied"
    const of = { tx: id, type: operation._tag, outcome: wordsOf(outcome) }
    const ordering = { commit, leader_round: leaderRound, vertex: vertex.hash, round: vertex.round, author }
    for (const root of this.#rootsOf(id, followed)) {
      const child = () => ({ ...root, spanId: SpanIds.span(), parentId: root.spanId, links: [] })
      if (followed.takenInAt !== null) this.#end(child(), "transaction mempool", start, included, {})
      this.#end(child(), "transaction commit", included, end, ordering)
      this.#end(root, "transaction", start, end, of, hasFailed)
    }
  }

  /** Call periodically: without commits, nothing else shows that transactions do not become final. */
  giveUpOld(): void {
    const before = this.#around.now() - PATIENCE_MS
    for (const { since } of this.#followed.values()) {
      if (since > before) return
      this.#giveUpOldest()
    }
  }

  /** Reports what is known: an operator looks for transactions that do not become final. */
  #giveUpOldest(): void {
    for (const [id, followed] of this.#followed) {
      this.#followed.delete(id)
      const end = this.#around.now()
      const start = Math.min(followed.takenInAt ?? end, end)
      for (const root of this.#rootsOf(id, followed)) {
        // It can still become final, under the id that its hash names.
        const pending = { ...root, spanId: SpanIds.span() }
        this.#end(pending, "transaction", start, end, { tx: id, outcome: "Pending" }, true)
      }
      return
    }
  }

  #end(
    root: Root,
    name: string,
    start: number,
    end: number,
    attributes: Readonly<Record<string, unknown>>,
    hasFailed = false,
  ): void {
    const [startNanos, endNanos] = [nanosOf(start), nanosOf(end)]
    const { traceId, spanId, parentId, links } = root
    this.#around.ended({
      ...{ traceId, spanId, parentId, hasRemoteParent: false, links, name, kind: "internal" },
      ...{ startNanos, endNanos, attributes: Object.entries(attributes), hasFailed },
    })
  }
}
