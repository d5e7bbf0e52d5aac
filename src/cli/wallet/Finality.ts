/** Waiting until a transaction is final, which takes a few rounds. */
import { Effect, Option } from "effect"
import type { PromiseClient } from "../../client/Client.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Describe from "./Describe.js"
import type * as Node from "./Node.js"
import * as Progress from "./Progress.js"
import type { Line } from "./Sheet.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

/** What a node says of a transaction. */
export type Outcome = Awaited<ReturnType<PromiseClient["transactions"]["lookup"]>>

const LEAST_POLL_MS = 50
const LONGEST_POLL_MS = 1_000

const pollMs = (roundMs: number): number => Math.min(LONGEST_POLL_MS, Math.max(LEAST_POLL_MS, roundMs / 2))

const gone = (hash: Hash) =>
  fail("open", `the node does not know ${hash} any more: it was replaced, pushed out by others or too old`)

/** The node may be away for a moment; only its word that there is no such transaction ends the wait. */
export const mayPass = ({ kind }: WalletFailure): boolean => kind === "node" || kind === "refused"

/** Where it stands; none while the node is away. */
const look = (node: Node.Node, hash: Hash): Effect.Effect<Option.Option<Outcome>, WalletFailure> =>
  node
    .find((client) => client.transactions.lookup({ path: { hash } }))
    .pipe(
      Effect.filterOrFail(Option.isSome, () => gone(hash)),
      Effect.catchIf(mayPass, () => Effect.succeedNone),
    )

/** However long that takes; fails where the node does not know it. */
export const untilFinal = (node: Node.Node, hash: Hash, roundMs: number) => {
  const again: Effect.Effect<Outcome, WalletFailure> = Effect.flatMap(look(node, hash), (outcome) =>
    Option.isSome(outcome) && outcome.value.status === "finalized"
      ? Effect.succeed(outcome.value)
      : Effect.zipRight(Effect.sleep(pollMs(roundMs)), again),
  )
  return Progress.during("waiting until it is final", again)
}

const LEAST_PATIENCE_MS = 60_000
const PATIENCE_ROUNDS = 20

/** The same for who has just sent it, and does not wait for ever. */
export const withinReason = (node: Node.Node, hash: Hash, roundMs: number) => {
  const patienceMs = Math.max(LEAST_PATIENCE_MS, PATIENCE_ROUNDS * roundMs)
  return Effect.timeoutFail(untilFinal(node, hash, roundMs), {
    duration: patienceMs,
    onTimeout: () =>
      fail("open", `${hash} is not final after ${patienceMs / 1000} s; it may still be: see udg watch ${hash}`),
  })
}

/** What became of it. */
export const lines = (outcome: Outcome): ReadonlyArray<Line> => {
  const { hash, status, round, applied, failure, proposal_id, timestamp } = outcome
  if (status === "pending")
    return [
      ["hash", hash],
      ["status", "pending"],
    ]
  return [
    ["hash", hash],
    ["status", `final in round ${round}${applied === true ? "" : ", but not applied"}`],
    ...(failure === null ? [] : [["failure", failure] as const]),
    ...(proposal_id === null ? [] : [["proposal", String(proposal_id)] as const]),
    ...(timestamp === null ? [] : [["time", Describe.moment(timestamp)] as const]),
  ]
}

/** Fails where only the fee was taken. */
export const requireApplied = ({ applied, failure }: Outcome): Effect.Effect<void, WalletFailure> =>
  applied === false
    ? Effect.fail(fail("notApplied", `it is final, but only its fee was taken: ${failure ?? "no reason was given"}`))
    : Effect.void
