/**
 * The kinds of values as types alone: strings and numbers with brands, so that one is not mistaken for another.
 * Independent of Effect, so that the client's types are too, but usable as brands in Effect's schemas.
 */

declare const kind: unique symbol

export interface Brand<K extends string> {
  readonly [kind]: { readonly [k in K]: K }
}

export type Unbranded<A> = A extends string ? string : A extends number ? number : A

export type Address = string & Brand<"Address">
export type Hash = string & Brand<"Hash">
export type PublicKey = string & Brand<"PublicKey">
export type Signature = string & Brand<"Signature">
/** A registered name without its `@`. */
export type Name = string & Brand<"Name">
export type NetworkId = string & Brand<"NetworkId">
/** An amount in the smallest unit; a coin has 100,000,000. */
export type Sats = number & Brand<"Sats">
export type Round = number & Brand<"Round">
export type Nonce = number & Brand<"Nonce">
export type Epoch = number & Brand<"Epoch">
export type CommitIndex = number & Brand<"CommitIndex">
export type ProposalId = number & Brand<"ProposalId">
/** Milliseconds since 1970, by a validator's clock. */
export type Timestamp = number & Brand<"Timestamp">

/** The prefix of bech32m addresses: `tudg` on a testnet, `udg` on a mainnet. */
export type AddressPrefix = "udg" | "tudg"

/** A secret key, as an object that never prints. Only `toSecretHex` reveals it. */
export interface SecretKey {
  readonly publicKey: PublicKey
  readonly toSecretHex: () => string
  readonly sign: (message: Uint8Array) => Signature
}
