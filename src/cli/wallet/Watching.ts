/** `udg watch` and `udg events`: what happens, as it happens. */
import { Effect, Either, Option, Stream } from "effect"
import type { PromiseClient } from "../../client/Client.js"
import * as Visible from "../../client/Visible.js"
import type * as Address from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import type { Event } from "../../rpc/api/Events.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { Terminal } from "../settings/Terminal.js"
import * as Account from "./Account.js"
import * as Describe from "./Describe.js"
import * as Finality from "./Finality.js"
import type * as Node from "./Node.js"
import * as Out from "./Out.js"
import * as Verb from "./Verb.js"

/** Goes on until nobody reads it any more. */
const whileRead = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Terminal, ({ abandoned }) => Effect.raceFirst(Effect.asVoid(work), abandoned))

const what = Setting.optionalArgument(
  "what",
  {
    placeholder: "HASH|ACCOUNT",
    about: "a transaction until it is final, or an account from now on",
    otherwise: "the account of the key",
  },
  Reader.text,
)

type Entry = Awaited<ReturnType<PromiseClient["transactions"]["history"]>>["transactions"][number]

const PAGE = 100
const LEAST_POLL_MS = 500
const LONGEST_POLL_MS = 5_000

const historyOf = (node: Node.Node, address: Address.Address, cursor: string | null, limit = PAGE) =>
  node.ask((client) =>
    client.transactions.history({
      path: { address },
      urlParams: cursor === null ? { limit } : { limit, cursor },
    }),
  )

/** What became final behind the transaction that was seen last, oldest first. */
const since = (node: Node.Node, address: Address.Address, last: Hash | undefined) =>
  Effect.gen(function* () {
    const found: Array<Entry> = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<PromiseClient["transactions"]["history"]>> = yield* historyOf(
        node,
        address,
        cursor,
      )
      const seen = page.transactions.findIndex(({ hash }) => hash === last)
      const fresh = seen === -1 ? page.transactions : page.transactions.slice(0, seen)
      found.push(...fresh.filter(({ status }) => status === "finalized"))
      cursor = seen === -1 ? page.next_cursor : null
    } while (cursor !== null)
    return found.reverse()
  })

const describeEntry = (entry: Entry, prefix: AddressPrefix): string => {
  const when = entry.timestamp === null ? "" : `${Describe.moment(entry.timestamp)}  `
  const outcome = entry.applied === false ? ` (not applied: ${entry.failure})` : ""
  return Visible.line(
    `${when}${Describe.sentence(entry.transaction, entry.direction, prefix)}${outcome}  ${entry.hash}`,
  )
}

const watchAccount = (node: Node.Node, address: Address.Address, asJson: boolean, info: NetworkInfo) =>
  Effect.gen(function* () {
    const pollMs = Math.min(LONGEST_POLL_MS, Math.max(LEAST_POLL_MS, info.parameters.round_interval_ms))
    const before = yield* historyOf(node, address, null)
    let last = before.transactions.find(({ status }) => status === "finalized")?.hash
    const look = Effect.gen(function* () {
      for (const entry of yield* Effect.catchIf(since(node, address, last), Finality.mayPass, () =>
        Effect.succeed([]),
      )) {
        yield* Out.entry(asJson, entry, () => describeEntry(entry, info.address_prefix))
        last = entry.hash
      }
    })
    return yield* whileRead(Effect.forever(Effect.zipRight(look, Effect.sleep(pollMs))))
  })

type NetworkInfo = Awaited<ReturnType<PromiseClient["core"]["network"]>>

export const watch = Verb.make({
  name: "watch",
  about: "waits until a transaction is final, or follows an account",
  settings: { what, key: Verb.key, node: Verb.node, json: Verb.json },
  examples: [
    [
      "until a payment is final, however long that takes",
      "udg watch 946a22cccd29cac66aaead74fd32b6d3733055c3a45b0ded26defb47831f2981",
    ],
    ["every payment to a shop, for a script: one JSON object a line", "udg watch @shop --json"],
  ],
  footer: ["Of an account it shows what becomes final from now on, until Ctrl-C."],
  run: (given) =>
    Effect.gen(function* () {
      const node = Verb.nodeOf(given)
      const info = yield* node.ask((client) => client.core.network())
      const hash = Option.flatMap(given.what, (text) => Either.getRight(Reader.asHash(text)))
      if (Option.isSome(hash)) {
        const outcome = yield* Finality.untilFinal(node, hash.value, info.parameters.round_interval_ms)
        yield* Out.lines(given.json, outcome, () => Finality.lines(outcome))
        return yield* Finality.requireApplied(outcome)
      }
      const address = yield* Option.match(given.what, {
        onNone: () => Effect.map(Verb.keyOf(given), (held) => held.address),
        onSome: (text) => Account.resolve(node, info.address_prefix, text),
      })
      return yield* watchAccount(node, address, given.json, info)
    }),
})

const describeEvent = (event: Event, prefix: AddressPrefix): string => {
  switch (event.type) {
    case "round":
      return `round        ${event.round}, final up to ${event.finalized_round}`
    case "vertex": {
      const { hash, round, validator, reward, tx_count } = event
      const by = Describe.account(validator, prefix)
      return `vertex       ${hash} of round ${round} by ${by}: ${tx_count} transactions, reward ${Describe.coins(reward)}`
    }
    case "transaction": {
      const { hash, transaction_type, from, status, applied } = event
      const stands = status === "pending" ? "pending" : applied === false ? "final, not applied" : "final"
      return `transaction  ${hash} ${transaction_type} of ${Describe.account(from, prefix)}: ${stands}`
    }
    case "alert":
      return `alert        ${event.severity}: ${event.message}`
    case "reset":
      return `reset        ${event.message}`
  }
}

export const events = Verb.make({
  name: "events",
  about: "shows what happens on a node, as it happens",
  settings: { node: Verb.node, json: Verb.json },
  examples: [
    ["until Ctrl-C", "udg events"],
    ["the alerts alone, for a script: one JSON object a line", `udg events --json | jq -c 'select(.type == "alert")'`],
  ],
  footer: ["A connection that is lost is opened again, behind the last event."],
  runsUntilStopped: true,
  run: (given) =>
    Effect.gen(function* () {
      const node = Verb.nodeOf(given)
      const { address_prefix: prefix } = yield* node.ask((client) => client.core.network())
      const shown = Stream.runForEach(node.events, ({ id, event }) =>
        Out.entry(given.json, { id, ...event }, () => Visible.line(describeEvent(event, prefix))),
      )
      return yield* whileRead(shown)
    }),
})
