import { type Answer, node } from "../live/Node.js"
import * as PathSegment from "../live/PathSegment.js"
import { useResource } from "../live/Resource.js"
import { factsOf, ProposalLink } from "../payload/OperationFacts.js"
import { Account } from "../show/Account.js"
import { Amount } from "../show/Amount.js"
import { Outcome } from "../show/Badge.js"
import { type Fact, Facts, LoadedPage, Problem, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import * as TypeName from "../show/TypeName.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"

type Lookup = Answer<"transactions", "lookup">
const placeOf = ({ round, vertex_hash, validator, timestamp }: Lookup): ReadonlyArray<Fact> =>
  round === null || vertex_hash === null || validator === null
    ? [["Place", "in the mempool"]]
    : [
        ["Round", <Reference.Round round={round} />],
        ["Vertex", <Reference.Vertex hash={vertex_hash} />],
        ["Validator", <Reference.Address address={validator} as="validator" />],
        ["Time", <When at={timestamp} />],
      ]

export const Transaction = ({ hash }: { readonly hash: string }) => {
  const read = async () => node.transactions.lookup({ path: { hash: PathSegment.hash(hash) } })
  const record = useResource(`tx ${hash}`, read)
  return (
    <LoadedPage kind="Transaction" title={Words.abbreviated(hash)} of={record} what="this transaction">
      {(lookup) => (
        <>
          {lookup.failure === null ? undefined : (
            <Problem>It had no effect except for its fee: {lookup.failure}.</Problem>
          )}
          <Facts
            of={[
              ["Hash", <Reference.Text text={lookup.hash} what="transaction hash" isWhole />],
              ["State", <Outcome status={lookup.status} applied={lookup.applied} />],
              ...placeOf(lookup),
              ["Proposal", lookup.proposal_id === null ? undefined : <ProposalLink id={lookup.proposal_id} />],
            ]}
          />
          <Section title={TypeName.of(lookup.transaction.type)}>
            <Facts
              of={[
                ["From", <Account account={lookup.transaction.from} />],
                ...factsOf(lookup.transaction),
                ["Fee", <Amount sats={lookup.transaction.fee ?? 0} />],
                ["Nonce", lookup.transaction.nonce],
              ]}
            />
          </Section>
          <details class="raw">
            <summary>As JSON</summary>
            <pre>{JSON.stringify(lookup.transaction, null, 2)}</pre>
          </details>
        </>
      )}
    </LoadedPage>
  )
}
