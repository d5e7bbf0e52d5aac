import type { ComponentChildren } from "preact"
import * as Named from "../live/Named.js"
import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Amount, AmountCell } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Page, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"
import { Written } from "../show/Written.js"
import { Status, TimeLeft, Votes } from "./Votes.js"

type Record = Answer<"governance", "proposal">
type Fact = readonly [term: string, value: ComponentChildren]

/** The fields of the proposal's type. */
const payloadFacts = ({ payload }: Record): ReadonlyArray<Fact> => {
  if ("param" in payload) {
    return [
      ["Would set", <span class="mono">{payload.param}</span>],
      ["To", Words.count(payload.value)],
    ]
  }
  if ("action" in payload) {
    return [[payload.action === "add" ? "Would seat" : "Would unseat", <Reference.Address address={payload.address} />]]
  }
  if ("recipient" in payload) {
    return [
      ["Would pay", <Amount sats={payload.amount} />],
      ["To", <Reference.Address address={payload.recipient} />],
    ]
  }
  return [["Would do", "nothing: a declaration"]]
}

const bondWords: { readonly [S in Record["bond_status"]]: string } = {
  held: "held until it is decided",
  returned: "returned to its proposer",
  forfeited: "to the treasury: too few voted",
}

const Bond = ({ of }: { readonly of: Record }) => (
  <>
    <Amount sats={of.bond} /> <span class="quiet">{bondWords[of.bond_status]}</span>
  </>
)

const read = async (text: string) => {
  const id = Named.proposal(text)
  return node.governance.proposal({ path: { id } })
}

export const Proposal = ({ id }: { readonly id: string }) => {
  const record = useResource(`proposal ${id}`, () => read(id))
  return (
    <Page kind="Proposal" title={`#${id}`}>
      <Loaded of={record} what="this proposal">
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
              <div class="notice failed">
                <p>It passed and could not be carried out: {proposal.failure}.</p>
              </div>
            )}
            {proposal.description === "" ? undefined : (
              <p class="prose">
                <Written text={proposal.description} />
              </p>
            )}
            <Votes of={proposal} />
            <Facts
              of={[
                ...payloadFacts(proposal),
                ["Proposed by", <Reference.Address address={proposal.proposer} />],
                ["Made in", <Reference.Round round={proposal.created_at_round} />],
                ["Made by", <Reference.Transaction hash={proposal.tx_hash} />],
                ["Bond", <Bond of={proposal} />],
                ["Votes count until", Words.count(proposal.voting_ends_at_round)],
                ["Carried out from", Words.count(proposal.executes_at_round)],
                ["Yes", <Amount sats={proposal.votes_for} />],
                ["No", <Amount sats={proposal.votes_against} />],
                ["May vote", <Amount sats={proposal.snapshot_total_stake} />],
              ]}
            />
            <Section title="Who voted" aside={Words.count(proposal.voters.length)}>
              <Table
                caption="Votes"
                rows={proposal.voters}
                keyOf={({ address }) => address}
                empty="Nobody has voted yet."
                columns={[
                  { title: "Validator", of: ({ address }) => <Reference.Address address={address} as="validator" /> },
                  {
                    title: "Vote",
                    of: ({ vote }) => <Badge tone={vote === "yes" ? "good" : "bad"}>{vote}</Badge>,
                  },
                  { title: "Weight, UDG", isFigure: true, of: ({ weight }) => <AmountCell sats={weight} /> },
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
