import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import type { Answer } from "../live/Node.js"
import { Amount } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import type { Fact } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import * as Words from "../show/Words.js"

type StakeDetails = Answer<"staking", "stakeOf">

/** The role of a validator in this epoch. */
export const ValidatorRole = ({ isMember, isActive }: { readonly isMember: boolean; readonly isActive: boolean }) => {
  if (isMember) return <Badge tone="good">in committee</Badge>
  return isActive ? <Badge tone="waiting">active</Badge> : <Badge tone="quiet">not active</Badge>
}

/** A future round and the approximate time until then. */
const RoundAhead = ({ round }: { readonly round: number }) => {
  const left = round - (Live.head.value?.finalizedRound ?? round)
  return (
    <>
      round {Words.count(round)}
      {left > 0 ? <span class="quiet"> (in about {Words.duration(Network.millisecondsOf(left))})</span> : ""}
    </>
  )
}

/** When leaving stake or a leaving delegation is paid out; the node names no round for one that stays. */
export const leavingFact = (name: string, unlockRound: number | null): Fact => [
  name,
  unlockRound === null ? undefined : (
    <>
      paid out at <RoundAhead round={unlockRound} />
    </>
  ),
]

export const stakeFacts = (stake: StakeDetails): ReadonlyArray<Fact> => [
  [
    "State",
    <>
      <ValidatorRole isMember={stake.in_committee} isActive={stake.is_active_validator} />
      {stake.is_active_validator && !stake.in_committee ? (
        <span class="quiet">
          {" "}
          no seat in this epoch; the next close can give it one if its node follows the network
        </span>
      ) : undefined}
    </>,
  ],
  ["Own stake", <Amount sats={stake.staked_amount} />],
  ["Effective stake", <Amount sats={stake.effective_stake} />],
  ["Commission", `${stake.commission_percent} %`],
  ["Delegators", Words.count(stake.delegator_count)],
  leavingFact("Leaving", stake.unlock_at_round),
]

export const delegationFacts = (delegation: Answer<"delegation", "delegationOf">): ReadonlyArray<Fact> => [
  ["Validator", <Reference.Address address={delegation.validator} as="validator" />],
  ["Worth now", <Amount sats={delegation.amount} />],
  leavingFact("Leaving", delegation.unlock_at_round),
]
