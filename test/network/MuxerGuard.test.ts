/** What stands between the wire and the libraries, fed with bytes as nobody honest sends them. */
import { yamux } from "@chainsafe/libp2p-yamux"
import type { Stream, StreamMuxer, StreamMuxerFactory, StreamMuxerInit } from "@libp2p/interface"
import { defaultLogger } from "@libp2p/logger"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import type * as Frames from "../../src/network/Frames.js"
import * as Guard from "../../src/network/libp2p/Guard.js"
import * as MuxerGuard from "../../src/network/libp2p/MuxerGuard.js"
import { nodeClock } from "../../src/network/libp2p/NodeClock.js"
import { Meter } from "../../src/network/peers/Meter.js"
import { STRANGERS_TOGETHER, strangerShare } from "../../src/network/peers/Rates.js"

const frame = (
  type: number,
  flags: number,
  stream: number,
  length: number,
  content: Uint8Array = new Uint8Array(0),
) => {
  const bytes = new Uint8Array(12 + content.length)
  const view = new DataView(bytes.buffer)
  bytes[1] = type
  view.setUint16(2, flags)
  view.setUint32(4, stream)
  view.setUint32(8, length)
  bytes.set(content, 12)
  return bytes
}
const data = (content: Uint8Array) => frame(0, 0, 1, content.length, content)
const joined = (parts: ReadonlyArray<Uint8Array>) => new Uint8Array(Buffer.concat(parts))

async function* cutInto(bytes: Uint8Array, sizes: ReadonlyArray<number>): AsyncGenerator<Uint8Array, undefined> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = at + (sizes[i % sizes.length] ?? 1)
    yield bytes.subarray(at, end)
    at = end
  }
  return undefined
}

const collect = async (source: AsyncIterable<Frames.Piece>): Promise<ReadonlyArray<Uint8Array>> => {
  const all: Array<Uint8Array> = []
  for await (const piece of source) all.push(piece.subarray().slice())
  return all
}

const strangerRates = () => strangerShare(1)
const meter = () => new Meter({ standing: () => "member", strangerRates, flooded: () => {}, clock: nodeClock })

/** A multiplexer that only notes what it is fed. */
const fed = async (
  source: AsyncGenerator<Uint8Array>,
  streams: ReadonlyArray<Stream> = [],
  charged: Meter = meter(),
) => {
  const frames: Array<Uint8Array> = []
  const violations: Array<string> = []
  const factory: StreamMuxerFactory = {
    protocol: "/test",
    createStreamMuxer: (_: StreamMuxerInit = {}): StreamMuxer => ({
      protocol: "/test",
      source: (async function* () {})(),
      sink: async (all) => {
        for await (const piece of all) frames.push((piece as Frames.Piece).subarray().slice())
      },
      streams: [...streams],
      newStream: () => {
        throw new Error("no streams")
      },
      close: async () => {},
      abort: () => {},
    }),
  }
  const guarded = MuxerGuard.guarded(factory, {
    meter: charged,
    opened: () => {},
    violated: ({ message }) => violations.push(message),
    failed: (error) => violations.push(`bug: ${error}`),
  })
  const error = await Promise.resolve(guarded.createStreamMuxer().sink(source)).then(
    () => null,
    (reason: unknown) => reason,
  )
  return { frames, violations, error }
}

