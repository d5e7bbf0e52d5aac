import { PARAMETER } from "../../protocol/epoch/ProtocolVersion.js"
import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import type { Answer } from "../live/Node.js"
import * as Route from "../route/Route.js"
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

/** A link to the wallet while votes are accepted. */
export const VoteLink = ({ of }: { readonly of: Summary }) =>
  of.status === "Active" ? (
    <p class="buttons">
      <a class="button" href={Route.walletFor({ action: "vote", proposal: `${of.id}` })}>
        Vote
      </a>
    </p>
  ) : null

export const Status = ({ of }: { readonly of: Summary }) => <Badge tone={tones[of.status]}>{of.status}</Badge>

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

/** An upgrade also needs a quorum's yes. */
const isUpgrade = ({ payload }: Summary): boolean => "param" in payload && payload.param === PARAMETER

const votedOf = ({ votes_for: yes, votes_against: no }: Summary): number => yes + no

/**
 * The reason of a rejection. The bond is lost only after too low a turnout, which tells the two reasons apart under any
 * parameters.
 */
export const rejectionOf = (of: Summary): string => {
  const voted = votedOf(of)
  return of.bond_status === "forfeited"
    ? `only ${Words.percent(share(voted, of.snapshot_total_stake))} of the stake voted`
    : `only ${Words.percent(share(of.votes_for, voted))} of the votes were yes`
}

/**
 * The shares of stake that voted and of yes. The required ones are shown only until the decision: later ones may have
 * replaced those that applied.
 */
export const Votes = ({ of }: { readonly of: Summary }) => {
  const parameters = of.status === "Active" ? Network.network.value?.parameters : undefined
  const voted = votedOf(of)
  const need = (percent: number | undefined): string => (percent === undefined ? "" : `, ${percent} % needed`)
  const mark = (percent: number | undefined) => (percent === undefined ? {} : { mark: percent / 100 })
  return (
    <div class="votes">
      <p>
        <b>{Words.percent(share(of.votes_for, voted), 0)} yes</b>
        <span class="quiet">
          {need(parameters?.approval_percent)}
          {of.status === "Active" && isUpgrade(of) ? " and more than two thirds of all stake" : ""}
        </span>
      </p>
      <Bar
        label="Approval"
        total={voted}
        parts={[
          { name: "yes", amount: of.votes_for, tone: "good" },
          { name: "no", amount: of.votes_against, tone: "bad" },
        ]}
        {...mark(parameters?.approval_percent)}
      />
      <p>
        <b>{Words.percent(share(voted, of.snapshot_total_stake), 0)} voted</b>
        <span class="quiet">{need(parameters?.quorum_percent)}</span>
      </p>
      <Bar
        label="Turnout"
        total={of.snapshot_total_stake}
        parts={[{ name: "voted", amount: voted, tone: "second" }]}
        {...mark(parameters?.quorum_percent)}
      />
    </div>
  )
}

/** The proposal's next step and the approximate time until then. */
export const TimeLeft = ({ of }: { readonly of: Summary }) => {
  const finalized = Live.head.value?.finalizedRound
  if (finalized === undefined) return null
  const about = (round: number) => (
    <span class="unbroken">{Words.duration(Network.millisecondsOf(Math.max(0, round - finalized)))}</span>
  )
  switch (of.status) {
    case "Active":
      return <>voting ends in about {about(of.voting_ends_at_round)}</>
    case "Passed":
      return <>to be carried out in about {about(of.executes_at_round)}</>
    case "Executed":
      return <>carried out at round {Words.count(of.executes_at_round)}</>
    case "Rejected":
      return <>voting ended at round {Words.count(of.voting_ends_at_round)}</>
    case "Failed":
      return <>at round {Words.count(of.executes_at_round)}</>
  }
}
