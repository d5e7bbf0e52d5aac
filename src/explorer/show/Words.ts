/** Formats figures and times for people. Pure. */
import * as Moment from "../../client/Moment.js"
import * as Sats from "../../protocol/numbers/Sats.js"

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })

export const count = (value: number): string => grouped.format(value)

/** "1 vertex", "2 vertices". */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** An exact amount of sats in coins: grouped digits before the point, at least two after it. */
export const coinParts = (sats: number): readonly [whole: string, decimals: string] => {
  const [whole = "0", decimals = ""] = Sats.isSats(sats) ? Sats.formatCoin(sats).split(".") : ["?"]
  return [grouped.format(Number(whole)), decimals.padEnd(2, "0")]
}

export const coins = (sats: number): string => coinParts(sats).join(".")

/** Whole coins. */
export const wholeCoins = (sats: number): string => coinParts(sats)[0]

/** All digits and no more, for formulas. */
export const exactCoins = (sats: number): string => Sats.formatCoin(sats)

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 })

/** A rounded amount, for figures at a glance. */
export const aboutCoins = (sats: number): string => compact.format(sats / Sats.SATS_PER_COIN)

export const percent = (share: number, digits = 1): string =>
  Number.isFinite(share)
    ? `${(100 * share).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} %`
    : "–"

/** An address' prefix identifies nobody. */
const PREFIX = /^t?udg1/

/** Both ends of a hash or address, in the form that all pages use and the search box accepts. */
export const abbreviated = (text: string): string => {
  const start = PREFIX.test(text) ? 10 : 8
  return text.length <= start + 7 ? text : `${text.slice(0, start)}…${text.slice(-6)}`
}

/** Shortens a text to the available characters. */
export const within = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`

/** The share of rounds in which a validator made a vertex. 100 % means that it missed none. */
export const uptime = ({ made, missed }: { readonly made: number; readonly missed: number }): string => {
  const share = made / (made + missed)
  return missed === 0 ? percent(share, 0) : percent(Math.min(share, 0.9999), 2)
}

/** The part of the last day that was counted. A day's first point can be half an hour late. */
export const ofLastDay = (since: number, now: number): string => {
  const ms = Math.max(0, now - since)
  return ms > 23.5 * 3_600_000 ? "24 h" : duration(ms - (ms % 60_000) || ms)
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const

/** A duration in its two largest units. */
export const duration = (ms: number): string => {
  if (!Number.isFinite(ms)) return "–"
  if (ms < 1_000) return ms <= 0 ? "0 s" : "< 1 s"
  const first = units.findIndex(([, size]) => ms >= size)
  let rest = ms
  return units
    .slice(first, first + 2)
    .map(([name, size]) => {
      const amount = Math.floor(rest / size)
      rest -= amount * size
      return amount === 0 ? "" : `${amount} ${name}`
    })
    .filter((part) => part !== "")
    .join(" ")
}

/** The age, coarse enough not to change constantly. */
export const ago = (then: number, now: number): string => {
  const ms = now - then
  if (ms < -1_000) return `in ${duration(-ms)}`
  if (ms < 2_000) return "now"
  const [name, size] = units.find(([, least]) => ms >= least) ?? units[3]
  return `${Math.floor(ms / size)} ${name} ago`
}

const absolute = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })

/** A time in the reader's time zone. */
export const moment = (timestamp: number): string => Moment.local(absolute, timestamp)

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" })
const dayAndClock = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
})
const DAY_MS = 86_400_000

/** The time of day, for recent times. */
export const timeOfDay = (timestamp: number): string => Moment.local(clock, timestamp)

/** A time in a list: the time of day, preceded by the day if it is older than one. */
export const shortMoment = (timestamp: number, now: number): string =>
  Moment.local(Math.abs(now - timestamp) < DAY_MS ? clock : dayAndClock, timestamp)
