/** A signer's keys and what each has signed. A statement is judged, recorded on disk, and only then signed. */
import { Effect, Either, Option } from "effect"
import { sha256Hex } from "#crypto"
import type { Hash } from "../protocol/identity/Hash.js"
import type * as Keys from "../protocol/identity/Keys.js"
import type { PeerId } from "../replica/messages/Peer.js"
import type { StorageError } from "../storage/files/StorageError.js"
import type { Database } from "../storage/sqlite/Database.js"
import * as SignOnce from "../storage/tables/SignOnce.js"
import type { HeldKey, KeyProgramFailed } from "./HeldKey.js"
import * as Judge from "./Judge.js"
import * as Statement from "./Statement.js"

export interface Asking {
  /** The node's proven key. */
  readonly node: PeerId
  readonly signer: HeldKey
  /** Other keys of the same validator, before and after a change of its key. */
  readonly others: ReadonlyArray<Keys.PublicKey>
  readonly bytes: Uint8Array
}

export type Answer = Either.Either<Keys.Signature, Judge.Refusal>

/** Nothing may be answered then: it is unknown what reached the disk, or the key is out of reach. */
export type SigningFailed = StorageError | KeyProgramFailed

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

  const keep = (publicKey: Keys.PublicKey, memory: Judge.Memory, changed: "vertex" | "checkpoints") =>
    Effect.tap(table.put(publicKey, memory, changed), () => {
      memories.set(publicKey, memory)
    })

  /** Why it may not be signed; null if it may, and is on disk. */
  const refusalOf = ({ node, signer, others, bytes }: Asking): Effect.Effect<Judge.Refusal | null, StorageError> =>
    Effect.gen(function* () {
      const { publicKey } = signer
      const memory = yield* memoryOf(publicKey)
      const beside = yield* Effect.forEach(others, memoryOf)
      const digest = sha256Hex(bytes) as Hash
      const verdict = Judge.judge({
        memory: memory === null ? null : Judge.above(memory, beside),
        publicKey,
        genesisHash,
        node,
        statement: Statement.read(bytes),
        digest,
      })
      if (verdict._tag === "Refuse") return verdict.refusal
      if (verdict._tag === "Remember" && memory !== null) {
        const changed = verdict.change._tag === "Vertex" ? "vertex" : "checkpoints"
        yield* keep(publicKey, Judge.remember(memory, verdict.change), changed)
      }
      return null
    })

  const answer = (asking: Asking): Effect.Effect<Answer, SigningFailed> =>
    Effect.gen(function* () {
      const refusal = yield* turns.withPermits(1)(Effect.uninterruptible(refusalOf(asking)))
      return refusal === null ? Either.right(yield* asking.signer.sign(asking.bytes)) : Either.left(refusal)
    })

  return {
    /** The signature, or why there is none. The statement is on disk by then. */
    sign: answer,
    /** A node's statement that the key has signed at this place. It says nothing about a key without a record. */
    told: (publicKey: Keys.PublicKey, place: Statement.Place) =>
      Effect.gen(function* () {
        const memory = yield* memoryOf(publicKey)
        if (memory === null) return
        const raised = Judge.told(memory, place)
        if (raised !== memory) yield* keep(publicKey, raised, "vertex")
      }).pipe(Effect.uninterruptible, turns.withPermits(1)),
    memoryOf,
    /**
     * The operator's statement that the key has signed nothing above this place. It can only rise; false if the key is
     * known to have signed more.
     */
    vouch: (publicKey: Keys.PublicKey, taken: Statement.Place) =>
      Effect.gen(function* () {
        const memory = yield* memoryOf(publicKey)
        if (!Judge.mayVouch(memory, taken)) return false
        yield* keep(publicKey, Judge.vouched(memory, taken), "checkpoints")
        return true
      }),
  }
}

export type SigningKeys = ReturnType<typeof make>
