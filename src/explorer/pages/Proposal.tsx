import { type Answer, node } from "../live/Node.js"
import * as PathSegment from "../live/PathSegment.js"
import { useResource } from "../live/Resource.js"
import { payloadFacts } from "../payload/ProposalPayload.js"
import { Amount, WholeAmount } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import { Facts, LoadedPage, Problem, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"
import { Written } from "../show/Written.js"
import { rejectionOf, Status, TimeLeft, VoteLink, Votes } from "./Votes.js"

type Record = Answer<"governance", "proposal">

const bondWords: { readonly [S in Record["bond_status"]]: string } = {
  held: "held until it is decided",
  returned: "returned to its proposer",
  forfeited: "paid to the treasury: too few voted",
}

const Bond = ({ of }: { readonly of: Record }) => (
  <>
    <Amount sats={of.bond} /> <span class="quiet">{bondWords[of.bond_status]}</span>
  </>
)

export const Proposal = ({ id }: { readonly id: string }) => {
  const read = async () => node.governance.proposal({ path: { id: PathSegment.proposal(id) } })
  const record = useResource(`proposal ${id}`, read)
  return (
    <LoadedPage kind="Proposal" title={`#${id}`} of={record} what="this proposal">
      {(proposal) => (
        <>
          <h2 class="subject">{proposal.texts_pruned ? "Text no longer kept" : <Written text={proposal.title} />}</h2>
          <p class="line">
            <Status of={proposal} />{" "}
            <span class="quiet">
              <TimeLeft of={proposal} />
            </span>
          </p>
          {proposal.failure === null ? undefined : (
            <Problem>It passed but could not be carried out: {proposal.failure}.</Problem>
          )}
          {proposal.status === "Rejected" ? <Problem>Rejected: {rejectionOf(proposal)}.</Problem> : undefined}
          {proposal.description === "" ? undefined : (
            <p class="prose">
              <Written text={proposal.description} />
            </p>
          )}
          <Votes of={proposal} />
          <VoteLink of={proposal} />
          <Facts
            of={[
              ...payloadFacts(proposal.payload, proposal.status === "Active" || proposal.status === "Passed"),
              ["Proposed by", <Reference.Address address={proposal.proposer} />],
              [
                "Proposed in",
                <>
                  round <Reference.Round round={proposal.created_at_round} />
                </>,
              ],
              ["Transaction", <Reference.Transaction hash={proposal.tx_hash} />],
              ["Bond", <Bond of={proposal} />],
              ["Votes count until", `round ${Words.count(proposal.voting_ends_at_round)}`],
              [
                "Carried out from",
                proposal.status === "Rejected" || proposal.status === "Failed"
                  ? undefined
                  : `round ${Words.count(proposal.executes_at_round)}`,
              ],
              ["Yes", <WholeAmount sats={proposal.votes_for} />],
              ["No", <WholeAmount sats={proposal.votes_against} />],
              ["Eligible to vote", <WholeAmount sats={proposal.snapshot_total_stake} />],
            ]}
          />
          <Section title="Voters" aside={Words.count(proposal.voters.length)}>
            <Table
              caption="Votes"
              rows={proposal.voters}
              keyOf={({ address }) => address}
              empty="Nobody has voted yet."
              columns={[
                { title: "Validator", of: ({ address }) => <Reference.Address address={address} as="validator" /> },
                {
                  title: "Vote",
                  inCard: "beside",
                  of: ({ vote }) => <Badge tone={vote === "yes" ? "good" : "bad"}>{vote}</Badge>,
                },
                {
                  title: "Weight",

                  sats: ({ weight }) => weight,
                },
              ]}
            />
          </Section>
        </>
      )}
    </LoadedPage>
  )
}
