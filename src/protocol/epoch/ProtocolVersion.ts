/**
 * The versions of everything that decides a state: encodings, rules, order. A network begins with the first one. A vote names the
 * next one, which rules from the first round of an epoch on, so old epochs are replayed under old rules. The rules that differ
 * between versions are all here; code asks for a rule and never for a number.
 */
export type ProtocolVersion = number

/** What every genesis begins with. The numbers below it never ran under a vote. */
export const FIRST: ProtocolVersion = 2

/** The newest one that this program knows. */
export const NEWEST: ProtocolVersion = 3

/** The `param` of the proposal that names the next version. It is in no genesis. */
export const PARAMETER = "protocol_version"

export interface Rules {
  /** Whether the effects digest, which a quorum signs, covers the outcomes of transactions, not only what they changed. */
  readonly digestsOutcomes: boolean
}

export const rulesOf = (version: ProtocolVersion): Rules => ({ digestsOutcomes: version >= 3 })
