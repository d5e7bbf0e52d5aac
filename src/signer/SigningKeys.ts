/** A signer's keys and what each has signed. A statement is judged, recorded on disk, and only then signed. */
import { Effect, Either, Option } from "effect"
import { sha256Hex } from "#crypto"
import type { Hash } from "../protocol/identity/Hash.js"
import type * as Keys from "../protocol/identity/Keys.js"
import type { PeerId } from "../replica/messages/Peer.js"
import type { StorageError } from "../storage/files/StorageError.js"
import type { Database } from "../storage/sqlite/Database.js"
import * as SignOnce from "../storage/tables/SignOnce.js"
import * as Judge from "./Judge.js"
import * as Statement from "./Statement.js"

export interface Asking {
  /** The node's proven key. */
  readonly node: PeerId
  readonly signer: Keys.Signer
  readonly bytes: Uint8Array
}

export type Answer = Either.Either<Keys.Signature, Judge.Refusal>

export const make = (database: Database, genesisHash: Hash) => {
  const table = SignOnce.make(database)
  /** Same as on disk. */
  const memories = new Map<Keys.PublicKey, Judge.Memory>()
  // One at a time: nothing else may be judged between a judgement and its write.
  const turns = Effect.unsafeMakeSemaphore(1)

  const memoryOf = (publicKey: Keys.PublicKey): Effect.Effect<Judge.Memory | null, StorageError> => {
    const known = memories.get(publicKey)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(table.of(publicKey), (kept) => {
      if (Option.isNone(kept)) return null
      memories.set(publicKey, kept.value)
      return kept.value
    })
  }

  const keep = (publicKey: Keys.PublicKey, memory: Judge.Memory, what: Judge.Change["_tag"]) =>
    Effect.tap(table.put(publicKey, memory, what), () => {
      memories.set(publicKey, memory)
    })

  const answer = ({ node, signer, bytes }: Asking): Effect.Effect<Answer, StorageError> =>
    Effect.gen(function* () {
      const { publicKey } = signer
      const memory = yield* memoryOf(publicKey)
      const digest = sha256Hex(bytes) as Hash
      const verdict = Judge.judge({
        memory,
        publicKey,
        genesisHash,
        node,
        statement: Statement.read(bytes),
        digest,
      })
      if (verdict._tag === "Refuse") return Either.left(verdict.refusal)
      if (verdict._tag === "Remember" && memory !== null) {
        yield* keep(publicKey, Judge.remember(memory, verdict.change), verdict.change._tag)
      }
      return Either.right(signer.sign(bytes))
    })

  return {
    /** The signature, or why there is none. The statement is on disk by then. */
    sign: (asking: Asking) => turns.withPermits(1)(Effect.uninterruptible(answer(asking))),
    memoryOf,
    /**
     * The operator's statement that the key has signed nothing above this place. It can only rise; false if the key is
     * known to have signed more.
     */
    vouch: (publicKey: Keys.PublicKey, taken: Statement.Place) =>
      Effect.gen(function* () {
        const memory = yield* memoryOf(publicKey)
        if (memory !== null && !Judge.isAbove(taken, memory.taken)) return false
        yield* keep(publicKey, Judge.vouched(memory, taken), "Vertex")
        return true
      }),
  }
}

export type SigningKeys = ReturnType<typeof make>
