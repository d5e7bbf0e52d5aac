/**
 * The events of a gateway. Final events come from the archive, commit by commit: clients can read what they hear of,
 * each event comes exactly once, and a stopping node changes nothing. Pending transactions, rounds and alerts come from
 * one node at a time.
 */
import { Duration, Effect, Schedule, Stream } from "effect"
import { randomBytes } from "#crypto"
import type * as Client from "../client/Effects.js"
import * as Log from "../node/log/Log.js"
import { State } from "../node/reads/State.js"
import type { Hash } from "../protocol/identity/Hash.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Event } from "../rpc/api/Events.js"
import { Feed } from "../rpc/handlers/EventFeed.js"
import * as PublicEvents from "../rpc/handlers/PublicEvents.js"
import { Archive } from "./Archive.js"
import * as CommitEvents from "./CommitEvents.js"
import { Nodes } from "./Nodes.js"

const log = Log.for("rpc")

const COMMITS = 20
/** An archive that adds more at once is catching up, and nobody follows that event by event. */
const FARTHEST_BEHIND = 1_000
/** Limit of remembered transactions, so that none is reported pending twice or after it was final. */
const REMEMBERED = 50_000
const AGAIN = Duration.seconds(1)
/** A node's alerts between two commits: more than its health has parts. */
const MOST_ALERTS = 16

const skipped: Event = {
  type: "reset",
  message: "events were missed: the archive brought too many commits at once; read the state again",
}

/** Far from the numbers of nodes and other gateways, so that theirs are not taken for these. */
const anyNumber = (): number => randomBytes(6).reduce((number, byte) => number * 256 + byte, 0)

/** Merges the events of the archive and of a node into one consistent order. */
export class Telling {
  readonly #feed: Feed
  readonly #known = new Set<Hash>()
  readonly #mostAhead: number
  #reached: Natural.Round
  #final: Natural.Round
  #alerts = 0

  /**
   * `mostAhead`: how far a node's round can be ahead of the final one. A higher round is a lie, or the archive is that
   * far behind.
   */
  constructor(feed: Feed, final: Natural.Round, mostAhead: number) {
    this.#feed = feed
    this.#mostAhead = mostAhead
    this.#reached = final
    this.#final = final
  }

  #remember(hash: Hash): boolean {
    if (this.#known.has(hash)) return false
    this.#known.add(hash)
    for (const oldest of this.#known) {
      if (this.#known.size <= REMEMBERED) break
      this.#known.delete(oldest)
    }
    return true
  }

  get #position(): Event {
    return { type: "round", round: this.#reached, finalized_round: this.#final }
  }

  committed({ events, leaderRound }: Pick<CommitEvents.CommitEvents, "events" | "leaderRound">): void {
    for (const event of events) if (event.type === "transaction") this.#remember(event.hash)
    this.#final = leaderRound
    this.#alerts = 0
    this.#reached = Natural.round(Math.max(this.#reached, leaderRound))
    this.#feed.append([...events, this.#position])
  }

  /** The next event does not continue the stream. */
  skipTo(final: Natural.Round): void {
    this.#final = final
    this.#reached = Natural.round(Math.max(this.#reached, final))
    this.#feed.append([skipped, this.#position])
  }

  transaction(event: Extract<Event, { readonly type: "transaction" }>): void {
    if (event.status === "pending" && this.#remember(event.hash)) this.#feed.append([event])
  }

  heard(event: Event): void {
    switch (event.type) {
      case "transaction":
        this.transaction(event)
        return
      case "round":
        if (event.round <= this.#reached || event.round > this.#final + this.#mostAhead) return
        this.#reached = event.round
        this.#feed.append([this.#position])
        return
      case "alert":
        // Alerts are unproven, and a feed full of them would have no room for final events.
        if (this.#alerts++ < MOST_ALERTS) this.#feed.append([event])
        return
      // Vertices come with their commit, and the archive did not miss what a node missed.
      case "vertex":
      case "reset":
        return
    }
  }
}

const fromArchive = (telling: Telling) =>
  Effect.gen(function* () {
    const [archive, { validatorOf }] = yield* Effect.all([Archive, State])
    let next = archive.asOf() + 1
    const step = Effect.gen(function* () {
      yield* archive.reached(next)
      const last = archive.asOf()
      if (last - next >= FARTHEST_BEHIND) {
        telling.skipTo(archive.finalizedRound())
        next = last + 1
        return
      }
      const until = Math.min(last, next + COMMITS - 1)
      const accounts = yield* validatorOf
      const commits = yield* archive.snapshot((sql) => CommitEvents.read(sql, next, until, accounts))
      for (const commit of commits) {
        telling.committed(commit)
        next = commit.index + 1
      }
      // A replica of the database is behind.
      if (commits.length === 0) yield* Effect.sleep(AGAIN)
    })
    return yield* Effect.forever(step).pipe(
      Effect.sandbox,
      Effect.tapError((cause) => log.warn("final events are delayed", {}, cause)),
      Effect.retry(Schedule.spaced(AGAIN)),
    )
  })

/** Transactions that a node accepted while none was heard: the first of its mempool, since it shows no more. */
const pendingAt = (client: Client.EffectClient, telling: Telling) =>
  Effect.map(client.core.mempool(), (transactions) => {
    for (const { hash, type, from, to } of transactions)
      telling.transaction(PublicEvents.transaction({ hash, transaction_type: type, from, to, applied: null }))
  })

const fromNodes = (telling: Telling) =>
  Effect.flatMap(Nodes, ({ listen }) =>
    listen((client) => {
      let isOpen = false
      return Stream.runForEach(client.events(undefined, { types: ["round", "transaction", "alert"] }), ({ event }) => {
        const before = isOpen ? Effect.void : pendingAt(client, telling)
        isOpen = true
        return Effect.map(before, () => telling.heard(event))
      })
    }),
  )

export const feed = Effect.gen(function* () {
  const { finalizedRound } = yield* Archive
  const { genesis } = yield* State
  const feed = new Feed(anyNumber())
  const telling = new Telling(feed, finalizedRound(), genesis.protocol.epochRounds)
  yield* Effect.forkScoped(fromArchive(telling))
  yield* Effect.forkScoped(fromNodes(telling))
  return feed
})
