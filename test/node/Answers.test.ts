import { describe, expect, it, vi } from "vitest"
import { Answers, type Price } from "../../src/node/engine/Answers.js"
import type { Owner } from "../../src/node/signatures/FairQueue.js"
import type { DiskQuestion } from "../../src/replica/messages/Message.js"

const question: DiskQuestion = { _tag: "AskVertices", hashes: [] }
const stranger = (peer: string): Owner => ({ peer, standing: "stranger" })
const member = (peer: string): Owner => ({ peer, standing: "member" })
const MIB = 1_048_576

/** Answers that complete when the test says so. The clock stands still unless moved. */
const scene = () => {
  let now = 0
  const making: Array<{ readonly peer: string; readonly done: (price: Price) => void }> = []
  const answers = new Answers(
    ({ peer }, _, done) => {
      making.push({ peer, done })
    },
    () => now,
  )
  const peers = () => making.map(({ peer }) => peer)
  const finish = (price: Price = { bytes: 2 * MIB, milliseconds: 10 }) => making.shift()?.done(price)
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { answers, making, peers, finish, pass }
}

describe("questions of peers", () => {
  it("are answered one at a time per peer, and two for a member", () => {
    const { answers, peers } = scene()
    for (let i = 0; i < 5; i++) answers.ask(stranger("a"), question)
    expect(peers()).toEqual(["a"])
    for (let i = 0; i < 5; i++) answers.ask(member("m"), question)
    expect(peers()).toEqual(["a", "m", "m"])
    answers.ask(stranger("b"), question)
    answers.ask(stranger("c"), question)
    expect(peers()).toEqual(["a", "m", "m", "b"])
  })

  it("are dropped and counted once too many of one peer wait", () => {
    const { answers } = scene()
    // One is being answered.
    for (let i = 0; i < 67; i++) answers.ask(stranger("a"), question)
    expect(answers.waiting).toBe(64)
    expect(answers.dropped).toEqual({ member: 0, named: 0, stranger: 2 })
  })

  it("of a member wait for no stranger's, however many ask", () => {
    const { answers, peers, finish } = scene()
    for (let i = 0; i < 20; i++) for (let n = 0; n < 60; n++) answers.ask(stranger(`s${i}`), question)
    answers.ask(member("m"), question)
    finish()
    expect(peers()).toContain("m")
  })

  it("of strangers share a byte budget that refills with time", () => {
    const { answers, making, finish, pass } = scene()
    for (let i = 0; i < 10; i++) for (let n = 0; n < 60; n++) answers.ask(stranger(`s${i}`), question)
    const answered = () => {
      let count = 0
      for (; making.length > 0; count++) finish()
      return count
    }
    const atOnce = answered()
    expect(answers.heldBack).toBe(1)
    // It used to be 87 MB for 17 KB of questions.
    expect(atOnce * 2).toBeLessThanOrEqual(32 + 4 * 2)
    answers.ask(member("m"), question)
    expect(answered()).toBe(1)
    pass(1_000)
    answers.ask(stranger("late"), question)
    const later = answered()
    expect(later).toBeGreaterThan(0)
    expect(later * 2).toBeLessThanOrEqual(8 + 4 * 2)
  })

  it("of strangers share a budget of thread time, however short the answers", () => {
    const { answers, making, finish, pass } = scene()
    for (let i = 0; i < 10; i++) for (let n = 0; n < 60; n++) answers.ask(stranger(`s${i}`), question)
    const answered = () => {
      let count = 0
      for (; making.length > 0; count++) finish({ bytes: 100, milliseconds: 50 })
      return count
    }
    const atOnce = answered()
    expect(atOnce * 50).toBeGreaterThanOrEqual(500)
    expect(atOnce * 50).toBeLessThanOrEqual(500 + 4 * 50)
    pass(3_000)
    answers.ask(stranger("late"), question)
    const later = answered()
    expect(later).toBeGreaterThan(0)
    expect(later * 50).toBeLessThanOrEqual(300 + 4 * 50)
  })

  it("resume by themselves once their class has budget again", async () => {
    const { answers, making, finish, pass } = scene()
    for (let n = 0; n < 60; n++) answers.ask(stranger("a"), question)
    while (making.length > 0) finish()
    expect(answers.waiting).toBeGreaterThan(0)
    pass(1_000)
    await vi.waitFor(() => expect(making).toHaveLength(1))
  })

  it("cost a peer turns by the time they take", () => {
    const { answers, making } = scene()
    for (let i = 0; i < 3; i++)
      for (let n = 0; n < 60; n++) answers.ask(member(["long", "short", "also"][i] ?? ""), question)
    const got = new Map<string, number>()
    for (let n = 0; n < 60; n++) {
      const next = making.shift()
      if (next === undefined) throw new Error("none in the making")
      got.set(next.peer, (got.get(next.peer) ?? 0) + 1)
      next.done({ bytes: 100, milliseconds: next.peer === "long" ? 10 : 1 })
    }
    expect(got.get("long") ?? 0).toBeLessThanOrEqual(8)
  })

  it("are answered in turn: a newcomer waits for at most one answer per other peer", () => {
    const { answers, peers, finish } = scene()
    for (const peer of ["a", "b", "c", "d"]) for (let n = 0; n < 60; n++) answers.ask(stranger(peer), question)
    for (let i = 0; i < 8; i++) finish({ bytes: 1_000, milliseconds: 1 })
    answers.ask(stranger("new"), question)
    for (let i = 0; i < 4; i++) finish({ bytes: 1_000, milliseconds: 1 })
    expect(peers()).toContain("new")
  })

  it("beyond a session's limit are ignored, and departed peers' questions are dropped", () => {
    const { answers } = scene()
    const taken = Array.from({ length: 80 }, () => answers.ask(stranger("a"), question))
    expect(taken.filter(Boolean)).toHaveLength(65)
    answers.keepOnly(new Set(["b"]))
    expect(answers.waiting).toBe(0)
  })
})
