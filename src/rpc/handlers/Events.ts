import { Clock, Duration, Effect, Option, Schedule, Stream } from "effect"
import { Supervisor } from "../../node/lifecycle/Supervisor.js"
import { Events } from "../../node/reads/Events.js"
import { Health, type Report } from "../../node/reads/Health.js"
import { State } from "../../node/reads/State.js"
import * as AccountReference from "./AccountReference.js"
import { Feed } from "./EventFeed.js"
import * as EventFilter from "./EventFilter.js"
import { group } from "./Group.js"
import * as PublicEvents from "./PublicEvents.js"

/** How often the health is looked at, and how long news of rounds without transactions are late at most. */
const LOOKED_EVERY = Duration.seconds(1)

/**
 * More than a node has events per second, so that numbers grow across restarts and clients with an old number notice.
 */
const NUMBERS_A_SECOND = 100_000

/** Streams a feed's stored and new events. */
export const layer = <E, R>(make: Effect.Effect<Feed, E, R>) =>
  group("events", (handlers) =>
    Effect.gen(function* () {
      const account = yield* AccountReference.resolver
      const feed = yield* make
      return handlers.handle("stream", ({ headers, urlParams }) =>
        Effect.gen(function* () {
          const about = urlParams.account === undefined ? undefined : yield* account("account", urlParams.account)
          const events = feed.after(Option.map(Option.fromNullable(headers["last-event-id"]), Number))
          return EventFilter.filtered(events, { types: urlParams.type, account: about })
        }),
      )
    }),
  )

export const feed = Effect.gen(function* () {
  const events = yield* Events
  const health = yield* Health
  const supervisor = yield* Supervisor
  const validatorOf = yield* (yield* State).validatorOf
  const feed = new Feed(Math.floor((yield* Clock.currentTimeMillis) / 1_000) * NUMBERS_A_SECOND)

  const unsaid = PublicEvents.unsaid()

  yield* supervisor.restarted(
    "events",
    Effect.zipRight(
      Stream.runForEach(events.all, (event) =>
        Effect.sync(() => {
          const { reached, finalized } = events.rounds()
          feed.append(unsaid(PublicEvents.eventsOf(event, reached, finalized, validatorOf)))
        }),
      ),
      Effect.never,
    ),
  )

  let before: Report | undefined
  yield* supervisor.restarted(
    "alerts",
    Effect.zipRight(
      Effect.repeat(
        Effect.flatMap(health.report, (report) => {
          feed.append(PublicEvents.alertsOf(before, report))
          before = report
          return feed.isAwaited ? events.gathered : Effect.void
        }),
        Schedule.spaced(LOOKED_EVERY),
      ),
      Effect.never,
    ),
  )

  return feed
})
