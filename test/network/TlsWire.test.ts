/** The wire over real sockets: who is admitted, what is proven, and what a stranger cannot do. */
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import * as Channel from "../../src/network/peers/Channel.js"
import type { Clock } from "../../src/network/peers/Clock.js"
import { Meter } from "../../src/network/peers/Meter.js"
import { Traffic } from "../../src/network/peers/Traffic.js"
import { type Connection, NoPeer, type Policy } from "../../src/network/peers/Wire.js"
import type { Standing } from "../../src/network/Standing.js"
import * as Handshake from "../../src/network/tls/Handshake.js"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Security from "../../src/network/tls/Security.js"
import { type Silence, TlsWire } from "../../src/network/tls/TlsWire.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import { SHARED } from "./attacks/Handshakes.js"
import { RawTls } from "./attacks/RawTls.js"
import { openPolicy } from "./OpenPolicy.js"

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const started = async (policy: Partial<Policy> = {}, silence?: Silence, clock: Clock = nodeClock) => {
  const [opened, closed, vanished]: [Array<Connection>, Array<Connection>, Array<string>] = [[], [], []]
  const open = openPolicy()
  const listen = { host: "127.0.0.1", port: 0 }
  const options = { key: SecretKey.generate(), listen, clock }
  const wire = new TlsWire(silence === undefined ? options : { ...options, silence })
  await wire.start({
    ...open,
    opened: (connection) => {
      opened.push(connection)
      open.opened(connection)
    },
    closed: (connection) => void closed.push(connection),
    vanished: (address) => void vanished.push(address),
    ...policy,
  })
  closing.push(() => wire.stop())
  return { wire, opened, closed, vanished, at: `127.0.0.1:${wire.port}` }
}

/** A connected socket. */
const line = async (port: number): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1" })
  socket.on("error", () => {})
  closing.push(() => socket.destroy())
  await once(socket, "connect")
  return socket
}

/** Both ends of a TLS connection, each with the value that binds proofs to it. */
const secured = async (port: number) => {
  const socket = Security.dialling(await line(port))
  socket.on("error", () => {})
  await once(socket, "secureConnect")
  const binding = socket.exportKeyingMaterial(NodeProof.BINDING_BYTES, NodeProof.LABEL, Buffer.alloc(0))
  return { socket, binding }
}

