/**
 * Asks nodes and proves their claims, from the trusted committee along closing checkpoints to the committee of the
 * claim's epoch.
 */
import { Data, Effect, Either } from "effect"
import type { Checkpoint, SignedCheckpoint } from "../protocol/epoch/Checkpoint.js"
import type * as Hash from "../protocol/identity/Hash.js"
import type { AddressPrefix, NetworkId } from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import { isStrictlyValid } from "../protocol/transaction/Verification.js"
import * as BoundedFetch from "./BoundedFetch.js"
import * as Answer from "./checks/Answer.js"
import * as Bisection from "./checks/Bisection.js"
import { Conflict, OtherCheckpoint, type Refusal, Silent } from "./checks/Refusal.js"
import * as Trusted from "./checks/Trusted.js"

/** The root of trust: a committee, or a closing checkpoint by its hash, whose content is requested from a node. */
type Root =
  | { readonly _tag: "Committee"; readonly trusted: Trusted.Trusted }
  | { readonly _tag: "Pin"; readonly pin: Pin }

/** A closing checkpoint by its hash. */
export interface Pin {
  readonly epoch: Natural.Epoch
  readonly hash: Hash.Hash
}

/** What is known and trusted of a network from the outset. */
export interface Trust {
  readonly root: Root
  readonly prefix: AddressPrefix
  /** Null if only a checkpoint is known. */
  readonly networkId: NetworkId | null
}

export interface Options {
  readonly fetch?: BoundedFetch.Fetch
  /** Time limit for one answer of a node; 10 seconds by default. */
  readonly answerWithinMs?: number
  /** Time limit for the whole check of a node; 60 seconds by default. */
  readonly checkWithinMs?: number
  /** Rejects checkpoints of lower rounds. */
  readonly fromRound?: number
}

/** A proven claim; names the checkpoint that proves it. */
export interface Shown {
  readonly checkpoint: Checkpoint
}

export interface Judged<P extends Shown = Shown> {
  readonly node: string
  readonly outcome: Either.Either<P, Refusal>
}

/** A claim that at least one node has proven and no other has disproven. */
export interface Report<P extends Shown> {
  /** The proof by the newest checkpoint. */
  readonly proven: P
  readonly node: string
  /** All nodes asked, in the given order. */
  readonly nodes: ReadonlyArray<Judged<P>>
  /** The committee of the proven checkpoint, which shortens the next check. */
  readonly trust: Trust
}

/** Nothing is proven: every node was rejected, one proves an unknown version, or two prove different histories. */
export class NotProven extends Data.TaggedError("NotProven")<{
  readonly nodes: ReadonlyArray<Judged>
  readonly conflict: Conflict | null
}> {
  override get message(): string {
    if (this.conflict !== null) return this.conflict.message
    return this.nodes
      .map(({ node, outcome }) => `${node}: ${Either.isLeft(outcome) ? outcome.left.message : "proven"}`)
      .join("; ")
  }
}

const ANSWER_WITHIN_MS = 10_000
const CHECK_WITHIN_MS = 60_000

/** The global `fetch`, looked up on use rather than when this module loads. */
const ownFetch: BoundedFetch.Fetch = (url, init) => fetch(url, init)

interface Asking extends BoundedFetch.Reading {
  readonly checkWithinMs: number
}

const closingQuestion = (epoch: Natural.Epoch): BoundedFetch.Question => ({
  path: `/checkpoint/epoch/${epoch}`,
  limit: Answer.CHECKPOINT_BYTES,
})

const closingOf = (asking: Asking, node: string, epoch: Natural.Epoch) =>
  Effect.flatMap(BoundedFetch.read(asking, node, closingQuestion(epoch)), Answer.checkpoint)

const begin = (asking: Asking, node: string, { root }: Trust): Effect.Effect<Trusted.Trusted, Refusal> =>
  Effect.gen(function* () {
    if (root._tag === "Committee") return root.trusted
    const { epoch, hash } = root.pin
    const { checkpoint } = yield* closingOf(asking, node, epoch)
    if (checkpoint.hash === hash) return yield* Trusted.ofCheckpoint(checkpoint)
    return yield* new OtherCheckpoint({ epoch, trusted: hash, given: checkpoint.hash })
  })

/** Proves the committee named by the checkpoint of `goal` along checkpoints that the trusted committee has signed. */
const bisection = (asking: Asking, node: string, from: Trusted.Trusted, goal: Natural.Epoch) =>
  Effect.gen(function* () {
    let state = Bisection.begin(from, goal)
    for (let epoch = Bisection.asks(state); epoch !== undefined; epoch = Bisection.asks(state)) {
      const signed = yield* closingOf(asking, node, epoch)
      state = yield* Bisection.take(state, signed, isStrictlyValid)
      yield* Effect.yieldNow()
    }
    return state.trusted
  })

/** A node's statement, under a checkpoint with signatures not verified yet. */
interface Claim {
  readonly signed: SignedCheckpoint
}

/** A kind of question: how it is asked, from where its answer can be proven, and what is then proven. */
export interface Subject<C extends Claim, P extends Shown> {
  readonly question: BoundedFetch.Question
  readonly read: (bytes: Uint8Array) => Either.Either<C, Refusal>
  /** Rejects a claim that contradicts existing knowledge. */
  readonly follows: (claim: C, start: Trusted.Trusted, fromRound: number) => Either.Either<void, Refusal>
  readonly prove: (trusted: Trusted.Trusted, claim: C) => Either.Either<P, Refusal>
}

/** The epoch whose closing checkpoint names the committee that signs this checkpoint. */
const goalOf = ({ signed: { checkpoint } }: Claim): Natural.Epoch => Natural.epoch(Math.max(0, checkpoint.epoch - 1))

