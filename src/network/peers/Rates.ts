/** The cost a peer may cause per second, by its standing. */
import type { Rate } from "../Allowance.js"
import type { Standing } from "../Standing.js"

/** Below the level of messages: see `Meter`. */
export interface Raw {
  readonly pieces: Rate
  readonly bytes: Rate
}

/** Within gossip: see `GossipMeter`. */
export interface Gossip {
  /** Everything that takes work of its own: subscriptions, messages, controls, message ids, and their envelopes. */
  readonly items: Rate
  readonly bytes: Rate
}

export interface Rates {
  readonly raw: Raw
  readonly gossip: Gossip
}

const MIB = 1_048_576

/** For peers that the operator or the committee vouches for. */
const TRUSTED: Rates = {
  raw: { pieces: { burst: 20_000, perSecond: 5_000 }, bytes: { burst: 64 * MIB, perSecond: 32 * MIB } },
  gossip: { items: { burst: 32_768, perSecond: 16_384 }, bytes: { burst: 32 * MIB, perSecond: 16 * MIB } },
}

/** A piece takes some ten microseconds. */
export const RATES: { readonly [standing in Standing]: Rates } = {
  stranger: {
    raw: { pieces: { burst: 1_000, perSecond: 1_000 }, bytes: { burst: 4 * MIB, perSecond: 4 * MIB } },
    gossip: { items: { burst: 4_096, perSecond: 1_000 }, bytes: { burst: 4 * MIB, perSecond: 4 * MIB } },
  },
  named: TRUSTED,
  member: TRUSTED,
}

/** All strangers share this equally: however many there are, they must not take a whole core. */
export const STRANGERS_TOGETHER = { pieces: 4_000, bytes: 4 * MIB }
/** The smallest share. With less, honest strangers could not even ask. */
const LEAST = { pieces: 32, bytes: 32_768 }

const among = (strangers: number, rate: Rate, together: number, least: number): Rate => {
  const part = Math.max(least, Math.floor(together / Math.max(1, strangers)))
  return { burst: rate.burst, perSecond: Math.min(rate.perSecond, part) }
}

/** The rates of one of this many strangers. */
export const strangerShare = (strangers: number): Raw => ({
  pieces: among(strangers, RATES.stranger.raw.pieces, STRANGERS_TOGETHER.pieces, LEAST.pieces),
  bytes: among(strangers, RATES.stranger.raw.bytes, STRANGERS_TOGETHER.bytes, LEAST.bytes),
})
