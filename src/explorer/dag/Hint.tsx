import type { Address } from "../../protocol/identity/Address.js"
import * as AccountName from "../live/AccountName.js"
import * as Network from "../live/Network.js"
import * as Words from "../show/Words.js"
import type { Column } from "./Columns.js"
import * as Feed from "./Feed.js"
import type { Spot } from "./Painter.js"
import * as Window from "./Window.js"

interface Props {
  readonly spot: Spot | undefined
  readonly window: Window.Window | undefined
}

const WIDTH = 240

const orderOf = (commit: number | null, column: Column | undefined): string => {
  if (commit !== null) return `ordered by commit ${Words.count(commit)}`
  return column !== undefined && Feed.columns.isOver(column)
    ? "dropped: its epoch closed before it was ordered"
    : "not ordered yet"
}

const Author = ({ address }: { readonly address: Address }) => {
  const called = AccountName.of(address)
  return called === null ? <p class="mono">{Words.abbreviated(Network.written(address))}</p> : <p>{called}</p>
}

/** A description of the selected vertex beside it. */
export const Hint = ({ spot, window }: Props) => {
  if (spot === undefined || window === undefined) return <div class="unseen" role="status" />
  const { round, dot } = spot
  const address = Feed.columns.lanes[dot.lane]
  const column = Feed.columns.at(round)
  const leader = column?.leader
  const isLeader = leader?.lane === dot.lane
  const x = Window.x(window, round)
  const y = Window.y(window, dot.lane)
  const left = x + WIDTH + 16 > window.width ? x - WIDTH - 16 : x + 16
  const top = Math.max(4, Math.min(y - 20, window.height - 116))
  return (
    <div class="hint" role="status" style={{ left: `${left}px`, top: `${top}px`, width: `${WIDTH}px` }}>
      <p>
        <b>Round {Words.count(round)}</b>
        {isLeader ? ` · leader, ${leader.verdict}` : ""}
      </p>
      {address === undefined ? undefined : <Author address={address} />}
      <p class="mono quiet">{Words.abbreviated(dot.hash)}</p>
      <p>
        {orderOf(dot.commit, column)}, {Words.counted(dot.transactions, "transaction")},{" "}
        {Words.counted(dot.parents.length + dot.olderParents.length, "parent")}
      </p>
    </div>
  )
}
