/** Messages in lanes, over a line that cuts bytes anywhere. */
import { randomBytes } from "node:crypto"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Channel from "../../src/network/peers/Channel.js"
import { HEAD_BYTES, KIND, PIECE_BYTES, PIECE_COST, Violation } from "../../src/network/peers/Frame.js"
import { Lanes } from "../../src/network/peers/Lanes.js"
import { piece } from "./attacks/Bot.js"

const MIB = 1_048_576

const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

interface Way {
  /** Cuts what is written. */
  readonly cut?: (bytes: Uint8Array) => ReadonlyArray<Uint8Array>
  /** How much the line still accepts before it is full. */
  readonly room?: { bytes: number }
  readonly later?: (act: () => void) => void
}

/** Two ends, and everything that the first one wrote. */
const pair = ({
  cut = (bytes) => [bytes],
  room = { bytes: Number.POSITIVE_INFINITY },
  later = queueMicrotask,
}: Way = {}) => {
  const clock = { now: 0 }
  const failures: Array<unknown> = []
  const written: Array<Uint8Array> = []
  const failed = (error: unknown) => void failures.push(error)
  const now = () => clock.now
  const near: Lanes = new Lanes(
    {
      write: (bytes) => {
        written.push(bytes)
        room.bytes -= bytes.length
        for (const part of cut(bytes)) far.received(part)
        return room.bytes > 0
      },
      soon: queueMicrotask,
      later,
      now,
    },
    failed,
  )
  const far: Lanes = new Lanes(
    {
      write: (bytes) => {
        near.received(bytes)
        return true
      },
      soon: queueMicrotask,
      later: queueMicrotask,
      now,
    },
    failed,
  )
  /** Lets the first end send on this lane, and keeps what arrives. */
  const hearing = (channel: Channel.Channel, window = MIB): ReadonlyArray<Uint8Array> => {
    const heard: Array<Uint8Array> = []
    far.accept(channel, window, (message) => {
      heard.push(message)
      return undefined
    })
    return heard
  }
  return { near, far, clock, failures, written, hearing }
}

/** An end that receives only what the test passes to it. */
const listening = () => {
  const lanes = new Lanes({ write: () => true, soon: () => {}, later: () => {}, now: () => 0 }, () => {})
  const heard: Array<Uint8Array> = []
  lanes.accept("answers", 65_536, (message) => {
    heard.push(message)
    return undefined
  })
  lanes.flush()
  return { lanes, heard }
}

