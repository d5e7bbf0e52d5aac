import { useState } from "preact/hooks"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Account } from "../show/Account.js"
import { Loaded } from "../show/Loaded.js"
import { Page } from "../show/Page.js"
import { Pager } from "../show/Pager.js"
import { Table } from "../show/Table.js"

const LIMIT = 50

/** Needs an archive. */
export const Accounts = () => {
  const [pages, setPages] = useState<ReadonlyArray<string>>([])
  const cursor = pages.at(-1)
  const urlParams = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) }
  const richest = useResource(`accounts ${cursor}`, () => node.archive.richest({ urlParams }))
  return (
    <Page title="Accounts" about="Sorted by spendable balance, without stakes and delegations.">
      <Loaded of={richest} what="the accounts" lines={8}>
        {({ accounts, next_cursor: next }) => (
          <>
            <Table
              caption="Accounts by balance, the richest first"
              rows={accounts}
              keyOf={({ address }) => address}
              empty="There are no accounts."
              columns={[
                { title: "Account", of: ({ address }) => <Account account={address} /> },
                {
                  title: "Balance",

                  inCard: "beside",
                  sats: ({ balance }) => balance,
                },
              ]}
            />
            <Pager pages={pages} next={next} turnTo={setPages} what="accounts" />
          </>
        )}
      </Loaded>
    </Page>
  )
}
