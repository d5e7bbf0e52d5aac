import * as Sats from "../../protocol/numbers/Sats.js"
import type { Answer } from "../live/Node.js"
import { Bar } from "../show/Bar.js"
import * as Reference from "../show/Reference.js"
import * as Words from "../show/Words.js"

type List = Answer<"staking", "validators">

/** Further validators are combined into one line. */
const SHOWN = 20

/** The distribution of stake: each validator's share, and how few hold a third, which could stop the network. */
export const StakeShares = ({ list: { validators } }: { readonly list: List }) => {
  const total = validators.reduce((sum, { effective_stake: stake }) => sum + stake, 0)
  const most = validators[0]?.effective_stake ?? 0
  const others = validators.slice(SHOWN)
  let held = 0
  const members = validators.filter(({ in_committee }) => in_committee)
  const seated = members.reduce((sum, { effective_stake: stake }) => sum + stake, 0)
  const blocking = members.findIndex(({ effective_stake: stake }) => {
    held += stake
    return 3 * held >= seated
  })
  const rows = validators.slice(0, SHOWN)
  if (total === 0) return <p class="notice empty">No account has a stake.</p>
  return (
    <>
      <p class="summary">
        {Words.counted(validators.length, "validator")}.{" "}
        {blocking === 0 ? "The largest one holds" : `The largest ${blocking + 1} together hold`} a third of the
        committee's stake or more, without which nothing becomes final.
      </p>
      <ul class="stake-shares">
        {rows.map(({ address, effective_stake: stake }) => (
          <li key={address}>
            <Reference.Address address={address} as="validator" hasCopy={false} />
            <Bar label="Share" total={most} parts={[{ name: "stake", amount: stake, tone: "first" }]} />
            <span class="num">{Words.percent(stake / total)}</span>
            <span class="num quiet">{Words.count(stake / Sats.SATS_PER_COIN)} UDG</span>
          </li>
        ))}
        {others.length === 0 ? undefined : (
          <li>
            <span>{Words.counted(others.length, "other")}</span>
            <span />
            <span class="num">
              {Words.percent(others.reduce((sum, { effective_stake: stake }) => sum + stake, 0) / total)}
            </span>
            <span />
          </li>
        )}
      </ul>
    </>
  )
}
