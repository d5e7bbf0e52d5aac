/** A validator's key at its signer, in memory or behind a program: its public key and its signature, nothing else. */
import { Data, Effect } from "effect"
import type * as Keys from "../protocol/identity/Keys.js"

/** `program` is only the program's name, because its arguments may be private. */
export class KeyProgramFailed extends Data.TaggedError("KeyProgramFailed")<{
  readonly program: string
  readonly reason: string
}> {
  override get message(): string {
    return `key program ${this.program}: ${this.reason}`
  }
}

export interface HeldKey {
  readonly publicKey: Keys.PublicKey
  readonly sign: (message: Uint8Array) => Effect.Effect<Keys.Signature, KeyProgramFailed>
}

export const inMemory = (key: Keys.Signer): HeldKey => ({
  publicKey: key.publicKey,
  sign: (message) => Effect.sync(() => key.sign(message)),
})
