/** Why an answer is rejected. Messages contain nothing long or secret from the node. */
import { Data } from "effect"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import type { Name } from "../../protocol/identity/Name.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"

/**
 * What a refusal says about the node. `absent`: it gave no answer to judge. `behind`: it may be honest, but knows less
 * than is already known. `ahead`: a quorum signed rules that this program does not know. `false`: no honest node of the
 * network gives this answer.
 */
export type Verdict = "absent" | "behind" | "ahead" | "false"

/** There was no connection, or it ended early. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly reason: string }> {
  readonly verdict: Verdict = "absent"
  override get message(): string {
    return `it cannot be reached: ${this.reason}`
  }
}

export class Silent extends Data.TaggedError("Silent")<{ readonly waitedMs: number }> {
  readonly verdict: Verdict = "absent"
  override get message(): string {
    return `it did not answer within ${this.waitedMs} ms`
  }
}

/** The node has no answer, or not now. */
export class Declined extends Data.TaggedError("Declined")<{ readonly asked: string; readonly status: number }> {
  readonly verdict: Verdict = "absent"
  override get message(): string {
    return `it answers ${this.asked} with status ${this.status}`
  }
}

export class TooLong extends Data.TaggedError("TooLong")<{ readonly asked: string; readonly limit: number }> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    return `its answer to ${this.asked} is longer than ${this.limit} bytes, the maximum`
  }
}

export class Malformed extends Data.TaggedError("Malformed")<{ readonly what: string; readonly reason: string }> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    return `its ${this.what} is malformed: ${this.reason}`
  }
}

/** Perhaps correct, but for another question. */
export class OtherAnswer extends Data.TaggedError("OtherAnswer")<{ readonly asked: string; readonly given: string }> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    return `it was asked for ${this.asked} and answered with ${this.given}`
  }
}

/** A different history from the trusted one. */
export class OtherCheckpoint extends Data.TaggedError("OtherCheckpoint")<{
  readonly epoch: Epoch
  readonly trusted: Hash.Hash
  readonly given: Hash.Hash
}> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    const { epoch, trusted, given } = this
    return `epoch ${epoch} closed with checkpoint ${Hash.short(trusted)}, but it has ${Hash.short(given)}`
  }
}

/** Forged, or signed by the keys of other committees. */
export class Unsigned extends Data.TaggedError("Unsigned")<{ readonly epoch: Epoch; readonly committee: Epoch }> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    const { epoch, committee } = this
    return `no quorum of the committee of epoch ${committee} signed its checkpoint of epoch ${epoch}`
  }
}

/** It does not name the trusted checkpoint as the previous one. */
export class Detached extends Data.TaggedError("Detached")<{ readonly epoch: Epoch }> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    return `its checkpoint of epoch ${this.epoch} does not follow the trusted one`
  }
}

export class FalseProof extends Data.TaggedError("FalseProof")<{
  readonly address: Address
  readonly reason: string
}> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    return `its proof of account ${this.address} is invalid: ${this.reason}`
  }
}

export class FalseInclusion extends Data.TaggedError("FalseInclusion")<{
  readonly id: Hash.Hash
  readonly reason: string
}> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    return `its proof of transaction ${Hash.short(this.id)} is invalid: ${this.reason}`
  }
}

/** A proof leads from the trusted checkpoint to later epochs, never back. */
export class TooEarly extends Data.TaggedError("TooEarly")<{ readonly round: number; readonly trusted: number }> {
  readonly verdict: Verdict = "absent"
  override get message(): string {
    return `its proof ends at the checkpoint of round ${this.round}; the trusted one of round ${this.trusted} is not earlier`
  }
}

export class OtherName extends Data.TaggedError("OtherName")<{ readonly name: Name; readonly address: Address }> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    return `account ${this.address}, its answer for @${this.name}, has another name or none`
  }
}

export class Stale extends Data.TaggedError("Stale")<{ readonly round: number; readonly known: number }> {
  readonly verdict: Verdict = "behind"
  override get message(): string {
    return `its newest checkpoint is of round ${this.round}; expected at least round ${this.known}`
  }
}

/** Encodings and proofs may differ in an unknown version, so nothing in that epoch or after it can be judged. */
export class UnknownVersion extends Data.TaggedError("UnknownVersion")<{
  readonly epoch: Epoch
  readonly version: ProtocolVersion.ProtocolVersion
}> {
  readonly verdict: Verdict = "ahead"
  override get message(): string {
    const { epoch, version } = this
    const known = ProtocolVersion.NEWEST
    return `epoch ${epoch} runs by protocol version ${version}, and this light client knows up to ${known}: install a newer version of udg-node`
  }
}

/** A quorum signed both histories: somebody has the keys of an old committee, and nothing here tells which is right. */
export class Conflict extends Data.TaggedError("Conflict")<{
  readonly epoch: Epoch
  readonly hashes: ReadonlyArray<Hash.Hash>
}> {
  readonly verdict: Verdict = "false"
  override get message(): string {
    const hashes = this.hashes.map(Hash.short).join(" and ")
    return `two histories are signed by a quorum; in epoch ${this.epoch} their checkpoints are ${hashes}`
  }
}

export type Refusal =
  | Unreachable
  | Silent
  | Declined
  | TooLong
  | Malformed
  | OtherAnswer
  | OtherCheckpoint
  | Unsigned
  | Detached
  | FalseProof
  | FalseInclusion
  | TooEarly
  | OtherName
  | Stale
  | UnknownVersion
  | Conflict
