/** A node's retries when nothing arrives, tick by tick, without the core around them. */
import { describe, expect, it } from "vitest"
import { CheckpointQuorum } from "../../src/consensus/CheckpointQuorum.js"
import { Epoch } from "../../src/consensus/Epoch.js"
import type { Output } from "../../src/consensus/output/Output.js"
import { type Place, Retries } from "../../src/consensus/Retries.js"
import { SigningGuard } from "../../src/consensus/SigningGuard.js"
import type * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import { emptyBody, type Vertex } from "../../src/protocol/vertex/Vertex.js"
import * as FakeKeys from "./FakeKeys.js"
import * as Grown from "./Grown.js"
import { equalWeights, openingOf, recordOf, rules, seedOf, WITH_MEMORY } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const INTERVAL_MS = 200
/** Twice the interval, and what is counted in such retries. */
const RETRY_MS = 400
const FETCH_MS = 50
const STANDSTILL_MS = 8 * RETRY_MS
const PATIENT_AFTER_MS = 40 * RETRY_MS
const PATIENT_MS = 4 * RETRY_MS
const EPOCH_ROUNDS = 30

const record = recordOf(equalWeights(4), { rules: { ...rules, epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 4 } })
const builder = new VertexBuilder(openingOf(record))
const addresses = record.members.map(({ address }) => address)
const [self] = addresses
if (self === undefined) throw new Error("a member expected")

const grown = (rounds: number, seats?: ReadonlyArray<number>, on = builder): ReadonlyArray<Vertex> =>
  Grown.grown(on, rounds, seats)
const floating = (seat: number, round: number): Vertex => Grown.floating(builder, seat, round)

/** Without missing parents, and too large to be resent often. */
const largeOf = (seat: number, round: number): Vertex => {
  const below = grown(round - 1)
    .slice(-4)
    .map(parentOf)
  const { publicKey } = builder.committee.member(seat)
  const heartbeat = Heartbeat.sign(Natural.commitIndex(1), seedOf("commit"), {
    publicKey,
    sign: FakeKeys.signWith(publicKey),
  })
  return builder.make(
    seat,
    round,
    below,
    {},
    { ...emptyBody, heartbeats: Array.from({ length: 100 }, () => heartbeat) },
  )
}

const epochOf = (vertices: ReadonlyArray<Vertex>, seat: number | null = 0, on = builder): Epoch => {
  const epoch = new Epoch(on.opening, seat === null ? null : on.committee.member(seat).address, () => undefined)
  for (const vertex of vertices) epoch.receive(vertex)
  return epoch
}

const at = Natural.timestamp

/** A node with something to request, and its description. */
const asking = (guard: SigningGuard | null = null) => {
  const outputs: Array<Output> = []
  const retries = new Retries(INTERVAL_MS, guard, (output) => outputs.push(output))
  return { retries, said: () => outputs.splice(0) }
}

const place = (epoch: Epoch, given: Partial<Place> = {}): Place => ({
  epoch,
  checkpoints: new CheckpointQuorum(epoch.committee),
  previous: null,
  closing: null,
  isConnected: () => false,
  madeAt: null,
  readyAt: null,
  ...given,
})

const signatureOf = (checkpoint: Checkpoint.Checkpoint, seat: number): Checkpoint.CheckpointSignature =>
  Grown.signatureOf(builder.committee, checkpoint, seat)

const signedBy = (epoch: Epoch, checkpoint: Checkpoint.Checkpoint, seats: ReadonlyArray<number>): CheckpointQuorum => {
  const checkpoints = new CheckpointQuorum(epoch.committee)
  for (const seat of seats) checkpoints.add(checkpoint, signatureOf(checkpoint, seat))
  return checkpoints
}

/** An epoch that was closed by the vertices of 32 rounds. */
const closed = (seat: number | null = 0): Epoch => epochOf(grown(EPOCH_ROUNDS + 2), seat)

