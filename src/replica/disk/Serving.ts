/** What others ask of the disk, answered. The database has its own way to the same answers. */
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import * as Message from "../messages/Message.js"

export interface Archive {
  readonly vertex: (hash: Hash) => Vertex | undefined
  /** In the order of insertion. */
  readonly verticesOf: (epoch: Epoch) => ReadonlyArray<Vertex>
  /** Signed, in the order of their epochs. */
  readonly closings: ReadonlyArray<SignedCheckpoint>
}

/** As many as an answer holds, and whether these are all. */
const page = (vertices: Iterable<Vertex>): { readonly vertices: ReadonlyArray<Vertex>; readonly isLast: boolean } => {
  const chosen: Array<Vertex> = []
  let bytes = 0
  for (const vertex of vertices) {
    bytes += vertex.encoded.length
    if (chosen.length > 0 && bytes > Message.ANSWER_BYTES) return { vertices: chosen, isLast: false }
    chosen.push(vertex)
  }
  return { vertices: chosen, isLast: true }
}

const rounds = (archive: Archive, question: Extract<Message.DiskQuestion, { _tag: "AskRounds" }>): Message.Answer => {
  const { epoch, fromRound, toRound, after } = question
  const all = archive.verticesOf(epoch)
  const start = after === null ? 0 : all.findIndex(({ header }) => header.hash === after) + 1
  const wanted = all.slice(start).filter(({ header }) => header.round >= fromRound && header.round <= toRound)
  return { _tag: "Rounds", epoch, ...page(wanted) }
}

const closing = ({ closings }: Archive, from: Epoch): Message.Answer => ({
  _tag: "Closing",
  signed: closings.filter(({ checkpoint }) => checkpoint.epoch >= from).slice(0, Message.ANSWERED_CHECKPOINTS),
  newest: closings.at(-1) ?? null,
})

export const answer = (archive: Archive, question: Message.DiskQuestion): Message.Answer => {
  switch (question._tag) {
    case "AskVertices": {
      const asked = question.hashes.slice(0, Message.ASKED_VERTICES)
      const { vertices } = page(asked.flatMap((hash) => archive.vertex(hash) ?? []))
      return { _tag: "Vertices", vertices }
    }
    case "AskRounds":
      return rounds(archive, question)
    case "AskClosing":
      return closing(archive, question.from)
  }
}
