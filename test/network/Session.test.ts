/** What one peer can have under way at a node, without a network. */
import { afterEach, describe, expect, it, vi } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { Received } from "../../src/network/Network.js"
import * as Channel from "../../src/network/peers/Channel.js"
import { Discipline } from "../../src/network/peers/Discipline.js"
import { Intake } from "../../src/network/peers/Intake.js"
import { Lanes } from "../../src/network/peers/Lanes.js"
import { Meter } from "../../src/network/peers/Meter.js"
import { PeerLog } from "../../src/network/peers/PeerLog.js"
import { PeerMemory } from "../../src/network/peers/PeerMemory.js"
import * as Relays from "../../src/network/peers/Relays.js"
import { Session } from "../../src/network/peers/Session.js"
import type { Connection } from "../../src/network/peers/Wire.js"
import { Volume } from "../../src/network/Volume.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
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
  // No wait ends by itself, not even the check for room.
  const clock = new ManualClock(1_000_000)
  const meter = new Meter({ standing: () => "member", strangers: () => 1, flooded: () => {}, clock })
  const failed = (error: unknown) => {
    throw error
  }
  const lineTo = (other: () => Lanes) => ({
    write: (bytes: Uint8Array) => {
      other().received(bytes)
      return true
    },
    soon: queueMicrotask,
    later: queueMicrotask,
    now: clock.now,
  })
  const lanes: Lanes = new Lanes(
    lineTo(() => far),
    failed,
  )
  /** The other side. It does not read what it receives. */
  const far: Lanes = new Lanes(
    lineTo(() => lanes),
    failed,
  )
  const connection: Connection = {
    peer: ben,
    direction: "inbound",
    address: "127.0.0.1:9",
    host: "127.0.0.1",
    isOpen: true,
    lanes,
    unsentBytes: 0,
    written: 0,
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
    address: "127.0.0.1:9",
    host: "127.0.0.1",
    networks: ["host"],
    connectedSince: Natural.timestamp(clock.now()),
  }
  const holdings = new PeerMemory({ standing: () => "stranger", now: clock.now, cut: () => {} })
  const session = new Session(facts, { meter, account: holdings.open(ben, "stranger") }, clock)
  /** The admitted messages, by lane. */
  const taken = new Map<Channel.OfReplica, number>()
  let isOpen = false
  /** Lets the other side send these messages as fast as it can, and counts those that are admitted. */
  const reading = (channel: Channel.OfReplica, messages: number, bytes = 100) => {
    if (!isOpen) session.open((each) => void taken.set(each, (taken.get(each) ?? 0) + 1))
    isOpen = true
    const before = taken.get(channel) ?? 0
    const push = async () => {
      for (let i = 0; i < messages; i++) while (!far.send(channel, new Uint8Array(bytes))) await settle()
    }
    void push()
    return {
      get count() {
        return (taken.get(channel) ?? 0) - before
      },
    }
  }
  return { clock, meter, session, holdings, reading, far, facts, now: clock.now }
}

