/** What a validator would earn in a year under current conditions. Pure. */

export interface Inputs {
  /** Sats per round for the whole committee. */
  readonly roundReward: number
  readonly roundsPerSecond: number
  /** Sats. */
  readonly ownStake: number
  readonly effectiveStake: number
  readonly committeeStake: number
  /** The share of rounds in which it makes a vertex. */
  readonly uptime: number
  /** The treasury's and the council's share, in percent. */
  readonly withheldPercent: number
  readonly commissionPercent: number
}

export interface Estimate {
  readonly roundsPerYear: number
  readonly share: number
  /** Sats per year, after treasury and council. */
  readonly total: number
  readonly toValidator: number
  /** Relative to its own stake. */
  readonly validatorRate: number
  /** Relative to their delegations, after commission. */
  readonly delegatorRate: number
}

const SECONDS_PER_YEAR = 365 * 86_400

/** A round's reward, halved at a fixed interval of rounds. */
export const ofRound = (round: number, first: number, halvingRounds: number): number =>
  Math.floor(first / 2 ** Math.floor(Math.max(0, round - 1) / halvingRounds))

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

export const estimate = (of: Inputs): Estimate => {
  const roundsPerYear = of.roundsPerSecond * SECONDS_PER_YEAR
  const share = ratio(of.effectiveStake, of.committeeStake)
  const total = of.roundReward * roundsPerYear * share * of.uptime * (1 - of.withheldPercent / 100)
  const delegatorRate = ratio(total * (1 - of.commissionPercent / 100), of.effectiveStake)
  const toValidator = total - delegatorRate * (of.effectiveStake - of.ownStake)
  return {
    ...{ roundsPerYear, share, total, toValidator, delegatorRate },
    validatorRate: ratio(toValidator, of.ownStake),
  }
}
