/** Converts the node's events into those of the interface. */

import type { NodeEvent } from "../../node/engine/NodeEvent.js"
import type { Report, Status } from "../../node/reads/Health.js"
import type { ValidatorOf } from "../../node/reads/State.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Event } from "../api/Events.js"

type Executed = Extract<NodeEvent, { readonly _tag: "Executed" }>
type TransactionEvent = Extract<Event, { readonly type: "transaction" }>

/** `applied`: null while pending. */
export const transaction = ({
  to,
  applied,
  ...rest
}: Pick<TransactionEvent, "hash" | "transaction_type" | "from" | "applied"> & {
  readonly to: Address | undefined
}): TransactionEvent => ({
  type: "transaction",
  ...rest,
  ...(to === undefined ? {} : { to }),
  status: applied === null ? "pending" : "finalized",
  applied,
})

export const vertex = (
  { hash, round, author, coinbase }: Header,
  transactions: number,
  validatorOf: ValidatorOf,
): Event => ({
  type: "vertex",
  hash,
  round,
  validator: validatorOf(author),
  reward: coinbase,
  tx_count: transactions,
})

const transactionEvent = ({ id, from, operation }: Transaction, applied: boolean | null): Event =>
  transaction({ hash: id, transaction_type: operation._tag, from, to: Charges.recipientOf(operation), applied })

/** Every vertex in order, with its transactions that had an effect. */
const executedEvents = ({ execution, vertices }: Executed, validatorOf: ValidatorOf): ReadonlyArray<Event> =>
  vertices.flatMap(({ header, body }, i) => [
    vertex(header, body.transactions.length, validatorOf),
    ...body.transactions.flatMap((transaction, j) => {
      const outcome = execution.vertices[i]?.transactions[j]
      return outcome === undefined || outcome._tag === "NoEffect"
        ? []
        : [transactionEvent(transaction, outcome._tag === "Applied")]
    }),
  ])

/** `round` and `finalizedRound`: the current ones. */
export const eventsOf = (
  event: NodeEvent,
  round: Round,
  finalizedRound: Round,
  validatorOf: ValidatorOf,
): ReadonlyArray<Event> => {
  const position: Event = { type: "round", round, finalized_round: finalizedRound }
  switch (event._tag) {
    case "RoundReached":
      return [position]
    case "TakenIn":
      return event.received.map(({ transaction }) => transactionEvent(transaction, null))
    case "Executed":
      return [...executedEvents(event, validatorOf), position]
    case "ForeignOwnHeader":
      return [
        {
          type: "alert",
          severity: "critical",
          message:
            "another process signs with this node's validator key, or its disk was rolled back; it makes no vertices",
        },
      ]
    case "Joined":
      return [{ type: "reset", message: "the node has joined at a later epoch; read the state again" }]
    case "CheckpointBuilt":
    case "CheckpointFinal":
    case "EpochStarted":
    case "Joining":
      return []
  }
}

/** Drops a position that equals the previous event's: fast rounds are over by the time they are reported. */
export const unsaid = (): ((events: ReadonlyArray<Event>) => ReadonlyArray<Event>) => {
  let said: Extract<Event, { readonly type: "round" }> | undefined
  return (events) =>
    events.filter((event) => {
      if (event.type !== "round") return true
      const isSaid = event.round === said?.round && event.finalized_round === said.finalized_round
      said = event
      return !isSaid
    })
}

const parts = ["dag", "finality", "state", "mempool", "network", "checkpoints"] as const

const SEVERITY: { readonly [S in Status]: "info" | "warning" | "critical" } = {
  healthy: "info",
  degraded: "warning",
  warning: "warning",
  unhealthy: "critical",
}

const inWords = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const figures = ({ status: _status, ...rest }: Report[(typeof parts)[number]]): string =>
  Object.entries(rest)
    .map(([name, value]) => `${inWords(name)} ${value}`)
    .join(", ")

/** One alert for each part whose health changed. A node that has just started is expected to be healthy. */
export const alertsOf = (before: Report | undefined, after: Report): ReadonlyArray<Event> =>
  parts.flatMap((part): ReadonlyArray<Event> => {
    const { status } = after[part]
    if (status === (before?.[part].status ?? "healthy")) return []
    return [{ type: "alert", severity: SEVERITY[status], message: `${part}: ${status}, ${figures(after[part])}` }]
  })
