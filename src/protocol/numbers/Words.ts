/** Figures in messages to people. */
import * as Sats from "./Sats.js"

/** `1 request`, `2 requests`. */
export const counted = (value: number, one: string): string => `${value} ${one}${value === 1 ? "" : "s"}`

/** `0.00001 UDG (1000 sats)`: people think in coins, and write sats into a request. */
export const amount = (sats: number): string => `${Sats.formatCoin(sats)} UDG (${counted(sats, "sat")})`
