/** Account addresses: 20 bytes, stored as 40 lower-case hex characters, shown to people in bech32m. */

import { bech32m } from "bech32"
import { Data, Either, Schema } from "effect"
import { fromHex, sha256Hex, toHex } from "#crypto"
import * as HexDigits from "../crypto/HexDigits.js"
import * as Binary from "../encoding/Binary.js"
import * as Hex from "../encoding/Hex.js"
import type * as Kinds from "../numbers/Kinds.js"
import * as Hash from "./Hash.js"
import type { PublicKey } from "./Keys.js"
import * as Name from "./Name.js"
import type { AddressPrefix } from "./Network.js"

export type Address = Kinds.Address

export const BYTES = 20

/** A text that is not an address here, or its description if it must not be repeated. `reason` is for the user. */
export class InvalidAddress extends Data.TaggedError("InvalidAddress")<{
  readonly text: string
  readonly reason: string
}> {
  override get message(): string {
    return `${this.text} is not an address: ${this.reason}`
  }
}

/** The hash input, shared by all calls: execution computes addresses, so one must cost little more than the hash. */
const preimage = Hash.tagged(Binary.utf8("udg/address\0"), [new Uint8Array(32)])
const KEY_AT = preimage.length - 32

/** The first 20 bytes of H("udg/address", public key). */
const derived = (publicKey: PublicKey): Address => {
  HexDigits.write(preimage, KEY_AT, publicKey)
  // A new string, because a slice keeps the whole original text alive, and V8 compares slices many times slower.
  return toHex(fromHex(sha256Hex(preimage)).subarray(0, BYTES)) as Address
}

/** Cache for recurring keys: members sign every round, senders many transactions. Cleared when full. */
const known = new Map<PublicKey, Address>()
const MAX_KNOWN = 4_096

export const fromPublicKey = (publicKey: PublicKey): Address => {
  const before = known.get(publicKey)
  if (before !== undefined) return before
  if (known.size === MAX_KNOWN) known.clear()
  const address = derived(publicKey)
  known.set(publicKey, address)
  return address
}

export const toBech32 = (address: Address, prefix: AddressPrefix): string =>
  bech32m.encode(prefix, bech32m.toWords(fromHex(address)))

/** Long enough for any address, too short for a secret key entered by mistake. */
const LONGEST_SHOWN = 60

const refuse = (text: string, reason: string): Either.Either<never, InvalidAddress> =>
  Either.left(
    new InvalidAddress({
      text: text.length > LONGEST_SHOWN ? `a text of ${text.length} characters` : JSON.stringify(text),
      reason,
    }),
  )

const ASCII = /^[\x21-\x7e]*$/

const fromBech32 = (text: string, prefix: AddressPrefix): Either.Either<Address, InvalidAddress> => {
  // Checked before the package lowers the case: the Kelvin sign becomes a k, which would be a second spelling of an
  // address.
  const decoded = ASCII.test(text) ? bech32m.decodeUnsafe(text) : undefined
  if (decoded === undefined) return refuse(text, "the bech32m checksum or form is wrong")
  if (decoded.prefix !== prefix) {
    const other = decoded.prefix === "udg" || decoded.prefix === "tudg" ? " (an address of the other network)" : ""
    return refuse(text, `it begins with ${decoded.prefix}1${other}, addresses of this network begin with ${prefix}1`)
  }
  const bytes = bech32m.fromWordsUnsafe(decoded.words)
  if (bytes?.length !== BYTES) return refuse(text, `it does not hold ${BYTES} bytes`)
  return Either.right(toHex(Uint8Array.from(bytes)) as Address)
}

/** Hex or bech32m of this network. */
export const parse = (text: string, prefix: AddressPrefix): Either.Either<Address, InvalidAddress> => {
  if (Hex.isHex(text, BYTES)) return Either.right(text.toLowerCase() as Address)
  if (/^t?udg1/i.test(text)) return fromBech32(text, prefix)
  return refuse(text, `expected 40 hex characters or ${prefix}1…`)
}

/** How people name an account: by an address, or by a name that the state resolves. */
export type Reference =
  | { readonly _tag: "Address"; readonly address: Address }
  | { readonly _tag: "Name"; readonly name: Name.Name }

/** Hex, bech32m of this network, or `@name`. */
export const parseReference = (text: string, prefix: AddressPrefix): Either.Either<Reference, InvalidAddress> => {
  if (!text.startsWith("@")) return Either.map(parse(text, prefix), (address) => ({ _tag: "Address", address }))
  const name = text.slice(1)
  return Name.isName(name)
    ? Either.right({ _tag: "Name", name })
    : refuse(text, "a name has 3 to 20 characters of a-z, 0-9 and -, no - at either end")
}

/** An address in hex, as the node writes it. */
export const schema: Schema.Schema<Address, string> = /* @__PURE__ */ Hex.schema<Address>(
  "Address",
  BYTES,
  "an account address",
)

/** 20 bytes are 32 characters of bech32m, followed by six of checksum, all in one case. */
export const DATA = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

/** A regular expression for an address as people write it. Texts that do not match are not addresses. */
export const TEXT_PATTERN = `[0-9a-fA-F]{40}|t?udg1[${DATA}]{38}|T?UDG1[${DATA.toUpperCase()}]{38}`

const ABOUT_TEXT =
  "an account address: 40 hex characters, or bech32m (tudg1… on testnet, udg1… on mainnet) with a right checksum"

const textual = () =>
  Schema.String.annotations({
    identifier: "AddressText",
    description: ABOUT_TEXT,
    jsonSchema: { type: "string", pattern: `^(${TEXT_PATTERN})$`, description: ABOUT_TEXT },
  })

/** An address as people write it; `parse` reads it once the network is known. */
export const text = /* @__PURE__ */ textual()

export const read = (reader: Binary.Reader): Address => reader.hex(BYTES) as Address
