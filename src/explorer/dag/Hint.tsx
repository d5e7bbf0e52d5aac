import * as Network from "../live/Network.js"
import * as Words from "../show/Words.js"
import * as Feed from "./Feed.js"
import type { Spot } from "./Painter.js"
import * as Window from "./Window.js"

interface Props {
  readonly spot: Spot | undefined
  readonly window: Window.Window | undefined
}

const WIDTH = 240

/** A description of the selected vertex beside it. */
export const Hint = ({ spot, window }: Props) => {
  if (spot === undefined || window === undefined) return <div class="unseen" role="status" />
  const { round, dot } = spot
  const address = Feed.columns.lanes[dot.lane]
  const leader = Feed.columns.at(round)?.leader
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
      <p class="mono">{address === undefined ? "" : Words.abbreviated(Network.written(address), 12, 6)}</p>
      <p class="mono quiet">{Words.abbreviated(dot.hash, 12, 6)}</p>
      <p>
        {dot.commit === null ? "not ordered yet" : `ordered by commit ${Words.count(dot.commit)}`},{" "}
        {Words.counted(dot.transactions, "transaction")},{" "}
        {Words.counted(dot.parents.length + dot.olderParents.length, "parent")}
      </p>
    </div>
  )
}