describe("two nodes", () => {
  it("know each other's keys and carry messages both ways once connected", async () => {
    const [near, far] = [await started(), await started()]
    expect(await near.wire.dial(`${far.wire.id}@${far.at}`, 10_000)).toBe(far.wire.id)
    await until(() => far.opened.length === 1)
    const [there] = near.opened
    const [here] = far.opened
    expect([there?.peer, there?.direction, there?.address]).toEqual([far.wire.id, "outbound", far.at])
    expect([here?.peer, here?.direction, here?.host]).toEqual([near.wire.id, "inbound", "127.0.0.1"])
    const heard: Array<number> = []
    for (const each of [there, here]) {
      each?.lanes.accept("answers", 200_000, (message) => {
        heard.push(message.length)
        return undefined
      })
    }
    for (const each of [there, here]) for (let n = 0; n < 20; n++) each?.lanes.send("answers", new Uint8Array(100_000))
    await until(() => heard.length === 40)
    there?.close()
    await until(() => near.closed.length === 1 && far.closed.length === 1)
    expect([near.wire.connections, far.wire.connections, far.vanished]).toEqual([[], [], []])
  })

  it("let vertices for a stranger gather while this one is late, but nothing for a member", async () => {
    const gathered: Array<() => void> = []
    const spareShare = () => 1 / 251
    const after: Clock["after"] = (ms, act) => {
      // 250 times the milliseconds for one stranger.
      if (ms !== 100) return nodeClock.after(ms, act)
      gathered.push(act)
      return () => {}
    }
    const standings = new Map<string, Standing>()
    const late = { ...nodeClock, spareShare, after }
    const meterOf = (peer: string) =>
      new Meter({
        standing: () => standings.get(peer) ?? "stranger",
        strangers: () => 1,
        flooded: () => {},
        clock: late,
      })
    const near = await started({ meterOf }, undefined, late)
    const [stranger, member] = [await started(), await started()]
    standings.set(member.wire.id, "member")
    const heard: Array<string> = []
    for (const [name, { wire, at, opened }] of Object.entries({ stranger, member })) {
      await near.wire.dial(`${wire.id}@${at}`, 10_000)
      await until(() => opened.length === 1)
      opened[0]?.lanes.accept("vertices", 200_000, () => void heard.push(name))
    }
    // Each side has opened the lane once it answers.
    for (const { lanes } of near.opened) lanes.ping()
    await until(() => near.opened.every(({ lanes }) => lanes.latencyMs !== null))
    const hear = async (name: string, count: number) => {
      for (const connection of near.opened) connection.lanes.send("vertices", new Uint8Array(100))
      await until(() => heard.filter((each) => each === name).length === count)
    }
    await hear("member", 1)
    await hear("member", 2)
    expect([heard, gathered.length]).toEqual([["member", "member"], 1])
    gathered.pop()?.()
    await until(() => heard.length === 4)
  })

  it("do not connect if another key answers than expected, or a banned one", async () => {
    const far = await started()
    const near = await started({ refusesPeer: (peer) => peer === far.wire.id })
    const other = SecretKey.generate().publicKey
    await expect(near.wire.dial(`${other}@${far.at}`, 10_000)).rejects.toThrow("no handshake")
    await expect(near.wire.dial(far.at, 10_000)).rejects.toThrow("no handshake")
    await expect(near.wire.dial(`${far.wire.id}@${far.at}`, 10_000)).rejects.toThrow("banned")
    expect(near.opened).toEqual([])
  })

  it.each([
    [
      "answers something else",
      (socket: Socket): void => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
      /another protocol/,
    ],
    [
      "closes what it cannot read",
      (socket: Socket): void => void socket.once("data", () => socket.end()),
      /closed the conn/,
    ],
    ["says nothing", () => {}, /no handshake within 300 ms/],
  ] as const)("do not connect if what listens there %s, and say so", async (_, answer, reason) => {
    const { wire, opened } = await started()
    const server = createServer((socket) => answer(socket.on("error", () => {}))).listen(0, "127.0.0.1")
    closing.push(() => server.close())
    await once(server, "listening")
    const failure = await wire.dial(`127.0.0.1:${(server.address() as AddressInfo).port}`, 300).catch((error) => error)
    expect(failure).toBeInstanceOf(NoPeer)
    expect(failure.message).toMatch(reason)
    expect(opened).toEqual([])
  })

  it("keep a slow reader's bytes on the sender's side, within the lane's limit", async () => {
    const [near, far] = [await started(), await started()]
    await near.wire.dial(far.at, 10_000)
    await until(() => far.opened.length === 1)
    far.opened[0]?.lanes.accept("answers", 65_536, () => new Promise(() => {}))
    const lanes = near.opened[0]?.lanes
    let sent = 0
    while (lanes?.send("answers", new Uint8Array(100_000)) === true) sent += 100_000
    const { waitingBytes } = Channel.LIMITS.answers
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(sent).toBeLessThanOrEqual(waitingBytes)
    expect(lanes?.unsent("answers")).toBeGreaterThan(sent - 200_000)
    expect(near.opened[0]?.unsentBytes).toBe(0)
  })
})

