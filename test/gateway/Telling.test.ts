/** The order in which a gateway reports the events of its archive and of a node. */
import { Chunk, Effect, Option, Stream } from "effect"
import { expect, it } from "vitest"
import { Telling } from "../../src/gateway/Events.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Event } from "../../src/rpc/api/Events.js"
import { Feed } from "../../src/rpc/handlers/EventFeed.js"
import * as PublicEvents from "../../src/rpc/handlers/PublicEvents.js"

const transaction = (name: string, applied: boolean | null) =>
  PublicEvents.transaction({
    hash: name as Hash,
    transaction_type: "Transfer",
    from: "somebody" as Address,
    to: undefined,
    applied,
  })

const round = (round: number, final: number): Event => ({
  type: "round",
  round: Natural.round(round),
  finalized_round: Natural.round(final),
})

const words = (event: Event): string => {
  switch (event.type) {
    case "transaction":
      return `${event.status} ${event.hash}`
    case "round":
      return `round ${event.round}, final ${event.finalized_round}`
    default:
      return event.type
  }
}

const told = (tell: (telling: Telling) => void): ReadonlyArray<string> => {
  const feed = new Feed(0)
  tell(new Telling(feed, Natural.round(7), 100))
  const events = feed.after(Option.some(0)).pipe(Stream.take(feed.last), Stream.runCollect)
  return Chunk.toReadonlyArray(Effect.runSync(events)).map(({ event }) => words(event))
}

it("reports a transaction as pending once, however many nodes accept it, and never after it was final", () => {
  expect(
    told((telling) => {
      telling.heard(transaction("a", null))
      telling.heard(transaction("a", null))
      // A node can be ahead of the archive.
      telling.heard(transaction("a", true))
      telling.committed({ events: [transaction("a", true), transaction("b", false)], leaderRound: Natural.round(8) })
      telling.heard(transaction("b", null))
      telling.heard(transaction("a", null))
    }),
  ).toEqual(["pending a", "finalized a", "finalized b", "round 8, final 8"])
})

it("reports a round as final after its transactions, and never goes back", () => {
  expect(
    told((telling) => {
      telling.heard(round(10, 9))
      telling.heard(round(9, 8))
      telling.heard(round(11, 10))
      telling.committed({ events: [], leaderRound: Natural.round(9) })
    }),
  ).toEqual(["round 10, final 7", "round 11, final 7", "round 11, final 9"])
})

it("rejects a round far beyond the final one", () => {
  expect(
    told((telling) => {
      telling.heard(round(9_007_199_254_740_991, 8))
      telling.heard(round(108, 8))
      telling.heard(round(107, 8))
      telling.committed({ events: [], leaderRound: Natural.round(8) })
      telling.heard(round(108, 8))
    }),
  ).toEqual(["round 107, final 7", "round 107, final 8", "round 108, final 8"])
})

it("passes on a node's alerts, but neither its vertices nor resets, which the archive knows better", () => {
  expect(
    told((telling) => {
      telling.heard({ type: "reset", message: "the node has joined" })
      telling.heard({ type: "alert", severity: "info", message: "well" })
      telling.skipTo(Natural.round(900))
    }),
  ).toEqual(["alert", "reset", "round 900, final 900"])
})

it("remembers the last fifty thousand", () => {
  const feed = new Feed(0)
  const telling = new Telling(feed, Natural.round(7), 100)
  telling.heard(transaction("old", null))
  const many = Array.from({ length: 50_000 }, (_, n) => transaction(String(n), true))
  telling.committed({ events: many, leaderRound: Natural.round(8) })
  const before = feed.last
  telling.heard(transaction("0", null))
  expect(feed.last).toBe(before)
  telling.heard(transaction("old", null))
  expect(feed.last).toBe(before + 1)
})

it("limits a node's alerts between two commits, so they displace no final events", () => {
  const alert: Event = { type: "alert", severity: "warning", message: "made up" }
  const events = told((telling) => {
    for (let commit = 8; commit < 10; commit++) {
      for (let n = 0; n < 2_000; n++) telling.heard(alert)
      telling.committed({ events: [transaction(`in ${commit}`, true)], leaderRound: Natural.round(commit) })
    }
  })
  const ofOne = Array.from({ length: 16 }, () => "alert")
  expect(events).toEqual([
    ...ofOne,
    "finalized in 8",
    "round 8, final 8",
    ...ofOne,
    "finalized in 9",
    "round 9, final 9",
  ])
})
