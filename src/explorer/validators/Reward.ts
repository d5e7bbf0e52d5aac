/** What a validator would earn in a year if everything went on as it does now. Pure. */

export interface Inputs {
  /** Sats for a round, over the whole committee. */
  readonly roundReward: number
  readonly roundsPerSecond: number
  /** Sats. */
  readonly ownStake: number
  readonly effectiveStake: number
  readonly committeeStake: number
  /** The part of its rounds in which it makes a vertex. */
  readonly uptime: number
  /** What the treasury and the council take, in percent. */
  readonly withheldPercent: number
  readonly commissionPercent: number
}

export interface Estimate {
  readonly roundsPerYear: number
  readonly share: number
  /** Sats a year, after treasury and council. */
  readonly total: number
  readonly toValidator: number
  /** Of its own stake. */
  readonly validatorRate: number
  /** Of what they delegate, after commission. */
  readonly delegatorRate: number
}

const SECONDS_PER_YEAR = 365 * 86_400

/** The reward of a round. It is halved at a fixed interval of rounds. */
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
