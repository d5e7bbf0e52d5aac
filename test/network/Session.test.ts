/** What one peer may have under way at a node, counted without a network. */
import { afterEach, describe, expect, it, vi } from "vitest"
import * as Frames from "../../src/network/Frames.js"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { Received, RelayDecision } from "../../src/network/Network.js"
import * as Channel from "../../src/network/peers/Channel.js"
import { Discipline } from "../../src/network/peers/Discipline.js"
import { Holdings } from "../../src/network/peers/Holdings.js"
import { Intake } from "../../src/network/peers/Intake.js"
import { Meter } from "../../src/network/peers/Meter.js"
import { PeerLog } from "../../src/network/peers/PeerLog.js"
import { strangerShare } from "../../src/network/peers/Rates.js"
import { Session } from "../../src/network/peers/Session.js"
import type { Connection } from "../../src/network/peers/Wire.js"
import { Volume } from "../../src/network/Volume.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { ManualClock } from "./ManualClock.js"

const MIB = 1_048_576
const ben = "ben" as PeerId

afterEach(() => {
  vi.restoreAllMocks()
})

const settle = async () => {
  for (let turn = 0; turn < 30; turn++) await new Promise(setImmediate)
}

const scene = () => {
  // No wait ends by itself, not even the look whether there is room again.
  const clock = new ManualClock(1_000_000)
  const meter = new Meter({ standing: () => "member", strangerRates: () => strangerShare(1), flooded: () => {}, clock })
  // It takes nothing of what it is sent.
  const connection: Connection = {
    peer: ben,
    direction: "inbound",
    address: "/ip4/127.0.0.1/tcp/9",
    host: "127.0.0.1",
    isOpen: true,
    latencyMs: null,
    open: () => new Promise(() => {}),
    close: () => {},
    abort: () => {},
  }
  const facts = {
    peer: ben,
    connection,
    hello: {
      version: 1,
      networkId: "udg-test" as NetworkId,
      genesisHash: Hash.ZERO,
      agent: "a test",
      port: 0,
      challenge: Hash.ZERO,
    },
    validator: null,
    address: "/ip4/127.0.0.1/tcp/9",
    host: "127.0.0.1",
    connectedSince: Natural.timestamp(clock.now()),
  }
  const holdings = new Holdings({ standing: () => "stranger", now: clock.now, cut: () => {} })
  const line = { isClogged: false }
  const counted = { meter, account: holdings.open(ben, "stranger"), isClogged: () => line.isClogged }
  const session = new Session(facts, counted, (channel) => channel, clock)
  /** Reads such messages, and notes how many are let through. */
  const reading = (channel: Channel.Channel, messages: number, bytes = 100) => {
    const read = { count: 0, isOver: false }
    async function* source() {
      for (let i = 0; i < messages; i++) yield Frames.framed(new Uint8Array(bytes))
    }
    const all = async () => {
      for await (const _ of session.messages(channel, source())) read.count++
      read.isOver = true
    }
    void all()
    return read
  }
  return { clock, meter, session, holdings, line, reading, facts, now: clock.now }
}