describe("messages", () => {
  it("arrive whole, in order and in separate buffers, however they are cut", async () => {
    const message = fc.nat(60_000).map((length) => new Uint8Array(randomBytes(length)))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...Channel.ofReplica.slice(0, 2)), message), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 20 }),
        async (messages, lengths) => {
          let drawn = 0
          const cut = (bytes: Uint8Array) => {
            const parts: Array<Uint8Array> = []
            for (let at = 0; at < bytes.length; ) {
              const length = lengths[drawn++ % lengths.length] ?? 1
              parts.push(bytes.slice(at, at + length))
              at += length
            }
            return parts
          }
          const { near, hearing, failures } = pair({ cut })
          const heard = new Map(Channel.ofReplica.map((channel) => [channel, hearing(channel, 40_000)]))
          for (const [channel, bytes] of messages) expect(near.send(channel, bytes)).toBe(true)
          await settle()
          for (const [channel, all] of heard) {
            const sent = messages.filter(([each]) => each === channel)
            expect(all.map(hexOf)).toEqual(sent.map(([, bytes]) => hexOf(bytes)))
          }
          expect(failures).toEqual([])
        },
      ),
      { numRuns: 100 },
    )
  })

  it("arrive the same in pieces of one byte", async () => {
    const { near, hearing } = pair({ cut: (bytes) => Array.from(bytes, (byte) => Uint8Array.of(byte)) })
    const heard = hearing("answers")
    const messages = [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES].map((length) => randomBytes(length))
    for (const message of messages) near.send("answers", message)
    await settle()
    expect(heard.map((message) => Buffer.from(message))).toEqual(messages)
  })

  it("of one turn go out together, in pieces that fill whole records", async () => {
    const { near, written, hearing } = pair()
    const heard = hearing("votes")
    await settle()
    for (let n = 0; n < 100; n++) near.send("votes", new Uint8Array(100))
    await settle()
    expect([heard.length, written.length]).toEqual([100, 1])
    hearing("answers", 4 * MIB)
    await settle()
    near.send("answers", new Uint8Array(4 * PIECE_BYTES))
    await settle()
    expect(written[1]?.length).toBe(4 * (PIECE_BYTES + HEAD_BYTES))
  })

  it("for all peers wait for more of them, but go with the next question", async () => {
    const gathered: Array<() => void> = []
    const { near, hearing } = pair({ later: (act) => void gathered.push(act) })
    const [vertices, questions] = [hearing("vertices"), hearing("questions")]
    await settle()
    const message = new Uint8Array(10)
    for (let n = 0; n < 3; n++) near.send("vertices", message)
    await settle()
    expect([vertices.length, gathered.length]).toEqual([0, 1])
    gathered.pop()?.()
    expect(vertices).toHaveLength(3)
    near.send("vertices", message)
    near.send("questions", message)
    await settle()
    expect([vertices.length, questions.length]).toEqual([4, 1])
  })

  it("of all lanes take turns", async () => {
    const room = { bytes: Number.POSITIVE_INFINITY }
    const { near, hearing } = pair({ room })
    const channels = ["vertices", "transactions", "answers"] as const
    const heard = channels.map((channel) => hearing(channel, 4 * MIB))
    await settle()
    room.bytes = 1
    for (let n = 0; n < 100; n++) near.send("answers", new Uint8Array(PIECE_BYTES))
    await settle()
    // The line is full; the most urgent message comes last.
    for (const channel of ["transactions", "vertices"] as const) {
      for (let n = 0; n < 100; n++) near.send(channel, new Uint8Array(PIECE_BYTES))
    }
    for (let n = 0; n < 30; n++) {
      room.bytes = 1
      near.drained()
    }
    const counts = heard.map(({ length }) => length)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(6)
    expect(Math.min(...counts)).toBeGreaterThan(20)
  })
})

describe("a lane with a reader that does not take its messages", () => {
  it("delays its own sender and no other lane, within its window", async () => {
    const { near, far, hearing, clock } = pair()
    let goOn = () => {}
    let count = 0
    far.accept("answers", 100_000, () => {
      count++
      return new Promise<void>((resolve) => {
        goOn = resolve
      })
    })
    const votes = hearing("votes")
    for (let n = 0; n < 100; n++) near.send("answers", new Uint8Array(10_000))
    for (let n = 0; n < 100; n++) near.send("votes", new Uint8Array(10))
    await settle()
    expect([count, votes.length]).toEqual([1, 100])
    const waiting = near.unsent("answers")
    // One is taken, and at most a window of them has arrived.
    expect(waiting).toBeGreaterThanOrEqual(100 * 10_000 - 100_000 - 2 * 10_000)
    clock.now = 29_000
    expect(near.stalledMs).toBe(29_000)
    expect(far.unfinishedMs).toBe(0)
    for (let n = 0; n < 99; n++) {
      goOn()
      await settle()
    }
    expect([count, near.unsent("answers"), near.stalledMs]).toEqual([100, 0, 0])
  })

  it("refuses messages beyond the queue's limit", () => {
    const { near } = pair()
    const { waitingBytes } = Channel.LIMITS.votes
    expect(near.send("votes", new Uint8Array(waitingBytes))).toBe(true)
    expect(near.send("votes", new Uint8Array(1))).toBe(false)
    expect(near.send("questions", new Uint8Array(1))).toBe(true)
    near.end()
    expect(near.unsent("votes")).toBe(0)
  })
})

