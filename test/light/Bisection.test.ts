import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import * as Bisection from "../../src/light/checks/Bisection.js"
import type { Refusal } from "../../src/light/checks/Refusal.js"
import * as Trusted from "../../src/light/checks/Trusted.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Check } from "../../src/protocol/transaction/Verification.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import * as History from "./History.js"

const never = (): never => {
  throw new Error("a checkpoint expected")
}

const first = (history: History.History): Trusted.Trusted => ({ committee: history.committeeOf(1), closing: null })

describe("a committee", () => {
  it("proves no checkpoint of an epoch before its own, even one that its members signed", () => {
    const history = History.make({ last: 3 })
    const trusted: Trusted.Trusted = {
      committee: history.committeeOf(3),
      closing: history.closing[1]?.checkpoint ?? null,
    }
    const [, second, third] = history.closing
    if (second === undefined || third === undefined) throw new Error("closing checkpoints expected")
    expect(Either.isRight(Trusted.signersOf(trusted, third, FakeKeys.isValid))).toBe(true)
    const before = history.sign(second.checkpoint, 3)
    expect(Either.isLeft(Trusted.signersOf(trusted, before, FakeKeys.isValid))).toBe(true)
  })
})

interface Outcome {
  readonly end: Bisection.Bisection | Refusal
  readonly asked: ReadonlyArray<number>
  readonly verified: number
}

/** Bisects with a node's responses. */
const bisection = (trusted: Trusted.Trusted, goal: number, answer: (epoch: number) => History.Signed): Outcome => {
  const asked: Array<number> = []
  let verified = 0
  const isValid = (check: Check): boolean => {
    verified++
    return FakeKeys.isValid(check)
  }
  let state = Bisection.begin(trusted, Natural.epoch(goal))
  for (let epoch = Bisection.asks(state); epoch !== undefined; epoch = Bisection.asks(state)) {
    asked.push(epoch)
    if (asked.length > 1_000) throw new Error("it asks for ever")
    const after = Bisection.take(state, answer(epoch), isValid)
    if (Either.isLeft(after)) return { end: after.left, asked, verified }
    state = after.right
  }
  return { end: state, asked, verified }
}

const bisected = ({ closing }: History.History, trusted: Trusted.Trusted, goal = closing.length) =>
  bisection(trusted, goal, (epoch) => closing[epoch - 1] ?? never())

/** The epoch of the final committee, or the reason for stopping. */
const endOf = ({ end }: Outcome): number | string => ("_tag" in end ? end._tag : end.trusted.committee.epoch)

describe("the way to a later committee", () => {
  it("is one step while the trusted committee is a quorum of the signers", () => {
    const history = History.make({ last: 100, turnover: 0 })
    const outcome = bisected(history, first(history))
    expect(outcome).toMatchObject({ asked: [100], verified: History.SIZE })
    expect(endOf(outcome)).toBe(101)
  })

  it("asks for no checkpoint twice, and in the worst case for each", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 1, max: 40 }),
        FastCheck.integer({ min: 0, max: History.SIZE }),
        (last, turnover) => {
          const history = History.make({ last, turnover })
          const outcome = bisected(history, first(history))
          const sorted = [...outcome.asked].sort((a, b) => a - b)
          expect(endOf(outcome)).toBe(last + 1)
          expect(new Set(sorted).size).toBe(sorted.length)
          // A committee that loses two of six members in every epoch signs only its own epoch.
          if (turnover > 1) expect(sorted).toEqual(history.closing.map(({ checkpoint }) => checkpoint.epoch))
        },
      ),
      { numRuns: 60 },
    )
  })

  it("takes the steps that a committee of six allows when one member is replaced in every epoch", () => {
    const history = History.make({ last: 8 })
    // Five of six are a quorum of the next epoch; the four that remain in the one after are not.
    expect(bisected(history, first(history)).asked).toEqual([8, 4, 2, 6])
  })

  it("has no step where the committee is already known", () => {
    const history = History.make({ last: 3 })
    expect(bisected(history, first(history), 0)).toMatchObject({ asked: [], verified: 0 })
  })
})

