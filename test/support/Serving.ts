/** Answers the questions of peers from a disk in memory, as `Archive` does from the database. */
import type { SignedCheckpoint } from "../../src/protocol/epoch/Checkpoint.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { Epoch } from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { PageLimit } from "../../src/replica/disk/PageLimit.js"
import * as Message from "../../src/replica/messages/Message.js"

export interface Archive {
  readonly vertex: (hash: Hash) => Vertex | undefined
  /** In the order of insertion. */
  readonly verticesOf: (epoch: Epoch) => ReadonlyArray<Vertex>
  /** Signed, in the order of their epochs. */
  readonly closings: ReadonlyArray<SignedCheckpoint>
}

/** The part of a disk that peers can read. */
export const shown = (archive: Archive, isWithheld: (hash: Hash) => boolean): Archive => ({
  vertex: (hash) => (isWithheld(hash) ? undefined : archive.vertex(hash)),
  verticesOf: (epoch) => archive.verticesOf(epoch).filter(({ header }) => !isWithheld(header.hash)),
  closings: archive.closings,
})

/** As many as fit into an answer, and whether these are all. */
const page = (vertices: ReadonlyArray<Vertex>) => {
  const limit = new PageLimit(Message.ANSWER_BYTES)
  const over = vertices.findIndex(({ encoded }) => !limit.takes(encoded.length))
  return over < 0 ? { vertices, isLast: true } : { vertices: vertices.slice(0, over), isLast: false }
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
