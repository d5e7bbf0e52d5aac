/**
 * What a validator's key can sign. The signed bytes are the complete statement, so a signer parses them itself and
 * trusts no description of them. Transactions are excluded: a signer moves no coins.
 */
import { Either } from "effect"
import * as Hello from "../network/Hello.js"
import * as Checkpoint from "../protocol/epoch/Checkpoint.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { PublicKey } from "../protocol/identity/Keys.js"
import type { Epoch, Round } from "../protocol/numbers/Natural.js"
import * as Header from "../protocol/vertex/Header.js"
import * as Heartbeat from "../protocol/vertex/Heartbeat.js"

export interface Place {
  readonly epoch: Epoch
  readonly round: Round
}

export type Statement =
  | ({ readonly _tag: "Vertex"; readonly base: Hash; readonly publicKey: PublicKey } & Place)
  | ({ readonly _tag: "Checkpoint" } & Place)
  | { readonly _tag: "Heartbeat"; readonly publicKey: PublicKey }
  /** The node `prover` proves to another one that it has this key. */
  | { readonly _tag: "Greeting"; readonly genesisHash: Hash; readonly prover: string }

/** The longest statement is a vertex with the maximum of parents. */
export const MAX_BYTES = Header.MAX_BYTES

/** Null if a validator never signs such bytes. */
export const read = (bytes: Uint8Array): Statement | null => {
  if (bytes.length > MAX_BYTES) return null
  const vertex = Header.signedContent(bytes)
  if (Either.isRight(vertex)) {
    const { base, epoch, round, publicKey } = vertex.right
    return { _tag: "Vertex", base, epoch, round, publicKey }
  }
  const checkpoint = Checkpoint.signedContent(bytes)
  if (Either.isRight(checkpoint)) {
    const { epoch, round } = checkpoint.right
    return { _tag: "Checkpoint", epoch, round }
  }
  const heartbeat = Heartbeat.signedContent(bytes)
  if (Either.isRight(heartbeat)) return { _tag: "Heartbeat", publicKey: heartbeat.right.publicKey }
  const greeting = Hello.signedContent(bytes)
  if (Either.isLeft(greeting)) return null
  const { genesisHash, prover } = greeting.right
  return { _tag: "Greeting", genesisHash, prover }
}
