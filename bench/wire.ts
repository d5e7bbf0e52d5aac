/**
 * The cost of a message between two nodes on one machine, both ends together, compared with a bare TLS connection that
 * carries the same bytes without lanes, credit and meters. In turns, so that other load affects both.
 */

import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import type { Connection } from "../src/network/peers/Wire.js"
import { nodeClock } from "../src/network/tls/NodeClock.js"
import * as Security from "../src/network/tls/Security.js"
import { TlsWire } from "../src/network/tls/TlsWire.js"
import { SecretKey } from "../src/protocol/identity/Keys.js"
import { ManualClock } from "../test/network/ManualClock.js"
import { openPolicy } from "../test/network/OpenPolicy.js"
import { type Figure, median, type Suite } from "./Harness.js"

const PAIRS = 15
const WARM_UP = 3

interface Load {
  readonly name: string
  readonly bytes: number
  /** Sent at once, repeatedly. */
  readonly burst: number
  readonly bursts: number
}

const LOADS: ReadonlyArray<Load> = [
  { name: "bursts of 3 KB", bytes: 3_000, burst: 3_000, bursts: 1 },
  { name: "bursts of 300 bytes", bytes: 300, burst: 3_000, bursts: 1 },
  { name: "3 KB, one at a time", bytes: 3_000, burst: 1, bursts: 300 },
  { name: "1 MB, one at a time", bytes: 1_000_000, burst: 1, bursts: 8 },
]

/** Time passes so fast that nothing has to wait. */
const clock = new ManualClock(0)

interface Way {
  /** Sends messages until all are read. */
  readonly say: (load: Load) => Promise<void>
  readonly stop: () => Promise<void>
}

const WINDOW_BYTES = 4_194_304

const saying =
  (push: (message: Uint8Array) => void, whenRead: (messages: number, bytes: number) => Promise<void>): Way["say"] =>
  async ({ bytes, burst, bursts }) => {
    const message = randomBytes(bytes)
    for (let n = 0; n < bursts; n++) {
      clock.moveTo(clock.now() + 3_600_000)
      const all = whenRead(burst, burst * bytes)
      for (let i = 0; i < burst; i++) push(message)
      await all
    }
  }

/** Counts up to this many. */
const counting = () => {
  let [left, done] = [0, () => {}]
  return {
    add: (count: number) => {
      left -= count
      if (left <= 0) done()
    },
    until: (count: number) =>
      new Promise<void>((resolve) => {
        left = count
        done = resolve
      }),
  }
}

const own = async (): Promise<Way> => {
  const read = counting()
  const start = async (accept: (connection: Connection) => void) => {
    const open = openPolicy(clock)
    const listen = { host: "127.0.0.1", port: 0 }
    const wire = new TlsWire({ key: SecretKey.generate(), listen, clock: nodeClock })
    const opened = (connection: Connection) => {
      open.opened(connection)
      accept(connection)
    }
    await wire.start({ ...open, opened })
    return wire
  }
  const to = await start(({ lanes }) =>
    lanes.accept("answers", WINDOW_BYTES, () => {
      read.add(1)
      return undefined
    }),
  )
  const from = await start(() => {})
  await from.dial(`127.0.0.1:${to.port}`, 10_000)
  const [connection] = from.connections
  return {
    say: saying(
      (message) => connection?.lanes.send("answers", message),
      (messages) => read.until(messages),
    ),
    stop: async () => {
      await from.stop()
      await to.stop()
    },
  }
}

const bare = async (): Promise<Way> => {
  const read = counting()
  const sockets: Array<Socket> = []
  const server = createServer({ noDelay: true }, (raw) => {
    const socket = Security.listening(raw)
    sockets.push(socket, raw)
    socket.on("error", () => {}).on("data", (bytes: Buffer) => read.add(bytes.length))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const raw = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", noDelay: true })
  await once(raw, "connect")
  const socket = Security.dialling(raw)
  await once(socket, "secureConnect")
  sockets.push(socket, raw)
  return {
    say: saying(
      (message) => void socket.write(message),
      (_, bytes) => read.until(bytes),
    ),
    stop: async () => {
      for (const each of sockets) each.destroy()
      server.close()
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
  const ways = [await own(), await bare()]
  const all: Array<Figure> = []
  for (const load of LOADS) {
    const rounds: Array<ReadonlyArray<number>> = []
    for (let n = 0; n < PAIRS + WARM_UP; n++) {
      const costs: Array<number> = []
      // The next one can pay for the previous one's garbage.
      for (let i = 0; i < ways.length; i++) {
        const at = (i + n) % ways.length
        const way = ways[at]
        if (way !== undefined) costs[at] = await cost(way, load)
      }
      if (n >= WARM_UP) rounds.push(costs)
    }
    const of = (other: number) => median(rounds.map((costs) => (costs[0] ?? 0) / (costs[other] ?? 0)))
    all.push(
      { name: `${load.name}`, value: median(rounds.map(([each = 0]) => each)), unit: "µs of processor" },
      { name: `${load.name}`, value: of(1), unit: "of that over bare TLS" },
    )
  }
  for (const way of ways) await way.stop()
  return all
}

export const suite: Suite = { about: "what a message costs between two nodes, both ends together", figures }
