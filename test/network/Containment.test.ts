/** A switchboard with real connections, a clock that the test sets, and strangers who misuse it. */
import { randomBytes } from "node:crypto"
import { afterEach, describe, expect, it } from "vitest"
import * as Frames from "../../src/network/Frames.js"
import { Libp2pWire } from "../../src/network/libp2p/Libp2pWire.js"
import { nodeClock } from "../../src/network/libp2p/NodeClock.js"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { Received } from "../../src/network/Network.js"
import * as Places from "../../src/network/Places.js"
import { Switchboard } from "../../src/network/peers/Switchboard.js"
import { Standings } from "../../src/network/Standing.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import { genesisOf } from "../replica/Cluster.js"
import * as Rest from "../support/Rest.js"
import { type Bot, connect } from "./attacks/Bot.js"
import { stranger as hostile } from "./Hostile.js"

const genesisHash = "ab".repeat(32) as Hash
const networkId = "udg-switchboard" as NetworkId
const LIMIT_MS = 300_000

const left: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const stop of left.splice(0)) await stop().catch(() => {})
}, LIMIT_MS)

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

interface SetClock {
  now: number
}

/** Until this holds once the clock has moved on by this much, and leave it there. */
const untilLater = (clock: SetClock, ms: number, holds: () => boolean): Promise<void> =>
  until(() => {
    clock.now += ms
    const isSo = holds()
    if (!isSo) clock.now -= ms
    return isSo
  })

const started = async (heard: (received: Received) => void = ({ release }) => release("known")) => {
  const clock = { now: Date.now() }
  const warnings: Array<string> = []
  const board = await Switchboard.start({
    wire: new Libp2pWire({ seed: randomBytes(32), listen: "/ip4/127.0.0.1/tcp/0", agent: "test" }),
    hello: { networkId, genesisHash, agent: "test" },
    signer: null,
    standings: new Standings(),
    named: [],
    remembered: [],
    clock: { ...nodeClock, now: () => clock.now },
    listener: {
      heard,
      changed: () => {},
      logged: ({ level, message }) => level === "warn" && warnings.push(message),
    },
  })
  left.push(() => board.stop())
  const [target = ""] = board.addresses
  const stranger = async (source: string, heard: "deaf" | null = null): Promise<Bot> => {
    const bot = await connect({ networkId, genesisHash, target, source }, heard)
    left.push(() => bot.close())
    return bot
  }
  return { board, clock, warnings, stranger }
}

const counting = async () => {
  let count = 0
  const all = await started(({ release }) => {
    count++
    release("known")
  })
  return { ...all, heard: () => count }
}

/** Connects without greeting. */
const silent = async (target: string) => {
  const genesis = genesisOf({ validators: { ann: 10_000 } })
  const one = await hostile(genesis, target)
  return { connection: await one.dial(), stop: one.stop }
}

const question = () => {
  const author = Address.fromPublicKey(SecretKey.generate().publicKey)
  return Frames.framed(MessageCodec.encode({ _tag: "AskHighest", author }))
}

/** Says these, and holds the stream. */
async function* holding(...bytes: ReadonlyArray<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* bytes
  await new Promise(() => {})
}

describe("a message", () => {
  it(
    "has a minute from its first byte to its end",
    async () => {
      const { board, clock, warnings, stranger } = await started()
      const slow = await stranger("127.0.0.1")
      await until(() => board.sessions.length === 1)
      const [session] = board.sessions
      slow.write("questions", holding(question().subarray(0, 7))).catch(() => {})
      await untilLater(clock, 60_001, () => session?.hasUnfinished === true)
      clock.now -= 1
      board.sweep()
      expect(slow.isOpen()).toBe(true)
      clock.now += 2
      board.sweep()
      await until(() => !slow.isOpen() && board.sessions.length === 0)
      expect(warnings).toEqual([])
    },
    LIMIT_MS,
  )
})

/** Says one byte after the other, each when it is told to. */
const dripping = (bytes: Uint8Array) => {
  let drip = () => {}
  const next = () =>
    new Promise<void>((resolve) => {
      drip = resolve
    })
  const drops = async function* () {
    for (const byte of bytes) {
      yield Uint8Array.of(byte)
      await next()
    }
  }
  return { drops: drops(), drip: () => drip() }
}