describe("the protocol version", () => {
  /**
   * Epochs from 1 on with these protocol versions; the last one stays. With a turnover of two, every epoch is a step.
   */
  const running = (versions: ReadonlyArray<number>, shape: Partial<History.Shape> = {}) =>
    History.make({ last: 8, turnover: 2, ...shape, versionOf: (epoch) => versions[epoch - 1] ?? versions.at(-1) ?? 0 })

  const messageOf = ({ end }: Outcome): string => ("_tag" in end ? end.message : "proven")

  it("may rise up to the newest that the client knows", () => {
    for (const turnover of [0, 1, 2]) {
      const history = running([2, 2, 3], { turnover })
      expect(endOf(bisected(history, first(history)))).toBe(9)
    }
  })

  it("is refused once it is unknown, in one sentence that says what to do", () => {
    for (const [turnover, epoch] of [
      [2, 3],
      [0, 9],
    ]) {
      const history = running([2, 3, 4], { turnover: turnover ?? 0 })
      const outcome = bisected(history, first(history))
      expect(outcome.end).toMatchObject({ _tag: "UnknownVersion", verdict: "ahead", epoch, version: 4 })
      expect(messageOf(outcome)).toBe(
        `epoch ${epoch} runs by protocol version 4, and this light client knows up to 3: install a newer version of udg-node`,
      )
    }
  })

  it("causes no request for an update while no quorum has signed it", () => {
    const history = running([2, 3, 4])
    const trusted: Trusted.Trusted = { committee: history.committeeOf(2), closing: null }
    const claimed = history.closing[1] ?? never()
    const judged = (signed: History.Signed) => endOf(bisection(trusted, 2, () => signed))
    expect(judged(claimed)).toBe("UnknownVersion")
    expect(judged(History.resigned(claimed, (list) => list.slice(0, 4)))).toBe("Unsigned")
    expect(judged(history.sign(claimed.checkpoint, 50))).toBe("Unsigned")
    const { signatures } = history.sign(Checkpoint.make({ ...claimed.checkpoint, nextEpoch: null }), 2)
    expect(judged({ ...claimed, signatures })).toBe("Unsigned")
  })

  it.each([
    ["that goes down", [2, 3, 2], "it takes the protocol from version 3 in epoch 2 to 2 in epoch 3"],
    ["that skips one, as no vote can", [2, 4], "it takes the protocol from version 2 in epoch 1 to 4 in epoch 2"],
  ])("%s is false, even with valid signatures", (_, versions, reason) => {
    const history = running(versions)
    const outcome = bisected(history, first(history))
    expect(outcome.end).toMatchObject({ _tag: "Malformed", verdict: "false" })
    expect(messageOf(outcome)).toBe(`its checkpoint is malformed: ${reason}`)
  })

  it("is judged over as many closes as are skipped", () => {
    const ends = [
      [2, 2, 2, 2, 2, 2, 2, 2, 10],
      [2, 2, 2, 2, 2, 2, 2, 2, 11],
    ].map((versions) => {
      const history = running(versions, { turnover: 0 })
      return endOf(bisected(history, first(history)))
    })
    expect(ends).toEqual(["UnknownVersion", "Malformed"])
  })
})

describe("a bisection is refused", () => {
  const history = History.make({ last: 12 })
  const start = first(history)
  const [one = never(), two = never()] = history.closing

  const endAt = (signed: History.Signed, trusted = start) =>
    endOf(bisection(trusted, signed.checkpoint.epoch, () => signed))

  it("at a checkpoint with fewer signers than a quorum, without verifying a signature", () => {
    const few = History.resigned(one, (list) => list.slice(0, 4))
    expect(bisection(start, 1, () => few)).toMatchObject({
      end: { _tag: "Unsigned", epoch: 1, committee: 1 },
      verified: 0,
    })
    expect(endAt(History.resigned(one, () => []))).toBe("Unsigned")
  })

  it("at a committee that appointed itself", () => {
    const forged = History.make({ last: 12, signedAs: (epoch) => epoch + 1_000, story: "theirs" })
    expect(bisected(forged, start)).toMatchObject({ end: { _tag: "Unsigned", epoch: 1, committee: 1 }, verified: 0 })
  })

  it("where some of a former committee, but no quorum of it, sign another history", () => {
    const forged = History.make({
      last: 12,
      turnover: 2,
      story: "theirs",
      from: 5,
      signedAs: (epoch) => (epoch < 5 ? epoch : 3),
    })
    const trusted = first(forged)
    const outcome = bisection(trusted, 12, (epoch) => {
      const signed = forged.closing[epoch - 1] ?? never()
      return epoch < 5 ? signed : History.resigned(signed, (list) => list.slice(0, 4))
    })
    expect(outcome).toMatchObject({ end: { _tag: "Unsigned", epoch: 5, committee: 5 } })
  })

  it("nowhere where a quorum of a former committee signs another history: the holder of its keys could close its own epoch this way", () => {
    const forged = History.make({ last: 12, turnover: 2, story: "theirs", from: 5, signedAs: () => 3 })
    expect(endOf(bisected(forged, { committee: forged.committeeOf(3), closing: null }))).toBe(13)
  })

  it("at signatures of the right members under other contents", () => {
    const other = Checkpoint.make({ ...one.checkpoint, round: Natural.round(39) })
    expect(endAt({ ...one, signatures: history.sign(other, 1).signatures })).toBe("Unsigned")
  })

  it("at a checkpoint of an epoch that was not requested", () => {
    expect(endOf(bisection(start, 3, () => one))).toBe("OtherAnswer")
  })

  it("at a checkpoint that does not close its epoch for the next one", () => {
    for (const nextEpoch of [null, history.committeeOf(1), history.committeeOf(3)]) {
      expect(endAt(history.sign(Checkpoint.make({ ...one.checkpoint, nextEpoch }), 1))).toBe("Malformed")
    }
  })

  it("at a checkpoint that follows another one than the trusted, before a signature is verified", () => {
    const trusted: Trusted.Trusted = { committee: history.committeeOf(2), closing: one.checkpoint }
    expect(endAt(two, trusted)).toBe(3)
    const detached = history.sign(Checkpoint.make({ ...two.checkpoint, previous: Hash.ZERO }), 2)
    expect(bisection(trusted, 2, () => detached)).toMatchObject({ end: { _tag: "Detached", epoch: 2 }, verified: 0 })
  })

  it("after 64 false signatures, regardless of valid ones", () => {
    const long = 2 ** 40
    const falsely = (epoch: number): History.Signed => {
      const nextEpoch = { ...one.checkpoint.nextEpoch, epoch: Natural.epoch(epoch + 1) }
      const checkpoint = Checkpoint.make({
        ...one.checkpoint,
        epoch: Natural.epoch(epoch),
        nextEpoch: { ...history.committeeOf(2), ...nextEpoch },
      })
      return { checkpoint, signatures: one.signatures }
    }
    const outcome = bisection(start, long, falsely)
    expect(outcome).toMatchObject({ end: { _tag: "Unsigned" }, verified: Bisection.MAX_FALSE_SIGNATURES + 1 })
  })
})
