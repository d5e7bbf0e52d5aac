/**
 * The position of a node that is behind, joins or has lost its disk, and what it waits for. Two state machines run side
 * by side: one follows the rounds of the others, the other decides whether this node signs vertices. docs/recovery.md
 * draws both and states what bounds each wait.
 */
import type { Address } from "../protocol/identity/Address.js"
import type { Epoch, Round } from "../protocol/numbers/Natural.js"
import type { Refusal } from "./KeyMemory.js"

export type Following =
  /** In the same round as the others. */
  | { readonly _tag: "InStep" }
  /** A quorum has reached a later round, whose vertices are being fetched. */
  | { readonly _tag: "Behind"; readonly round: Round; readonly reachedRound: Round }
  /** A quorum has signed the end of this epoch. The vertices that decide it here are being fetched. */
  | { readonly _tag: "EpochOver"; readonly epoch: Epoch }
  /** This node has closed the epoch and waits for a quorum of signatures. `lacks`: members that have not signed. */
  | { readonly _tag: "Closing"; readonly epoch: Epoch; readonly lacks: ReadonlyArray<Address> }
  /** No quorum of a new round for a long time. `lacks`: members without a vertex in the round above the last quorum. */
  | { readonly _tag: "Standstill"; readonly round: Round; readonly lacks: ReadonlyArray<Address> }
  /** The state of a closing checkpoint is being fetched. */
  | { readonly _tag: "Joining"; readonly epoch: Epoch }

export type Signing =
  /** No validator key, or no seat in this epoch. */
  | { readonly _tag: "NoSeat" }
  /** A quorum has not yet answered what this key signed before. `lacks`: members that have not answered. */
  | { readonly _tag: "Asking"; readonly lacks: ReadonlyArray<Address> }
  /** The key has signed headers unknown to this disk. `msLeft`: the time that must pass with a quorum connected. */
  | { readonly _tag: "Silent"; readonly msLeft: number; readonly isConnected: boolean; readonly round: Round }
  /**
   * The disk was lost or set back, and the key may have signed unknown vertices, including in the rounds that the
   * others wait for. The operator's word can name `fromRound`, on the `base` of this epoch.
   */
  | {
      readonly _tag: "Forgotten"
      readonly epoch: Epoch
      readonly fromRound: Round
      readonly base: string
      /** A quorum must reach this round before anything is signed; null until enough members have reported. */
      readonly bound: Round | null
      /** Members whose progress is unknown. */
      readonly lacks: ReadonlyArray<Address>
      /** Why the operator's word does not count; null if there is none. */
      readonly refused: Refusal | null
    }
  | { readonly _tag: "Signing" }

export interface Recovery {
  readonly following: Following
  readonly signing: Signing
}
