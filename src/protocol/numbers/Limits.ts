/** The fixed limits of the protocol: neither a genesis nor a vote changes them. */

/** A vertex on the wire: signed header and body together. */
export const VERTEX_BYTES = 1_048_576
export const VERTEX_TRANSACTIONS = 5_000
export const VERTEX_EVIDENCE = 16
export const VERTEX_HEARTBEATS = 100

/** Seats of a committee; `max_validators` of the API. */
export const COMMITTEE_MEMBERS = 100
/** The maximum number of parents in a header, for each member of its committee. */
export const PARENTS_PER_MEMBER = 3

/** Stakes and delegations that one commit pays out; others that are due wait for the next commit. */
export const RELEASES_PER_COMMIT = 1_000

export const COUNCIL_SEATS = 21
export const MEMPOOL_TRANSACTIONS = 10_000
/** How far a nonce can be ahead of the next one at admission. */
export const NONCE_WINDOW = 64

export const MEMO_BYTES = 256
export const TITLE_BYTES = 128
export const DESCRIPTION_BYTES = 4_096
/** How long after its `executes_at_round` a proposal keeps its texts: a week at the standard interval. */
export const PROPOSAL_TEXTS_ROUNDS = 1_209_600
export const PARAMETER_NAME_BYTES = 64
export const POLICY_KEYS = 16
