/**
 * The version of everything that determines the state: encodings, rules, order. A network starts with the first one. A
 * vote selects the next, which applies from the first round of an epoch, so old epochs are replayed under old rules.
 * All rules that differ between versions are here; other code asks for a rule, never for a version number.
 */
export type ProtocolVersion = number

/** The version of every genesis. Lower versions predate upgrades by vote. */
export const FIRST: ProtocolVersion = 2

/** The newest version that this program implements. */
export const NEWEST: ProtocolVersion = 3

/** The first version in which a validator's key can change. */
export const KEY_ROTATION: ProtocolVersion = 3

/** The `param` of a proposal for the next version. Not a parameter of the genesis. */
export const PARAMETER = "protocol_version"

export interface Rules {
  /** Whether the effects digest, which a quorum signs, also covers the outcomes of transactions. */
  readonly digestsOutcomes: boolean
  /** Whether a vertex may contain transactions that change a validator's key. */
  readonly rotatesKeys: boolean
}

export const rulesOf = (version: ProtocolVersion): Rules => ({
  digestsOutcomes: version >= 3,
  rotatesKeys: version >= KEY_ROTATION,
})
