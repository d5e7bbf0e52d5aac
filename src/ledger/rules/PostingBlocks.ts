/**
 * How postings are kept: a validator earns with every commit, so what is small is added up over a block of commits. A row for
 * each would outgrow the transactions.
 */
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type * as Posting from "./Posting.js"

/** Also what the genesis gave: it is no commit's, but an account's first entry. */
export type Kind = Posting.Kind | "genesis"

/** In the order in which a statement lists those of one commit. Stored as numbers, so none may ever change. */
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

/** What is more is an entry of its own. So a block's sum is an amount, whatever a commit brings. */
const LARGEST_PART = Sats.divideFloor(Sats.MAX_SUPPLY, BLOCK_COMMITS)

/** The last commit of the block with this one: commit 0 is the genesis. */
const blockEnd = (index: number): number => index - (index % BLOCK_COMMITS) + BLOCK_COMMITS - 1

export type Draft = Omit<Posting.Posting, "kind"> & { readonly kind: Kind }

/** Where a posting is kept: `number` is 0 where several commits are added up, else its place among those of the commit. */
export interface Place {
  readonly until: number
  readonly number: number
}

/** `i` is its place among the postings of the commit, from 0 on. */
export const placeOf = ({ kind, amount }: Draft, index: CommitIndex, i: number): Place =>
  isSteady(kind) && amount <= LARGEST_PART ? { until: blockEnd(index), number: 0 } : { until: index, number: i + 1 }
