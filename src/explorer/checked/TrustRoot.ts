/**
 * The start of this browser's trust in a network: the first closing checkpoint that it saw, or one that its user
 * entered. Checkpoints proven from there replace it, so that the path to the newest one stays short.
 */
import { Option, Schema } from "effect"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"

const Root = Schema.Struct({
  version: Schema.Literal(1),
  genesis: Hash.schema,
  epoch: Natural.schema<Natural.Epoch>("an epoch"),
  hash: Hash.schema,
  source: Schema.Literal("first seen", "entered"),
  since: Natural.time("milliseconds since 1970"),
})
export type Root = typeof Root.Type

const KEPT_AS = "udg-trust"

const decode = Schema.decodeUnknownOption(Schema.parseJson(Root))

export const kept = (): Root | undefined =>
  Option.getOrUndefined(Option.flatMap(Option.fromNullable(localStorage.getItem(KEPT_AS)), decode))

export const keep = (root: Root): void => localStorage.setItem(KEPT_AS, JSON.stringify(root))

export const forget = (): void => localStorage.removeItem(KEPT_AS)

export type Pin = Pick<Root, "epoch" | "hash">

const decodeHash = Schema.decodeUnknownOption(Hash.schema)

/** A checkpoint as `udg` writes it, EPOCH:HASH. */
export const parse = (text: string): Option.Option<Pin> => {
  const [, epoch = "", hash] = /^([1-9]\d{0,14}):(.*)$/.exec(text.trim()) ?? []
  return Option.map(decodeHash(hash), (hash) => ({ epoch: Natural.epoch(Number(epoch)), hash }))
}
