/** The mempool's core: which transactions wait, in which order they are taken, and which are turned away. */
import type { Nonce } from "../protocol/Counter.js"
import type { Sats } from "../protocol/Sats.js"
import type { Rejection } from "./Rejection.js"

/** Why a transaction is not taken. */
export type Refusal =
  | Rejection
  /** The nonce is pending already; to replace it, at least this fee. */
  | { readonly _tag: "NoncePending"; readonly nonce: Nonce; readonly minFee: Sats }
  /** No room: in the whole pool, or for more fee-exempt transactions of this sender. */
  | { readonly _tag: "MempoolFull"; readonly limit: number; readonly of: "pool" | "sender" }
  /** The node is joining. */
  | { readonly _tag: "NotReady" }
