import * as Live from "../live/Live.js"
import { Badge, type Tone } from "../show/Badge.js"
import { None } from "../show/None.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"
import type { Column, Leader } from "./Columns.js"
import * as Feed from "./Feed.js"

const tones: Readonly<Record<Leader["verdict"], Tone>> = { undecided: "waiting", committed: "good", skipped: "bad" }

const LeaderCell = ({ leader }: { readonly leader: Leader | null }) => {
  const address = leader === null ? undefined : Feed.columns.lanes[leader.lane]
  return address === undefined ? <None /> : <Reference.Address address={address} as="validator" hasCopy={false} />
}

const transactionsOf = ({ dots }: Column): number => dots.reduce((sum, { transactions }) => sum + transactions, 0)

/** The newest rounds as a table. Beside another column, only their age fits. */
export const RoundTable = ({ count, isShort = false }: { readonly count: number; readonly isShort?: boolean }) => {
  const { columns } = Feed.useColumns()
  const rows = columns.between(columns.newest - count + 1, columns.newest).toReversed()
  return (
    <div class={Live.standstill.value === undefined ? "loaded" : "loaded old"}>
      <Table
        caption="The latest rounds"
        rows={rows}
        keyOf={({ round }) => round}
        empty="No rounds yet."
        columns={[
          { title: "Round", of: ({ round }) => <Reference.Round round={round} /> },
          { title: "Leader", of: ({ leader }) => <LeaderCell leader={leader} /> },
          {
            title: "Verdict",
            inCard: "beside",
            of: ({ leader }) =>
              leader === null ? <None /> : <Badge tone={tones[leader.verdict]}>{leader.verdict}</Badge>,
          },
          { title: "Vertices", isFigure: true, of: ({ dots }) => dots.length },
          { title: "Transactions", isFigure: true, of: (column) => Words.count(transactionsOf(column)) },
          { title: "Time", inCard: "untitled", of: ({ timestamp }) => <When at={timestamp} isShort={isShort} /> },
        ]}
      />
    </div>
  )
}
