import type { Answer } from "../live/Node.js"
import * as Route from "../route/Route.js"
import { Badge } from "../show/Badge.js"
import { None } from "../show/None.js"
import * as Reference from "../show/Reference.js"
import { type Column, Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"

type Listed = Answer<"checkpoints", "list">["checkpoints"][number]

const columns: ReadonlyArray<Column<Listed>> = [
  {
    title: "Round",
    of: ({ round }) => (
      <a class="figure" href={Route.subject("checkpoint", round)}>
        {Words.count(round)}
      </a>
    ),
  },
  { title: "Epoch", isFigure: true, of: ({ epoch }) => <Reference.Epoch epoch={epoch} /> },
  {
    title: "Kind",
    inCard: "untitled",
    of: ({ epoch, closes_epoch: closes }) =>
      closes ? (
        <Badge tone="good">closes epoch {Words.count(epoch)}</Badge>
      ) : (
        <span class="quiet">within its epoch</span>
      ),
  },
  { title: "Hash", of: ({ hash }) => <Reference.Text text={hash} what="checkpoint hash" /> },
  { title: "Signatures", isFigure: true, of: ({ signatures }) => Words.count(signatures) },
  {
    title: "Next committee",
    isFigure: true,
    of: ({ members }) => (members === null ? <None /> : Words.count(members)),
  },
  { title: "Supply", sats: ({ total_supply: supply }) => supply },
  { title: "Time", inCard: "beside", of: ({ timestamp }) => <When at={timestamp} /> },
]

export const CheckpointTable = ({ rows, empty }: { readonly rows: ReadonlyArray<Listed>; readonly empty: string }) => (
  <Table caption="Checkpoints, newest first" rows={rows} keyOf={({ round }) => round} empty={empty} columns={columns} />
)
