import { describe, expect, it } from "vitest"
import { OpenQuestions } from "../../src/node/signatures/OpenQuestions.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"

const ben = "ben" as PeerId

const hash = (i: number): Hash.Hash => Hash.of("udg/commit", Uint8Array.of(i, i >> 8))

const asking = (...numbers: ReadonlyArray<number>): OpenQuestions => {
  const questions = new OpenQuestions()
  for (const i of numbers) questions.asks(ben, { _tag: "AskVertices", hashes: [hash(i)] })
  return questions
}

describe("an open question", () => {
  it("is answered once, by the peer it was put to", () => {
    const questions = new OpenQuestions()
    questions.asks(ben, { _tag: "AskClosing", from: Natural.epoch(1) })
    expect(questions.answered("cleo" as PeerId, "Closing")).toBe(false)
    expect(questions.answered(ben, "Highest")).toBe(false)
    expect([questions.answered(ben, "Closing"), questions.answered(ben, "Closing")]).toEqual([true, false])
  })

  it("for vertices outlasts a member's pushed vertices", () => {
    const questions = asking(1)
    for (let i = 0; i < 100; i++) expect(questions.answeredWith(ben, [hash(2)], true)).toBe(false)
    expect(questions.answeredWith(ben, [hash(2), hash(1)], true)).toBe(true)
    expect(questions.isAwaited(ben, "Vertices")).toBe(false)
    expect(questions.answeredWith(ben, [hash(1)], true)).toBe(false)
  })

  it("for vertices ends with the first message of a peer that is not a member", () => {
    const questions = asking(1)
    expect(questions.answeredWith(ben, [hash(2)], false)).toBe(false)
    expect(questions.isAwaited(ben, "Vertices")).toBe(false)
    expect(questions.answeredWith(ben, [hash(1)], false)).toBe(false)
  })

  it("for vertices that several questions name ends once all of them have come", () => {
    const questions = asking(1, 2, 3)
    expect(questions.answeredWith(ben, [hash(1), hash(2), hash(3)], false)).toBe(true)
    expect(questions.isAwaited(ben, "Vertices")).toBe(false)
  })

  it("for vertices leaves nothing behind that a later question could take for its answer", () => {
    const questions = asking(1)
    expect(questions.answeredWith(ben, [], true)).toBe(true)
    questions.asks(ben, { _tag: "AskVertices", hashes: [hash(2)] })
    expect(questions.answeredWith(ben, [hash(1)], true)).toBe(false)
    expect(questions.answeredWith(ben, [hash(2)], true)).toBe(true)
  })

  it("for vertices accepts an empty answer", () => {
    const questions = asking(1, 2)
    expect(questions.answeredWith(ben, [], true)).toBe(true)
    expect(questions.isAwaited(ben, "Vertices")).toBe(true)
    expect(questions.answeredWith(ben, [], true)).toBe(true)
    expect(questions.answeredWith(ben, [hash(1)], true)).toBe(false)
  })

  it("is bounded in number and in its hashes, and ends with the connection", () => {
    const questions = asking(...Array.from({ length: 2_000 }, (_, i) => i))
    expect(questions.answeredWith(ben, [hash(0)], true)).toBe(false)
    expect(questions.answeredWith(ben, [hash(1_999)], true)).toBe(true)
    for (let i = 0; i < 63; i++) expect(questions.answeredWith(ben, [], true)).toBe(true)
    expect(questions.answeredWith(ben, [], true)).toBe(false)
    const others = asking(1)
    others.keepOnly(new Set())
    expect(others.isAwaited(ben, "Vertices")).toBe(false)
    others.asks(ben, { _tag: "AskVertices", hashes: [hash(2)] })
    expect(others.answeredWith(ben, [hash(1)], true)).toBe(false)
  })
})