describe("frames of the multiplexer", () => {
  it("reach it whole, however they were cut", async () => {
    const contents = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 10 })
    const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(contents, cuts, async (sent, sizes) => {
        const frames = sent.map(data)
        expect((await fed(cutInto(joined(frames), sizes))).frames).toEqual(frames)
      }),
    )
  })

  it.each([
    ["of no content", frame(0, 0, 1, 0), "a frame with 0 bytes"],
    ["of four gigabytes", frame(0, 0, 1, 0xffff_ffff), "a frame with 4294967295 bytes"],
    ["of no known kind", frame(4, 0, 1, 0), "a frame of no known kind"],
    ["of another version", Uint8Array.of(1, ...new Uint8Array(11)), "a frame of no known kind"],
  ])("%s cost the connection", async (_, bytes, says) => {
    expect((await fed(cutInto(bytes, [12]))).violations).toEqual([says])
  })

  it("of random bytes reach it or cost the connection, and nothing else happens", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 50 }), async (bytes, size) => {
        const { frames, violations, error } = await fed(cutInto(bytes, [size]))
        expect(joined(frames)).toEqual(bytes.subarray(0, joined(frames).length))
        expect(error === null ? violations : [String(error).replace("Error: ", "")]).toEqual(violations)
      }),
      { numRuns: 500 },
    )
  })
})

describe("frames that go out", () => {
  it("earn the other side a receipt each where they have content, and nothing where they have little or none", async () => {
    const CONTENT = 64
    const sent = [
      frame(1, 0, 1, 262_144),
      data(new Uint8Array(CONTENT - 1)),
      data(new Uint8Array(CONTENT)),
      data(new Uint8Array(1_000)),
    ]
    const earned: Array<number> = []
    const earning = meter()
    let seen = 0
    earning.sentFrame = () => void earned.push(seen)
    const factory: StreamMuxerFactory = {
      protocol: "/test",
      createStreamMuxer: () => ({
        protocol: "/test",
        source: (async function* () {
          for (const each of sent) {
            seen++
            yield each
          }
        })(),
        sink: async () => {},
        streams: [],
        newStream: () => {
          throw new Error("no streams")
        },
        close: async () => {},
        abort: () => {},
      }),
    }
    const unexpected = () => {
      throw new Error("nothing comes in")
    }
    const guarding = { meter: earning, opened: () => {}, violated: unexpected, failed: unexpected }
    const { source } = MuxerGuard.guarded(factory, guarding).createStreamMuxer()
    expect(await collect(source)).toEqual(sent)
    expect(earned).toEqual([3, 4])
  })
})

describe("what frames cost", () => {
  it("is a piece for each record and each frame, and fifty for one that opens a stream, with content or without", async () => {
    const costs: Array<number> = []
    const counting = meter()
    counting.charge = (pieces) => void costs.push(pieces)
    const opening = [frame(1, 1, 1, 0), frame(0, 1, 3, 2, Uint8Array.of(1, 2))]
    const reset = frame(1, 8, 1, 0)
    await fed(cutInto(joined([...opening, reset, data(Uint8Array.of(1))]), [1_000]), [], counting)
    expect(costs).toEqual([1, 50, 50, 1, 1])
  })
})

describe("the first bytes of a connection", () => {
  const expected = Guard.preamble("/noise")

  it("are the same for everybody, however they are cut", async () => {
    const rest = Uint8Array.of(1, 2, 3)
    for (const size of [1, 5, 28, 100]) {
      const source = Guard.beginning(cutInto(joined([expected, rest]), [size]), expected)
      expect(joined(await collect(source))).toEqual(joined([expected, rest]))
    }
  })

  it("end it where they are others, at the first of them", async () => {
    const proposals = joined([expected.subarray(0, 20), Uint8Array.of(3, 108, 115, 10)])
    await expect(collect(Guard.beginning(cutInto(proposals, [7]), expected))).rejects.toThrow(MuxerGuard.Violation)
  })
})

describe("encrypted records", () => {
  it("reach the cipher whole, however they were cut", async () => {
    const records = [0, 1, 16, 300].map((length) => Uint8Array.of(length >> 8, length % 256, ...new Uint8Array(length)))
    for (const size of [1, 3, 500])
      expect(await collect(Guard.records(cutInto(joined(records), [size])))).toEqual(records)
  })
})

