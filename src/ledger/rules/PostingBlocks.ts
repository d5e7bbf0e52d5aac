/**
 * How postings are stored. A validator earns with every commit, so small postings are added up over a block of commits:
 * a row for each would outgrow the transactions.
 */
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type * as Posting from "./Posting.js"

/** `genesis` is an account's initial balance, its first entry. */
export type Kind = Posting.Kind | "genesis"

/**
 * In the order in which statements list the postings of one commit. Stored as numbers, so their order must never
 * change.
 */
export const KINDS = [
  "genesis",
  "reward",
  "fees",
  "council",
  "treasury_payment",
  "bond_returned",
  "stake_released",
  "delegation_released",
  "stake_slashed",
  "delegations_slashed",
] as const satisfies ReadonlyArray<Kind>

/** Earned with every vertex. */
const isSteady = (kind: Kind): boolean => kind === "reward" || kind === "fees" || kind === "council"

/** About an hour and a half at two commits a second. */
export const BLOCK_COMMITS = 10_000

/** Larger postings are entries of their own, so that the sum of a block is always a valid amount. */
const LARGEST_PART = Sats.divideFloor(Sats.MAX_SUPPLY, BLOCK_COMMITS)

/** The last commit of this commit's block; commit 0 is the genesis. */
const blockEnd = (index: number): number => index - (index % BLOCK_COMMITS) + BLOCK_COMMITS - 1

export type Draft = Omit<Posting.Posting, "kind"> & { readonly kind: Kind }

/** Where a posting is stored: `number` is 0 for a block's sum, otherwise its place among the postings of the commit. */
export interface Place {
  readonly until: number
  readonly number: number
}

/** `i` is its index among the postings of the commit. */
export const placeOf = ({ kind, amount }: Draft, index: CommitIndex, i: number): Place =>
  isSteady(kind) && amount <= LARGEST_PART ? { until: blockEnd(index), number: 0 } : { until: index, number: i + 1 }
