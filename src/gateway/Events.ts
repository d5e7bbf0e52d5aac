/**
 * The events of a gateway. What is final is told from the archive, commit by commit: whoever hears of it can read it, it comes
 * exactly once, and no node that stops can change that. What is pending, rounds and alerts come from one node at a time.
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

/** Read at once. */
const COMMITS = 20
/** An archive that brings more at once catches up with its network, and nobody follows that event by event. */
const FARTHEST_BEHIND = 1_000
/** How many transactions are remembered, so that none is reported pending twice, or after it was final. */
const REMEMBERED = 50_000
const AGAIN = Duration.seconds(1)
/** Alerts of a node from one commit to the next: more than its health has parts. */
const MOST_ALERTS = 16

const skipped: Event = {
  type: "reset",
  message: "events were missed: the archive brought too many commits at once; read the state again",
}

/** Far from the numbers of nodes and of other gateways, so that none of theirs is taken for one of these. */
const anyNumber = (): number => randomBytes(6).reduce((number, byte) => number * 256 + byte, 0)

/** Merges the events of the archive and of a node into one consistent order. */
export class Telling {
  readonly #feed: Feed
  readonly #known = new Set<Hash>()
  readonly #mostAhead: number
  #reached: Natural.Round
  #final: Natural.Round
  #alerts = 0

  /** `mostAhead`: how far a node's round may be ahead of what is final. A higher one is a lie, or the archive is that far behind. */
  constructor(feed: Feed, final: Natural.Round, mostAhead: number) {
    this.#feed = feed
    this.#mostAhead = mostAhead
    this.#reached = final
    this.#final = final
  }

  /** Whether it was not known before. */
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
        // Nothing proves one, and a feed full of them would have no room for what is final.
        if (this.#alerts++ < MOST_ALERTS) this.#feed.append([event])
        return
      // Vertices come with their commit, and what a node missed the archive did not.
      case "vertex":
      case "reset":
        return
    }
  }
}

const fromArchive = (telling: Telling) =>
  Effect.gen(function* () {
    const archive = yield* Archive
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
      const commits = yield* archive.snapshot((sql) => CommitEvents.read(sql, next, until))
      for (const commit of commits) {
        telling.committed(commit)
        next = commit.index + 1
      }
      // A copy of the database that is behind.
      if (commits.length === 0) yield* Effect.sleep(AGAIN)
    })
    return yield* Effect.forever(step).pipe(
      Effect.sandbox,
      Effect.tapError((cause) => log.warn("tells what is final later", {}, cause)),
      Effect.retry(Schedule.spaced(AGAIN)),
    )
  })

/** What a node has taken in while no node was heard: the first of its mempool, since it shows no more. */
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