describe("what is read of a peer", () => {
  it("costs two pieces a message besides its bytes, and waits while the peer is beyond its rate", async () => {
    const { meter, reading } = scene()
    let goOn = () => {}
    const charge = vi.spyOn(meter, "charge").mockImplementation(() => new Promise<void>((resolve) => (goOn = resolve)))
    const read = reading("vertices", 2)
    await settle()
    expect(charge.mock.calls).toEqual([[2, 0]])
    expect(read.count).toBe(0)
    goOn()
    await settle()
    expect(charge.mock.calls).toHaveLength(2)
    expect(read.count).toBe(1)
  })

  it.each(Channel.all)(
    "of the channel of %s is no more than that takes at once, and then a second",
    async (channel) => {
      const { clock, reading } = scene()
      const { burstBytes, bytesPerSecond } = Channel.LIMITS[channel]
      const bytes = 16_384
      const atOnce = burstBytes / bytes
      const read = reading(channel, 2 * atOnce, bytes)
      for (let i = 0; i < 200 && read.count < atOnce; i++) await settle()
      await settle()
      expect(read.count).toBe(atOnce)
      clock.moveTo(clock.now() + 1_000)
      for (let i = 0; i < 20; i++) await settle()
      // One was waiting, and is paid for already.
      expect(read.count).toBe(atOnce + bytesPerSecond / bytes)
    },
  )

  it.each([
    { room: "own", what: "eight megabytes", messages: 1, bytes: 8 * MIB, others: [0, 3, 0, 0] },
    { room: "own", what: "256 messages", messages: 256, bytes: 1, others: [0, 3, 0, 0] },
    { room: "transactions", what: "four megabytes", messages: 1, bytes: 4 * MIB, others: [3, 0, 3, 3] },
    { room: "transactions", what: "256 messages", messages: 256, bytes: 1, others: [3, 0, 3, 3] },
    { room: "votes", what: "a quarter of a megabyte", messages: 1, bytes: MIB / 4, others: [3, 3, 3, 3] },
    { room: "votes", what: "64 messages", messages: 64, bytes: 1, others: [3, 3, 3, 3] },
  ] as const)("is nothing for $room while $what wait there", async ({ room, messages, bytes, others }) => {
    const { session, reading } = scene()
    const held = Array.from({ length: messages - 1 }, () => session.holds(room, bytes))
    expect(session.hasRoom(room)).toBe(true)
    const last = session.holds(room, bytes)
    expect(session.hasRoom(room)).toBe(false)
    const reads = Channel.all.map((channel) => reading(channel, 3))
    await settle()
    expect(reads.map(({ count }) => count)).toEqual(others)
    last("known")
    // A second decision on the same message makes no more room.
    last("known")
    await settle()
    expect(reads.map(({ count }) => count)).toEqual([3, 3, 3, 3])
    const again = session.holds(room, bytes)
    expect(session.hasRoom(room)).toBe(false)
    for (const release of [...held, again]) release("news")
    expect([session.hasRoom(room), session.news]).toEqual([true, messages])
  })

  it("is no further question while 64 wait for their answers; all else is read", async () => {
    const { session, reading } = scene()
    for (let i = 0; i < 64; i++) expect(session.asks()).toBe(true)
    const reads = Channel.all.map((channel) => reading(channel, 1))
    await settle()
    expect(reads.map(({ count }) => count)).toEqual([1, 1, 0, 1])
    session.answered()
    await settle()
    expect(reads.map(({ count }) => count)).toEqual([1, 1, 1, 1])
  })

  it("is no more for answers that it did not ask for", async () => {
    const { session, reading } = scene()
    for (let i = 0; i < 9; i++) session.answered()
    for (let i = 0; i < 64; i++) session.asks()
    const read = reading("questions", 1)
    await settle()
    expect(read.count).toBe(0)
  })

  it("is no further question while the peer has four megabytes of answers to read", async () => {
    const { session, reading } = scene()
    for (let i = 0; i < 4; i++) session.send("answers", new Uint8Array(MIB))
    const before = reading("questions", 1)
    await settle()
    expect(before.count).toBe(1)
    session.send("answers", new Uint8Array(1))
    const reads = Channel.all.map((channel) => reading(channel, 1))
    await settle()
    expect(reads.map(({ count }) => count)).toEqual([1, 1, 0, 1])
  })

  it("is nothing once the session is over", async () => {
    const { session, reading } = scene()
    session.holds("own", 8 * MIB)
    const read = reading("vertices", 1)
    await settle()
    session.end()
    await settle()
    expect(read).toEqual({ count: 0, isOver: true })
  })
})

describe("a peer", () => {
  it("asks five hundred questions at once and a hundred a second, answered or not", () => {
    const { clock, session } = scene()
    const asked = (count: number) => Array.from({ length: count }, () => session.asks()).filter(Boolean).length
    expect(asked(501)).toBe(500)
    clock.moveTo(clock.now() + 1_000)
    expect(asked(101)).toBe(99)
  })

  it("offers a few closing checkpoints unasked, and any that it was asked for", () => {
    const { clock, session } = scene()
    const offered = (count: number) => Array.from({ length: count }, () => session.offers()).filter(Boolean).length
    expect(offered(17)).toBe(16)
    for (let i = 0; i < 3; i++) session.asksForClosing()
    expect(offered(4)).toBe(3)
    clock.moveTo(clock.now() + 10_000)
    expect(offered(17)).toBe(16)
  })

  it("that takes nothing for half a minute, or does not finish what it began in a minute, is told apart", async () => {
    const { clock, session } = scene()
    expect(session.send("answers", new Uint8Array(16 * MIB))).toBe(true)
    expect(session.send("answers", new Uint8Array(1))).toBe(false)
    async function* source() {
      yield Frames.framed(new Uint8Array(9)).subarray(0, 9)
      await new Promise(() => {})
    }
    void session.messages("vertices", source()).next()
    await settle()
    clock.moveTo(clock.now() + 30_000)
    expect([session.isStalled, session.hasUnfinished]).toEqual([false, false])
    clock.moveTo(clock.now() + 1)
    expect([session.isStalled, session.hasUnfinished]).toEqual([true, false])
    clock.moveTo(clock.now() + 30_000)
    expect(session.hasUnfinished).toBe(true)
  })
})

