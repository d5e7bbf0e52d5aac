/** A switchboard with real connections, a clock that the test sets, and strangers who misuse it. */
import { randomBytes } from "node:crypto"
import { afterEach, describe, expect, it } from "vitest"
import * as Frames from "../../src/network/Frames.js"
import { Switchboard } from "../../src/network/libp2p/Switchboard.js"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { Received } from "../../src/network/Network.js"
import { Standings } from "../../src/network/Standing.js"
import * as Address from "../../src/protocol/Address.js"
import type { Hash } from "../../src/protocol/Hash.js"
import { SecretKey } from "../../src/protocol/Keys.js"
import type { NetworkId } from "../../src/protocol/Network.js"
import { type Bot, connect } from "./attacks/Bot.js"

const genesisHash = "ab".repeat(32) as Hash
const networkId = "udg-switchboard" as NetworkId
const LIMIT_MS = 60_000

const left: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const stop of left.splice(0)) await stop().catch(() => {})
}, LIMIT_MS)

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const started = async (heard: (received: Received) => void = ({ settle }) => settle("known")) => {
  const clock = { now: Date.now() }
  const warnings: Array<string> = []
  const board = await Switchboard.start({
    seed: randomBytes(32),
    listen: "/ip4/127.0.0.1/tcp/0",
    hello: { networkId, genesisHash, agent: "test" },
    signer: null,
    standings: new Standings(),
    now: () => clock.now,
    listener: {
      heard,
      changed: () => {},
      noticed: ({ level, message }) => level === "warn" && warnings.push(message),
      met: () => {},
      lost: () => {},
      missed: () => {},
    },
  })
  left.push(() => board.stop())
  const [target = ""] = board.addresses
  const stranger = async (source: string): Promise<Bot> => {
    const bot = await connect({ networkId, genesisHash, target, source })
    left.push(() => bot.close())
    return bot
  }
  return { board, clock, warnings, stranger }
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
      await until(() => {
        clock.now += 60_001
        const isLate = session?.hasUnfinished === true
        if (!isLate) clock.now -= 60_001
        return isLate
      })
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

describe("a bug of this node", () => {
  it(
    "costs a peer its message and nobody anything else, is counted each time and said once for each peer",
    async () => {
      let [isBroken, answered] = [true, 0]
      const { board, warnings, stranger } = await started(({ settle }) => {
        if (isBroken) throw new Error("planted")
        answered++
        settle("known")
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
