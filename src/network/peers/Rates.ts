/** The load a peer may cause per second, by standing. */
import type { Rate } from "../Allowance.js"
import type { Standing } from "../Standing.js"

/** Limits below the level of messages: see `Meter`. */
export interface Raw {
  readonly pieces: Rate
  readonly bytes: Rate
}

const MIB = 1_048_576

/** For peers that the operator or the committee vouches for. */
const TRUSTED: Raw = { pieces: { burst: 20_000, perSecond: 5_000 }, bytes: { burst: 64 * MIB, perSecond: 32 * MIB } }

/** A piece takes about ten microseconds. */
export const RATES: { readonly [standing in Standing]: Raw } = {
  stranger: { pieces: { burst: 250, perSecond: 1_000 }, bytes: { burst: 4 * MIB, perSecond: 4 * MIB } },
  named: TRUSTED,
  member: TRUSTED,
}

/** All strangers share this equally: together they must not take a whole core. */
const STRANGERS_TOGETHER = { pieces: 4_000, bytes: 4 * MIB }
/** The smallest share, which still lets honest strangers ask. */
const LEAST = { pieces: 32, bytes: 32_768 }

/** With many followers, a busy node spends more time on writing vertices to each of them than on rounds. */
const GATHERED_MS_PER_STRANGER = 0.4
const MOST_GATHERED_MS = 500

/** How long vertices and votes for each stranger gather, so that they leave in fewer writes. */
export const gatherMs = (strangers: number, spareShare: number): number =>
  Math.min(MOST_GATHERED_MS, Math.round(GATHERED_MS_PER_STRANGER * strangers * (1 / spareShare - 1)))

const among = (strangers: number, rate: Rate, together: number, least: number): Rate => {
  const part = Math.max(least, Math.floor(together / Math.max(1, strangers)))
  return { burst: rate.burst, perSecond: Math.min(rate.perSecond, part) }
}

export const strangerShare = (strangers: number): Raw => ({
  pieces: among(strangers, RATES.stranger.pieces, STRANGERS_TOGETHER.pieces, LEAST.pieces),
  bytes: among(strangers, RATES.stranger.bytes, STRANGERS_TOGETHER.bytes, LEAST.bytes),
})
