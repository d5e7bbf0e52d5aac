/**
 * The state of a closing checkpoint as a portable file: the genesis, the closing checkpoints up to this one, and the
 * state in pieces that each prove their place under its root. Readers need not trust the file. docs/storage.md
 * describes the byte layout.
 */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Data, Effect, Either, Option, type Scope } from "effect"
import { toHex } from "#crypto"
import * as Subtree from "../../ledger/trie/Subtree.js"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as AtomicFile from "./AtomicFile.js"

export class StateFileError extends Data.TaggedError("StateFileError")<{
  readonly path: string
  readonly reason: string
}> {
  override get message(): string {
    return `state file ${this.path}: ${this.reason}`
  }
}

export interface Content {
  readonly genesis: Genesis.Genesis
  /** Oldest first. The state belongs to the last one. */
  readonly chain: ReadonlyArray<Checkpoint.SignedCheckpoint>
  /** Encoded subtrees that form the whole state. */
  readonly pieces: Iterable<Uint8Array>
}

const READABLE = 0o644
const MAGIC = Binary.utf8("udg state 1\n")
const LENGTH_BYTES = 4
/** Limit of a genesis or checkpoint. A piece of the state has a subtree's limit. */
const PART_BYTES = 0x400_0000

const systemError = (path: string, verb: string) => (error: PlatformError) =>
  new StateFileError({ path, reason: `cannot be ${verb}: ${AtomicFile.reasonOf(error)}` })

/** A part preceded by its length. An empty part ends the checkpoints. */
const framed = (part: Uint8Array): Uint8Array => Binary.encode((writer) => writer.u32(part.length).raw(part))

/** No signature covers a genesis, so its hash precedes it: a changed byte would make another network. */
const withHash = (genesis: Genesis.Genesis): Uint8Array =>
  Binary.encode((writer) => writer.hex(Genesis.hash(genesis)).raw(Genesis.encode(genesis)))

/** Writes the file atomically. */
export const write = (
  path: string,
  { genesis, chain, pieces }: Content,
): Effect.Effect<void, StateFileError, FileSystem.FileSystem> =>
  AtomicFile.fill(path, READABLE, (file) =>
    Effect.gen(function* () {
      yield* file.writeAll(MAGIC)
      yield* file.writeAll(framed(withHash(genesis)))
      for (const signed of chain) yield* file.writeAll(framed(Checkpoint.encodeSigned(signed)))
      yield* file.writeAll(framed(new Uint8Array(0)))
      for (const piece of pieces) yield* file.writeAll(framed(piece))
    }),
  ).pipe(Effect.mapError(systemError(path, "written")))

/** Reads `bytes` more bytes; fewer only at the end of the file. */
const take = (file: FileSystem.File, bytes: number): Effect.Effect<Uint8Array, PlatformError> =>
  Effect.gen(function* () {
    const taken = new Uint8Array(bytes)
    let length = 0
    while (length < bytes) {
      const read = yield* file.readAlloc(bytes - length)
      if (Option.isNone(read)) return taken.subarray(0, length)
      taken.set(read.value, length)
      length += read.value.length
    }
    return taken
  })

export interface Opened {
  readonly genesis: Genesis.Genesis
  readonly chain: ReadonlyArray<Checkpoint.SignedCheckpoint>
  /** The next piece; none at the end of the file. */
  readonly next: Effect.Effect<Option.Option<Uint8Array>, StateFileError>
}

/** Reads everything before the state. The state follows piece by piece until the scope ends. */
export const open = (path: string): Effect.Effect<Opened, StateFileError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const unreadable = Effect.mapError(systemError(path, "read"))
    const wrong = (reason: string) => new StateFileError({ path, reason })
    const file = yield* unreadable(fileSystem.open(path, { flag: "r" }))

    const part = (limit: number) =>
      Effect.gen(function* () {
        const head = yield* unreadable(take(file, LENGTH_BYTES))
        if (head.length === 0) return Option.none()
        const length = new Binary.Reader(head).u32()
        if (length > limit) return yield* wrong(`a part of ${length} bytes, at most ${limit} belong there`)
        const bytes = yield* unreadable(take(file, length))
        if (head.length < LENGTH_BYTES || bytes.length < length) return yield* wrong("it ends in the middle of a part")
        return Option.some(bytes)
      })
    const required = Effect.flatMap(
      part(PART_BYTES),
      Option.match({ onNone: () => wrong("it ends before the state begins"), onSome: Effect.succeed }),
    )
    const sound = <A>(value: Either.Either<A, { readonly message: string }>) =>
      Effect.mapError(value, ({ message }) => wrong(message))

    const magic = yield* unreadable(take(file, MAGIC.length))
    if (magic.length < MAGIC.length || !magic.every((byte, i) => byte === MAGIC[i])) {
      return yield* wrong("this is not a state file; write one with udg db export")
    }
    const head = yield* required
    const genesis = yield* sound(Either.flatMap(Genesis.decode(head.subarray(Hash.BYTES)), Genesis.withRealKeys))
    if (toHex(head.subarray(0, Hash.BYTES)) !== Genesis.hash(genesis)) {
      return yield* wrong("its genesis does not match the stored hash")
    }
    const chain: Array<Checkpoint.SignedCheckpoint> = []
    for (let bytes = yield* required; bytes.length > 0; bytes = yield* required) {
      chain.push(yield* sound(Checkpoint.decodeSigned(bytes)))
    }
    return { genesis, chain, next: part(Subtree.MAX_BYTES) }
  })
