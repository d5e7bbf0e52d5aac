/** What a path of the explorer names, as the node wants it asked for. */
import { Option, Schema } from "effect"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"

/** The path names nothing that there could be. */
export class Malformed extends Error {
  override readonly name = "Malformed"
}

const refuse = (message: string): never => {
  throw new Malformed(message)
}

const decodeHash = Schema.decodeUnknownOption(Hash.schema)

export const hash = (text: string): Hash.Hash =>
  Option.getOrElse(decodeHash(text), () => refuse(`"${text}" is no hash, which has 64 hex characters`))

const counter = <A extends Natural.Natural>(text: string, what: string): A =>
  /^(0|[1-9]\d{0,14})$/.test(text) ? Natural.make<A>(Number(text)) : refuse(`"${text}" is no ${what}`)

export const round = (text: string): Natural.Round => counter(text, "round")
export const proposal = (text: string): Natural.ProposalId => counter(text, "number of a proposal")
