import type { ComponentChildren } from "preact"
import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import type { Answer } from "../live/Node.js"
import { Amount } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import * as Reference from "../show/Reference.js"
import * as Words from "../show/Words.js"

export type StakeDetails = Answer<"staking", "stakeOf">
type Fact = readonly [term: string, value: ComponentChildren]

/** A round to come, and about how long that is. */
export const RoundAhead = ({ round }: { readonly round: number }) => {
  const left = round - (Live.head.value?.finalizedRound ?? round)
  return (
    <>
      round {Words.count(round)}
      {left > 0 ? <span class="quiet"> (in about {Words.duration(Network.millisecondsOf(left))})</span> : ""}
    </>
  )
}

export const State = ({ stake }: { readonly stake: StakeDetails }) => {
  if (stake.in_committee) return <Badge tone="good">in committee</Badge>
  if (stake.is_active_validator) return <Badge tone="waiting">active, not in committee</Badge>
  return <Badge tone="quiet">not active</Badge>
}

export const stakeFacts = (stake: StakeDetails): ReadonlyArray<Fact> => [
  ["State", <State stake={stake} />],
  ["Own stake", <Amount sats={stake.staked_amount} />],
  ["Effective stake", <Amount sats={stake.effective_stake} />],
  ["Commission", `${stake.commission_percent} %`],
  ["Delegators", Words.count(stake.delegator_count)],
  ...(stake.unstaking
    ? [
        [
          "Leaving",
          stake.unlock_at_round === null ? (
            "yes"
          ) : (
            <>
              paid out at <RoundAhead round={stake.unlock_at_round} />
            </>
          ),
        ] as const,
      ]
    : []),
]

export const DelegationFacts = (delegation: Answer<"delegation", "delegationOf">): ReadonlyArray<Fact> => [
  ["Validator", <Reference.Address address={delegation.validator} as="validator" />],
  ["Worth now", <Amount sats={delegation.amount} />],
  ...(delegation.undelegating
    ? [
        [
          "Leaving",
          delegation.unlock_at_round === null ? (
            "yes"
          ) : (
            <>
              paid out at <RoundAhead round={delegation.unlock_at_round} />
            </>
          ),
        ] as const,
      ]
    : []),
]
