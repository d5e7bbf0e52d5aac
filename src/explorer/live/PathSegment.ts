/** Parses hashes and numbers in the explorer's paths. */
import { Option, Schema } from "effect"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"

/** The path contains an invalid name. */
export class Malformed extends Error {
  override readonly name = "Malformed"
}

const refuse = (message: string): never => {
  throw new Malformed(message)
}

const decodeHash = Schema.decodeUnknownOption(Hash.schema)

export const hash = (text: string): Hash.Hash =>
  Option.getOrElse(decodeHash(text), () => refuse(`"${text}" is not a hash; a hash has 64 hex characters`))

const natural = <A extends Natural.Natural>(text: string, what: string): A =>
  /^(0|[1-9]\d{0,14})$/.test(text) ? Natural.make<A>(Number(text)) : refuse(`"${text}" is not a ${what}`)

export const round = (text: string): Natural.Round => natural(text, "round")

export const epoch = (text: string): Natural.Epoch => {
  const number = natural<Natural.Epoch>(text, "number of an epoch")
  return number === 0 ? refuse("there is no epoch 0; the first one is 1") : number
}

export const proposal = (text: string): Natural.ProposalId => natural(text, "proposal number")