describe("pieces", () => {
  /** A stranger's meter, with a clock that the test sets. */
  const metered = (rates = strangerRates) => {
    const clock = { now: 0 }
    let floods = 0
    const flooded = () => {
      floods++
    }
    const stranger = new Meter({
      standing: () => "stranger",
      strangerRates: rates,
      flooded,
      clock: { ...nodeClock, now: () => clock.now },
    })
    return { stranger, clock, floods: () => floods }
  }

  it("beyond the rate have to wait, and for seconds on end are a flood", async () => {
    const { stranger, floods } = metered()
    // A burst, with a pause for others now and then.
    for (let n = 0; n < 1_000; n++) void stranger.charge(1, 0)
    expect(floods()).toBe(0)
    for (let n = 0; n < 5_000; n++) void stranger.charge(1, 0)
    expect(floods()).toBe(1)
  })

  it("with something in them are read slowly, but are no flood", () => {
    const { stranger: forwarder, clock, floods } = metered(() => strangerShare(40))
    // An encrypted record with one frame, as gossip comes.
    for (let n = 0; n < 50_000; n++) {
      void forwarder.charge(1, 400)
      void forwarder.charge(1, 0)
      clock.now += 2
    }
    expect(floods()).toBe(0)
  })

  it("of all strangers together are bounded, and each has an equal part", () => {
    for (const strangers of [1, 4, 40, 100]) {
      const { pieces, bytes } = strangerShare(strangers)
      expect(strangers * pieces.perSecond).toBeLessThanOrEqual(STRANGERS_TOGETHER.pieces)
      expect(strangers * bytes.perSecond).toBeLessThanOrEqual(STRANGERS_TOGETHER.bytes)
    }
  })

  it("of answers that were asked for need not wait, up to eight answers; unasked ones have to", () => {
    const { stranger, clock } = metered()
    const answerBytes = 2_097_152
    /** In full frames, each in a record of its own. Gives whether anything had to wait. */
    const answers = (count: number): boolean => {
      const waits = Array.from({ length: Math.ceil((count * answerBytes) / 65_507) }, () => {
        clock.now += 0.001
        return [stranger.charge(1, 65_519), stranger.charge(1, 0)].some((pause) => pause !== undefined)
      })
      // Every 128 pieces others have the thread, which is no waiting.
      return waits.filter(Boolean).length > Math.ceil((2 * waits.length) / 128)
    }
    for (let n = 0; n < 20; n++) {
      for (let asked = 0; asked < 8; asked++) stranger.asked(answerBytes)
      expect(answers(8)).toBe(false)
    }
    for (let asked = 0; asked < 100; asked++) stranger.asked(answerBytes)
    expect(answers(8)).toBe(false)
    expect(answers(8)).toBe(true)
  })

  it("within the rate do not, and receipts of what was sent cost nothing", () => {
    const { stranger, floods } = metered()
    for (let n = 0; n < 100_000; n++) {
      stranger.sentFrame()
      stranger.charge(2, 0)
    }
    expect(floods()).toBe(0)
  })
})

describe("room that is granted", () => {
  const grant = (stream: number, bytes: number) => frame(1, 0, stream, bytes)

  it("is gathered into grants of 64 KiB or more, none of it lost, and the other side never lacks more than that", () => {
    const parts = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 90_000 })))
    fc.assert(
      fc.property(parts, (granted) => {
        const grants = new MuxerGuard.Grants()
        const held = new Map<number, number>()
        for (const [stream, bytes] of granted) {
          held.set(stream, (held.get(stream) ?? 0) + bytes)
          const out = grants.gathered(grant(stream, bytes))
          if (out === null) expect(held.get(stream)).toBeLessThan(65_536)
          else {
            expect(out).toEqual(grant(stream, held.get(stream) ?? 0))
            held.delete(stream)
          }
        }
      }),
    )
  })

  it("goes out at once with what opens or ends a stream, as does everything else", () => {
    const grants = new MuxerGuard.Grants()
    for (const other of [frame(1, 1, 1, 5), frame(1, 4, 1, 0), frame(2, 0, 0, 7), data(Uint8Array.of(1))])
      expect(grants.gathered(other)).toBe(other)
  })
})

