import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import type { Answer } from "../live/Node.js"
import { Badge, type Tone } from "../show/Badge.js"
import { Bar } from "../show/Bar.js"
import * as Words from "../show/Words.js"

export type Summary = Answer<"governance", "proposals">["proposals"][number]

const tones: Readonly<Record<Summary["status"], Tone>> = {
  Active: "waiting",
  Passed: "good",
  Executed: "good",
  Rejected: "bad",
  Failed: "bad",
}

export const Status = ({ of }: { readonly of: Summary }) => <Badge tone={tones[of.status]}>{of.status}</Badge>

/** The votes as shares of the stake that may vote; the mark is the quorum. */
export const Votes = ({ of }: { readonly of: Summary }) => {
  const quorum = Network.network.value?.parameters.quorum_percent
  const voted = of.votes_for + of.votes_against
  return (
    <div class="votes">
      <Bar
        label="Votes"
        total={of.snapshot_total_stake}
        parts={[
          { name: "yes", amount: of.votes_for, tone: "good" },
          { name: "no", amount: of.votes_against, tone: "bad" },
        ]}
        {...(quorum === undefined ? {} : { mark: quorum / 100 })}
      />
      <p>
        <b>{Words.percent(voted === 0 ? 0 : of.votes_for / voted, 0)} yes</b>{" "}
        <span class="quiet">
          {Words.percent(of.snapshot_total_stake === 0 ? 0 : voted / of.snapshot_total_stake, 0)} of the stake voted
          {quorum === undefined ? "" : `, ${quorum} % needed`}
        </span>
      </p>
    </div>
  )
}

/** The next step of the proposal, and about how far away it is. */
export const TimeLeft = ({ of }: { readonly of: Summary }) => {
  const finalized = Live.head.value?.finalizedRound
  if (finalized === undefined) return null
  const about = (round: number): string => Words.duration(Network.millisecondsOf(Math.max(0, round - finalized)))
  switch (of.status) {
    case "Active":
      return <>voting ends in about {about(of.voting_ends_at_round)}</>
    case "Passed":
      return <>carried out in about {about(of.executes_at_round)}</>
    case "Executed":
      return <>carried out at round {Words.count(of.executes_at_round)}</>
    case "Rejected":
      return <>voting ended at round {Words.count(of.voting_ends_at_round)}</>
    case "Failed":
      return <>failed at round {Words.count(of.executes_at_round)}</>
  }
}
