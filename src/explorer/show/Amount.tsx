import { None } from "./None.js"
import * as Words from "./Words.js"

const DECIMALS = 8

/** An exact amount in coins, with the sats in its tooltip. */
export const Amount = ({ sats, unit = true }: { readonly sats: number; readonly unit?: boolean }) => {
  const [whole, decimals] = Words.coinParts(sats)
  return (
    <span class="amount" title={`${Words.count(sats)} sats`}>
      {whole}
      <span class="decimals">.{decimals}</span>
      {unit ? <span class="unit"> UDG</span> : undefined}
    </span>
  )
}

/** The same in whole coins, where nobody counts the rest. */
export const WholeAmount = ({ sats }: { readonly sats: number }) => (
  <span class="amount" title={`${Words.coins(sats)} UDG`}>
    {Words.wholeCoins(sats)}
    <span class="unit"> UDG</span>
  </span>
)

/** An exact amount in a column, padded invisibly so that decimal points are aligned. */
export const AmountCell = ({ sats }: { readonly sats: number | undefined }) => {
  if (sats === undefined) return <None />
  const [, decimals] = Words.coinParts(sats)
  return (
    <>
      <Amount sats={sats} unit={false} />
      <span class="filling" aria-hidden="true">
        {"0".repeat(DECIMALS - decimals.length)}
      </span>
    </>
  )
}

/** A change of a balance in a column, with its sign. */
export const ChangeCell = ({ sats }: { readonly sats: number }) => (
  <span class={sats > 0 ? "rise" : sats < 0 ? "fall" : ""}>
    {sats > 0 ? "+" : sats < 0 ? "−" : ""}
    <AmountCell sats={Math.abs(sats)} />
  </span>
)