describe("a protocol violation", () => {
  const part = (bytes: number) => piece("answers", new Uint8Array(bytes), KIND.part)
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Uint8Array>, string]> = [
    ["a frame of unknown kind", [Uint8Array.of(0x50, 0, 0, 0)], "unknown kind"],
    ["a piece that is too long", [Uint8Array.of(5, 0xfd, 0x3f, 0)], "a piece of 16381 bytes"],
    ["a lane that is not open", [piece("vertices", Uint8Array.of(1))], "not open"],
    ["an unknown lane", [Uint8Array.of(15, 0, 0, 0)], "not open"],
    ["an empty part", [part(0)], "an empty part"],
    ["more data than granted", Array.from({ length: 5 }, () => part(PIECE_BYTES)), "more data than the granted credit"],
    ["credit for no lane", [Uint8Array.of(0x2f, 1, 0, 0)], "credit for an unknown lane"],
    ["endless credit", Array.from({ length: 200 }, () => Uint8Array.of(0x25, 255, 255, 255)), "more credit"],
  ]

  it.each(cases)("is %s", (_, frames, message) => {
    const { lanes } = listening()
    const say = () => {
      for (const frame of frames) lanes.received(frame)
    }
    expect(say).toThrow(expect.objectContaining({ message: expect.stringContaining(message), offence: "misframed" }))
  })

  it("is a message longer than its lane allows, detected at the first byte too many", () => {
    const { lanes } = listening()
    lanes.accept("votes", MIB, () => undefined)
    lanes.flush()
    const limit = Channel.LIMITS.votes.messageBytes
    lanes.received(piece("votes", new Uint8Array(PIECE_BYTES), KIND.part))
    lanes.received(piece("votes", new Uint8Array(limit - PIECE_BYTES), KIND.part))
    expect(() => lanes.received(piece("votes", Uint8Array.of(1)))).toThrow(`at most ${limit} allowed`)
  })

  it("is either reported or accepted for any bytes, and nothing else happens", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 40 }), (chunks) => {
        const { lanes } = listening()
        try {
          for (const chunk of chunks) lanes.received(chunk)
        } catch (error) {
          expect(error).toBeInstanceOf(Violation)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it("does not make this node queue answers: a thousand pings get one", async () => {
    const { near, written, hearing } = pair()
    hearing("votes")
    await settle()
    written.length = 0
    for (let n = 0; n < 1_000; n++) near.received(Uint8Array.of(0x30, n & 255, n >> 8, 0))
    await settle()
    expect(written).toEqual([Uint8Array.of(0x40, 999 & 255, 999 >> 8, 0)])
  })

  it("pays at least for its pieces, which cost more of the window than their bytes", () => {
    const { lanes } = listening()
    const empty = piece("answers", new Uint8Array(0))
    // Without a flush no new credit is granted.
    const fit = Math.floor(65_536 / PIECE_COST)
    for (let n = 0; n < fit; n++) lanes.received(empty)
    expect(() => lanes.received(empty)).toThrow("more data than the granted credit")
  })
})

describe("pings", () => {
  it("measure the round trip", async () => {
    const { near, clock } = pair()
    expect(near.latencyMs).toBeNull()
    near.ping()
    clock.now = 7
    await settle()
    expect(near.latencyMs).toBe(7)
  })

  it("report how long a frame or a message has been incomplete", () => {
    const clock = { now: 0 }
    const lanes = new Lanes({ write: () => true, soon: () => {}, later: () => {}, now: () => clock.now }, () => {})
    lanes.accept("answers", MIB, () => undefined)
    lanes.flush()
    const whole = piece("answers", new Uint8Array(100))
    lanes.received(whole.subarray(0, 1))
    clock.now = 10
    lanes.received(whole.subarray(1, 50))
    expect(lanes.unfinishedMs).toBe(10)
    lanes.received(whole.subarray(50))
    expect(lanes.unfinishedMs).toBe(0)
    lanes.received(piece("answers", new Uint8Array(100), KIND.part))
    clock.now = 30
    lanes.received(piece("answers", new Uint8Array(100), KIND.part))
    expect(lanes.unfinishedMs).toBe(20)
    lanes.received(whole)
    expect(lanes.unfinishedMs).toBe(0)
  })
})
