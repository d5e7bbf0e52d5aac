/**
 * Structural validity: a pure function of the vertex, the base and the epoch record. It reads neither the ledger nor
 * the clock, the schedule, the DAG or a cache, so every node always reaches the same verdict. A parent's content is
 * judged with the parent itself.
 */
import { Data, Either } from "effect"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import type { Type } from "../../protocol/transaction/Operation.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import * as Evidence from "../../protocol/vertex/Evidence.js"
import * as Header from "../../protocol/vertex/Header.js"
import * as Heartbeat from "../../protocol/vertex/Heartbeat.js"
import type { Body, Vertex } from "../../protocol/vertex/Vertex.js"
import type { Committee } from "./Committee.js"

export class WrongEpoch extends Data.TaggedError("WrongEpoch")<{ readonly found: Epoch; readonly expected: Epoch }> {}

/** It was made on another history or for another network. */
export class WrongBase extends Data.TaggedError("WrongBase")<{ readonly found: Hash; readonly expected: Hash }> {}

export class NotAMember extends Data.TaggedError("NotAMember")<{ readonly author: Address }> {}

export class RoundBeforeEpoch extends Data.TaggedError("RoundBeforeEpoch")<{
  readonly round: Round
  readonly firstRound: Round
}> {}

export class TooLarge extends Data.TaggedError("TooLarge")<{
  readonly what: "bytes" | "transactions" | "evidence" | "heartbeats" | "parents"
  readonly found: number
  readonly allowed: number
}> {}

export class WrongCoinbase extends Data.TaggedError("WrongCoinbase")<{
  readonly found: Sats
  readonly expected: Sats
}> {}

export class ParentNotAMember extends Data.TaggedError("ParentNotAMember")<{ readonly parent: Header.Parent }> {}

/** A parent of the vertex's own round or above. */
export class FutureParent extends Data.TaggedError("FutureParent")<{ readonly parent: Header.Parent }> {}

/** Includes every parent of a vertex in the epoch's first round. */
export class ParentBeforeEpoch extends Data.TaggedError("ParentBeforeEpoch")<{ readonly parent: Header.Parent }> {}

export class TwoParentsOfOneSlot extends Data.TaggedError("TwoParentsOfOneSlot")<{
  readonly round: Round
  readonly author: Address
}> {}

export class TwoOwnParents extends Data.TaggedError("TwoOwnParents")<{ readonly author: Address }> {}

/** Parents are not in the canonical order. */
export class ParentsOutOfOrder extends Data.TaggedError("ParentsOutOfOrder")<{ readonly parent: Header.Parent }> {}

/** The parents of the previous round do not hold more than two thirds of the weight. */
export class NoQuorumOfParents extends Data.TaggedError("NoQuorumOfParents")<{
  readonly weight: number
  readonly totalWeight: number
}> {}

/** Two headers that prove nothing, or are not in the order of their hashes. */
export class MalformedEvidence extends Data.TaggedError("MalformedEvidence")<{ readonly position: number }> {}

/** A type of transaction that the protocol version of the epoch does not have. */
export class UnknownType extends Data.TaggedError("UnknownType")<{ readonly type: Type }> {}

export type InvalidVertex =
  | WrongEpoch
  | WrongBase
  | NotAMember
  | RoundBeforeEpoch
  | TooLarge
  | WrongCoinbase
  | ParentNotAMember
  | FutureParent
  | ParentBeforeEpoch
  | TwoParentsOfOneSlot
  | TwoOwnParents
  | ParentsOutOfOrder
  | NoQuorumOfParents
  | MalformedEvidence
  | UnknownType

const excess = (what: TooLarge["what"], found: number, allowed: number): TooLarge | undefined =>
  found > allowed ? new TooLarge({ what, found, allowed }) : undefined

const sizeFault = ({ header, body, encoded }: Vertex, committee: Committee): InvalidVertex | undefined => {
  return (
    excess("bytes", encoded.length, Limits.VERTEX_BYTES) ??
    excess("parents", header.parents.length, Limits.PARENTS_PER_MEMBER * committee.size) ??
    excess("transactions", body.transactions.length, Limits.VERTEX_TRANSACTIONS) ??
    excess("evidence", body.evidence.length, Limits.VERTEX_EVIDENCE) ??
    excess("heartbeats", body.heartbeats.length, Limits.VERTEX_HEARTBEATS)
  )
}