describe("a proof of a node's key", () => {
  it("is the dialler's first word, and the listener says nothing before it", async () => {
    const { wire, opened } = await started()
    const { socket, binding } = await secured(wire.port)
    const heard: Array<Buffer> = []
    socket.on("data", (bytes: Buffer) => heard.push(bytes))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(heard).toEqual([])
    const key = SecretKey.generate()
    socket.write(NodeProof.make(key, "dialler", binding))
    await until(() => Buffer.concat(heard).length >= NodeProof.BYTES)
    expect(NodeProof.peerOf(Buffer.concat(heard).subarray(0, NodeProof.BYTES), "listener", binding)).toBe(wire.id)
    expect(opened.map(({ peer }) => peer)).toEqual([key.publicKey])
  })

  it("is worthless on another connection, in the other role, or when it is sent back", async () => {
    const { wire, opened, vanished } = await started()
    const [one, other, third] = [await secured(wire.port), await secured(wire.port), await secured(wire.port)]
    const key = SecretKey.generate()
    one.socket.write(NodeProof.make(key, "dialler", other.binding))
    other.socket.write(NodeProof.make(key, "listener", other.binding))
    third.socket.write(Buffer.alloc(NodeProof.BYTES))
    await until(() => vanished.length === 3)
    expect(opened).toEqual([])
  })

  it("cannot be forwarded by a machine in the middle that sees and passes on everything", async () => {
    const { wire, opened, vanished } = await started()
    /** Ends the encryption towards both sides. */
    const between = createServer((raw) => {
      const near = Security.listening(raw)
      const farRaw = connect({ port: wire.port, host: "127.0.0.1" })
      const far = Security.dialling(farRaw)
      for (const socket of [near, far, raw, farRaw]) socket.on("error", () => {})
      near.pipe(far).pipe(near)
    }).listen(0, "127.0.0.1")
    closing.push(() => between.close())
    await once(between, "listening")
    const near = await started()
    const { port } = between.address() as AddressInfo
    await expect(near.wire.dial(`127.0.0.1:${port}`, 10_000)).rejects.toThrow("no handshake")
    await until(() => vanished.length === 1)
    expect([near.opened, opened]).toEqual([[], []])
  })
})

