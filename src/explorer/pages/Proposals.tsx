import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { LoadedPage } from "../show/Page.js"
import { Written } from "../show/Written.js"
import { Status, type Summary, TimeLeft, VoteLink, Votes } from "./Votes.js"

const types: Readonly<Record<Summary["proposal_type"], string>> = {
  Text: "declaration",
  ParameterChange: "parameter",
  CouncilMembership: "council",
  TreasurySpend: "treasury",
}

const Card = ({ of }: { readonly of: Summary }) => (
  <li class="proposal">
    <h2>
      <a href={Route.subject("proposal", of.id)}>
        <span class="kind">#{of.id}</span> {of.texts_pruned ? "Text no longer kept" : <Written text={of.title} />}
      </a>
    </h2>
    <p class="line">
      <Status of={of} />{" "}
      <span class="quiet">
        {types[of.proposal_type]} · <TimeLeft of={of} />
      </span>
    </p>
    <Votes of={of} />
    <VoteLink of={of} />
  </li>
)

export const Proposals = () => (
  <LoadedPage
    title="Proposals"
    about="Put to the validators' vote, newest first. A vote counts as much as the validator's stake at the time of the proposal."
    of={useResource("proposals", () => node.governance.proposals())}
    what="the proposals"
  >
    {({ proposals }) =>
      proposals.length === 0 ? (
        <p class="notice empty">
          No proposals yet. With enough stake, you can make one in the <a href={Route.place("wallet")}>wallet</a>.
        </p>
      ) : (
        <ul class="proposals">
          {proposals.map((proposal) => (
            <Card key={proposal.id} of={proposal} />
          ))}
        </ul>
      )
    }
  </LoadedPage>
)
