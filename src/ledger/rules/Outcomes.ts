/** The outcomes of a commit's transactions, hashed so that a quorum signs them with the effects digest. */
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Hash from "../../protocol/identity/Hash.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Outcome, VertexOutcome } from "./Execution.js"

const BYTE: { readonly [Tag in Outcome["_tag"]]: number } = { NoEffect: 0, Applied: 1, Failed: 2 }

/** H("udg/outcomes", (transaction hash ‖ outcome u8) of each transaction in order). */
export const digest = (vertices: ReadonlyArray<Vertex>, executed: ReadonlyArray<VertexOutcome>): Hash.Hash =>
  Hash.of(
    "udg/outcomes",
    Binary.encode((writer) => {
      for (const [v, { body }] of vertices.entries()) {
        for (const [t, { id }] of body.transactions.entries()) {
          writer.hex(id).u8(BYTE[executed[v]?.transactions[t]?._tag ?? "NoEffect"])
        }
      }
    }),
  )
