import { useMemo } from "preact/hooks"
import type { Answer } from "../live/Node.js"
import * as Words from "../show/Words.js"
import { Chart } from "./Chart.js"

interface Props {
  /** Newest first, as an archive returns them. */
  readonly balances: Answer<"archive", "balances">["balances"]
}

/** An account's balance since its network began. */
export const BalanceChart = ({ balances }: Props) => {
  const course = useMemo(() => {
    // Commit 0 has the time of the genesis, which can be long before the first round.
    const rising = balances.filter(({ commit }) => commit > 0).toReversed()
    return {
      at: rising.map(({ timestamp }) => timestamp / 1_000),
      values: [rising.map(({ balance }) => balance)],
    }
  }, [balances])
  return (
    <Chart
      title="Balance, UDG"
      window="since the network began"
      course={course}
      lines={[{ name: "Balance", tone: "accent" }]}
      write={Words.coins}
      writeShort={Words.aboutCoins}
      isStepped
      fromZero
    />
  )
}
