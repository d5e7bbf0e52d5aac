import { describe, expect, it } from "vitest"
import { mediansOf } from "../../bench/Harness.js"

describe("several runs of a scenario", () => {
  it("give the median of each figure, whose name may stand for several units", () => {
    const run = (finality: number, rounds: number) => [
      { name: "p50", value: finality, unit: "ms" },
      { name: "p50", value: rounds, unit: "rounds" },
    ]
    expect(mediansOf([run(700, 3.1), run(900, 2.9), run(800, 3)])).toEqual(run(800, 3))
  })

  it("give a figure that only some of them have from those", () => {
    const trie = { name: "trie", value: 1, unit: "µs" }
    expect(mediansOf([[trie], []])).toEqual([trie])
  })
})
