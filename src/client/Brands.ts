/**
 * The types of values in the node's interface. Each is a branded string or number, so that one cannot be mistaken for
 * another. Methods accept plain values and return branded ones. The function of the same name brands a plain value, and
 * throws `InvalidInput` if it is invalid.
 */
import * as Hex from "../protocol/encoding/Hex.js"
import * as AddressOf from "../protocol/identity/Address.js"
import * as HashOf from "../protocol/identity/Hash.js"
import * as Keys from "../protocol/identity/Keys.js"
import * as NameOf from "../protocol/identity/Name.js"
import * as Network from "../protocol/identity/Network.js"
import type * as Kinds from "../protocol/numbers/Kinds.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Amount from "../protocol/numbers/Sats.js"
import { InvalidInput } from "./wire/Failures.js"

export type Address = Kinds.Address
export type Hash = Kinds.Hash
export type PublicKey = Kinds.PublicKey
export type Signature = Kinds.Signature
export type Name = Kinds.Name
export type NetworkId = Kinds.NetworkId
export type Sats = Kinds.Sats
export type Round = Kinds.Round
export type Nonce = Kinds.Nonce
export type Epoch = Kinds.Epoch
export type CommitIndex = Kinds.CommitIndex
export type ProposalId = Kinds.ProposalId
export type Timestamp = Kinds.Timestamp

const LONGEST_SHOWN = 100

const kind =
  <Plain extends string | number, A extends Plain>(
    about: string,
    holds: (value: Plain) => value is A,
    canonical: (value: Plain) => Plain = (value) => value,
  ) =>
  (value: Plain): A => {
    const plain = canonical(value)
    if (holds(plain)) return plain
    throw new InvalidInput(`${JSON.stringify(value).slice(0, LONGEST_SHOWN)} is not ${about}`)
  }

const hex = <A extends string>(about: string, bytes: number): ((text: string) => A) =>
  kind<string, A>(
    `${about} (${bytes * 2} hex characters)`,
    (text): text is A => Hex.isHex(text, bytes),
    (text) => text.toLowerCase(),
  )

const natural = <A extends Round | Nonce | Epoch | CommitIndex | ProposalId>(about: string): ((value: number) => A) =>
  kind<number, A>(`${about}, an integer from 0 to 2^53 - 1`, (value): value is A => Natural.isNatural(value))

/** An account in hex, as in nodes' answers. `path` and `payload` also accept bech32m and `@name`. */
export const Address: (text: string) => Address = hex<Address>("an address", AddressOf.BYTES)
/** The hash of a transaction, a vertex or a checkpoint. */
export const Hash: (text: string) => Hash = hex<Hash>("a hash", HashOf.BYTES)
export const PublicKey: (text: string) => PublicKey = hex<PublicKey>("a public key", Keys.PUBLIC_KEY_BYTES)
export const Signature: (text: string) => Signature = hex<Signature>("a signature", Keys.SIGNATURE_BYTES)
/** A registered name without its `@`. */
export const Name: (text: string) => Name = kind(
  "a name (3 to 20 characters of a-z, 0-9 and -, no - at either end)",
  NameOf.isName,
)
export const NetworkId: (text: string) => NetworkId = kind("the name of a network", Network.isNetworkId)
/** An amount in the smallest unit; a coin has 100,000,000. */
export const Sats: (value: number) => Sats = kind(
  `an amount of sats, an integer from 0 to ${Amount.MAX_SUPPLY}`,
  Amount.isSats,
)
export const Round: (value: number) => Round = natural<Round>("a round")
export const Nonce: (value: number) => Nonce = natural<Nonce>("a nonce")
export const Epoch: (value: number) => Epoch = natural<Epoch>("an epoch")
export const CommitIndex: (value: number) => CommitIndex = natural<CommitIndex>("the index of a commit")
export const ProposalId: (value: number) => ProposalId = natural<ProposalId>("a proposal id")
/** Milliseconds since 1970. */
export const Timestamp: (value: number) => Timestamp = kind(
  "a time in milliseconds since 1970, up to the year 9999",
  Natural.isTimestamp,
)