/** Checks a parent on its own and against the previous one. */
const parentFault = (
  { round, author }: Header.Header,
  parent: Header.Parent,
  before: Header.Parent | undefined,
  committee: Committee,
): InvalidVertex | undefined => {
  if (committee.seatOf(parent.author) === undefined) return new ParentNotAMember({ parent })
  if (parent.round >= round) return new FutureParent({ parent })
  if (parent.round < committee.firstRound) return new ParentBeforeEpoch({ parent })
  if (before === undefined) return undefined
  if (before.round === parent.round && before.author === parent.author) {
    return parent.author === author
      ? new TwoOwnParents({ author })
      : new TwoParentsOfOneSlot({ round: parent.round, author: parent.author })
  }
  return Header.compareParents(before, parent) < 0 ? undefined : new ParentsOutOfOrder({ parent })
}

const parentsFault = (header: Header.Header, committee: Committee): InvalidVertex | undefined => {
  let weight = 0
  let hasOwn = false
  let before: Header.Parent | undefined
  for (const parent of header.parents) {
    const fault = parentFault(header, parent, before, committee)
    if (fault !== undefined) return fault
    if (parent.author === header.author) {
      if (hasOwn) return new TwoOwnParents({ author: header.author })
      hasOwn = true
    }
    if (parent.round === header.round - 1) weight += committee.weightOf(committee.seatOf(parent.author) ?? 0)
    before = parent
  }
  // The first round of an epoch has nothing below it: the checks above have refused every parent there.
  if (header.round === committee.firstRound || committee.isQuorum(weight)) return undefined
  return new NoQuorumOfParents({ weight, totalWeight: committee.totalWeight })
}

const evidenceFault = (evidence: ReadonlyArray<Evidence.Evidence>): InvalidVertex | undefined => {
  const position = evidence.findIndex(({ first, second }) => Evidence.of(first, second)?.first !== first)
  return position < 0 ? undefined : new MalformedEvidence({ position })
}

const typeFault = ({ transactions }: Body, { record }: Committee): InvalidVertex | undefined => {
  if (ProtocolVersion.rulesOf(record.rules.protocolVersion).rotatesKeys) return undefined
  const found = transactions.find(({ operation }) => operation._tag === "RotateKeyTx")
  return found && new UnknownType({ type: found.operation._tag })
}

const fault = (vertex: Vertex, base: Hash, committee: Committee): InvalidVertex | undefined => {
  const { header, body } = vertex
  const { epoch } = committee.record
  if (header.epoch !== epoch) return new WrongEpoch({ found: header.epoch, expected: epoch })
  if (header.base !== base) return new WrongBase({ found: header.base, expected: base })
  const seat = committee.seatOf(header.author)
  if (seat === undefined) return new NotAMember({ author: header.author })
  const { round } = header
  const { firstRound } = committee
  if (round < firstRound) return new RoundBeforeEpoch({ round, firstRound })
  const coinbase = committee.coinbase(round, seat)
  if (header.coinbase !== coinbase) return new WrongCoinbase({ found: header.coinbase, expected: coinbase })
  return (
    sizeFault(vertex, committee) ??
    parentsFault(header, committee) ??
    evidenceFault(body.evidence) ??
    typeFault(body, committee)
  )
}

/** The vertex, or the first rule it breaks. Does not check signatures: see `signatureChecks`. */
export const check = (vertex: Vertex, base: Hash, committee: Committee): Either.Either<Vertex, InvalidVertex> => {
  const found = fault(vertex, base, committee)
  return found === undefined ? Either.right(vertex) : Either.left(found)
}

/**
 * Every signature that must be valid before the vertex can enter. Only the cryptographic validity of signatures is
 * structural: execution judges whether the key belongs to the account. `isVerified` leaves out transactions that the
 * host has already checked.
 */
export const signatureChecks = (
  networkId: NetworkId,
  { header, body }: Vertex,
  isVerified: (transaction: Transaction) => boolean = () => false,
): ReadonlyArray<Verification.Check> => [Header.check(header), ...bodyChecks(networkId, body, isVerified)]

/** Leaves out the header's own signature, for callers that have already checked it. */
export const bodyChecks = (
  networkId: NetworkId,
  body: Body,
  isVerified: (transaction: Transaction) => boolean,
): ReadonlyArray<Verification.Check> => [
  ...body.evidence.flatMap(({ first, second }) => [Header.check(first), Header.check(second)]),
  ...body.heartbeats.map(Heartbeat.check),
  ...body.transactions
    .filter((transaction) => !isVerified(transaction))
    .flatMap((transaction) => Verification.checksOf(networkId, transaction)),
]
