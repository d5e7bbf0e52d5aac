/** Fills the body of this node's vertex: evidence, then heartbeats, then transactions, up to one mebibyte. */
import type { PendingTransactions } from "../../ledger/pending/PendingTransactions.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"
import type { Body } from "../../protocol/vertex/Vertex.js"
import type { EvidencePool } from "./EvidencePool.js"
import type { HeartbeatPool } from "./HeartbeatPool.js"

/** Base, epoch, round, key, parent count, timestamp, coinbase, body hash and signature. */
const HEADER_BYTES = 32 + 8 + 8 + 32 + 2 + 8 + 8 + 32 + 64
const PARENT_BYTES = 8 + 20 + 32
/** The counts of the three lists. */
const BODY_BYTES = 2 + 1 + 1
const HEARTBEAT_BYTES = 32 + 8 + 32 + 64
/** Headers of large committees are long, and evidence must not fill a whole vertex. */
const EVIDENCE_BYTES = 262_144
/** The least room for the newest transactions in a leader's vertex, even in a large committee. */
const LEAST_FRESH_BYTES = 32_768

export interface Sources {
  readonly pool: PendingTransactions
  readonly evidence: EvidencePool
  readonly heartbeats: HeartbeatPool
}

export interface Slot {
  readonly round: Round
  readonly parents: number
  readonly members: number
  readonly leads: boolean
  /** Whether this node proposes the account's transactions. */
  readonly isAssigned: (account: Address) => boolean
  /** Whether it is this node's turn in this round to propose those that the assigned member has not proposed. */
  readonly hasTurn: (account: Address) => boolean
}

export const fill = (
  { pool, evidence, heartbeats }: Sources,
  { round, parents, members, leads, isAssigned, hasTurn }: Slot,
): Body => {
  const proofs = evidence.take(round, EVIDENCE_BYTES)
  const beats = heartbeats.take(round, isAssigned)
  const proofBytes = proofs.length === 0 ? 0 : EVIDENCE_BYTES
  const taken = HEADER_BYTES + PARENT_BYTES * parents + BODY_BYTES + proofBytes + HEARTBEAT_BYTES * beats.length
  // A leader that carried everything would send as much at once as all members together.
  const freshBytes = leads ? Math.max(LEAST_FRESH_BYTES, divideFloor(Limits.VERTEX_BYTES, members)) : 0
  const transactions = pool.choose({ round, maxBytes: Limits.VERTEX_BYTES - taken, freshBytes, isAssigned, hasTurn })
  return { transactions, evidence: proofs, heartbeats: beats }
}
