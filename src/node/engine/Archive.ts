/** Answers peers' questions from the database. Vertices are sent undecoded: the asking peer pays for reading them. */
import { Effect, Option } from "effect"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Encoded } from "../../protocol/vertex/Vertex.js"
import { PageLimit } from "../../replica/disk/PageLimit.js"
import * as Message from "../../replica/messages/Message.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import type { Storage } from "../../storage/Storage.js"
import type { SignedPlace } from "../../storage/tables/SignedVertices.js"

/** The tables to read, and which own vertices in `signed.db` must not be shown yet. */
interface Kept extends Pick<typeof Storage.Service, "vertices" | "signed" | "checkpoints"> {
  readonly isWithheld: (hash: Hash) => boolean
}

/** Finding nothing takes longest, and honest peers ask for vertices that the asked one has named. */
const UNKNOWN_HASHES = 16

/** How many own vertices to check per page for those that only `signed.db` has. */
const LOOKED_AT = 1_024

/** A vertex by its hash, including one that was signed here and is not in this node's DAG. */
const byHash = (storage: Kept, hash: Hash): Effect.Effect<Option.Option<Encoded>, StorageError> =>
  Effect.gen(function* () {
    const inserted = yield* storage.vertices.byHash(hash)
    if (Option.isNone(inserted) && storage.isWithheld(hash)) return Option.none()
    const stored = Option.isSome(inserted) ? inserted : yield* storage.signed.byHash(hash)
    return Option.map(stored, ({ bytes }) => ({ encoded: bytes }))
  })

const named = (storage: Kept, { hashes }: Extract<Message.DiskQuestion, { _tag: "AskVertices" }>) =>
  Effect.gen(function* () {
    const vertices: Array<Encoded> = []
    const limit = new PageLimit(Message.ANSWER_BYTES)
    let unknown = 0
    for (const hash of hashes.slice(0, Message.ASKED_VERTICES)) {
      const stored = yield* byHash(storage, hash)
      if (Option.isNone(stored)) {
        if (++unknown === UNKNOWN_HASHES) break
        continue
      }
      if (!limit.takes(stored.value.encoded.length)) break
      vertices.push(stored.value)
    }
    return { _tag: "Vertices", vertices } as const
  })

type RoundsQuestion = Extract<Message.DiskQuestion, { _tag: "AskRounds" }>

/**
 * Own vertices of these rounds that only `signed.db` has, lowest round first. Each names the previous own one, so they
 * enter the DAG in this order, and none is missing below one that has entered.
 */
const signedOnly = (storage: Kept, question: RoundsQuestion) =>
  Effect.gen(function* () {
    const found: Array<SignedPlace> = []
    for (const place of yield* storage.signed.placesIn(question, LOOKED_AT)) {
      if (Option.isSome(yield* storage.vertices.arrivalOf(place.hash))) break
      if (!storage.isWithheld(place.hash)) found.unshift(place)
    }
    return found
  })

/** Those that fit on a page after its present content. */
const fitting = (storage: Kept, places: ReadonlyArray<SignedPlace>, limit: PageLimit) =>
  Effect.gen(function* () {
    const vertices: Array<Encoded> = []
    for (const { hash, size } of places) {
      if (!limit.takes(size)) return { vertices, isLast: false }
      const stored = yield* byHash(storage, hash)
      if (Option.isSome(stored)) vertices.push(stored.value)
    }
    return { vertices, isLast: true }
  })

/** In insertion order, then those that only `signed.db` has, on the last page or on their own pages. */
const rounds = (storage: Kept, question: RoundsQuestion) =>
  Effect.gen(function* () {
    const { epoch, fromRound, toRound, after } = question
    const limit = new PageLimit(Message.ANSWER_BYTES)
    const last = after === null ? null : Option.getOrNull(yield* storage.vertices.arrivalOf(after))
    const lastSigned = after === null || last !== null ? Option.none() : yield* storage.signed.byHash(after)
    if (Option.isSome(lastSigned)) {
      const left = (yield* signedOnly(storage, question)).filter(({ round }) => round > lastSigned.value.round)
      return { _tag: "Rounds", epoch, ...(yield* fitting(storage, left, limit)) } as const
    }
    const request = { epoch, fromRound, toRound, after: last, maxBytes: Message.ANSWER_BYTES }
    const page = yield* storage.vertices.ofEpoch(request)
    const vertices = page.vertices.map(({ bytes }) => ({ encoded: bytes }))
    if (!page.isLast) return { _tag: "Rounds", epoch, vertices, isLast: false } as const
    for (const { encoded } of vertices) limit.takes(encoded.length)
    const own = yield* fitting(storage, yield* signedOnly(storage, question), limit)
    return { _tag: "Rounds", epoch, vertices: [...vertices, ...own.vertices], isLast: own.isLast } as const
  })

const closing = (storage: Kept, { from }: Extract<Message.DiskQuestion, { _tag: "AskClosing" }>) =>
  Effect.gen(function* () {
    const signed = yield* storage.checkpoints.closing(from, Message.ANSWERED_CHECKPOINTS)
    const newest = Option.filter(yield* storage.checkpoints.latestClosing, ({ hasQuorum }) => hasQuorum)
    return {
      _tag: "Closing",
      signed: signed.filter(({ hasQuorum }) => hasQuorum),
      newest: Option.getOrNull(newest),
    } as const
  })

/** The bytes sent, apart from a small remainder. */
export const bytesOf = (answer: Message.Answer<Encoded>): number => {
  switch (answer._tag) {
    case "Vertices":
    case "Rounds":
      return answer.vertices.reduce((bytes, { encoded }) => bytes + encoded.length, 0)
    case "State":
      return answer.subtree?.length ?? 0
    case "Closing":
    case "Highest":
      return 0
  }
}

export const answer = (
  { vertices, signed, checkpoints }: Omit<Kept, "isWithheld">,
  question: Message.DiskQuestion,
  isWithheld: Kept["isWithheld"],
): Effect.Effect<Message.Answer<Encoded>, StorageError> => {
  const storage = { vertices, signed, checkpoints, isWithheld }
  switch (question._tag) {
    case "AskVertices":
      return named(storage, question)
    case "AskRounds":
      return rounds(storage, question)
    case "AskClosing":
      return closing(storage, question)
  }
}
