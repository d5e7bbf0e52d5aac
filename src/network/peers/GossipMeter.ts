/** The limits on the gossip of a peer that has greeted. */
import { Allowance, type Rate } from "../Allowance.js"
import type * as GossipRpc from "../GossipRpc.js"
import type { Standing } from "../Standing.js"
import { RATES } from "./Rates.js"

/** A node subscribes when it connects. */
const SUBSCRIPTIONS: Rate = { burst: 64, perSecond: 1 }

/** More than a peer of any standing may send. */
export class Flood extends Error {}

export class GossipMeter {
  readonly #standing: () => Standing
  readonly #now: () => number
  readonly #items: Allowance
  readonly #bytes: Allowance
  readonly #subscriptions: Allowance

  constructor(standing: () => Standing, now: () => number) {
    const { items, bytes } = RATES[standing()].gossip
    this.#standing = standing
    this.#now = now
    this.#items = new Allowance(items, now())
    this.#bytes = new Allowance(bytes, now())
    this.#subscriptions = new Allowance(SUBSCRIPTIONS, now())
  }

  /** Returns for how many milliseconds the reader must wait before it passes this on; fails with `Flood`. */
  charge({ subscriptions, messages, controls, ids }: GossipRpc.Counts, bytes: number): number {
    const now = this.#now()
    const rates = RATES[this.#standing()].gossip
    this.#items.change(rates.items, now)
    this.#bytes.change(rates.bytes, now)
    if (this.#subscriptions.take(subscriptions, now) > 0) throw new Flood("more subscriptions than there are topics")
    const items = 1 + subscriptions + messages + controls + ids
    return Math.max(this.#items.take(items, now), this.#bytes.take(bytes, now))
  }
}
