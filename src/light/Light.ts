/**
 * Checks what nodes answer instead of believing it: an account is shown only with a proof against a checkpoint that a quorum
 * signed, of a committee that follows from a genesis or a checkpoint one trusts. Runs in browsers. As promises:
 *
 *     const light = Light.client({ trust: Light.genesis(JSON.parse(file)), nodes: ["https://node.example"] })
 *     const { account, checkpoint, signed } = await light.account("@alice")
 *
 * or as an Effect, `Light.check`.
 */
import { Data, Effect, Either, Schema } from "effect"
import type { Checkpoint } from "../protocol/epoch/Checkpoint.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Address from "../protocol/identity/Address.js"
import * as Hash from "../protocol/identity/Hash.js"
import { type AddressPrefix, addressPrefix, type Mode } from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import { isStrictlyValid } from "../protocol/transaction/Verification.js"
import * as Account from "./checks/Account.js"
import * as Answer from "./checks/Answer.js"
import * as Climb from "./checks/Climb.js"
import { Conflict, OtherCheckpoint, type Refusal, Silent } from "./checks/Refusal.js"
import * as Trusted from "./checks/Trusted.js"
import * as Reading from "./Reading.js"

export type { Proven } from "./checks/Account.js"
export { hasUsed } from "./checks/Account.js"
export type { Refusal, Verdict } from "./checks/Refusal.js"

/** Where the trust begins: with a committee, or with a closing checkpoint by its name, whose content a node is asked for. */
type Root =
  | { readonly _tag: "Committee"; readonly trusted: Trusted.Trusted }
  | { readonly _tag: "Pin"; readonly pin: Pin }

/** A closing checkpoint by its name. */
export interface Pin {
  readonly epoch: Natural.Epoch
  readonly hash: Hash.Hash
}

/** What is trusted of a network from the outset. */
export interface Trust {
  readonly root: Root
  /** Of addresses of the network. */
  readonly prefix: AddressPrefix
}

export interface Options {
  readonly fetch?: Reading.Fetch
  /** How long a node may take for one answer; 10 seconds by default. */
  readonly answerWithinMs?: number
  /** How long it may take in all; 60 seconds by default. */
  readonly checkWithinMs?: number
  /** Refuses checkpoints of lower rounds. */
  readonly fromRound?: number
}

/** What a check of one node found. */
export interface Judged {
  readonly node: string
  readonly outcome: Either.Either<Account.Proven, Refusal>
}

/** An account that at least one node has proven, and no other has disproven. */
export interface Report {
  /** By the newest checkpoint. */
  readonly proven: Account.Proven
  readonly node: string
  /** All nodes that were asked, in that order. */
  readonly nodes: ReadonlyArray<Judged>
  /** The committee of the proven checkpoint, from which the next check is a short way. */
  readonly trust: Trust
}

/** No account can be shown: every node was refused, or two of them prove different histories. */
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

/** The browser's or Node's own, called when it is needed, not when this is loaded. */
const ownFetch: Reading.Fetch = (url, init) => fetch(url, init)

interface Asking extends Reading.Reading {
  readonly checkWithinMs: number
}

const closingQuestion = (epoch: Natural.Epoch): Reading.Question => ({
  path: `/checkpoint/epoch/${epoch}`,
  limit: Answer.CHECKPOINT_BYTES,
})

const closingOf = (asking: Asking, node: string, epoch: Natural.Epoch) =>
  Effect.flatMap(Reading.read(asking, node, closingQuestion(epoch)), Answer.checkpoint)

const begin = (asking: Asking, node: string, { root }: Trust): Effect.Effect<Trusted.Trusted, Refusal> =>
  Effect.gen(function* () {
    if (root._tag === "Committee") return root.trusted
    const { epoch, hash } = root.pin
    const { checkpoint } = yield* closingOf(asking, node, epoch)
    if (checkpoint.hash === hash) return yield* Trusted.ofCheckpoint(checkpoint)
    return yield* new OtherCheckpoint({ epoch, trusted: hash, given: checkpoint.hash })
  })

