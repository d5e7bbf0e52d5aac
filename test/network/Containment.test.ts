/** A switchboard with real connections, a clock that the test moves, and strangers who misuse it. */
import { randomBytes } from "node:crypto"
import { afterEach, describe, expect, it } from "vitest"
import * as ConnectionSlots from "../../src/network/ConnectionSlots.js"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { Received } from "../../src/network/Network.js"
import { Switchboard } from "../../src/network/peers/Switchboard.js"
import { Standings } from "../../src/network/Standing.js"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import { TlsWire } from "../../src/network/tls/TlsWire.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Rest from "../support/Rest.js"
import { type Bot, connect, piece, type Wish } from "./attacks/Bot.js"

const genesisHash = "ab".repeat(32) as Hash
const networkId = "udg-switchboard" as NetworkId

const left: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const stop of left.splice(0)) await stop().catch(() => {})
})

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

interface SetClock {
  now: number
}

/** Waits until this holds after the clock has moved by this much, and leaves the clock there. */
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
  const set = { ...nodeClock, now: () => clock.now, spareNow: () => clock.now }
  const board = await Switchboard.start({
    wire: new TlsWire({ key: SecretKey.generate(), listen: { host: "127.0.0.1", port: 0 }, clock: set }),
    hello: { networkId, genesisHash, agent: "test" },
    signer: null,
    standings: new Standings(),
    named: [],
    remembered: [],
    clock: set,
    listener: {
      heard,
      changed: () => {},
      logged: ({ level, message }) => level === "warn" && warnings.push(message),
    },
  })
  left.push(() => board.stop())
  const [target = ""] = board.addresses
  const stranger = async (source: string, wish: Wish = {}): Promise<Bot> => {
    const bot = await connect({ networkId, genesisHash, target, source }, wish)
    left.push(async () => bot.close())
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

const question = () => {
  const author = Address.fromPublicKey(SecretKey.generate().publicKey)
  return MessageCodec.encode({ _tag: "AskHighest", author })
}

describe("a message", () => {
  it("must arrive within a minute of its first byte", async () => {
    const { board, clock, warnings, stranger } = await started()
    const slow = await stranger("127.0.0.1")
    await until(() => board.sessions.length === 1)
    const [session] = board.sessions
    await slow.writeRaw([piece("questions", question()).subarray(0, 7)])
    await untilLater(clock, 60_001, () => session?.hasUnfinished === true)
    clock.now -= 1
    board.sweep()
    expect(slow.isOpen()).toBe(true)
    clock.now += 2
    board.sweep()
    await until(() => !slow.isOpen() && board.sessions.length === 0)
    expect(warnings).toEqual([])
  })
})

describe("a peer", () => {
  it("that trickles its closing checkpoints has a minute for all of them", async () => {
    const { board, clock, stranger } = await started()
    const slow = await stranger("127.0.0.1")
    await until(() => board.sessions.length === 1)
    const bytes = piece("answers", MessageCodec.encode({ _tag: "Closing", signed: [], newest: null }))
    let at = 0
    const drip = () => slow.writeRaw([bytes.subarray(at, ++at)])
    await drip()
    // The first byte has arrived, and its minute has begun.
    await untilLater(clock, 60_001, () => board.sessions[0]?.hasUnfinished === true)
    clock.now -= 60_001
    for (let seconds = 0; seconds < 60; seconds += 12) {
      board.sweep()
      expect(slow.isOpen()).toBe(true)
      await drip()
      await new Promise((resolve) => setTimeout(resolve, 50))
      clock.now += 12_000
    }
    clock.now += 1_000
    board.sweep()
    await until(() => !slow.isOpen() && board.sessions.length === 0)
  })

  it("that reads nothing is disconnected after half a minute, and others are not", async () => {
    const { board, clock, stranger } = await started()
    await stranger("127.0.0.1", { heard: "deaf" })
    const other = await stranger("127.0.0.2")
    await until(() => board.sessions.length === 2)
    const root = "cd".repeat(32) as Hash
    const subtree = randomBytes(500_000)
    for (const { facts } of board.sessions) {
      for (let n = 0; n < 14; n++) board.send(facts.peer, { _tag: "State", root, subtree })
    }
    const waiting = () => board.sessions.filter(({ isStalled }) => isStalled).length
    await untilLater(clock, 30_001, () => waiting() === 1)
    clock.now -= 2
    board.sweep()
    expect(board.sessions).toHaveLength(2)
    clock.now += 2
    board.sweep()
    // A peer that does not read does not notice either.
    await until(() => board.sessions.length === 1)
    expect(other.isOpen()).toBe(true)
  })

  it("that does not greet is disconnected after ten seconds, or at once when it sends something else", async () => {
    const { board, clock, heard, stranger } = await counting()
    const silent = await stranger("127.0.0.1", { isSilent: true })
    const hasty = await stranger("127.0.0.2", { isSilent: true })
    await hasty.writeRaw([piece("questions", question())])
    await until(() => !hasty.isOpen())
    expect(silent.isOpen()).toBe(true)
    expect([heard(), board.sessions.length]).toEqual([0, 0])
    clock.now += 10_001
    const swept = performance.now()
    board.sweep()
    await until(() => !silent.isOpen())
    // Otherwise the limit for a greeting would have closed it, in ten seconds of the real clock.
    expect(performance.now() - swept).toBeLessThan(9_000)
    expect([heard(), board.failures]).toEqual([0, 0])
  })
})

describe("the slots of strangers", () => {
  it(
    Rest.of(
      "a full crowd",
      "of a full crowd pass from its misbehaving member to a newcomer from elsewhere, but not to a neighbour",
    ),
    async () => {
      const { board, clock, stranger } = await started()
      const hosts = [1, 2, 3, 4].map((n) => `127.0.${n}.1`)
      const bots: Array<Bot> = []
      // No more at once than may be waiting to greet.
      for (let n = 0; n < ConnectionSlots.STRANGERS_PER_HOST; n += 8) {
        const some = hosts.flatMap((host) => Array.from({ length: 8 }, () => stranger(host)))
        bots.push(...(await Promise.all(some)))
        await until(() => board.sessions.length === bots.length)
        // All come from one network, whose handshakes are limited.
        clock.now += 1_000
      }
      expect(board.strangers).toBe(ConnectionSlots.STRANGERS)
      const [first, rude] = bots
      // One offence costs points and not yet the connection.
      rude?.write("answers", [Uint8Array.of(255)]).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(bots.filter((bot) => bot.isOpen())).toHaveLength(ConnectionSlots.STRANGERS)

      await stranger(hosts[0] ?? "").catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect([first?.isOpen(), rude?.isOpen(), board.strangers]).toEqual([true, true, ConnectionSlots.STRANGERS])

      const newcomer = await stranger("127.9.0.1")
      await until(() => rude?.isOpen() === false)
      expect(newcomer.isOpen()).toBe(true)
      expect(board.strangers).toBe(ConnectionSlots.STRANGERS)
      expect(bots.filter((bot) => !bot.isOpen())).toEqual([rude])
    },
  )
})

describe("a bug of this node", () => {
  it("costs a peer its message and nothing else, is counted each time and logged once per peer", async () => {
    let [isBroken, answered] = [true, 0]
    const { board, clock, warnings, stranger } = await started(({ release }) => {
      if (isBroken) throw new Error("planted")
      answered++
      release("known")
    })
    const bots = [await stranger("127.0.0.1"), await stranger("127.0.0.2")]
    // More than may wait to be accepted at a time: failed messages take up no room.
    const sent = Array.from({ length: 300 }, question)
    for (const bot of bots) bot.write("questions", sent).catch(() => {})
    await until(() => {
      // The strangers' rates need time.
      clock.now += 10
      return board.failures === 600
    })
    expect(warnings.sort()).toEqual([...warnings.slice(0, 1), ...warnings.slice(0, 1)])
    expect(warnings).toHaveLength(2)
    expect(warnings[0]).toContain("planted")
    isBroken = false
    for (const bot of bots) bot.write("questions", [question()]).catch(() => {})
    await until(() => answered === 2)
    expect(bots.map((bot) => bot.isOpen())).toEqual([true, true])
  })
})
