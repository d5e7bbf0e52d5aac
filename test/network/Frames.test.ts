import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Frames from "../../src/network/Frames.js"

async function* pieces(bytes: Uint8Array, sizes: ReadonlyArray<number>) {
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const collect = async <A>(source: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const each of source) all.push(each)
  return all
}

const joined = (parts: ReadonlyArray<Uint8Array>) => new Uint8Array(Buffer.concat(parts))

describe("frames", () => {
  it("come out as they went in, however the line cuts them", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 })
    const payloads = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(payloads, sizes, async (sent, cuts) => {
        const line = joined(sent.map(Frames.framed))
        expect(await collect(Frames.read(pieces(line, cuts), 60))).toEqual(sent)
      }),
    )
  })

  it("that are too long are refused at their length, without waiting for the rest", async () => {
    const announced = Uint8Array.of(61, 0, 0, 0)
    await expect(collect(Frames.read(pieces(announced, [4]), 60))).rejects.toThrow(Frames.FrameTooLong)
  })

  it("that end too soon are none", async () => {
    const line = Frames.framed(new Uint8Array(10)).subarray(0, 12)
    expect(await collect(Frames.read(pieces(line, [5]), 60))).toEqual([])
  })
})

describe("what goes out", () => {
  it("is lost where there is no room, and says how long it has waited", async () => {
    let now = 0
    const outgoing = new Frames.Outgoing(20, () => now)
    // One is always taken: a vertex may be larger than what may wait.
    expect(outgoing.push(new Uint8Array(30))).toBe(true)
    expect(outgoing.push(new Uint8Array(1))).toBe(false)
    now = 500
    expect([outgoing.bytes, outgoing.waitingMs]).toEqual([30, 500])
    outgoing.end()
    expect(outgoing.push(new Uint8Array(1))).toBe(false)
    expect((await collect(outgoing.pieces())).map(({ length }) => length)).toEqual([30])
    expect([outgoing.bytes, outgoing.waitingMs]).toEqual([0, 0])
  })

  it("goes out together where it waits together, in pieces that fill one record, and in order", async () => {
    const lengths = fc.oneof(fc.integer({ min: 1, max: 4_000 }), fc.integer({ min: 1, max: 150_000 }))
    await fc.assert(
      fc.asyncProperty(fc.array(lengths, { maxLength: 60 }), async (sizes) => {
        const outgoing = new Frames.Outgoing(100_000_000, () => 0)
        const sent = sizes.map((size, n) => new Uint8Array(size).fill(n))
        for (const frame of sent) outgoing.push(frame)
        outgoing.end()
        const pieces = await collect(outgoing.pieces())
        expect(Buffer.concat(pieces).equals(Buffer.concat(sent))).toBe(true)
        expect(outgoing.bytes).toBe(0)
        for (const [n, piece] of pieces.entries()) {
          // Nothing of the next piece would have had room in this one.
          const next = pieces[n + 1]
          if (piece.length > Frames.GATHERED_BYTES) expect(sizes).toContain(piece.length)
          else if (next !== undefined) expect(piece.length + next.length).toBeGreaterThan(Frames.GATHERED_BYTES)
        }
      }),
      { numRuns: 50 },
    )
  })

  it("reaches a reader who was there first", async () => {
    const outgoing = new Frames.Outgoing(20, () => 0)
    const read = collect(outgoing.pieces())
    outgoing.push(Uint8Array.of(1))
    await new Promise((resolve) => setImmediate(resolve))
    outgoing.push(Uint8Array.of(2))
    outgoing.end()
    expect(await read).toEqual([Uint8Array.of(1), Uint8Array.of(2)])
  })
})
