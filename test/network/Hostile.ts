/** A peer that speaks the protocol well enough to misuse it. */
import type { Connection, Stream } from "@libp2p/interface"
import { multiaddr } from "@multiformats/multiaddr"
import * as Frames from "../../src/network/Frames.js"
import * as Hello from "../../src/network/Hello.js"
import * as Transport from "../../src/network/libp2p/Transport.js"
import type { Channel } from "../../src/network/peers/Channel.js"
import * as Greeting from "../../src/network/peers/Greeting.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import { openPolicy } from "./OpenPolicy.js"

export interface Line {
  readonly connection: Connection
  /** Sends these bytes on a stream of that name, as they are. */
  readonly say: (channel: Channel, bytes: Iterable<Uint8Array>) => Promise<void>
  /** Sends these bytes on a stream of any protocol. */
  readonly sayOn: (protocol: string, bytes: Parameters<Stream["sink"]>[0]) => Promise<void>
  /** The same of what may never end, without waiting for it. */
  readonly hold: (channel: Channel, bytes: AsyncIterable<Uint8Array>) => void
}

export interface Stranger {
  /** Dials and greets; fails when it is not let in. */
  readonly connect: (hello?: Partial<Hello.Hello>) => Promise<Line>
  /** Dials and says nothing. */
  readonly dial: () => Promise<Connection>
  /** Reads what the node sends it on a channel. */
  readonly heard: (channel: Channel) => ReadonlyArray<Uint8Array>
  readonly stop: () => Promise<void>
}

export const stranger = async (genesis: Genesis.Genesis, target: string): Promise<Stranger> => {
  const genesisHash = Genesis.hash(genesis)
  const seed = Buffer.from(SecretKey.generate().toSecretHex(), "hex")
  const node = await Transport.make({ seed, listen: "/ip4/127.0.0.1/tcp/0", agent: "stranger" }, openPolicy())
  await node.start()
  const protocolOf = (channel: string) => `/udg/${Hello.PROTOCOL_VERSION}/${genesisHash}/${channel}`
  const heard = new Map<Channel, Array<Uint8Array>>()
  for (const channel of ["vertices", "questions", "answers"] as const) {
    const frames: Array<Uint8Array> = []
    heard.set(channel, frames)
    await node.handle(protocolOf(channel), ({ stream }) => {
      const keep = async () => {
        for await (const frame of Frames.read(stream.source, 4_000_000)) frames.push(frame)
      }
      keep().catch(() => {})
    })
  }
  const dial = () => node.dial(multiaddr(target), { force: true, signal: AbortSignal.timeout(20_000) })
  return {
    dial,
    connect: async (changes = {}) => {
      const connection = await dial()
      const version = Hello.PROTOCOL_VERSION
      const { networkId } = genesis
      const hello = { version, networkId, genesisHash, agent: "stranger", port: 0, challenge: Hello.drawChallenge() }
      const self = { id: node.peerId.toString(), hello: { ...hello, ...changes }, signer: null }
      await Greeting.greet(self, connection.remotePeer.toString(), await connection.newStream(Greeting.PROTOCOL))
      const sayOn = async (protocol: string, bytes: Parameters<Stream["sink"]>[0]) => {
        const stream = await connection.newStream(protocol)
        await stream.sink(bytes)
      }
      const write = (channel: Channel, bytes: Parameters<Stream["sink"]>[0]) => sayOn(protocolOf(channel), bytes)
      return {
        connection,
        say: write,
        sayOn,
        hold: (channel, bytes) => void write(channel, bytes).catch(() => {}),
      }
    },
    heard: (channel) => heard.get(channel) ?? [],
    stop: async () => {
      await node.stop()
    },
  }
}