describe("what comes in", () => {
  const intake = () => {
    const { session, clock, now, facts } = scene()
    const heard: Array<Received> = []
    const log = new PeerLog(() => {}, now)
    const discipline = new Discipline(log, { connections: [facts.connection] }, now)
    const around = { heard: (received: Received) => void heard.push(received), standingOf: () => "stranger" as const }
    const relayed: Array<Uint8Array> = []
    const passOn = (_: PeerId, bytes: Uint8Array) => void relayed.push(bytes)
    const taking = new Intake({ ...around, log, discipline, volume: new Volume(), passOn })
    const read = async (channel: Channel.Channel, ...messages: ReadonlyArray<Uint8Array>) => {
      async function* source() {
        for (const message of messages) yield Frames.framed(message)
      }
      const over = () => Promise.resolve()
      const stream = { source: source(), sink: over, close: over, closeWrite: over, abort: () => {} }
      taking.read(session, channel, stream).catch(() => {})
      await settle()
    }
    return { session, clock, heard, relayed, taking, read, points: () => discipline.points(ben) }
  }
  const encoded = (message: Message) => MessageCodec.encode(message)
  const question = encoded({ _tag: "AskVertices", hashes: [] })
  const closing = encoded({ _tag: "Closing", signed: [], newest: null })

  it("costs points where it belongs to another channel, or is of no kind at all", async () => {
    for (const [channel, bytes] of [
      ["vertices", question],
      ["answers", question],
      ["questions", closing],
      ["transactions", question],
      ["transactions", encoded({ _tag: "Vertices", vertices: [] })],
      ["vertices", encoded({ _tag: "Transactions", transactions: [] })],
      ["vertices", Uint8Array.of(255)],
      ["vertices", new Uint8Array(0)],
    ] as const) {
      const { heard, read, points } = intake()
      await read(channel, bytes)
      expect([heard.length, points()]).toEqual([0, 30])
    }
  })

  it("of more questions than anybody has costs points, and those are not answered", async () => {
    const { session, heard, read, points } = intake()
    for (let i = 0; i < 500; i++) {
      session.asks()
      session.answered()
    }
    await read("questions", question, question)
    expect([heard.length, points()]).toEqual([0, 20])
    // They wait for no answer either.
    for (let i = 0; i < 63; i++) session.asks()
    await read("questions", question)
    expect(points()).toBe(30)
  })

  it("waits in the peer's room until it is released", async () => {
    const { session, heard, read } = intake()
    await read("questions", ...Array.from({ length: 64 }, () => question))
    await read(
      "answers",
      ...Array.from({ length: 300 }, () => encoded({ _tag: "State", root: Hash.ZERO, subtree: null })),
    )
    expect(heard).toHaveLength(256)
    expect(session.hasRoom("own")).toBe(false)
    heard[0]?.release("known")
    await settle()
    expect(heard).toHaveLength(257)
  })

  it("costs points at once where it announces more than its channel takes", async () => {
    const { heard, read, points } = intake()
    await read("questions", new Uint8Array(Channel.LIMITS.questions.frameBytes + 1))
    // It is disconnected for it.
    expect([heard.length, points()]).toEqual([0, 50])
  })

  it("of more closing checkpoints than anybody offers costs points", async () => {
    const { session, heard, read, points } = intake()
    await read("answers", ...Array.from({ length: 18 }, () => closing))
    expect([heard.length, points()]).toEqual([16, 20])
    session.asksForClosing()
    await read("answers", closing)
    expect([heard.length, points()]).toEqual([17, 20])
  })

  it("of transactions by stream is passed on once, if it was news", async () => {
    const { heard, relayed, read } = intake()
    const news = encoded({ _tag: "Transactions", transactions: [] })
    await read("transactions", news, news, news)
    await read("vertices", encoded({ _tag: "Vertices", vertices: [] }))
    expect([heard.length, relayed]).toEqual([4, []])
    for (const [i, decision] of (["known", "refused", "news", "news"] as const).entries()) heard[i]?.release(decision)
    expect(relayed).toEqual([news])
  })

  it("by gossip is dropped without a place for it, before it is read, and from those who have not greeted", () => {
    const { session, heard, taking, points } = intake()
    const news = encoded({ _tag: "Transactions", transactions: [] })
    const decisions: Array<RelayDecision> = []
    const gossip = (from: Session | undefined, bytes: Uint8Array, isTransactions = true) =>
      taking.gossiped(from, isTransactions, bytes, (decision) => decisions.push(decision))
    gossip(undefined, news)
    const release = session.holds("transactions", 4 * MIB)
    gossip(session, news)
    gossip(session, question)
    expect([heard.length, points(), decisions]).toEqual([0, 0, ["known", "known", "known"]])
    release("known")
    gossip(session, news)
    expect([heard.length, points()]).toEqual([1, 0])
    // Not on the other topic, and nothing that has a stream of its own.
    gossip(session, news, false)
    gossip(session, encoded({ _tag: "Vertices", vertices: [] }), false)
    gossip(session, question, false)
    expect([heard.length, points(), decisions.slice(3)]).toEqual([1, 90, ["refused", "refused", "refused"]])
  })

  it("of votes that are of no use costs points, once they are more than any honest peer relays", () => {
    const { clock, session, heard, taking, points } = intake()
    const vote = Uint8Array.of(3)
    const told = (count: number, decision: RelayDecision) => {
      for (let i = 0; i < count; i++) {
        taking.gossiped(session, false, vote, () => {})
        heard.at(-1)?.release(decision)
      }
    }
    told(1_000, "news")
    told(512, "known")
    expect(points()).toBe(0)
    told(1, "known")
    expect(points()).toBe(10)
    clock.moveTo(clock.now() + 1_000)
    told(31, "known")
    expect(points()).toBeLessThanOrEqual(10)
  })

  it("of votes that wait keeps no other message out", async () => {
    const { session, heard, taking, read } = intake()
    for (let i = 0; i < 100; i++) taking.gossiped(session, false, Uint8Array.of(3), () => {})
    expect(heard).toHaveLength(64)
    await read("vertices", encoded({ _tag: "Vertices", vertices: [] }))
    taking.gossiped(session, true, encoded({ _tag: "Transactions", transactions: [] }), () => {})
    expect(heard.slice(64).map(({ tag }) => tag)).toEqual(["Vertices", "Transactions"])
  })
})

