import { expect, it } from "vitest"
import { AnswerTime } from "../../src/replica/messages/AnswerTime.js"

const PATIENCE_MS = 500

const after = (happens: (time: AnswerTime) => void, patienceMs = PATIENCE_MS): number => {
  const time = new AnswerTime(patienceMs)
  happens(time)
  return time.ms
}

it("is one patience at first, and doubles up to four with silence", () => {
  expect(after(() => {})).toBe(500)
  expect([1, 2, 3, 9].map((times) => after((time) => Array.from({ length: times }, () => time.silence())))).toEqual([
    1_000, 2_000, 2_000, 2_000,
  ])
})

it("is twice what the last answer took, from one patience to eight seconds, and never shortened by silence", () => {
  expect([10, 251, 3_000, 60_000].map((ms) => after((time) => time.took(ms)))).toEqual([500, 502, 6_000, 8_000])
  const slow = (time: AnswerTime): void => {
    time.took(3_000)
    time.silence()
  }
  expect(after(slow)).toBe(6_000)
})

it("is at most halved by one quick answer", () => {
  const quick = (time: AnswerTime): void => {
    time.took(4_000)
    time.took(1)
  }
  expect(after(quick)).toBe(4_000)
})

it("stays one patience where that is longer than eight seconds", () => {
  const busy = (time: AnswerTime): void => {
    time.silence()
    time.took(60_000)
  }
  expect(after(busy, 20_000)).toBe(20_000)
})