describe("a peer", () => {
  it(
    "that says a byte of its closing checkpoints every few seconds has a minute for all of them",
    async () => {
      const { board, clock, stranger } = await started()
      const slow = await stranger("127.0.0.1")
      await until(() => board.sessions.length === 1)
      const { drops, drip } = dripping(
        Frames.framed(MessageCodec.encode({ _tag: "Closing", signed: [], newest: null })),
      )
      slow.write("answers", drops).catch(() => {})
      // The first byte is there, and its minute has begun.
      await untilLater(clock, 60_001, () => board.sessions[0]?.hasUnfinished === true)
      clock.now -= 60_001
      for (let seconds = 0; seconds < 60; seconds += 12) {
        board.sweep()
        expect(slow.isOpen()).toBe(true)
        drip()
        await new Promise((resolve) => setTimeout(resolve, 50))
        clock.now += 12_000
      }
      clock.now += 1_000
      board.sweep()
      await until(() => !slow.isOpen() && board.sessions.length === 0)
    },
    LIMIT_MS,
  )

  it(
    "that reads nothing of what it is sent is let go after half a minute, and others are not",
    async () => {
      const { board, clock, stranger } = await started()
      const deaf = await stranger("127.0.0.1", "deaf")
      const other = await stranger("127.0.0.2")
      await until(() => board.sessions.length === 2)
      const root = "cd".repeat(32) as Hash
      const subtree = randomBytes(500_000)
      for (const { facts } of board.sessions) {
        for (let n = 0; n < 4; n++) board.send(facts.peer, { _tag: "State", root, subtree })
      }
      const waiting = () => board.sessions.filter(({ isStalled }) => isStalled).length
      await untilLater(clock, 30_001, () => waiting() === 1)
      clock.now -= 2
      board.sweep()
      expect(deaf.isOpen()).toBe(true)
      clock.now += 2
      board.sweep()
      await until(() => !deaf.isOpen())
      expect(other.isOpen()).toBe(true)
    },
    LIMIT_MS,
  )

  it(
    "that does not greet is cut after ten seconds, and may neither ask nor gossip before",
    async () => {
      const { board, clock, heard } = await counting()
      const { connection, stop } = await silent(board.addresses[0] ?? "")
      left.push(stop)
      const says = [connection.newStream(board.protocolOf("questions")), connection.newStream("/meshsub/1.2.0")]
      for (const stream of await Promise.all(says)) {
        Promise.resolve(stream.sink(holding(question()))).catch(() => {})
      }
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(connection.status).toBe("open")
      expect([heard(), board.sessions.length]).toEqual([0, 0])
      clock.now += 10_001
      const swept = performance.now()
      board.sweep()
      await until(() => connection.status !== "open")
      // Otherwise the limit for a greeting would have cut it, in ten seconds of the real clock.
      expect(performance.now() - swept).toBeLessThan(6_000)
      expect([heard(), board.failures]).toEqual([0, 0])
    },
    LIMIT_MS,
  )
})

describe("the places of strangers", () => {
  it(
    Rest.of(
      "a full crowd",
      "are given by a full crowd: the one that misbehaved goes for a newcomer from elsewhere, and a neighbour gets none",
    ),
    async () => {
      const { board, stranger } = await started()
      const hosts = [1, 2, 3, 4].map((n) => `127.0.${n}.1`)
      const bots: Array<Bot> = []
      // No more at once than may be on their way to greet.
      for (let n = 0; n < Places.STRANGERS_PER_HOST; n += 8) {
        const some = hosts.flatMap((host) => Array.from({ length: 8 }, () => stranger(host)))
        bots.push(...(await Promise.all(some)))
        await until(() => board.sessions.length === bots.length)
      }
      expect(board.strangers).toBe(Places.STRANGERS)
      const [first, rude] = bots
      // One offence costs points and not yet the connection.
      rude?.write("answers", holding(Frames.framed(Uint8Array.of(255)))).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(bots.filter((bot) => bot.isOpen())).toHaveLength(Places.STRANGERS)

      await stranger(hosts[0] ?? "").catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect([first?.isOpen(), rude?.isOpen(), board.strangers]).toEqual([true, true, Places.STRANGERS])

      const newcomer = await stranger("127.9.0.1")
      await until(() => rude?.isOpen() === false)
      expect(newcomer.isOpen()).toBe(true)
      expect(board.strangers).toBe(Places.STRANGERS)
      expect(bots.filter((bot) => !bot.isOpen())).toEqual([rude])
    },
    LIMIT_MS,
  )
})

describe("a bug of this node", () => {
  it(
    "costs a peer its message and nobody anything else, is counted each time and said once for each peer",
    async () => {
      let [isBroken, answered] = [true, 0]
      const { board, warnings, stranger } = await started(({ release }) => {
        if (isBroken) throw new Error("planted")
        answered++
        release("known")
      })
      const bots = [await stranger("127.0.0.1"), await stranger("127.0.0.2")]
      // More than may wait to be taken in at a time: what failed takes up no room.
      const sent = Array.from({ length: 300 }, question)
      for (const bot of bots) bot.write("questions", holding(...sent)).catch(() => {})
      await until(() => board.failures === 600)
      expect(warnings.sort()).toEqual([...warnings.slice(0, 1), ...warnings.slice(0, 1)])
      expect(warnings).toHaveLength(2)
      expect(warnings[0]).toContain("planted")
      isBroken = false
      for (const bot of bots) bot.write("questions", holding(question())).catch(() => {})
      await until(() => answered === 2)
      expect(bots.map((bot) => bot.isOpen())).toEqual([true, true])
    },
    LIMIT_MS,
  )
})
