/**
 * The requests and responses of a network's clients, one line of JSON each. Times are milliseconds of one steady clock.
 * Neither this file nor the checker imports the program.
 */
import { Schema } from "effect"

const { Literal, Number: Numeral, String: Text, NullOr } = Schema

const asked = {
  node: Text,
  began: Numeral,
  ended: Numeral,
  /** For gateways: the `Udg-Commit` header of the request, and that of the response. */
  floor: NullOr(Numeral),
  commit: NullOr(Numeral),
}

const Transaction = Schema.Struct({
  hash: Text,
  from: Text,
  to: Text,
  amount: Numeral,
  fee: Numeral,
  nonce: Numeral,
})

const outcome = {
  round: Numeral,
  vertex: Text,
  timestamp: Numeral,
  applied: Schema.Boolean,
  failure: NullOr(Text),
}

const Found = Schema.Union(
  Schema.Struct({ status: Literal("pending") }),
  Schema.Struct({ status: Literal("missing"), reason: NullOr(Text) }),
  Schema.Struct({ status: Literal("finalized"), ...outcome }),
)

const Entry = Schema.Struct({ hash: Text, kind: Literal("sent", "received"), change: Numeral })

/** The first line: accounts whose coins move only by transactions of this history. */
const Genesis = Schema.Struct({ kind: Literal("genesis"), accounts: Schema.Record({ key: Text, value: Numeral }) })
const Submit = Schema.Struct({
  kind: Literal("submit"),
  ...asked,
  transaction: Transaction,
  /** `accepted`, the error code, or null without a response. */
  answer: NullOr(Text),
})
const Lookup = Schema.Struct({ kind: Literal("lookup"), ...asked, hash: Text, found: Found })
const Balance = Schema.Struct({
  kind: Literal("balance"),
  ...asked,
  address: Text,
  balance: Numeral,
  nonce: Numeral,
  nextNonce: Numeral,
})
/** Newest first, without the genesis allocation: all pages, or the first ones. */
const Statement = Schema.Struct({
  kind: Literal("statement"),
  ...asked,
  address: Text,
  balance: Numeral,
  isWhole: Schema.optionalWith(Schema.Boolean, { default: () => true }),
  entries: Schema.Array(Entry),
})
/**
 * One event of a final transaction. Events of one run have the same number, and a run ends where the server reports
 * missed events.
 */
const Event = Schema.Struct({
  kind: Literal("event"),
  node: Text,
  at: Numeral,
  run: Numeral,
  hash: Text,
  applied: Schema.Boolean,
})
const Status = Schema.Struct({ kind: Literal("status"), ...asked, round: Numeral, supply: Numeral })
const Checkpoint = Schema.Struct({ kind: Literal("checkpoint"), ...asked, round: Numeral, hash: Text })
/** A vertex that the node has signed, or has from its validator; each once, by whoever showed it first. */
const Signed = Schema.Struct({
  kind: Literal("signed"),
  at: Numeral,
  node: Text,
  validator: Text,
  epoch: Numeral,
  round: Numeral,
  vertex: Text,
})
/** A restore returns a node to an older disk, so its earlier answers no longer bind it. */
const Fault = Schema.Struct({ kind: Literal("fault"), at: Numeral, fault: Text, node: Text })
/** From here on nothing was pending, and every node was asked about everything again. */
const Settled = Schema.Struct({ kind: Literal("settled"), at: Numeral })

const Line = Schema.Union(
  ...[Genesis, Submit, Lookup, Balance, Statement],
  ...[Event, Status, Checkpoint, Signed, Fault, Settled],
)
export type Line = typeof Line.Type
export type Kind = Line["kind"]
export type Of<K extends Kind> = Extract<Line, { readonly kind: K }>
export type Asked = Of<"lookup" | "balance" | "statement" | "status" | "checkpoint" | "submit">
export type Transaction = typeof Transaction.Type
export type Final = Extract<typeof Found.Type, { readonly status: "finalized" }>
export type History = ReadonlyArray<Line>

const decode = Schema.decodeUnknownSync(Schema.parseJson(Line))

export const read = (text: string): History =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => decode(line))

export const write = (line: Line): string => `${JSON.stringify(line)}\n`

export const of = <K extends Kind>(history: History, kind: K): ReadonlyArray<Of<K>> =>
  history.filter((line): line is Of<K> => line.kind === kind)

/** A violation: the rule, and a sentence with the evidence. */
export interface Violation {
  readonly rule: string
  readonly what: string
}

type Answered = Pick<Asked, "node" | "began" | "ended" | "floor" | "commit">

/** Whether the first answer binds the second one. */
export const binding = (history: History) => {
  const restores = of(history, "fault").filter(({ fault }) => fault === "restore")
  return (first: Answered, second: Answered): boolean => {
    if (first.ended >= second.began) return false
    if (first.commit !== null && second.floor !== null && second.floor >= first.commit) return true
    if (first.node !== second.node) return false
    return !restores.some(({ node, at }) => node === first.node && at >= first.began && at <= second.ended)
  }
}

export const short = (hash: string): string => hash.slice(0, 8)
