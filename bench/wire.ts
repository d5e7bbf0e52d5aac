/**
 * What a message costs between two nodes on one machine, both ends together: as this program does it, and over the same
 * libraries without the guards that stand between them. In turns, so that a busy machine is busy for both.
 */
import "../src/network/libp2p/withResolvers.js"
import { randomBytes } from "node:crypto"
import { noise } from "@chainsafe/libp2p-noise"
import { yamux } from "@chainsafe/libp2p-yamux"
import type { IncomingStreamData, Libp2p, StreamMuxerFactory } from "@libp2p/interface"
import { tcp } from "@libp2p/tcp"
import { createLibp2p } from "libp2p"
import * as Frames from "../src/network/Frames.js"
import { connectionOf } from "../src/network/libp2p/Connections.js"
import * as MuxerGuard from "../src/network/libp2p/MuxerGuard.js"
import * as Transport from "../src/network/libp2p/Transport.js"
import { Session } from "../src/network/peers/Session.js"
import * as Hash from "../src/protocol/identity/Hash.js"
import type { NetworkId } from "../src/protocol/identity/Network.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import type { PeerId } from "../src/replica/messages/Peer.js"
import { ManualClock } from "../test/network/ManualClock.js"
import { openPolicy } from "../test/network/OpenPolicy.js"
import { type Figure, median, type Suite } from "./Harness.js"

const PAIRS = 15
const WARM_UP = 3
const LISTEN = "/ip4/127.0.0.1/tcp/0"

interface Load {
  readonly name: string
  readonly bytes: number
  /** Said at once, again and again. */
  readonly burst: number
  readonly bursts: number
}

const LOADS: ReadonlyArray<Load> = [
  { name: "bursts of 3 KB", bytes: 3_000, burst: 3_000, bursts: 1 },
  { name: "bursts of 300 bytes", bytes: 300, burst: 3_000, bursts: 1 },
  { name: "3 KB, one at a time", bytes: 3_000, burst: 1, bursts: 300 },
  { name: "1 MB, one at a time", bytes: 1_000_000, burst: 1, bursts: 8 },
]

/** Time passes so quickly that no one has to wait. */
const clock = new ManualClock(0)

interface Node {
  readonly libp2p: Libp2p
  /** The messages of a stream that came in. */
  readonly messages: (incoming: IncomingStreamData) => AsyncIterable<Uint8Array>
}

const MOST_BYTES = 2_000_000

const guarded = async (): Promise<Node> => {
  const fail = (_: PeerId, what: string, cause: unknown) => {
    throw new Error(what, { cause })
  }
  const policy = { ...openPolicy(clock), violated: fail, failed: fail }
  const sessionOf = ({ connection }: IncomingStreamData): Session => {
    const own = connectionOf(connection)
    const hello = {
      version: 1,
      networkId: "bench" as NetworkId,
      genesisHash: Hash.ZERO,
      agent: "",
      port: 0,
      challenge: Hash.ZERO,
    }
    const connectedSince = Natural.timestamp(0)
    const facts = { peer: own.peer, connection: own, hello, validator: null, address: "", host: "", connectedSince }
    const account = { hasRoom: () => true, add: () => {}, close: () => {} }
    const counted = { meter: policy.meterOf(own.peer), account, isClogged: () => false }
    return new Session(facts, counted, (channel) => channel, clock)
  }
  const libp2p = await Transport.make({ seed: randomBytes(32), listen: LISTEN, agent: "bench" }, policy)
  await libp2p.start()
  return { libp2p, messages: (incoming) => sessionOf(incoming).messages("answers", incoming.stream.source) }
}

