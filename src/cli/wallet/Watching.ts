/** `udg watch` and `udg events`: follows events. */
import { Effect, Option, Stream } from "effect"
import type { PromiseClient } from "../../client/Client.js"
import * as Visible from "../../client/Visible.js"
import type * as Address from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import type { Event } from "../../rpc/api/Events.js"
import { fail } from "../keys/WalletFailure.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import * as Figure from "../terminal/Figure.js"
import * as Out from "../terminal/Out.js"
import * as Printable from "../terminal/Printable.js"
import { Terminal } from "../terminal/Terminal.js"
import * as Abbreviations from "./Abbreviations.js"
import * as Describe from "./Describe.js"
import * as Finality from "./Finality.js"
import type * as Node from "./Node.js"
import * as Verb from "./Verb.js"

/** Runs until stdout's reader is gone. */
const whileRead = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Terminal, ({ abandoned }) => Effect.raceFirst(Effect.asVoid(work), abandoned))

const subject = Setting.optionalArgument(
  "HASH|ACCOUNT",
  "a transaction's hash, or at least its first four digits; or an account",
  Reader.text,
  "the account of the key",
)

type History = Awaited<ReturnType<PromiseClient["transactions"]["history"]>>
type Entry = History["transactions"][number]

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

/** Transactions that became final after `last`, oldest first. */
const since = (node: Node.Node, address: Address.Address, last: Hash | undefined) =>
  Effect.gen(function* () {
    const found: Array<Entry> = []
    let cursor: string | null = null
    do {
      const page: History = yield* historyOf(node, address, cursor)
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

const watchAccount = ({ node, info, prefix }: Verb.Contact, address: Address.Address, asJson: boolean) =>
  Effect.gen(function* () {
    const pollMs = Finality.pollMs(info.parameters.round_interval_ms, LEAST_POLL_MS, LONGEST_POLL_MS)
    const before = yield* historyOf(node, address, null)
    let last = before.transactions.find(({ status }) => status === "finalized")?.hash
    const look = Effect.gen(function* () {
      const news = Effect.catchIf(since(node, address, last), Finality.mayPass, () => Effect.succeed([]))
      for (const entry of yield* news) {
        yield* Out.entry(asJson, entry, () => describeEntry(entry, prefix))
        last = entry.hash
      }
    })
    return yield* whileRead(Effect.forever(Effect.zipRight(look, Effect.sleep(pollMs))))
  })

/** 40 hex digits are an address and not the beginning of a hash. */
const ADDRESS = /^[0-9a-f]{40}$/i

const hashIn = (text: string) =>
  ADDRESS.test(text) ? Effect.succeedNone : Effect.option(Reader.shownTransaction(text))

const watchTransaction = ({ node, info }: Verb.Contact, hash: Hash, asJson: boolean) =>
  Effect.gen(function* () {
    const known = yield* node.find((client) => client.transactions.lookup({ path: { hash } }))
    if (Option.isNone(known)) {
      return yield* fail("notFound", `${node.url} knows no transaction ${hash}; it may never have been sent`)
    }
    const outcome = yield* Finality.untilFinal(node, hash, info)
    yield* Out.lines(asJson, outcome, () => Finality.lines(outcome))
    return yield* Finality.requireApplied(outcome)
  })

export const watch = Verb.make({
  name: "watch",
  about: "waits until a transaction is final, or follows an account",
  settings: { subject, key: Verb.key, node: Verb.node, json: Verb.json },
  examples: [
    [
      "until a payment is final, however long it takes",
      "udg watch 946a22cccd29cac66aaead74fd32b6d3733055c3a45b0ded26defb47831f2981",
    ],
    ["every payment to a shop, for a script: one JSON object per line", "udg watch @shop --json"],
  ],
  footer: ["For an account, it shows each transaction that becomes final from now on, until Ctrl-C."],
  run: (given) =>
    Effect.gen(function* () {
      const contact = yield* Verb.contact(given)
      const written = yield* Effect.map(Effect.transposeMapOption(given.subject, hashIn), Option.flatten)
      if (Option.isSome(written)) {
        const hash = yield* Abbreviations.hash(contact.node, "transactions", written.value)
        return yield* watchTransaction(contact, hash, given.json)
      }
      return yield* watchAccount(contact, yield* Verb.addressOf(given.subject, given, contact), given.json)
    }),
})

/** The width of a shortened hash or address. */
const SHORT = 11

/** Shortens hashes and addresses only on a terminal. */
export const describeEvent = (event: Event, prefix: AddressPrefix, columns: Option.Option<number>): string => {
  const short = (text: string) => (Option.isNone(columns) ? text : Printable.abbreviated(text, SHORT))
  const whole = Visible.line(wordsOf(event, prefix, short))
  return Option.match(columns, { onNone: () => whole, onSome: (room) => Printable.cut(whole, room) })
}

const wordsOf = (event: Event, prefix: AddressPrefix, short: (text: string) => string): string => {
  switch (event.type) {
    case "round":
      return `round        ${Figure.count(event.round)}, final up to ${Figure.count(event.finalized_round)}`
    case "vertex": {
      const { hash, round, validator, reward, tx_count } = event
      const by = short(Describe.account(validator, prefix))
      return `vertex       ${short(hash)} of round ${Figure.count(round)} by ${by}: ${Figure.count(tx_count)} tx, ${Describe.coins(reward)}`
    }
    case "transaction": {
      const { hash, transaction_type, from, status, applied } = event
      const outcome = status === "pending" ? "pending" : applied === false ? "final, not applied" : "final"
      return `transaction  ${short(hash)} ${transaction_type} of ${short(Describe.account(from, prefix))}: ${outcome}`
    }
    case "alert":
      return `alert        ${event.severity}: ${event.message}`
    case "reset":
      return `reset        ${event.message}`
  }
}

export const events = Verb.make({
  name: "events",
  about: "shows the events of a node as they happen",
  settings: { node: Verb.node, json: Verb.json },
  examples: [
    ["until Ctrl-C", "udg events"],
    ["only the alerts, for a script: one JSON object per line", `udg events --json | jq -c 'select(.type == "alert")'`],
  ],
  footer: ["A lost connection is opened again and continues after the last event."],
  runsUntilStopped: true,
  run: (given) =>
    Effect.gen(function* () {
      const { node, prefix } = yield* Verb.contact(given)
      const { columns } = yield* Terminal
      const shown = Stream.runForEach(node.events, ({ id, event }) =>
        Out.entry(given.json, { id, ...event }, () => describeEvent(event, prefix, columns())),
      )
      return yield* whileRead(shown)
    }),
})