describe("the negotiation of a stream", () => {
  const pieces = async function* (all: ReadonlyArray<Uint8Array>) {
    yield* all
  }

  const negotiated = async (sent: ReadonlyArray<Uint8Array>, protocol?: string) => {
    const stream = { protocol, source: pieces(sent) }
    const violations: Array<string> = []
    const factory = (init: StreamMuxerInit = {}) => {
      init.onIncomingStream?.(stream as unknown as Stream)
      return { protocol: "/test", source: pieces([]), streams: [] } as unknown as StreamMuxer
    }
    MuxerGuard.guarded(
      { protocol: "/test", createStreamMuxer: factory },
      { meter: meter(), opened: () => {}, violated: ({ message }) => violations.push(message), failed: () => {} },
    ).createStreamMuxer()
    const read = await collect(stream.source).catch(() => null)
    return { read, violations }
  }
  const bytes = (count: number, value = 97) => new Uint8Array(count).fill(value)

  it("has 512 bytes, however they come", async () => {
    expect((await negotiated([bytes(512)])).violations).toEqual([])
    const broken = { read: null, violations: ["a stream that does not come to its protocol"] }
    expect(await negotiated([bytes(513)])).toEqual(broken)
    expect(await negotiated(Array.from({ length: 513 }, () => bytes(1)))).toEqual(broken)
  })

  it("has eight lines, however they come", async () => {
    expect((await negotiated([bytes(8, 10)])).violations).toEqual([])
    expect((await negotiated([bytes(9, 10)])).violations).toHaveLength(1)
    expect((await negotiated(Array.from({ length: 9 }, () => bytes(1, 10)))).violations).toHaveLength(1)
  })

  it("sets no limit to what follows it", async () => {
    expect((await negotiated([bytes(5_000, 10)], "/known")).violations).toEqual([])
  })
})

describe("what nobody has read", () => {
  /** How many frames are taken in while nothing is read. */
  const taken = async (frames: AsyncGenerator<Uint8Array>, unread: () => number) => {
    let count = 0
    const stream = { id: "1", sourceReadableLength: unread } as unknown as Stream
    const counted = (async function* () {
      for await (const each of frames) {
        yield each
        count++
      }
    })()
    void fed(counted, [stream])
    let before = -1
    while (count > before) {
      before = count
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return count
  }
  async function* many(count: number, size: number) {
    for (let n = 0; n < count; n++) yield data(new Uint8Array(size))
  }

  it("is no more than four megabytes", async () => {
    // Bytes are counted as they come, and looked for in the streams once there may be too many.
    expect(await taken(many(100, 60_000), () => 0)).toBe(100)
    expect(await taken(many(100, 60_000), () => 4_194_304)).toBe(100)
    expect(await taken(many(100, 60_000), () => 4_194_305)).toBe(70)
  })

  it("is no more than 4096 frames, whatever is in them", async () => {
    expect(await taken(many(6_000, 1), () => 1)).toBe(4_096)
    expect(await taken(many(6_000, 1), () => 0)).toBe(6_000)
  })

  it("is seen in the streams of the library", async () => {
    const factory = yamux()({ logger: defaultLogger() } as unknown as Parameters<ReturnType<typeof yamux>>[0])
    const muxer = MuxerGuard.guarded(factory, {
      meter: meter(),
      opened: () => {},
      violated: () => {},
      failed: () => {},
    }).createStreamMuxer({ direction: "inbound" })
    let count = 0
    const line = async function* () {
      yield frame(1, 1, 1, 0)
      for await (const each of many(6_000, 1)) {
        yield each
        count++
      }
    }
    void Promise.resolve(muxer.sink(line() as unknown as StreamMuxer["source"])).catch(() => {})
    let before = -1
    while (count > before) {
      before = count
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(count).toBe(4_096)
    muxer.abort(new Error("over"))
  })
})
