/** Waits until a transaction is final, which takes a few rounds. */
import { Effect, Option } from "effect"
import type { PromiseClient } from "../../client/Client.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import { fail, type WalletFailure } from "../keys/WalletFailure.js"
import * as Figure from "../terminal/Figure.js"
import * as Paint from "../terminal/Paint.js"
import * as Progress from "../terminal/Progress.js"
import type { Line } from "../terminal/Sheet.js"
import * as Describe from "./Describe.js"
import type * as Node from "./Node.js"

type NetworkInfo = Awaited<ReturnType<PromiseClient["core"]["network"]>>

/** A node's record of a transaction. */
export type Outcome = Awaited<ReturnType<PromiseClient["transactions"]["lookup"]>>

/** The polling interval, within bounds. */
export const pollMs = (wantedMs: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, wantedMs))

const LEAST_POLL_MS = 50
const LONGEST_POLL_MS = 1_000

/** Whether the wait continues: a node can be unreachable for a moment, but a missing transaction ends it. */
export const mayPass = ({ kind }: WalletFailure): boolean => kind === "node" || kind === "refused"

/** The outcome so far; none while the node is unreachable. */
const look = (node: Node.Node, hash: Hash): Effect.Effect<Option.Option<Outcome>, WalletFailure> =>
  node
    .find((client) => client.transactions.lookup({ path: { hash } }))
    .pipe(
      Effect.filterOrFail(Option.isSome, () =>
        fail("open", `the node no longer knows ${hash}: it was replaced, displaced by others or too old`),
      ),
      Effect.catchIf(mayPass, () => Effect.succeedNone),
    )

/** Waits without limit. Fails if the node does not know the transaction. */
export const untilFinal = (node: Node.Node, hash: Hash, { parameters }: NetworkInfo) => {
  const pause = Effect.sleep(pollMs(parameters.round_interval_ms / 2, LEAST_POLL_MS, LONGEST_POLL_MS))
  const again: Effect.Effect<Outcome, WalletFailure> = Effect.flatMap(look(node, hash), (outcome) =>
    Option.isSome(outcome) && outcome.value.status === "finalized"
      ? Effect.succeed(outcome.value)
      : Effect.zipRight(pause, again),
  )
  return Progress.during("waiting until it is final", again)
}

const LEAST_PATIENCE_MS = 60_000
const PATIENCE_ROUNDS = 20

/** Waits for a new transaction with a time limit. */
export const withinReason = (node: Node.Node, hash: Hash, info: NetworkInfo) => {
  const patienceMs = Math.max(LEAST_PATIENCE_MS, PATIENCE_ROUNDS * info.parameters.round_interval_ms)
  return Effect.timeoutFail(untilFinal(node, hash, info), {
    duration: patienceMs,
    onTimeout: () =>
      fail("open", `${hash} is not final after ${patienceMs / 1000} s, but may still be; check with udg watch ${hash}`),
  })
}

export const lines = (outcome: Outcome): ReadonlyArray<Line> => {
  const { hash, status, round, applied, failure, proposal_id, timestamp } = outcome
  const final =
    round === null ? status : `final in round ${Figure.count(round)}${applied === true ? "" : ", but not applied"}`
  return [
    ["hash", hash, Paint.quiet],
    ["status", final, Paint.state],
    ["failure", failure, Paint.alarm],
    ["proposal", proposal_id === null ? null : String(proposal_id)],
    ["time", timestamp === null ? null : Describe.moment(timestamp)],
  ]
}

/** Fails if only the fee was taken. */
export const requireApplied = ({ applied, failure }: Outcome): Effect.Effect<void, WalletFailure> =>
  applied === false
    ? fail("notApplied", `it is final, but only its fee was taken: ${failure ?? "the node gave no reason"}`)
    : Effect.void