/** The committee that the checkpoint of `goal` names, on a way that the trusted one has signed. */
const climb = (asking: Asking, node: string, from: Trusted.Trusted, goal: Natural.Epoch) =>
  Effect.gen(function* () {
    let state = Climb.begin(from, goal)
    for (let epoch = Climb.asks(state); epoch !== undefined; epoch = Climb.asks(state)) {
      const signed = yield* closingOf(asking, node, epoch)
      state = yield* Climb.take(state, signed, isStrictlyValid)
      yield* Effect.yieldNow()
    }
    return state.trusted
  })

/** The epoch whose closing checkpoint names the committee that signs this. */
const goalOf = ({ signed: { checkpoint } }: Account.Consistent): Natural.Epoch =>
  Natural.epoch(Math.max(0, checkpoint.epoch - 1))

/** Of all claims, the lowest first. */
const goalsOf = (claims: ReadonlyArray<Account.Consistent>): ReadonlyArray<Natural.Epoch> =>
  [...new Set(claims.map(goalOf))].sort((a, b) => a - b)

interface Way {
  readonly proven: Account.Proven
  readonly trusted: Trusted.Trusted
  /** Closing checkpoints that it passes through. */
  readonly closings: ReadonlyArray<Checkpoint>
}

/** Proves a claim by way of every goal before its own: histories that part are found where both must pass. */
const way = (
  asking: Asking,
  node: string,
  start: Trusted.Trusted,
  claim: Account.Consistent,
  goals: ReadonlyArray<Natural.Epoch>,
): Effect.Effect<Way, Refusal> =>
  Effect.gen(function* () {
    let trusted = start
    const closings: Array<Checkpoint> = []
    for (const goal of goals.filter((goal) => goal <= goalOf(claim))) {
      trusted = yield* climb(asking, node, trusted, goal)
      if (trusted.closing !== null) closings.push(trusted.closing)
    }
    return { proven: yield* Account.proven(trusted, claim, isStrictlyValid), trusted, closings }
  })

const withinTime = <A>({ checkWithinMs }: Asking, effect: Effect.Effect<A, Refusal>): Effect.Effect<A, Refusal> =>
  Effect.timeoutFail(effect, {
    duration: checkWithinMs,
    onTimeout: () => new Silent({ waitedMs: checkWithinMs }),
  })

/** A claim that holds but for the signatures, and the committee from which these will be proven. */
const claimOf = (asking: Asking, node: string, trust: Trust, wanted: Address.Reference, fromRound: number) =>
  Effect.gen(function* () {
    const account = wanted._tag === "Address" ? wanted.address : `@${wanted.name}`
    const bytes = yield* Reading.read(asking, node, { path: `/proof/${account}`, limit: Answer.ACCOUNT_BYTES })
    const claim = yield* Account.consistent(wanted, yield* Answer.account(bytes))
    const start = yield* begin(asking, node, trust)
    yield* Account.recent(Math.max(fromRound, start.closing?.round ?? 0), claim.signed)
    return { claim, start }
  })

/** The lowest epoch in which two ways differ. */
const conflictIn = (ways: ReadonlyArray<Way>): Conflict | null => {
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

/** Asks every node for the account, and checks each answer on its own. */
export const check = (
  trust: Trust,
  nodes: ReadonlyArray<string>,
  wanted: Address.Reference,
  options: Options = {},
): Effect.Effect<Report, NotProven> =>
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
      ({ node }) => claimOf(asking, node, trust, wanted, fromRound),
    )
    const goals = goalsOf(claims.flatMap(({ outcome }) => (Either.isRight(outcome) ? [outcome.right.claim] : [])))
    const ways = yield* ofEach(claims, ({ node, outcome }) =>
      Effect.flatMap(outcome, ({ claim, start }) => way(asking, node, start, claim, goals)),
    )
    return yield* reportOf(trust, ways)
  })