describe("a misbehaving stranger", () => {
  it("is disconnected when its handshake takes too long: silent, half a hello, or one byte a second", async () => {
    const { wire, vanished } = await started()
    const hello = await new Promise<Buffer>((resolve) => {
      const server = createServer((socket) => socket.once("data", resolve)).listen(0, "127.0.0.1", async () => {
        Security.dialling(await line((server.address() as AddressInfo).port)).on("error", () => {})
      })
      closing.push(() => server.close())
    })
    const [, half, slow] = [await line(wire.port), await line(wire.port), await line(wire.port)]
    half?.write(hello.subarray(0, 100))
    let at = 0
    const timer = setInterval(() => slow?.write(hello.subarray(at, ++at)), 100)
    closing.push(() => clearInterval(timer))
    await secured(wire.port)
    const began = performance.now()
    await until(() => vanished.length === 4)
    expect(performance.now() - began).toBeGreaterThan(Handshake.LIMIT_MS - 1_000)
    expect(wire.connections).toEqual([])
  })

  it("is disconnected when it sends something else, another version of TLS, or no shared key", async () => {
    const { wire, vanished } = await started()
    const raw = await line(wire.port)
    raw.write("GET / HTTP/1.1\r\n\r\n")
    const tls = await import("node:tls")
    const shared = { port: wire.port, host: "127.0.0.1", rejectUnauthorized: false }
    const foreign = [
      tls.connect({ ...shared, maxVersion: "TLSv1.2" }),
      tls.connect({ ...shared, minVersion: "TLSv1.3", ALPNProtocols: ["udg/1"] }),
      tls.connect({ ...shared, minVersion: "TLSv1.3", ALPNProtocols: ["udg/0"] }),
    ]
    for (const socket of foreign) socket.on("error", () => {})
    await until(() => vanished.length === 4)
  })

  it.each([
    ["before it has proven a key is cut after a few", false, 128],
    ["after that is read at the rate of a stranger", true, 4_000],
  ])("that changes its keys in each record %s", async (_, isProven, most) => {
    const traffic = new Traffic({ standing: () => "stranger", flooded: () => {} }, nodeClock)
    const { wire, opened, vanished } = await started({ knows: () => false, meterOf: (peer) => traffic.meterOf(peer) })
    const socket = await line(wire.port)
    const raw = await RawTls.shake(socket, SHARED)
    const binding = raw.exported(NodeProof.LABEL, NodeProof.BINDING_BYTES)
    if (isProven) socket.write(raw.data(NodeProof.make(SecretKey.generate(), "dialler", binding)))
    await until(() => opened.length === (isProven ? 1 : 0))
    const before = socket.bytesRead
    socket.write(Buffer.concat(Array.from({ length: 20_000 }, () => raw.update(true))))
    if (isProven) await new Promise((resolve) => setTimeout(resolve, 1_000))
    else await until(() => vanished.length === 1)
    // Each gets a response of equal length.
    expect((socket.bytesRead - before) / 27).toBeLessThan(most)
    expect(wire.connections.length).toBe(isProven ? 1 : 0)
  })

  it("with counted records carries as many messages as others, of any length", async () => {
    const near = await started({ knows: () => false })
    const far = await started({ knows: () => false })
    await near.wire.dial(far.at, 10_000)
    await until(() => far.opened.length === 1)
    const heard: Array<number> = []
    far.opened[0]?.lanes.accept("answers", 4_000_000, (message) => {
      heard.push(message.length)
      return undefined
    })
    const lengths = Array.from({ length: 300 }, (_, n) => (n * n * 7) % 60_000)
    for (const length of lengths) near.opened[0]?.lanes.send("answers", new Uint8Array(length))
    await until(() => heard.length === lengths.length)
    expect(heard).toEqual(lengths)
    near.opened[0]?.close()
    await until(() => near.closed.length === 1 && far.closed.length === 1)
  })

  it("is refused before any computation when its host is refused", async () => {
    const asked: Array<string> = []
    const refusesHost = (_: string, host: string) => {
      asked.push(host)
      return true
    }
    const { wire, vanished } = await started({ refusesHost })
    const socket = await line(wire.port)
    await once(socket, "close")
    expect([asked, socket.bytesRead, vanished]).toEqual([["127.0.0.1"], 0, []])
  })

  it("that never changes its key is one key on any connection, which distinguishes its connections", async () => {
    const { wire, opened } = await started()
    const key = SecretKey.generate()
    for (let n = 0; n < 2; n++) await Handshake.shake(await line(wire.port), "dialler", key, 5_000)
    await until(() => opened.length === 2)
    expect(new Set(opened.map(({ peer }) => peer as string))).toEqual(new Set([key.publicKey]))
  })
})

describe("a line that falls silent", () => {
  const LIMIT: Silence = { tickMs: 50, ticks: 20 }

  it("is closed by both ends, but not while they hear from each other", async () => {
    let isSilent = false
    const sockets: Array<Socket> = []
    const [near, far] = [await started({}, LIMIT), await started({}, LIMIT)]
    const between = createServer((one) => {
      const other = connect(far.wire.port, "127.0.0.1")
      sockets.push(one, other)
      for (const [from, to] of [
        [one, other],
        [other, one],
      ] as const) {
        from.on("error", () => {}).on("close", () => isSilent || to.destroy())
        from.on("data", (bytes) => isSilent || to.write(bytes))
      }
    }).listen(0, "127.0.0.1")
    await once(between, "listening")
    closing.push(() => {
      for (const socket of sockets) socket.destroy()
      between.close()
    })
    await near.wire.dial(`127.0.0.1:${(between.address() as AddressInfo).port}`, 10_000)
    await new Promise((resolve) => setTimeout(resolve, 2 * LIMIT.ticks * LIMIT.tickMs))
    expect([near.closed, far.closed]).toEqual([[], []])
    expect(near.opened[0]?.lanes.latencyMs).not.toBeNull()
    isSilent = true
    await until(() => near.closed.length > 0 && far.closed.length > 0)
    expect([near.wire.connections, far.wire.connections]).toEqual([[], []])
  })
})
