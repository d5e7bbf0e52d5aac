import * as Sats from "../../protocol/numbers/Sats.js"
import * as Course from "../charts/Course.js"
import * as Live from "../live/Live.js"
import { usePast } from "../live/MetricsHistory.js"
import * as Network from "../live/Network.js"
import type { Answer } from "../live/Node.js"
import { Facts, Section } from "../show/Page.js"
import * as Words from "../show/Words.js"
import * as Reward from "./Reward.js"

type Parameters = Network.NetworkInfo["parameters"]
type Estimated = Reward.Inputs & Reward.Estimate

interface Props {
  readonly stake: Answer<"staking", "stakeOf">
  readonly committeeStake: number
  /** Over the last day; undefined if nothing was counted. */
  readonly uptime: number | undefined
}

/** Rounds per second as measured over the last day; without measurements, as the genesis states. */
const usePace = (parameters: Parameters | undefined): number => {
  const past = usePast("day")
  const nominal = 1_000 / (parameters?.round_interval_ms ?? Number.NaN)
  if (past.state !== "ready") return nominal
  const measured = Course.rate(past.value.rounds, past.value.measured_ms)(0, past.value.at.length)
  return measured === null || measured === 0 ? nominal : measured
}

const coins = (sats: number): string => `${Words.count(sats / Sats.SATS_PER_COIN)} UDG`

const Formula = ({ of, parameters }: { readonly of: Estimated; readonly parameters: Parameters }) => (
  <details class="raw">
    <summary>How this is estimated</summary>
    <p>Reward per round × rounds a year × share of the committee's stake × uptime × what treasury and council leave:</p>
    <p class="formula">
      {Words.exactCoins(of.roundReward)} UDG × {Words.count(of.roundsPerYear)} × {Words.percent(of.share, 2)} ×{" "}
      {Words.percent(of.uptime, 2)} × {100 - of.withheldPercent} % = {coins(of.total)}
    </p>
    <p>
      Of this, the validator takes its commission of {of.commissionPercent} %. The rest is spread over own and delegated
      stake alike. As if stakes, pace, uptime and parameters stayed as they are; fees come on top, nothing is minted
      beyond the supply's cap, and the reward halves every {Words.count(parameters.halving_rounds)} rounds.
    </p>
  </details>
)

/** The yearly earnings of the validator and its delegators, with the formula. */
export const ValidatorReward = ({ stake, committeeStake, uptime }: Props) => {
  const parameters = Network.network.value?.parameters
  const roundsPerSecond = usePace(parameters)
  if (parameters === undefined || !stake.in_committee) return null
  const inputs: Reward.Inputs = {
    roundReward: Reward.ofRound(Live.head.value?.round ?? 1, parameters.round_reward, parameters.halving_rounds),
    roundsPerSecond,
    ownStake: stake.staked_amount,
    effectiveStake: stake.effective_stake,
    committeeStake,
    uptime: uptime ?? 1,
    withheldPercent: parameters.treasury_percent + parameters.council_percent,
    commissionPercent: stake.commission_percent,
  }
  const of = { ...inputs, ...Reward.estimate(inputs) }
  return (
    <Section title="Estimated yearly reward">
      <Facts
        of={[
          ["Validator", `${coins(of.toValidator)}, ${Words.percent(of.validatorRate)} of its own stake`],
          ["Its delegators", `${Words.percent(of.delegatorRate)} of what they delegate, after commission`],
        ]}
      />
      <Formula of={of} parameters={parameters} />
    </Section>
  )
}
