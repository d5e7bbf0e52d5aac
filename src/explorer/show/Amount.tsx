import { None } from "./None.js"
import * as Words from "./Words.js"

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

/** The amount in whole coins, where the rest does not matter. */
export const WholeAmount = ({ sats }: { readonly sats: number }) => (
  <span class="amount" title={`${Words.coins(sats)} UDG`}>
    {Words.wholeCoins(sats)}
    <span class="unit"> UDG</span>
  </span>
)

interface CellProps {
  readonly sats: number | undefined
  /** The most decimals in the column. */
  readonly decimals: number
}

/** An amount in a column, padded invisibly so that decimal points align. */
export const AmountCell = ({ sats, decimals }: CellProps) => {
  if (sats === undefined) return <None />
  return (
    <>
      <Amount sats={sats} unit={false} />
      <span class="filling" aria-hidden="true">
        {"0".repeat(decimals - Words.coinParts(sats)[1].length)}
      </span>
    </>
  )
}

/** A change of a balance in a column, with its sign. */
export const ChangeCell = ({ sats = 0, decimals }: CellProps) => (
  <span class={sats > 0 ? "rise" : sats < 0 ? "fall" : ""}>
    {sats > 0 ? "+" : sats < 0 ? "−" : ""}
    <AmountCell sats={Math.abs(sats)} decimals={decimals} />
  </span>
)

/** The most decimals that one of these amounts has. */
export const decimalsOf = (amounts: ReadonlyArray<number | undefined>): number =>
  Math.max(0, ...amounts.map((sats) => (sats === undefined ? 0 : Words.coinParts(Math.abs(sats))[1].length)))