/** The goals of all claims, lowest first. */
const goalsOf = (claims: ReadonlyArray<Claim>): ReadonlyArray<Natural.Epoch> =>
  [...new Set(claims.map(goalOf))].sort((a, b) => a - b)

interface Way<P extends Shown> {
  readonly proven: P
  readonly trusted: Trusted.Trusted
  /** Closing checkpoints that it passes through. */
  readonly closings: ReadonlyArray<Checkpoint>
}

/** Proves a claim by way of every lower goal: histories that fork are found where both must pass. */
const way = <C extends Claim, P extends Shown>(
  asking: Asking,
  node: string,
  { prove }: Subject<C, P>,
  { start, claim }: Placed<C>,
  goals: ReadonlyArray<Natural.Epoch>,
): Effect.Effect<Way<P>, Refusal> =>
  Effect.gen(function* () {
    let trusted = start
    const closings: Array<Checkpoint> = []
    for (const goal of goals.filter((goal) => goal <= goalOf(claim))) {
      trusted = yield* bisection(asking, node, trusted, goal)
      if (trusted.closing !== null) closings.push(trusted.closing)
    }
    return { proven: yield* prove(trusted, claim), trusted, closings }
  })

const withinTime = <A>({ checkWithinMs }: Asking, effect: Effect.Effect<A, Refusal>): Effect.Effect<A, Refusal> =>
  Effect.timeoutFail(effect, {
    duration: checkWithinMs,
    onTimeout: () => new Silent({ waitedMs: checkWithinMs }),
  })

/** A claim, and the committee from which it will be proven. */
interface Placed<C extends Claim> {
  readonly claim: C
  readonly start: Trusted.Trusted
}

/** A claim that is consistent except for unverified signatures. */
const claimOf = <C extends Claim, P extends Shown>(
  asking: Asking,
  node: string,
  trust: Trust,
  subject: Subject<C, P>,
  fromRound: number,
) =>
  Effect.gen(function* () {
    const claim = yield* subject.read(yield* BoundedFetch.read(asking, node, subject.question))
    const start = yield* begin(asking, node, trust)
    yield* subject.follows(claim, start, fromRound)
    return { claim, start }
  })

/** The lowest epoch in which two ways differ. */
const conflictIn = (ways: ReadonlyArray<Way<Shown>>): Conflict | null => {
  const known = new Map<string, Checkpoint>()
  const checkpoints = ways.flatMap(({ closings, proven }) => [...closings, proven.checkpoint])
  for (const checkpoint of checkpoints.sort((a, b) => a.commitIndex - b.commitIndex)) {
    const { epoch, commitIndex, nextEpoch, hash } = checkpoint
    const place = nextEpoch === null ? `commit ${commitIndex}` : `close ${epoch}`
    const other = known.get(place)
    if (other !== undefined && other.hash !== hash) return new Conflict({ epoch, hashes: [other.hash, hash] })
    known.set(place, checkpoint)
  }
  return null
}

/** Asks every node, and verifies each answer on its own. */
export const check = <C extends Claim, P extends Shown>(
  trust: Trust,
  nodes: ReadonlyArray<string>,
  subject: Subject<C, P>,
  options: Options = {},
): Effect.Effect<Report<P>, NotProven> =>
  Effect.gen(function* () {
    const {
      fetch = ownFetch,
      answerWithinMs = ANSWER_WITHIN_MS,
      checkWithinMs = CHECK_WITHIN_MS,
      fromRound = 0,
    } = options
    const asking: Asking = { fetch, answerWithinMs, checkWithinMs }
    const ofEach = <A, B extends { readonly node: string }>(
      items: ReadonlyArray<B>,
      one: (item: B) => Effect.Effect<A, Refusal>,
    ) =>
      Effect.forEach(
        items,
        (item) =>
          withinTime(asking, one(item)).pipe(
            Effect.either,
            Effect.map((outcome) => ({ node: item.node, outcome })),
          ),
        { concurrency: "unbounded" },
      )
    const claims = yield* ofEach(
      nodes.map((url) => ({ node: url.replace(/\/+$/, "") })),
      ({ node }) => claimOf(asking, node, trust, subject, fromRound),
    )
    const goals = goalsOf(claims.flatMap(({ outcome }) => (Either.isRight(outcome) ? [outcome.right.claim] : [])))
    const ways = yield* ofEach(claims, ({ node, outcome }) =>
      Effect.flatMap(outcome, (placed) => way(asking, node, subject, placed, goals)),
    )
    return yield* reportOf(trust, ways)
  })

const reportOf = <P extends Shown>(
  trust: Trust,
  ways: ReadonlyArray<{ readonly node: string; readonly outcome: Either.Either<Way<P>, Refusal> }>,
): Either.Either<Report<P>, NotProven> => {
  const nodes = ways.map(({ node, outcome }) => ({ node, outcome: Either.map(outcome, ({ proven }) => proven) }))
  const [newest, ...others] = ways
    .flatMap(({ node, outcome }) => (Either.isRight(outcome) ? [{ node, ...outcome.right }] : []))
    .sort((a, b) => b.proven.checkpoint.round - a.proven.checkpoint.round)
  // One node's quorum is enough: an answer from before the upgrade can be a fork made with old keys.
  const isAhead = nodes.some(({ outcome }) => Either.isLeft(outcome) && outcome.left.verdict === "ahead")
  if (newest === undefined || isAhead) return Either.left(new NotProven({ nodes, conflict: null }))
  const conflict = conflictIn([newest, ...others])
  if (conflict !== null) return Either.left(new NotProven({ nodes, conflict }))
  const { node, proven, trusted } = newest
  return Either.right({ proven, node, nodes, trust: { ...trust, root: { _tag: "Committee", trusted } } })
}
