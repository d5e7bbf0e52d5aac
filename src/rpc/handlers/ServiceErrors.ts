/**
 * Maps the errors of the services behind the handlers to failures of the interface. Only this file knows both: a
 * handler passes on an error if its endpoint declares the failure.
 */
import { Option } from "effect"
import type { RoundNotFound, VertexNotFound } from "../../node/reads/Dag.js"
import type { Unanswered, Unreadable } from "../../node/reads/Lookup.js"
import type { TransactionNotFound } from "../../node/reads/State.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Failure from "../api/Failure.js"

/** The client can do nothing about a failed disk read; the log has the cause. */
const bug = (_: Unreadable): undefined => undefined

export const failures = {
  TransactionNotFound: ({ id, withoutEffect }: TransactionNotFound): Failure.TransactionNotFound =>
    Option.match(withoutEffect, {
      onNone: () =>
        new Failure.TransactionNotFound({
          message: `no transaction ${Hash.short(id)} is pending or finalized on this node`,
        }),
      onSome: ({ vertex, reason }) => {
        const where = `vertex ${Hash.short(vertex.hash)} of round ${vertex.round}`
        return new Failure.TransactionNotFound({
          message: `transaction ${Hash.short(id)} had no effect in ${where}, and is no longer pending: ${reason}`,
          vertex_hash: vertex.hash,
          round: vertex.round,
          reason,
        })
      },
    }),
  RoundNotFound: ({ round, because }: RoundNotFound): Failure.RoundNotFound =>
    because === "pruned"
      ? new Failure.RoundNotFound({ message: `round ${round} is pruned on this node`, reason: "pruned" })
      : new Failure.RoundNotFound({ message: `round ${round} is not reached yet`, reason: "not_reached" }),
  VertexNotFound: ({ hash }: VertexNotFound): Failure.VertexNotFound =>
    new Failure.VertexNotFound({ message: `no vertex ${Hash.short(hash)} on this node` }),
  Unanswered: ({ message, retryAfterSeconds }: Unanswered): Failure.Unavailable =>
    new Failure.Unavailable({ message, retry_after_seconds: retryAfterSeconds }),
  StateDamaged: bug,
  DatabaseDamaged: bug,
  DatabaseFailed: bug,
  DiskFull: bug,
}
