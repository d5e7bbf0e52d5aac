/** A node's side of its connections, with real lines between two nodes. */
import { Option } from "effect"
import { afterAll, expect, it } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import * as PeerAddress from "../../src/network/PeerAddress.js"
import * as Channel from "../../src/network/peers/Channel.js"
import { type Options, Switchboard } from "../../src/network/peers/Switchboard.js"
import { Standings } from "../../src/network/Standing.js"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import { TlsWire } from "../../src/network/tls/TlsWire.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import { genesisOf } from "../replica/Cluster.js"
import { stranger } from "./Hostile.js"

const genesis = genesisOf({ validators: { ann: 10_000 } })
const clock = { aheadMs: 0 }

const ends: Array<() => Promise<void>> = []
afterAll(async () => {
  for (const end of ends) await end()
})

const NOBODY = { heard: () => {}, changed: () => {}, logged: () => {} }

const begin = async (more: Partial<Options> = {}) => {
  const board = await Switchboard.start({
    wire: new TlsWire({ key: SecretKey.generate(), listen: { host: "127.0.0.1", port: 0 }, clock: nodeClock }),
    hello: { networkId: genesis.networkId, genesisHash: Genesis.hash(genesis), agent: "test" },
    signer: null,
    standings: new Standings(),
    named: [],
    remembered: [],
    clock: { ...nodeClock, now: () => Date.now() + clock.aheadMs, spareNow: () => Date.now() + clock.aheadMs },
    listener: NOBODY,
    ...more,
  })
  ends.push(() => board.stop())
  return board
}

const named = (board: Switchboard) => Option.toArray(PeerAddress.parse(board.addresses[0] ?? ""))

// The node added the ids of absent members, and its peers banned it for a message that was too long.
it.each(["transactions", "votes"] as const)("relays the longest message of %s that it accepts", async (channel) => {
  const away = Array.from({ length: 34 }, () => Address.fromPublicKey(SecretKey.generate().publicKey))
  const heard: Array<number> = []
  const board = await begin({
    listener: { ...NOBODY, heard: ({ bytes }) => void heard.push(bytes.length) },
  })
  const standings = new Standings()
  standings.setMembers(away)
  const relay = await begin({
    standings,
    named: named(board),
    listener: { ...NOBODY, heard: ({ release }) => release("news") },
  })
  const one = await stranger(genesis, relay.addresses[0] ?? "")
  ends.push(one.stop)
  const bot = await one.connect()
  const connected = () => {
    relay.tend()
    return board.sessions.length
  }
  await expect.poll(connected).toBe(1)
  const longest = Channel.TOLD_BYTES[channel]
  const message = new Uint8Array(longest)
  const heartbeat = Heartbeat.sign(Natural.commitIndex(1), Hash.ZERO, SecretKey.generate())
  const kind =
    channel === "votes"
      ? ({ _tag: "Heartbeat", heartbeat } as const)
      : ({ _tag: "Transactions", transactions: [] } as const)
  message.set(MessageCodec.encode(kind).subarray(0, 1))
  await bot.write(channel, [Buffer.concat([Uint8Array.of(255), message])])
  await expect.poll(() => heard).toEqual([longest])
  expect(board.sessions).toHaveLength(1)
  await bot.write(channel, [Buffer.concat([Uint8Array.of(255), message, Uint8Array.of(0)])])
  await expect.poll(() => bot.isOpen()).toBe(false)
  expect(heard).toEqual([longest])
})

it("keeps a connection that has greeted for longer than a greeting may take", async () => {
  const board = await begin()
  const one = await stranger(genesis, board.addresses[0] ?? "")
  ends.push(one.stop)
  const line = await one.connect()
  await expect.poll(() => board.sessions.length).toBe(1)
  clock.aheadMs = 11_000
  board.tend()
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(line.isOpen()).toBe(true)
  expect(board.sessions).toHaveLength(1)
})