const reportOf = (
  { prefix }: Trust,
  ways: ReadonlyArray<{ readonly node: string; readonly outcome: Either.Either<Way, Refusal> }>,
): Either.Either<Report, NotProven> => {
  const nodes = ways.map(({ node, outcome }) => ({ node, outcome: Either.map(outcome, ({ proven }) => proven) }))
  const [newest, ...others] = ways
    .flatMap(({ node, outcome }) => (Either.isRight(outcome) ? [{ node, ...outcome.right }] : []))
    .sort((a, b) => b.proven.checkpoint.round - a.proven.checkpoint.round)
  if (newest === undefined) return Either.left(new NotProven({ nodes, conflict: null }))
  const conflict = conflictIn([newest, ...others])
  if (conflict !== null) return Either.left(new NotProven({ nodes, conflict }))
  const { node, proven, trusted } = newest
  return Either.right({ proven, node, nodes, trust: { root: { _tag: "Committee", trusted }, prefix } })
}

/** The trust in a network's genesis. */
export const ofGenesis = (genesis: Genesis.Genesis): Trust => ({
  root: { _tag: "Committee", trusted: Trusted.ofGenesis(genesis) },
  prefix: addressPrefix(genesis.mode),
})

/** Text or JSON that is not what it should be; the message names the field and the reason. */
export class InvalidInput extends Error {
  override readonly name = "InvalidInput"
}

const orThrow = <A>(result: Either.Either<A, { readonly message: string }>): A =>
  Either.getOrThrowWith(result, ({ message }) => new InvalidInput(message))

/** The same from its file, parsed. */
export const genesis = (file: unknown): Trust => ofGenesis(orThrow(Genesis.fromFile(file)))

const decodePin = Schema.decodeUnknownEither(
  Schema.Struct({
    epoch: Natural.schema<Natural.Epoch>("an epoch").pipe(Schema.filter((epoch) => epoch > 0)),
    hash: Hash.schema,
  }),
)

/** The trust in the checkpoint that closed this epoch, which somebody one trusts has named. */
export const checkpoint = (epoch: number, hash: string, mode: Mode): Trust => {
  const decoded = decodePin({ epoch, hash })
  const expected = "an epoch from 1 and 64 hex characters expected"
  const pin = orThrow(Either.mapLeft(decoded, () => new InvalidInput(`${epoch}:${hash} is no checkpoint; ${expected}`)))
  return { root: { _tag: "Pin", pin }, prefix: addressPrefix(mode) }
}

/** The closing checkpoint that a trust goes back to, to be kept for `checkpoint`; none where it is a genesis. */
export const pinOf = ({ root }: Trust): Pin | null => {
  if (root._tag === "Pin") return root.pin
  const { closing } = root.trusted
  return closing && { epoch: closing.epoch, hash: closing.hash }
}

export interface Settings extends Options {
  readonly trust: Trust
  /** The URLs of nodes: one is enough for a proof, several can be compared. */
  readonly nodes: ReadonlyArray<string>
}

/** Remembers what it has proven: the next check is a short way, and no older checkpoint is taken. */
export interface Client {
  /** The account by its address, in hex or bech32m, or by its @name; rejects with `NotProven`. */
  readonly account: (text: string) => Promise<Report>
  /** What it trusts by now. */
  readonly trust: () => Trust
}

export const client = ({ trust: first, nodes, ...options }: Settings): Client => {
  let trust = first
  let round = options.fromRound ?? 0
  const remember = (report: Report): void => {
    const { checkpoint } = report.proven
    if (checkpoint.round < round) return
    round = checkpoint.round
    trust = report.trust
  }
  return {
    account: async (text) => {
      const wanted = orThrow(Address.parseReference(text, trust.prefix))
      const outcome = await Effect.runPromise(
        Effect.either(check(trust, nodes, wanted, { ...options, fromRound: round })),
      )
      if (Either.isLeft(outcome)) throw outcome.left
      remember(outcome.right)
      return outcome.right
    },
    trust: () => trust,
  }
}