describe("what a session holds", () => {
  it("is counted while it waits, in either direction, and no longer", async () => {
    const { session, holdings, reading } = scene()
    session.send("answers", new Uint8Array(1_000))
    const release = session.holds("own", 200)
    expect(holdings.of("stranger")).toBe(1_200)
    release("known")
    expect(holdings.of("stranger")).toBe(1_000)
    async function* begun() {
      const frame = Frames.framed(new Uint8Array(5_000))
      yield frame.subarray(0, 3_000)
      await new Promise(() => {})
    }
    void session.messages("answers", begun()).next()
    await settle()
    expect(holdings.of("stranger")).toBeGreaterThanOrEqual(4_000)
    reading("vertices", 3)
    await settle()
    session.end()
    expect(holdings.of("stranger")).toBe(0)
  })

  it("goes out in short pieces, and waits here while the line is clogged", async () => {
    const { session, facts, line, clock } = scene()
    const written: Array<number> = []
    const sink = async (pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => {
      for await (const piece of pieces) written.push(piece.length)
    }
    Object.assign(facts.connection, { open: async () => ({ sink }) })
    line.isClogged = true
    session.send("answers", new Uint8Array(150_000))
    await settle()
    expect(written).toEqual([])
    line.isClogged = false
    clock.moveTo(clock.now() + 20)
    await settle()
    expect(written).toEqual([65_507, 65_507, 18_986])
  })
})
