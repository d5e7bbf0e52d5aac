/** Lines that fall silent: the other end is gone, and nobody says so. */
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { Libp2pWire } from "../../src/network/libp2p/Libp2pWire.js"
import * as Silence from "../../src/network/libp2p/Silence.js"
import type { Connection } from "../../src/network/peers/Wire.js"
import { openPolicy } from "./OpenPolicy.js"

const LIMIT: Silence.Limit = { tickMs: 50, ticks: 20 }

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const until = async (isSo: () => boolean) => {
  while (!isSo()) await pause(10)
}

/** Takes, and acknowledges, all that either side sends; once it is silent, it passes nothing on. */
const relay = async (port: number) => {
  let isSilent = false
  const sockets: Array<Socket> = []
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    sockets.push(near, far)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("error", () => {}).on("close", () => isSilent || to.destroy())
      from.on("data", (bytes) => isSilent || to.write(bytes))
    }
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port: own } = server.address() as AddressInfo
  return {
    port: own,
    fallSilent: () => {
      isSilent = true
    },
  }
}

const started = async () => {
  const closed: Array<Connection> = []
  const wire = new Libp2pWire({ seed: randomBytes(32), listen: "/ip4/127.0.0.1/tcp/0", agent: "test", silence: LIMIT })
  await wire.start({ ...openPolicy(), closed: (connection) => closed.push(connection) })
  closing.push(() => wire.stop())
  return { wire, closed }
}

describe("a connection over a relay that goes on taking what is sent", () => {
  it("is closed by both ends once the relay is silent, and not while they hear from each other", async () => {
    const [near, far] = [await started(), await started()]
    const between = await relay(far.wire.port)
    await near.wire.dial(`/ip4/127.0.0.1/tcp/${between.port}`, 10_000)
    const [connection] = near.wire.connections
    // An answer is a sign of life, whatever it says.
    for (let i = 0; i < 2 * LIMIT.ticks; i++) {
      await connection?.open("/unknown").catch(() => {})
      await pause(LIMIT.tickMs)
    }
    expect([near.closed, far.closed]).toEqual([[], []])
    between.fallSilent()
    await until(() => near.closed.length > 0 && far.closed.length > 0)
    expect([near.wire.connections, far.wire.connections]).toEqual([[], []])
  })
})

describe("a line", () => {
  const watchedLine = () => {
    const aborts: Array<Error> = []
    return { timeline: { open: 0 }, abort: (reason: Error) => aborts.push(reason), aborts }
  }

  it("is not silent while this node stands still, or does not read", async () => {
    const [limit, longMs] = [{ tickMs: 20, ticks: 10 }, 500]
    async function* pieces() {
      yield "a"
      await pause(2 * limit.tickMs)
      yield "b"
    }
    const line = watchedLine()
    for await (const _ of Silence.watched(pieces(), line, limit)) {
      await pause(longMs)
      const stalledUntil = performance.now() + longMs
      while (performance.now() < stalledUntil);
    }
    expect(line.aborts).toEqual([])
  })

  it("is silent when nothing arrives while this node reads, and is watched no longer once it is closed", async () => {
    const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<IteratorResult<string>>(() => {}) }) }
    const line = watchedLine()
    Silence.watched(never, line, { tickMs: 1, ticks: 5 }).next()
    await until(() => line.aborts.length > 0)
    Object.assign(line.timeline, { close: 1 })
    const { length } = line.aborts
    await pause(20)
    expect(line.aborts).toHaveLength(length)
  })
})
