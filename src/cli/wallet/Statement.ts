/** `udg history`: everything that changed an account's balance. */
import { Effect, Option } from "effect"
import type { PromiseClient } from "../../client/Client.js"
import type * as Address from "../../protocol/identity/Address.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import * as Figure from "../terminal/Figure.js"
import * as Out from "../terminal/Out.js"
import * as Paint from "../terminal/Paint.js"
import * as Abbreviations from "./Abbreviations.js"
import * as Describe from "./Describe.js"
import type * as Node from "./Node.js"
import * as Verb from "./Verb.js"

type Statement = Awaited<ReturnType<PromiseClient["transactions"]["statement"]>>
type Entry = Statement["entries"][number]

const PAGE = 100
const STANDARD = 20

const reading = Setting.group("Reading")

const limit = reading.withDefault("--limit N", "how many entries, 1 to 10000", Reader.entries, STANDARD)

const cursor = reading.optional(
  "--cursor CURSOR",
  "where to continue, as the previous page printed it",
  Reader.text,
  "the newest entry",
)

/** The newest entries up to the limit, fetched page by page. */
const statementOf = (node: Node.Node, address: Address.Address, wanted: number, from: Option.Option<string>) =>
  Effect.gen(function* () {
    const page = (limit: number, cursor: string | null) =>
      node.ask((client) =>
        client.transactions.statement({
          path: { address },
          urlParams: cursor === null ? { limit } : { limit, cursor },
        }),
      )
    const first = yield* page(Math.min(PAGE, wanted), Option.getOrNull(from))
    const entries = [...first.entries]
    let next = first.next_cursor
    while (next !== null && entries.length < wanted) {
      const more: Statement = yield* page(Math.min(PAGE, wanted - entries.length), next)
      entries.push(...more.entries)
      next = more.next_cursor
    }
    return { ...first, entries, next_cursor: next }
  })

const signed = (change: number): string => `${change < 0 ? "-" : "+"}${Figure.amount(Math.abs(change))}`

const describe = ({ kind, type, applied }: Entry): string => {
  const isOther = kind === "sent" && type !== null && type !== "Transfer"
  const what = isOther ? type.replace(/Tx$/, "") : kind.replaceAll("_", " ")
  return applied === false ? `${what}, failed` : what
}

const partner = ({ counterparty, proposal_id }: Entry, prefix: AddressPrefix, names: Abbreviations.Names): string => {
  if (counterparty !== null) return Abbreviations.account(counterparty, prefix, names)
  return proposal_id === null ? "" : `proposal ${proposal_id}`
}

export const history = Verb.make({
  name: "history",
  about: "shows everything that changed an account's balance",
  settings: { account: Verb.account, limit, cursor, key: Verb.key, node: Verb.node, json: Verb.json },
  examples: [
    ["of your account, and of another", "udg history; udg history @alice --limit 100"],
    ["all payments to an account, for a script", `udg history @shop --json | jq '.entries[] | select(.change > 0)'`],
  ],
  footer: [
    "Newest first; the change includes the fee. Rewards and earned fees are summed over many rounds. A node that joined " +
      "later, or that prunes its history, does not have the oldest entries.",
  ],
  run: (given) =>
    Effect.gen(function* () {
      const contact = yield* Verb.contact(given)
      const address = yield* Verb.addressOf(given.account, given, contact)
      const found = yield* statementOf(contact.node, address, given.limit, given.cursor)
      const partners = found.entries.flatMap(({ counterparty }) => (counterparty === null ? [] : [counterparty]))
      const names = yield* Abbreviations.namesOf(given.json, contact.node, partners)
      yield* Out.sheet(given.json, found, () => ({
        lines: [
          ["account", Describe.account(found.address, contact.prefix), Paint.quiet],
          ["balance", Figure.coins(found.balance), Paint.strong],
          ["older entries", found.next_cursor === null ? null : `--cursor ${found.next_cursor}`],
        ],
        none: "nothing has changed the balance yet",
        columns: [
          { title: "TIME" },
          { title: "WHAT" },
          { title: "CHANGE", align: "right", paint: Paint.change },
          { title: "WITH", cutAt: "middle", paint: Paint.quiet },
          { title: "TRANSACTION", cutAt: "middle", paint: Paint.quiet },
        ],
        rows: found.entries.map((entry) => [
          Describe.minute(entry.timestamp),
          describe(entry),
          signed(entry.change),
          partner(entry, contact.prefix, names),
          entry.hash ?? "",
        ]),
      }))
    }),
})
