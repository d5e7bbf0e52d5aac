/** A request's span, made after its response, so that responses never wait for tracing. */
import { Option } from "effect"
import type { Content } from "../../edge/server/Content.js"
import type { OnAnswer } from "../../edge/server/Responder.js"
import { nanosOf, type SpanContext } from "./Ended.js"
import type { FollowedTransactions, Surroundings as OfTransactions } from "./FollowedTransactions.js"
import { Quota } from "./Quota.js"
import * as SpanIds from "./SpanIds.js"
import * as Traceparent from "./Traceparent.js"

/** Requests a second that are sampled because their clients ask for it: of all clients, and of each. */
const WANTED_PER_SECOND = 20
const WANTED_PER_CLIENT = 5
/** Transactions of a request that its span names, and that are followed for its client. */
const MOST_TRANSACTIONS = 8
/** Where they are looked for in an answer. */
const MOST_BYTES = 16_384
/** Strings within the JSON cannot match, because their quotes are escaped. */
const ACCEPTED = /"tx_hash":"([0-9a-f]{64})"/g

const FIRST_FAILURE = 500

/** The transactions that the node has accepted from a request, according to the answer. */
const acceptedIn = (method: string, content: Content | undefined): ReadonlyArray<string> => {
  if (method !== "POST" || content === undefined) return []
  const { body } = content
  const text = typeof body === "string" ? body : body.toString("latin1", 0, MOST_BYTES)
  const hashes = Array.from(text.matchAll(ACCEPTED), ([, hash = ""]) => hash).slice(0, MOST_TRANSACTIONS)
  // A part of a string keeps the whole in memory.
  return hashes.map((hash) => Buffer.from(hash, "latin1").toString("latin1"))
}

export interface Surroundings extends OfTransactions {
  readonly transactions: Pick<FollowedTransactions, "contextOf" | "submitted">
}

export const taking = ({ ratio, now, ended, transactions }: Surroundings): OnAnswer => {
  const quota = new Quota(WANTED_PER_SECOND, WANTED_PER_CLIENT)
  return ({ route, method, status, milliseconds }, { request, client }, content) => {
    const end = now()
    const parent = Option.getOrUndefined(Traceparent.parse(request.headers["traceparent"]))
    const isWanted = parent?.sampled === true && quota.take(client, end)
    // A parent that is not sampled decides, too; one beyond the quota leaves the decision to the ratio.
    if (!isWanted && (parent?.sampled === false || Math.random() >= ratio)) return
    const own: SpanContext = { traceId: parent?.traceId ?? SpanIds.trace(), spanId: SpanIds.span(), sampled: true }
    const accepted = acceptedIn(method, content)
    ended({
      ...own,
      parentId: parent?.spanId ?? null,
      hasRemoteParent: parent !== undefined,
      name: `${method} ${route}`,
      kind: "server",
      startNanos: nanosOf(end - milliseconds),
      endNanos: nanosOf(end),
      attributes: [
        ["http.request.method", method],
        ["http.route", route],
        ["http.response.status_code", status],
      ],
      links: accepted.map((id) => transactions.contextOf(id)),
      hasFailed: status >= FIRST_FAILURE,
    })
    if (isWanted) for (const id of accepted) transactions.submitted(id, own)
  }
}
