import { describe, expect, it } from "vitest"
import { type Sample, slopeOf, table } from "../../scripts/soak/Samples.js"

const sampleAt = (minute: number, more: Partial<Sample> = {}): Sample => ({
  minute,
  node: 0,
  round: 120 * minute,
  residentKib: 102_400,
  heapBytes: 52_428_800,
  descriptors: 45,
  dataBytes: 10_485_760,
  logBytes: 1_024,
  writtenBytes: 1_048_576 * minute,
  ...more,
})

const minutes = Array.from({ length: 120 }, (_, i) => i + 1)
const rowOf = (samples: ReadonlyArray<Sample>, what: string): ReadonlyArray<string> =>
  (
    table(samples)
      .split("\n")
      .find((line) => line.includes(what)) ?? ""
  )
    .split("|")
    .map((cell) => cell.trim())

describe("the table of a soak", () => {
  it("shows each change per hour", () => {
    const samples = minutes.map((minute) => sampleAt(minute, { residentKib: 102_400 + 1_024 * minute }))
    expect(rowOf(samples, "resident")).toEqual([
      "",
      "0",
      "resident memory, MiB",
      "112.0",
      "130.0",
      "160.0",
      "190.0",
      "220.0",
      "+60.00",
      "",
    ])
    expect(rowOf(samples, "descriptors").at(-2)).toBe("0.0")
    expect(rowOf(samples, "round").at(-2)).toBe("+7200.0")
  })

  it("omits the first quarter, in which a node fills its caches", () => {
    const samples = minutes.map((minute) => sampleAt(minute, { heapBytes: 1_048_576 * Math.min(minute, 30) }))
    expect(rowOf(samples, "heap").slice(3)).toEqual(["12.0", "30.0", "30.0", "30.0", "30.0", "0.00", ""])
  })

  it("shows a decrease as a decrease", () => {
    const samples = minutes.map((minute) => sampleAt(minute, { logBytes: 1_024 * (1_000 - minute) }))
    expect(rowOf(samples, "log").at(-2)).toBe("-60.00")
  })

  it("separates nodes, and computes no slope from two samples", () => {
    const samples = [1, 2].flatMap((minute) => [0, 1].map((node) => sampleAt(minute, { node, descriptors: 40 + node })))
    expect(
      table(samples)
        .split("\n")
        .filter((line) => line.includes("descriptors")),
    ).toEqual([
      "| 0 | file descriptors | 40 | 40 | 40 | 40 | 40 |  |",
      "| 1 | file descriptors | 41 | 41 | 41 | 41 | 41 |  |",
    ])
  })

  it("is not distorted by where a sawtooth begins and ends", () => {
    const saw = minutes.map((minute) => [minute / 60, 100 + (minute % 10)] as const)
    expect(Math.abs(slopeOf(saw))).toBeLessThan(0.2)
    expect(slopeOf(saw.map(([x, y]) => [x, y + 3 * x] as const))).toBeCloseTo(3 + slopeOf(saw), 9)
  })
})
