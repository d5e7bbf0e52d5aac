import { describe, expect, it } from "vitest"
import type { Outcome } from "../../src/ledger/rules/Execution.js"
import * as Rejection from "../../src/ledger/rules/Rejection.js"
import { Counters, outcomesOf } from "../../src/node/engine/Counters.js"
import { isPublished } from "../../src/node/engine/NodeEvent.js"
import { Participation } from "../../src/node/engine/Participation.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { addressOf, Cluster } from "../replica/Cluster.js"

it("counts applied transactions apart from those that failed for a fee or had no effect", () => {
  const reason = Rejection.notAllowed("")
  const applied: Outcome = {
    _tag: "Applied",
    fee: Sats.ZERO,
    toTreasury: Sats.ZERO,
    taken: Sats.ZERO,
    proposalId: null,
  }
  const failed: Outcome = { _tag: "Failed", fee: Sats.ZERO, reason }
  const nothing: Outcome = { _tag: "NoEffect", reason }
  const vertex = (...transactions: ReadonlyArray<Outcome>) => ({
    vertex: Hash.ZERO,
    author: Address.fromPublicKey(FakeKeys.publicKeyOf("author")),
    minted: Sats.ZERO,
    transactions,
  })
  const vertices = [vertex(), vertex(applied, nothing, failed), vertex(nothing), vertex(applied)]
  expect(outcomesOf({ vertices })).toEqual({ Applied: 2, Failed: 1, NoEffect: 2 })
})

describe("a network of four", () => {
  /** Ann's counters beside a real replica; a round takes as long as the cluster says. */
  const watched = (isFresh: () => boolean) => {
    const cluster = new Cluster({ validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } }).start()
    const { replica } = cluster.machine("ann")
    const participation = new Participation(
      addressOf("ann"),
      replica.core.epoch.opening.record,
      replica.read.head.leaderRound,
    )
    let now = 0
    const counters = new Counters({ vertices: 0, participation, isFresh, now: () => now })
    cluster.runRounds(20)
    for (const output of cluster.machine("ann").outputs) {
      now += 1
      counters.putOut(output)
      if (output._tag === "Write" && isPublished(output.write)) counters.published(output.write)
    }
    return counters
  }

  it("counts its own vertices, commits and final vertices, and times each", () => {
    const { counts, finality } = watched(() => true)
    expect(counts.ownVertices).toBeGreaterThanOrEqual(15)
    expect(counts.commits).toBeGreaterThanOrEqual(12)
    expect(counts.finalVertices).toBeGreaterThanOrEqual(45)
    expect(finality.cumulative.at(-1)).toBe(counts.finalVertices)
    expect(counts.equivocations).toBe(0)
  })

  it("does not time vertices that were fetched later", () => {
    expect(watched(() => false).finality.cumulative.at(-1)).toBe(0)
  })
})
