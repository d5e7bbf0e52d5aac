/** What others ask of the disk, answered from the database: the same answers as `Serving` gives from memory. */
import { Effect, Option } from "effect"
import * as Message from "../consensus/replica/Message.js"
import type { NetworkId } from "../protocol/Network.js"
import type { Vertex } from "../protocol/Vertex.js"
import type { Storage } from "../storage/Storage.js"
import type { StorageError } from "../storage/StorageError.js"
import type { StateDamaged } from "./Ending.js"
import * as Lookup from "./Lookup.js"

type Kept = typeof Storage.Service

const named = (
  storage: Kept,
  networkId: NetworkId,
  { hashes }: Extract<Message.DiskQuestion, { _tag: "AskVertices" }>,
) =>
  Effect.gen(function* () {
    const vertices: Array<Vertex> = []
    let bytes = 0
    for (const hash of hashes.slice(0, Message.ASKED_VERTICES)) {
      const stored = yield* storage.vertices.byHash(hash)
      if (Option.isNone(stored)) continue
      bytes += stored.value.bytes.length
      if (vertices.length > 0 && bytes > Message.ANSWER_BYTES) break
      vertices.push(yield* Lookup.vertex(networkId, stored.value.bytes))
    }
    return { _tag: "Vertices", vertices } as const
  })

const rounds = (storage: Kept, networkId: NetworkId, question: Extract<Message.DiskQuestion, { _tag: "AskRounds" }>) =>
  Effect.gen(function* () {
    const { epoch, fromRound, toRound, after } = question
    const last = after === null ? Option.none() : yield* storage.vertices.byHash(after)
    const start = Option.match(last, { onNone: () => null, onSome: ({ arrival }) => arrival })
    const request = { epoch, fromRound, toRound, maxBytes: Message.ANSWER_BYTES }
    const page = yield* storage.vertices.ofEpoch({ ...request, after: start })
    const end = page.at(-1)
    const rest =
      end === undefined ? [] : yield* storage.vertices.ofEpoch({ ...request, after: end.arrival, maxBytes: 1 })
    const vertices = yield* Effect.forEach(page, ({ bytes }) => Lookup.vertex(networkId, bytes))
    return { _tag: "Rounds", epoch, vertices, isLast: rest.length === 0 } as const
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

export const answer = (
  storage: Kept,
  networkId: NetworkId,
  question: Message.DiskQuestion,
): Effect.Effect<Message.Answer, StorageError | StateDamaged> => {
  switch (question._tag) {
    case "AskVertices":
      return named(storage, networkId, question)
    case "AskRounds":
      return rounds(storage, networkId, question)
    case "AskClosing":
      return closing(storage, question)
  }
}
