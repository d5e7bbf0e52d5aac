/** The keys and network of all vectors, from fixed seeds, so that every run writes the same bytes. */
import { Either, Option } from "effect"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"

export const networkId = "udg-vectors" as NetworkId

const person = (name: string, byte: string) => {
  const key = Option.getOrThrow(SecretKey.fromHex(byte.repeat(32)))
  return { name, key, publicKey: key.publicKey, address: Address.fromPublicKey(key.publicKey) }
}

export const alice = person("alice", "a1")
export const bob = person("bob", "b0")
export const carol = person("carol", "ca")
export const people = [alice, bob, carol]

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** For hashes whose origin does not matter; easy to recognize in a dump. */
export const madeUpHash = (byte: string): Hash => byte.repeat(32) as Hash

/** A vector of invalid data must be refused by the code that writes it. */
export const requireRefused = (what: string, result: Either.Either<unknown, unknown>): void => {
  if (Either.isRight(result)) throw new Error(`the vector is accepted, although it should not be: ${what}`)
}
