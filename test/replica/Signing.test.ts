/** The last moment to notice that a round would be signed twice: whatever the core asks for. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Testimony } from "../../src/replica/asking/Testimony.js"
import * as LiveState from "../../src/replica/live/LiveState.js"
import { Outbox } from "../../src/replica/output/Outbox.js"
import { Signing } from "../../src/replica/signing/Signing.js"
import * as Stored from "../support/Stored.js"
import { genesisOf, ROUND_MS, signerOf } from "./Cluster.js"

/** A network of this one validator, whose guard needs nobody else's answer. */
const start = () => {
  const stored = Stored.ofGenesis(genesisOf({ validators: { ann: 3_000 } }))
  const { opening } = stored.current
  const { ledger, trie, views } = Either.getOrThrow(Stored.open(stored, { low: 0, high: 0 }))
  const outbox = new Outbox()
  const signing = new Signing(signerOf("ann"), [], outbox)
  const guard = signing.guard(opening.record.epoch, ROUND_MS)
  const consensus = { current: stored.current, previous: null, signed: [] }
  const live = LiveState.begin({
    ledger,
    trie,
    views,
    stored: consensus,
    guard,
    pending: [],
    roundIntervalMs: ROUND_MS,
  })
  const propose = (round: number) => {
    const slot = { base: opening.base, epoch: opening.record.epoch, round: Natural.round(round), parents: [] }
    const rest = { coinbase: Sats.ZERO, timestamp: Natural.timestamp(0) }
    signing.propose({ _tag: "Propose", ...slot, ...rest }, live, new Testimony(() => live))
    return outbox.drain().length
  }
  const answer = () => guard?.toAsk(live.core.epoch.committee)
  return { propose, answer }
}

describe("this node signs", () => {
  it("nothing before a quorum has answered what it signed before", () => {
    const { propose, answer } = start()
    expect(() => propose(1)).toThrow(/round 1 of epoch 1 may not be signed/)
    answer()
    expect(propose(1)).toBe(1)
  })

  it("no round twice and none below one that it signed, also before the first is on the disk", () => {
    const { propose, answer } = start()
    answer()
    propose(2)
    for (const round of [1, 2]) expect(() => propose(round)).toThrow(/may not be signed; the last was 2 of 1/)
    expect(propose(3)).toBe(1)
  })
})