describe("reading from a peer", () => {
  it("charges two pieces per message besides its bytes, and pauses while the peer is beyond its rate", async () => {
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

  it.each(Channel.ofReplica)(
    "of the channel of %s takes at most its burst, and then a second's worth",
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
      // One was waiting, and was paid for already.
      expect(read.count).toBe(atOnce + bytesPerSecond / bytes)
    },
  )

  it.each([
    { channel: "vertices", what: "eight megabytes", messages: 1, bytes: 8 * MIB, others: [0, 3, 3, 0, 0] },
    { channel: "answers", what: "256 messages", messages: 256, bytes: 1, others: [0, 3, 3, 0, 0] },
    { channel: "transactions", what: "four megabytes", messages: 1, bytes: 4 * MIB, others: [3, 0, 3, 3, 3] },
    { channel: "transactions", what: "256 messages", messages: 256, bytes: 1, others: [3, 0, 3, 3, 3] },
    { channel: "votes", what: "a quarter of a megabyte", messages: 1, bytes: MIB / 4, others: [3, 3, 0, 3, 3] },
    { channel: "votes", what: "64 messages", messages: 64, bytes: 1, others: [3, 3, 0, 3, 3] },
  ] as const)("is nothing of the kind of $channel while $what wait", async ({ channel, messages, bytes, others }) => {
    const { session, reading } = scene()
    const held = Array.from({ length: messages - 1 }, () => session.holds(channel, bytes))
    const last = session.holds(channel, bytes)
    const reads = Channel.ofReplica.map((each) => reading(each, 3))
    await settle()
    expect(reads.map(({ count }) => count)).toEqual(others)
    last("known")
    // A second decision on the same message frees no more room.
    last("known")
    await settle()
    expect(reads.map(({ count }) => count)).toEqual([3, 3, 3, 3, 3])
    const again = session.holds(channel, bytes)
    const late = reading(channel, 1)
    await settle()
    expect(late.count).toBe(0)
    for (const release of [...held, again]) release("news")
    await settle()
    expect([late.count, session.news]).toEqual([1, messages])
  })

  it("stops for questions while 64 wait for their answers, and continues for everything else", async () => {
    const { session, reading } = scene()
    for (let i = 0; i < 64; i++) expect(session.asks()).toBe(true)
    const reads = Channel.ofReplica.map((channel) => reading(channel, 1))
    await settle()
    expect(reads.map(({ count }) => count)).toEqual([1, 1, 1, 0, 1])
    session.answered()
    await settle()
    expect(reads.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1])
  })

  it("pauses for answers that the node did not ask for", async () => {
    const { session, reading } = scene()
    for (let i = 0; i < 9; i++) session.answered()
    for (let i = 0; i < 64; i++) session.asks()
    const read = reading("questions", 1)
    await settle()
    expect(read.count).toBe(0)
  })

  it("stops for questions while the peer has four megabytes of answers to read", async () => {
    const { session, reading } = scene()
    for (let i = 0; i < 4; i++) session.send("answers", new Uint8Array(MIB))
    const before = reading("questions", 1)
    await settle()
    expect(before.count).toBe(1)
    session.send("answers", new Uint8Array(1))
    const reads = Channel.ofReplica.map((channel) => reading(channel, 1))
    await settle()
    expect(reads.map(({ count }) => count)).toEqual([1, 1, 1, 0, 1])
  })

  it("stops once the session is over", async () => {
    const { session, reading } = scene()
    session.holds("vertices", 8 * MIB)
    const read = reading("vertices", 1)
    await settle()
    session.end()
    await settle()
    expect(read.count).toBe(0)
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

  it("offers a few closing checkpoints unasked, and any requested ones", () => {
    const { clock, session } = scene()
    const offered = (count: number) => Array.from({ length: count }, () => session.offers()).filter(Boolean).length
    expect(offered(17)).toBe(16)
    for (let i = 0; i < 3; i++) session.asksForClosing()
    expect(offered(4)).toBe(3)
    clock.moveTo(clock.now() + 10_000)
    expect(offered(17)).toBe(16)
  })

  it("that reads nothing for half a minute, or does not finish a message in a minute, is detected", async () => {
    const { clock, session, facts } = scene()
    expect(session.send("answers", new Uint8Array(16 * MIB))).toBe(true)
    expect(session.send("answers", new Uint8Array(1))).toBe(false)
    session.open(() => {})
    await settle()
    // More than the other side can send at once; it sends the beginning.
    facts.connection.lanes.received(Uint8Array.of(Channel.all.indexOf("vertices"), 9, 0, 0, 1))
    clock.moveTo(clock.now() + 30_000)
    expect([session.isStalled, session.hasUnfinished]).toEqual([false, false])
    clock.moveTo(clock.now() + 1)
    expect([session.isStalled, session.hasUnfinished]).toEqual([true, false])
    clock.moveTo(clock.now() + 30_000)
    expect(session.hasUnfinished).toBe(true)
  })
})

describe("a message that comes in", () => {
  const intake = () => {
    const { session, clock, now, facts, far } = scene()
    const heard: Array<Received> = []
    const log = new PeerLog(() => {}, now)
    const discipline = new Discipline(log, { connections: [facts.connection] }, now)
    const around = { heard: (received: Received) => void heard.push(received), standingOf: () => "stranger" as const }
    const passed: Array<Relays.Told> = []
    const known = new Relays.Known(now)
    const isKnown = (message: Uint8Array) => known.has(message, false)
    const passOn = (told: Relays.Told) => void passed.push(told)
    new Intake({ ...around, log, discipline, volume: new Volume(), passOn, isKnown }).read(session)
    const read = async (channel: Channel.OfReplica, ...messages: ReadonlyArray<Uint8Array>) => {
      for (const message of messages) far.send(channel, message)
      await settle()
    }
    return { session, clock, heard, passed, read, points: () => discipline.points(ben) }
  }
  const encoded = (message: Message) => MessageCodec.encode(message)
  const question = encoded({ _tag: "AskVertices", hashes: [] })
  const closing = encoded({ _tag: "Closing", signed: [], newest: null })
  const news = encoded({ _tag: "Transactions", transactions: [] })
  const heartbeat = (n: number) =>
    encoded({ _tag: "Heartbeat", heartbeat: Heartbeat.sign(Natural.commitIndex(n), Hash.ZERO, SecretKey.generate()) })

  it("costs points when it is of another lane or of no known kind", async () => {
    for (const [channel, bytes] of [
      ["vertices", question],
      ["answers", question],
      ["questions", closing],
      ["transactions", Relays.envelope([], question)],
      ["transactions", Relays.envelope([], encoded({ _tag: "Vertices", vertices: [] }))],
      ["votes", Relays.envelope([], news)],
      ["votes", Relays.envelope([], encoded({ _tag: "Vertices", vertices: [] }))],
      ["vertices", news],
      ["vertices", Uint8Array.of(255)],
      ["vertices", new Uint8Array(0)],
      // A list without an end, and a message that no program makes.
      ["transactions", Uint8Array.of(2, 1, 1, 1)],
      ["transactions", new Uint8Array(2_000).fill(35, 0, 1)],
      ["votes", new Uint8Array(0)],
    ] as const) {
      const { heard, read, points } = intake()
      await read(channel, bytes)
      expect([heard.length, points()]).toEqual([0, 30])
    }
  })

  it("of more questions than an honest peer has costs points, and those are not answered", async () => {
    const { session, heard, read, points } = intake()
    for (let i = 0; i < 500; i++) {
      session.asks()
      session.answered()
    }
    await read("questions", question, question)
    expect([heard.length, points()]).toEqual([0, 20])
    // They do not wait for an answer either.
    for (let i = 0; i < 63; i++) session.asks()
    await read("questions", question)
    expect(points()).toBe(30)
  })

  it("stays in the peer's room until it is released", async () => {
    const { heard, read } = intake()
    await read("questions", ...Array.from({ length: 64 }, () => question))
    await read(
      "answers",
      ...Array.from({ length: 300 }, () => encoded({ _tag: "State", root: Hash.ZERO, subtree: null })),
    )
    expect(heard).toHaveLength(256)
    heard[0]?.release("known")
    await settle()
    expect(heard).toHaveLength(257)
  })

  it("of more closing checkpoints than an honest peer offers costs points", async () => {
    const { session, heard, read, points } = intake()
    await read("answers", ...Array.from({ length: 18 }, () => closing))
    expect([heard.length, points()]).toEqual([16, 20])
    session.asksForClosing()
    await read("answers", closing)
    expect([heard.length, points()]).toEqual([17, 20])
  })

  it("for all nodes is relayed once if it was new, with the list of members that lack it", async () => {
    const { heard, passed, read } = intake()
    const member = Address.fromPublicKey(SecretKey.generate().publicKey)
    const messages = [1, 2, 3].map(heartbeat)
    const [first = news] = messages
    await read("votes", ...messages.map((message) => Relays.envelope([member], message)))
    await read("vertices", encoded({ _tag: "Vertices", vertices: [] }))
    expect([heard.length, passed]).toEqual([4, []])
    expect(heard[0]?.bytes).toEqual(first)
    for (const [i, decision] of (["news", "known", "refused", "news"] as const).entries()) heard[i]?.release(decision)
    expect(passed).toEqual([{ from: ben, channel: "votes", tag: "Heartbeat", message: first, untold: [member] }])
  })

  it("of useless votes costs points, once they exceed what any honest peer relays", async () => {
    const { clock, heard, read, points } = intake()
    let made = 0
    const told = async (count: number, decision: "news" | "known") => {
      for (let i = 0; i < count; i++) {
        made++
        // A different one each time; only its kind is read.
        await read("votes", Relays.envelope([], Uint8Array.of(3, made & 255, made >> 8)))
        heard.at(-1)?.release(decision)
      }
    }
    await told(20, "news")
    await told(512, "known")
    expect(points()).toBe(0)
    await told(1, "known")
    expect(points()).toBe(10)
    clock.moveTo(clock.now() + 1_000)
    await told(31, "known")
    expect(points()).toBeLessThanOrEqual(10)
  })

  it("for everybody is heard once, however many peers bring it within three seconds", async () => {
    const { clock, heard, read } = intake()
    for (const untold of [[], "any"] as const) await read("transactions", Relays.envelope(untold, news))
    expect(heard).toHaveLength(1)
    clock.moveTo(clock.now() + 3_000)
    await read("transactions", Relays.envelope([], news))
    expect(heard).toHaveLength(2)
  })
})

describe("a session's memory", () => {
  it("is counted while messages wait, in either direction, and no longer", async () => {
    const { session, holdings, reading, facts } = scene()
    session.send("answers", new Uint8Array(1_000))
    const release = session.holds("vertices", 200)
    reading("vertices", 0)
    expect(holdings.of("stranger")).toBe(1_200)
    release("known")
    expect(holdings.of("stranger")).toBe(1_000)
    await settle()
    // The beginning of a message.
    facts.connection.lanes.received(
      Uint8Array.of(16 + Channel.all.indexOf("answers"), 184, 11, 0, ...new Uint8Array(3_000)),
    )
    expect(holdings.of("stranger")).toBe(4_000)
    session.end()
    expect(holdings.of("stranger")).toBe(0)
  })
})
