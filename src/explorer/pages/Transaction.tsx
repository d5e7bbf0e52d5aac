import type { ComponentChildren } from "preact"
import * as Named from "../live/Named.js"
import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Amount } from "../show/Amount.js"
import { Outcome } from "../show/Badge.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Page, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"
import { Written } from "../show/Written.js"
import { Account } from "./Account.js"
import { ProposalTypeFacts } from "./ProposalPayload.js"

type Lookup = Answer<"transactions", "lookup">
type Operation = Lookup["transaction"]
type Fact = readonly [term: string, value: ComponentChildren]

/** What a transaction of each type does, field by field. */
const factsOf = (operation: Operation): ReadonlyArray<Fact> => {
  switch (operation.type) {
    case "Transfer":
      return [
        ["To", <Account account={operation.to} />],
        ["Amount", <Amount sats={operation.amount} />],
        ...(operation.memo === undefined
          ? []
          : [
              [
                "Memo",
                <q class="memo">
                  <Written text={operation.memo} />
                </q>,
              ] as const,
            ]),
      ]
    case "StakeTx":
      return [["Amount", <Amount sats={operation.amount} />]]
    case "DelegateTx":
      return [
        ["Validator", <Account account={operation.validator} />],
        ["Amount", <Amount sats={operation.amount} />],
      ]
    case "UnstakeTx":
    case "UndelegateTx":
      return [["Amount", "everything"]]
    case "SetCommissionTx":
      return [["Commission", `${operation.commission_percent} %`]]
    case "CreateProposalTx":
      return [
        ["Title", <Written text={operation.title} />],
        [
          "Description",
          operation.description === "" ? (
            "–"
          ) : (
            <span class="prose">
              <Written text={operation.description} />
            </span>
          ),
        ],
        ...ProposalTypeFacts(operation.proposal_type),
      ]
    case "VoteTx":
      return [
        ["Proposal", <a href={Route.subject("proposal", operation.proposal_id)}>#{operation.proposal_id}</a>],
        ["Vote", operation.vote ? "yes" : "no"],
      ]
    case "RegisterNameTx":
      return [["Name", <a href={Route.subject("address", `@${operation.name}`)}>@{operation.name}</a>]]
    case "SetAccountPolicyTx":
      return [
        ["Policy", `${operation.threshold} of ${Words.counted(operation.keys.length, "key")}`],
        [
          "Keys",
          <ul class="hashes">
            {operation.keys.map((key) => (
              <li key={key}>
                <Reference.Hash hash={key} what="public key" />
              </li>
            ))}
          </ul>,
        ],
      ]
  }
}

const placeOf = ({ round, vertex_hash, validator, timestamp }: Lookup): ReadonlyArray<Fact> =>
  round === null || vertex_hash === null || validator === null
    ? [["Place", "in the mempool"]]
    : [
        ["Round", <Reference.Round round={round} />],
        ["Vertex", <Reference.Vertex hash={vertex_hash} />],
        ["Ordered by", <Reference.Address address={validator} as="validator" />],
        ["Time", <When at={timestamp} />],
      ]

const read = async (text: string) => {
  const hash = Named.hash(text)
  return node.transactions.lookup({ path: { hash } })
}

export const Transaction = ({ hash }: { readonly hash: string }) => {
  const record = useResource(`tx ${hash}`, () => read(hash))
  return (
    <Page kind="Transaction" title={Words.abbreviated(hash)}>
      <Loaded of={record} what="this transaction">
        {(lookup) => (
          <>
            {lookup.failure === null ? undefined : (
              <div class="notice failed">
                <p>It had no effect but its fee: {lookup.failure}.</p>
              </div>
            )}
            <Facts
              of={[
                ["Hash", <Reference.Hash hash={lookup.hash} what="transaction hash" isWhole />],
                ["State", <Outcome status={lookup.status} applied={lookup.applied} />],
                ...placeOf(lookup),
                ...(lookup.proposal_id === null
                  ? []
                  : [
                      [
                        "Made",
                        <a href={Route.subject("proposal", lookup.proposal_id)}>proposal #{lookup.proposal_id}</a>,
                      ] as const,
                    ]),
              ]}
            />
            <Section title={lookup.transaction.type}>
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
      </Loaded>
    </Page>
  )
}