describe("the question about the key's signatures", () => {
  const guarded = () => {
    const guard = new SigningGuard(self, INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    guard.open(record.epoch, builder.opening.base)
    return guard
  }

  it("is put to all who have not answered, at once and then with every retry", () => {
    const guard = guarded()
    const { retries, said } = asking(guard)
    const epoch = epochOf([])
    const askedAt = (now: number) => {
      retries.ask(place(epoch), at(now))
      return said()
    }
    expect(askedAt(0)).toEqual([{ _tag: "AskOwnHighest", members: addresses.slice(1) }])
    expect(askedAt(RETRY_MS - 1)).toEqual([])
    guard.answer(addresses[2] ?? self, { epoch: record.epoch, header: null }, epoch.committee)
    expect(askedAt(RETRY_MS)).toEqual([{ _tag: "AskOwnHighest", members: [addresses[1], addresses[3]] }])
    guard.answer(addresses[1] ?? self, { epoch: record.epoch, header: null }, epoch.committee)
    expect(askedAt(2 * RETRY_MS)).toEqual([])
  })

  it("is put also once the epoch is closed, and never by a node without a key", () => {
    const withKey = asking(guarded())
    withKey.retries.ask(place(closed()), at(0))
    expect(withKey.said().map(({ _tag }) => _tag)).toEqual(["AskOwnHighest"])
    const without = asking()
    without.retries.ask(place(epochOf([])), at(0))
    expect(without.said()).toEqual([])
  })
})

describe("missing parents", () => {
  it("are fetched at once and with every retry, by whichever call comes in between", () => {
    const vertex = floating(1, 2)
    const epoch = epochOf([vertex])
    const { retries, said } = asking()
    const fetchedAt = (now: number) => {
      retries.ask(place(epoch), at(now))
      return said().flatMap((output) => (output._tag === "Fetch" ? output.wanted : []))
    }
    const wanted = vertex.header.parents.map((parent) => ({ parent, namedBy: addresses[1], attempt: 0 }))
    expect(fetchedAt(1_000)).toEqual(wanted)
    expect(fetchedAt(1_000 + RETRY_MS - 1)).toEqual([])
    const again = fetchedAt(1_000 + RETRY_MS - 1 + FETCH_MS)
    expect(new Set(again)).toEqual(new Set(wanted.map((each) => ({ ...each, attempt: 1 }))))
  })

  it("are looked for four times in an interval, and not in between", () => {
    const epoch = epochOf([])
    const { retries, said } = asking()
    const tagsAt = (now: number) => {
      retries.ask(place(epoch), at(now))
      return said().map(({ _tag }) => _tag)
    }
    epoch.receive(floating(1, 2))
    expect(tagsAt(1_000)).toEqual(["Fetch"])
    epoch.receive(floating(2, 3))
    expect(tagsAt(1_000 + FETCH_MS - 1)).toEqual([])
    expect(tagsAt(1_000 + FETCH_MS)).toEqual(["Fetch"])
  })

  it("are fetched at once when a vertex begins to wait, whenever the last empty look was", () => {
    const epoch = epochOf([])
    const { retries, said } = asking()
    retries.ask(place(epoch), at(1_000))
    epoch.receive(floating(1, 2))
    retries.ask(place(epoch), at(1_001))
    expect(said().map(({ _tag }) => _tag)).toEqual(["Fetch"])
  })

  it("are looked for every 20 ms where rounds take less than 80", () => {
    const outputs: Array<Output> = []
    const retries = new Retries(40, null, (output) => outputs.push(output))
    const epoch = epochOf([floating(1, 2)])
    retries.ask(place(epoch), at(1_000))
    expect(retries.nextAfter(at(1_000), true)).toBe(1_020)
    expect(retries.nextAfter(at(1_000), false)).toBe(1_250)
  })

  it("are fetched individually up to sixteen rounds above a quorum's, and not beyond", () => {
    for (const [round, isFetched] of [
      [17, true],
      [18, false],
    ] as const) {
      const { retries, said } = asking()
      retries.ask(place(epochOf([floating(1, round)])), at(1_000))
      expect(said().map(({ _tag }) => _tag)).toEqual(isFetched ? ["Fetch"] : [])
    }
  })

  it("of a closed epoch are not fetched", () => {
    const epoch = epochOf([floating(1, 40), ...grown(EPOCH_ROUNDS + 2)])
    expect([epoch.isClosed, epoch.admission.waiting]).toEqual([true, 1])
    const { retries, said } = asking()
    retries.ask(place(epoch), at(1_000))
    expect(said()).toEqual([])
  })

  it("determine when to look again: soon while something waits, otherwise with the next retry", () => {
    const { retries } = asking()
    expect([retries.nextAfter(at(1_000), true), retries.nextAfter(at(1_000), false)]).toEqual([1_050, 1_400])
  })
})

describe("a node", () => {
  const stateAt = (retries: Retries, epoch: Epoch, now: number, given: Partial<Place> = {}) =>
    retries.following(place(epoch, given), at(now))

  it("is in step up to four rounds behind a quorum, and then behind", () => {
    for (const [round, state] of [
      [4, { _tag: "InStep" }],
      [5, { _tag: "Behind", round: 0, reachedRound: 5 }],
    ] as const) {
      const epoch = epochOf([1, 2, 3].map((seat) => floating(seat, round)))
      expect(stateAt(asking().retries, epoch, 0)).toEqual(state)
    }
  })

  it("has stopped eight retries after the last round of a quorum, and waits for the round above it", () => {
    const epoch = epochOf([...grown(3), builder.make(2, 4, grown(3).slice(-4).map(parentOf))])
    const { retries } = asking()
    retries.reached(epoch.dag.quorumRound, at(1_000))
    retries.reached(epoch.dag.quorumRound, at(2_000))
    expect(stateAt(retries, epoch, 1_000 + STANDSTILL_MS - 1)).toEqual({ _tag: "InStep" })
    const lacks = addresses.filter((_, seat) => seat !== 2)
    expect(stateAt(retries, epoch, 1_000 + STANDSTILL_MS)).toEqual({ _tag: "Standstill", round: 4, lacks })
    retries.reached(Natural.round(4), at(2_000))
    expect(stateAt(retries, epoch, 1_000 + STANDSTILL_MS)).toEqual({ _tag: "InStep" })
    retries.begin()
    expect(stateAt(retries, epoch, 100_000)).toEqual({ _tag: "InStep" })
    expect(asking().retries.isStandingStill).toBe(false)
  })

  it("waits for the epoch's first round where no round has a quorum", () => {
    const later = new VertexBuilder(openingOf({ ...record, firstRound: Natural.round(100) }))
    const epoch = epochOf([], 0, later)
    const { retries } = asking()
    retries.reached(Natural.round(99), at(0))
    expect(stateAt(retries, epoch, STANDSTILL_MS)).toMatchObject({ _tag: "Standstill", round: 100 })
  })

  it("waits, once its epoch is closed, for members that have not signed the close that it built", () => {
    const epoch = closed()
    const closing = Grown.closingOf(epoch)
    const checkpoints = signedBy(epoch, closing, [0, 3])
    const at0 = (given: Partial<Place>) => stateAt(asking().retries, epoch, 0, given)
    expect(at0({})).toEqual({ _tag: "Closing", epoch: 1, lacks: addresses })
    expect(at0({ checkpoints })).toEqual({ _tag: "Closing", epoch: 1, lacks: addresses })
    expect(at0({ checkpoints, closing })).toEqual({ _tag: "Closing", epoch: 1, lacks: [addresses[1], addresses[2]] })
  })

  it("knows that its epoch is over once a quorum has signed the close, wherever it is itself", () => {
    const checkpoints = signedBy(epochOf([]), Grown.closingOf(closed()), [1, 2, 3])
    for (const epoch of [epochOf([]), epochOf([1, 2, 3].map((seat) => floating(seat, 9)))]) {
      expect(stateAt(asking().retries, epoch, 0, { checkpoints })).toEqual({ _tag: "EpochOver", epoch: 1 })
    }
  })

  it("treats everything before its start as long enough ago", () => {
    const { retries } = asking()
    expect([retries.longBefore(at(10_000)), retries.longBefore(at(10))]).toEqual([10_000 - STANDSTILL_MS, 0])
  })
})

describe("whole rounds", () => {
  const askedAt = ({ retries, said }: ReturnType<typeof asking>, where: Place, now: number) => {
    retries.ask(where, at(now))
    return said().flatMap((output) =>
      output._tag === "CatchUp" ? [[output.epoch, output.fromRound, output.toRound]] : [],
    )
  }

  it("are requested with every retry by a node that is behind, up to where a quorum is", () => {
    const one = asking()
    const where = place(epochOf([...grown(2), ...[1, 2, 3].map((seat) => floating(seat, 9))]))
    expect(askedAt(one, where, 0)).toEqual([[1, 2, 9]])
    expect(askedAt(one, where, RETRY_MS - 1)).toEqual([])
    expect(askedAt(one, where, RETRY_MS)).toEqual([[1, 2, 9]])
    expect(one.retries.isStandingStill).toBe(false)
  })

  it("are requested in full once the node has stopped behind the others", () => {
    const one = asking()
    const epoch = epochOf([...grown(12), ...[1, 2, 3].map((seat) => floating(seat, 20))])
    expect(epoch.dag.collectedRound).toBeGreaterThan(0)
    one.retries.reached(epoch.dag.quorumRound, at(0))
    const all = [1, epoch.dag.collectedRound + 1, 20 + EPOCH_ROUNDS]
    expect(askedAt(one, place(epoch), STANDSTILL_MS)).toEqual([all])
    expect(one.retries.isStandingStill).toBe(true)
    expect(askedAt(one, place(epoch), STANDSTILL_MS + RETRY_MS)).toEqual([all])
  })

  it("are requested in full with every retry once the epoch is over, and never past the largest round", () => {
    const one = asking()
    const checkpoints = signedBy(epochOf([]), Grown.closingOf(closed()), [1, 2, 3])
    const where = place(epochOf(grown(3)), { checkpoints })
    expect(askedAt(one, where, 0)).toEqual([[1, 1, 3 + EPOCH_ROUNDS]])
    expect(askedAt(one, where, RETRY_MS)).toEqual([[1, 1, 3 + EPOCH_ROUNDS]])
    const firstRound = Natural.round(Number.MAX_SAFE_INTEGER - EPOCH_ROUNDS)
    const endless = { ...record, firstRound, rules: { ...record.rules, epochRounds: EPOCH_ROUNDS } }
    const long = new VertexBuilder(openingOf(endless))
    const last = place(epochOf(grown(1, [0, 1, 2, 3], long), 0, long), { checkpoints })
    expect(askedAt(asking(), last, 0)).toEqual([[1, firstRound, Number.MAX_SAFE_INTEGER]])
  })

  it("are requested by a stalled member every eight retries, and not by others", () => {
    for (const seat of [0, null]) {
      const one = asking()
      const where = place(epochOf(grown(3), seat))
      one.retries.reached(Natural.round(3), at(0))
      const rounds = [STANDSTILL_MS - 1, STANDSTILL_MS, 2 * STANDSTILL_MS - 1, 2 * STANDSTILL_MS].map((now) =>
        askedAt(one, where, now),
      )
      const all = seat === null ? [] : [[1, 1, 3 + EPOCH_ROUNDS]]
      expect(rounds).toEqual([[], all, [], all])
    }
  })

  it("are not requested by a node that is in step or waits for signatures", () => {
    expect(askedAt(asking(), place(epochOf(grown(3))), 0)).toEqual([])
    expect(askedAt(asking(), place(closed()), 0)).toEqual([])
  })

  it("admit the second vertex of a slot unnamed only while a node has stopped or its epoch is over", () => {
    const second = builder.make(1, 1, [], { timestamp: at(77) })
    const isHere = (epoch: Epoch): boolean => epoch.dag.has(second.header.hash)
    const over = signedBy(epochOf([]), Grown.closingOf(closed()), [1, 2, 3])
    for (const [reachedAt, checkpoints, isLetIn] of [
      [0, undefined, true],
      [1, undefined, false],
      [1, over, true],
    ] as const) {
      const epoch = epochOf([...grown(2), second])
      const { retries } = asking()
      retries.reached(Natural.round(2), at(reachedAt))
      retries.ask(place(epoch, checkpoints === undefined ? {} : { checkpoints }), at(STANDSTILL_MS))
      epoch.admission.tick()
      expect(isHere(epoch)).toBe(isLetIn)
    }
  })
})

describe("a stuck node", () => {
  const sent = ({ retries, said }: ReturnType<typeof asking>, where: Place, now: number) => {
    retries.sendAgain(where, at(now))
    return said()
  }
  const resend = (vertices: ReadonlyArray<Vertex>, closing: unknown = null) => [{ _tag: "Resend", vertices, closing }]

  it("resends its last vertex a retry after it was made, and with every retry", () => {
    const one = asking()
    const epoch = epochOf(grown(3))
    const own = epoch.ownVertices.slice(-1)
    const where = place(epoch, { madeAt: at(1_000) })
    const times = [1_000 + RETRY_MS - 1, 1_000 + RETRY_MS, 1_000 + 2 * RETRY_MS - 1, 1_000 + 2 * RETRY_MS]
    expect(times.map((now) => sent(one, where, now))).toEqual([[], resend(own), [], resend(own)])
    expect(own.map(({ header }) => header.round)).toEqual([3])
  })

  it("waits twice the recent round time before it resends a large vertex", () => {
    const one = asking()
    for (let round = 1; round <= 60; round++) one.retries.reached(Natural.round(round), at(round * 1_000))
    const madeOf = (vertices: ReadonlyArray<Vertex>) => {
      const epoch = epochOf(vertices)
      return { where: place(epoch, { madeAt: at(60_000) }), again: resend(epoch.ownVertices.slice(-1)) }
    }
    const [small, large] = [madeOf(grown(3)), madeOf([...grown(2), largeOf(0, 3)])]
    // The average is rounded down in each round, so it stays slightly below.
    const times = [61_900, 62_000, 63_900, 64_000]
    expect(times.map((now) => sent(one, large.where, now))).toEqual([[], large.again, [], large.again])
    expect(sent(asking(), small.where, 60_000 + RETRY_MS)).toEqual(small.again)
  })

  it("does not mistake a standstill for a long round", () => {
    const one = asking()
    one.retries.reached(Natural.round(1), at(0))
    one.retries.reached(Natural.round(2), at(3_600_000))
    const where = place(epochOf([...grown(2), largeOf(0, 3)]), { madeAt: at(3_600_000) })
    // (7 × 200 + 1600) ÷ 8 a round.
    expect(sent(one, where, 3_600_000 + 749)).toEqual([])
    expect(sent(one, where, 3_600_000 + 750)).not.toEqual([])
  })

  it("resends only vertices that it made, at a known time", () => {
    expect(sent(asking(), place(epochOf(grown(3))), 100_000)).toEqual([])
    expect(sent(asking(), place(epochOf(grown(3), null), { madeAt: at(0) }), 100_000)).toEqual([])
  })

  it("resends less often after forty retries, when a lost message is not the cause", () => {
    const one = asking()
    const where = place(epochOf(grown(3)), { madeAt: at(0) })
    const times = [
      PATIENT_AFTER_MS - 1,
      PATIENT_AFTER_MS,
      PATIENT_AFTER_MS + RETRY_MS,
      PATIENT_AFTER_MS + PATIENT_MS - 1,
      PATIENT_AFTER_MS + PATIENT_MS,
    ]
    expect(times.map((now) => sent(one, where, now).length)).toEqual([1, 1, 0, 0, 1])
  })

  it("resends its last three vertices and its signature under the close until the next epoch is heard", () => {
    const guard = new SigningGuard(self, INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    const epoch = closed()
    const closing = Grown.closingOf(epoch)
    const checkpoints = signedBy(epoch, closing, [0, 1, 2])
    const signed = { checkpoint: closing, signature: signatureOf(closing, 0) }
    const vertices = epoch.ownVertices
    expect(vertices).toHaveLength(3)
    // It has closed the epoch itself, and the next one has begun.
    expect(sent(asking(guard), place(epoch, { checkpoints, closing }), 0)).toEqual(resend(vertices, signed))
    const next = new VertexBuilder({ ...builder.opening, record: { ...record, epoch: Natural.epoch(2) } })
    const opened = place(epochOf([], 0, next), { previous: { epoch, checkpoints } })
    expect(sent(asking(guard), opened, 0)).toEqual(resend(vertices, signed))
    const heard = place(epochOf(grown(1, [0, 1, 2, 3], next), 0, next), { previous: { epoch, checkpoints } })
    expect(sent(asking(guard), heard, 0)).toEqual([])
    // Its vertex of the next epoch is repeated, with the vertices that ended this one, until the others are heard.
    const own = next.make(0, 1, [])
    const stuck = place(epochOf([own], 0, next), { previous: { epoch, checkpoints }, madeAt: at(0) })
    expect(sent(asking(guard), stuck, RETRY_MS)).toEqual(resend([...vertices, own], signed))
  })

  it("sends no signature that it has not made, and vertices only as a member", () => {
    const epoch = closed()
    const closing = Grown.closingOf(epoch)
    const others = signedBy(epoch, closing, [1, 2, 3])
    const guard = new SigningGuard(self, INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    expect(sent(asking(guard), place(epoch, { checkpoints: others, closing }), 0)).toEqual(resend(epoch.ownVertices))
    expect(sent(asking(guard), place(epoch, { checkpoints: others }), 0)).toEqual(resend(epoch.ownVertices))
    const follower = closed(null)
    expect(sent(asking(), place(follower, { checkpoints: others, closing }), 0)).toEqual([])
  })

  it("sends only its closing checkpoint if it was not a member, and nothing before an epoch has ended", () => {
    const guard = new SigningGuard(self, INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    expect(sent(asking(guard), place(epochOf([])), 100_000)).toEqual([])
    const follower = closed(null)
    const closing = Grown.closingOf(follower)
    const signed = { checkpoint: closing, signature: signatureOf(closing, 0) }
    const checkpoints = signedBy(follower, closing, [0])
    expect(sent(asking(guard), place(follower, { checkpoints, closing }), 0)).toEqual(resend([], signed))
  })

  it("no longer resends its own last vertex once the epoch is closed", () => {
    const one = asking()
    const epoch = closed()
    expect(sent(one, place(epoch, { madeAt: at(0) }), 100_000)).toEqual(resend(epoch.ownVertices))
  })
})

describe("vertices found on disk and missing in the DAG", () => {
  const rounds = ({ retries, said }: ReturnType<typeof asking>, recovered: ReadonlyArray<Vertex>, epoch: Epoch) => {
    retries.resendRecovered(recovered, epoch.dag.quorumRound)
    return said().map((output) => (output._tag === "Resend" ? output.vertices.map(({ header }) => header.round) : []))
  }

  it("are sent from the last round of a quorum on, 64 at once, and not at all without one", () => {
    const own = Array.from({ length: 70 }, (_, i) => builder.make(0, i + 1, []))
    const expected = Array.from({ length: 64 }, (_, i) => i + 3)
    expect(rounds(asking(), own, epochOf(grown(3)))).toEqual([expected])
    expect(rounds(asking(), own.slice(0, 2), epochOf(grown(3)))).toEqual([])
    expect(rounds(asking(), [], epochOf([]))).toEqual([])
  })

  it("are sent up to two megabytes at once, and at least one of any size", () => {
    const heavy = (round: number, bytes: number): Vertex => {
      const vertex = builder.make(0, round, [], {}, emptyBody)
      return { ...vertex, encoded: new Uint8Array(bytes) }
    }
    const limit = 2_097_152
    expect(rounds(asking(), [heavy(1, limit), heavy(2, 1)], epochOf([]))).toEqual([[1]])
    expect(rounds(asking(), [heavy(1, limit - 1), heavy(2, 1), heavy(3, 1)], epochOf([]))).toEqual([[1, 2]])
    expect(rounds(asking(), [heavy(1, limit + 1), heavy(2, 1)], epochOf([]))).toEqual([[1]])
  })

  it("are due with every retry", () => {
    const { retries } = asking()
    expect([0, RETRY_MS - 1, RETRY_MS].map((now) => retries.isRecoveryDue(at(now)))).toEqual([true, false, true])
  })
})
