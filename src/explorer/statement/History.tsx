import { useState } from "preact/hooks"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Account } from "../show/Account.js"
import { Loaded } from "../show/Loaded.js"
import { None } from "../show/None.js"
import { Section } from "../show/Page.js"
import { Pager } from "../show/Pager.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as TypeName from "../show/TypeName.js"
import { When } from "../show/When.js"
import type { Entry } from "./Csv.js"
import { CsvButton } from "./CsvButton.js"
import { Kind } from "./Kind.js"
import { Memo } from "./Memo.js"

const KINDS: Readonly<Record<Entry["kind"], string>> = {
  sent: "Sent",
  received: "Received",
  genesis: "Genesis allocation",
  reward: "Rewards of its vertices",
  fees: "Fees in its vertices",
  council: "Council's share of rewards",
  treasury_payment: "Treasury payment",
  bond_returned: "Bond returned",
  stake_released: "Stake released",
  delegation_released: "Delegation released",
  stake_slashed: "Stake slashed",
  delegations_slashed: "Its delegations slashed",
}

const Subject = ({ of: { hash, proposal_id: proposal, kind } }: { readonly of: Entry }) => {
  if (hash !== null) return <Reference.Transaction hash={hash} hasCopy={false} />
  return (
    <>
      {KINDS[kind]}
      {proposal === null ? undefined : (
        <>
          {" "}
          <Reference.Proposal id={proposal} />
        </>
      )}
    </>
  )
}

const With = ({ of: { counterparty } }: { readonly of: Entry }) =>
  counterparty === null ? <None /> : <Account account={counterparty} hasCopy={false} />

const LIMIT = 25

const keyOf = ({ kind, hash, timestamp, proposal_id: proposal, amount }: Entry): string =>
  hash ?? `${kind} ${timestamp} ${proposal} ${amount}`

/** Everything that changed the account's balance, newest first, a page at a time. */
export const History = ({ account }: { readonly account: string }) => {
  /** The cursors of all pages up to this one. */
  const [pages, setPages] = useState<ReadonlyArray<string>>([])
  const cursor = pages.at(-1)
  const urlParams = cursor === undefined ? { limit: LIMIT } : { limit: LIMIT, cursor }
  const statement = useResource(`statement ${account} ${cursor ?? ""}`, () =>
    node.transactions.statement({ path: { address: account }, urlParams }),
  )
  return (
    <Section
      title="History"
      aside={
        <>
          <a href={Route.transactionsOf({ account })}>Filter its transactions</a> <CsvButton account={account} />
        </>
      }
    >
      <Loaded of={statement} what="its history">
        {({ entries, next_cursor: next }) => (
          <>
            <Table
              caption="Changes of the account's balance, newest first"
              rows={entries}
              keyOf={keyOf}
              empty="This account has neither sent nor received anything."
              columns={[
                { title: "Entry", of: (entry) => <Subject of={entry} /> },
                {
                  title: "Type",
                  inCard: "untitled",
                  of: ({ type, kind, applied }) =>
                    type === null ? <None /> : <Kind name={`${TypeName.of(type)}, ${kind}`} applied={applied} />,
                },
                { title: "With", of: (entry) => <With of={entry} /> },
                { title: "Amount", inCard: "hidden", sats: ({ amount }) => amount },
                { title: "Fee", sats: ({ fee }) => fee ?? undefined },
                { title: "Change", inCard: "beside", sats: ({ change }) => change, isChange: true },
                { title: "Memo", of: ({ memo }) => <Memo text={memo} /> },
                { title: "Time", inCard: "untitled", of: ({ timestamp }) => <When at={timestamp} /> },
              ]}
            />
            <Pager pages={pages} next={next} turnTo={setPages} what="history" />
          </>
        )}
      </Loaded>
    </Section>
  )
}
