/**
 * What others ask of the disk, answered from the database: the same answers as `Serving` gives from memory. Vertices go out
 * as they are stored, undecoded: whoever asks is to pay for reading them, and not this node for every question.
 */
import { Effect, Option } from "effect"
import * as Message from "../consensus/replica/Message.js"
import type { Encoded } from "../protocol/Vertex.js"
import type { Storage } from "../storage/Storage.js"
import type { StorageError } from "../storage/StorageError.js"

type Kept = typeof Storage.Service

const named = (storage: Kept, { hashes }: Extract<Message.DiskQuestion, { _tag: "AskVertices" }>) =>
  Effect.gen(function* () {
    const vertices: Array<Encoded> = []
    let bytes = 0
    for (const hash of hashes.slice(0, Message.ASKED_VERTICES)) {
      const stored = yield* storage.vertices.byHash(hash)
      if (Option.isNone(stored)) continue
      bytes += stored.value.bytes.length
      if (vertices.length > 0 && bytes > Message.ANSWER_BYTES) break
      vertices.push({ encoded: stored.value.bytes })
    }
    return { _tag: "Vertices", vertices } as const
  })

const rounds = (storage: Kept, question: Extract<Message.DiskQuestion, { _tag: "AskRounds" }>) =>
  Effect.gen(function* () {
    const { epoch, fromRound, toRound, after } = question
    const last = after === null ? null : Option.getOrNull(yield* storage.vertices.arrivalOf(after))
    const request = { epoch, fromRound, toRound, after: last, maxBytes: Message.ANSWER_BYTES }
    const page = yield* storage.vertices.ofEpoch(request)
    const vertices = page.vertices.map(({ bytes }) => ({ encoded: bytes }))
    return { _tag: "Rounds", epoch, vertices, isLast: page.isLast } as const
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

/** What goes over the line, all but a little. */
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
  storage: Kept,
  question: Message.DiskQuestion,
): Effect.Effect<Message.Answer<Encoded>, StorageError> => {
  switch (question._tag) {
    case "AskVertices":
      return named(storage, question)
    case "AskRounds":
      return rounds(storage, question)
    case "AskClosing":
      return closing(storage, question)
  }
}
