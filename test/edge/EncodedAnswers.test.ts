import { describe, expect, it } from "vitest"
import * as Content from "../../src/edge/server/Content.js"
import { EncodedAnswers } from "../../src/edge/server/EncodedAnswers.js"

const answering = (capacity?: number) => {
  let made = 0
  const answers = new EncodedAnswers(capacity)
  let version: unknown
  const ask = (path: string, at: unknown, length = 1): string => {
    version = at
    const known = answers.current(path)
    if (known !== undefined) return String(known.body)
    const content = Content.text("text/plain", `${made++}`.padEnd(length, "."))
    answers.keep(path, content, version, () => version)
    return String(content.body)
  }
  return { answers, ask }
}

describe("encoded responses", () => {
  it("are made once per path and version, independently of other paths", () => {
    const { ask } = answering()
    expect([ask("a", 1), ask("a", 1), ask("b", 1), ask("b", 2), ask("a", 1), ask("b", 2)]).toEqual([
      "0",
      "0",
      "1",
      "2",
      "0",
      "2",
    ])
  })

  it("use bounded memory for any requests", () => {
    const { answers, ask } = answering(100_000)
    for (let i = 0; i < 1_000; i++) {
      ask(`/${i}`, 1, 5_000)
      ask("/same", i, 5_000)
      expect(answers.size).toBeLessThanOrEqual(100_000)
    }
    expect(ask("/large", 1, 200_000)).toHaveLength(200_000)
    expect(answers.size).toBe(0)
  })
})