/** Gathers grants of room and nothing else: without it, a burst would break up into frames as small as the grants. */
const gathering = (inner: StreamMuxerFactory): StreamMuxerFactory => ({
  protocol: inner.protocol,
  createStreamMuxer: (init) => {
    const muxer = inner.createStreamMuxer(init)
    const grants = new MuxerGuard.Grants()
    const source = (async function* () {
      for await (const frame of muxer.source) {
        const gathered = frame.byteLength === MuxerGuard.HEAD_BYTES ? grants.gathered(frame.subarray()) : frame
        if (gathered !== null) yield gathered
      }
    })()
    return {
      protocol: muxer.protocol,
      source,
      sink: (incoming) => muxer.sink(incoming),
      get streams() {
        return muxer.streams
      },
      newStream: (name) => muxer.newStream(name),
      close: (options) => muxer.close(options),
      abort: (error) => muxer.abort(error),
    }
  },
})

const bareWith = (wrap: (muxer: StreamMuxerFactory) => StreamMuxerFactory) => async (): Promise<Node> => {
  const muxer = yamux({ maxStreamWindowSize: 1_048_576 })
  const libp2p = await createLibp2p({
    privateKey: Transport.keyOf(randomBytes(32)),
    addresses: { listen: [LISTEN] },
    transports: [tcp({ listenOpts: { noDelay: true }, dialOpts: { noDelay: true } })],
    connectionEncrypters: [noise()],
    streamMuxers: [(components) => wrap(muxer(components))],
  })
  return { libp2p, messages: ({ stream }) => Frames.read(stream.source, MOST_BYTES) }
}

interface Way {
  /** Sends so many messages, until all are read. */
  readonly say: (load: Load) => Promise<void>
  readonly stop: () => Promise<void>
}

const PROTOCOL = "/bench"

const open = async (start: () => Promise<Node>): Promise<Way> => {
  const [{ libp2p: from }, { libp2p: to, messages }] = [await start(), await start()]
  let [read, wanted] = [0, 0]
  let done = () => {}
  await to.handle(PROTOCOL, (incoming) => {
    const take = async () => {
      for await (const _ of messages(incoming)) if (++read >= wanted) done()
    }
    take().catch(() => {})
  })
  const connection = await from.dial(to.getMultiaddrs())
  const stream = await connection.newStream(PROTOCOL)
  const outgoing = new Frames.Outgoing(1_000_000_000, clock.now)
  Promise.resolve(stream.sink(outgoing.pieces())).catch(() => {})
  return {
    say: async ({ bytes, burst, bursts }) => {
      const frame = Frames.framed(randomBytes(bytes))
      for (let n = 0; n < bursts; n++) {
        clock.moveTo(clock.now() + 3_600_000)
        wanted = read + burst
        const all = new Promise<void>((resolve) => {
          done = resolve
        })
        for (let i = 0; i < burst; i++) outgoing.push(frame)
        await all
      }
    },
    stop: async () => {
      await from.stop()
      await to.stop()
    },
  }
}

const cost = async (way: Way, load: Load): Promise<number> => {
  const before = process.cpuUsage()
  await way.say(load)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (load.burst * load.bursts)
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const ways = [await open(guarded), await open(bareWith(gathering)), await open(bareWith((inner) => inner))]
  const all: Array<Figure> = []
  for (const load of LOADS) {
    const rounds: Array<ReadonlyArray<number>> = []
    for (let n = 0; n < PAIRS + WARM_UP; n++) {
      const costs: Array<number> = []
      // Whoever comes next may pay for the garbage of who was before.
      for (let i = 0; i < ways.length; i++) {
        const at = (i + n) % ways.length
        const way = ways[at]
        if (way !== undefined) costs[at] = await cost(way, load)
      }
      if (n >= WARM_UP) rounds.push(costs)
    }
    const of = (other: number) => median(rounds.map((costs) => (costs[0] ?? 0) / (costs[other] ?? 0)))
    all.push(
      { name: `${load.name}`, value: median(rounds.map(([own = 0]) => own)), unit: "µs of processor" },
      { name: `${load.name}`, value: of(1), unit: "of that without meters" },
      { name: `${load.name}`, value: of(2), unit: "of that of the bare libraries" },
    )
  }
  for (const way of ways) await way.stop()
  return all
}

export const suite: Suite = { about: "what a message costs between two nodes, both ends together", figures }
