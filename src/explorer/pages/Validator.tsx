import { node } from "../live/Node.js"
import { both, useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { AmountCell } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import { Bar } from "../show/Bar.js"
import { Facts, LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"
import { stakeFacts } from "./Stake.js"

export const Validator = ({ account }: { readonly account: string }) => {
  const path = { address: account }
  const stake = useResource(`stake ${account}`, () => node.staking.stakeOf({ path }))
  const delegators = useResource(`delegators ${account}`, () => node.delegation.delegators({ path }))
  return (
    <LoadedPage
      kind="Validator"
      title={Words.abbreviated(account, 12, 6)}
      of={both(stake, delegators)}
      what="this validator"
    >
      {([details, list]) => (
        <>
          <Facts
            of={[
              ["Address", <Reference.Address address={details.address} as="validator" isWhole />],
              ["Account", <a href={Route.subject("address", account)}>balance and history</a>],
              ...stakeFacts(details),
            ]}
          />
          <Bar
            label="Origin of its stake"
            total={details.effective_stake}
            parts={[
              { name: "own", amount: Math.min(details.staked_amount, details.effective_stake), tone: "first" },
              {
                name: "delegated",
                amount: Math.max(0, details.effective_stake - details.staked_amount),
                tone: "second",
              },
            ]}
          />
          <Section
            title="Delegators"
            aside={`${Words.count(list.delegator_count)}, ${Words.coins(list.total_delegated)} UDG`}
          >
            <Table
              caption="Delegators, largest first"
              rows={list.delegators}
              keyOf={({ address }) => address}
              empty="No delegators."
              columns={[
                { title: "Delegator", of: ({ address }) => <Reference.Address address={address} /> },
                { title: "Amount, UDG", isFigure: true, of: ({ amount }) => <AmountCell sats={amount} /> },
                {
                  title: "State",
                  of: ({ undelegating }) =>
                    undelegating ? <Badge tone="waiting">leaving</Badge> : <Badge tone="good">active</Badge>,
                },
              ]}
            />
          </Section>
        </>
      )}
    </LoadedPage>
  )
}
