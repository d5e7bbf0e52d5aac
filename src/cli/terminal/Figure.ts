/** Formats figures for people, with digits in groups of three. Pure. */
import * as Sats from "../../protocol/numbers/Sats.js"

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })

export const count = (value: number): string => grouped.format(value)

/** `1 round`, `2,000 rounds`. */
export const counted = (value: number, one: string): string => `${count(value)} ${one}${value === 1 ? "" : "s"}`

/** `1,234.5`, exact. */
export const amount = (sats: number): string => {
  const [whole = "", decimals] = Sats.formatCoin(sats).split(".")
  return decimals === undefined ? count(Number(whole)) : `${count(Number(whole))}.${decimals}`
}

export const coins = (sats: number): string => `${amount(sats)} UDG`

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const

/** `4 min`: a duration in its largest unit. */
export const duration = (ms: number): string => {
  const [unit, length] = units.find(([, length]) => ms >= length) ?? ["s", 1_000]
  return `${count(Math.floor(Math.max(0, ms) / length))} ${unit}`
}
