/**
 * Wires without sockets, on a clock that the test moves. They are no better than real ones: bytes arrive late and cut
 * anywhere, a reader that does not read holds up its writer, the end of a connection is reported late and sometimes twice,
 * and a line that is cut is silent at both ends.
 */
import type { Connection, Policy, Stream, Wire } from "../../src/network/peers/Wire.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import type { Chance } from "../simulation/Chance.js"
import { ManualClock } from "./ManualClock.js"

const PORT = 9_333
const NEGOTIATION_LIMIT_MS = 10_000
/** How much later than the fact the end of a connection is reported. */
const REPORTED_WITHIN_MS = 2_000
const REPORTED_TWICE_PERCENT = 30
const WINDOW_BYTES = 262_144

/** All wires of a test, and their time. */
export class FakeNet {
  readonly chance: Chance
  readonly clock = new ManualClock(1_000_000)
  readonly #wires = new Map<string, FakeWire>()
  #ports = 20_000

  constructor(chance: Chance) {
    this.chance = chance
  }

  readonly now = this.clock.now

  wire(name: string, host: string): FakeWire {
    const wire = new FakeWire(this, name as PeerId, host)
    this.#wires.set(wire.address, wire)
    return wire
  }

  at(address: string): FakeWire | undefined {
    return this.#wires.get(address)
  }

  named(id: PeerId): FakeWire | undefined {
    return [...this.#wires.values()].find((wire) => wire.id === id)
  }

  get freshPort(): number {
    return ++this.#ports
  }

  readonly after = this.clock.after

  /** One way over a line. */
  latency(): number {
    return this.chance.between(5, 60)
  }

  readonly sleep = this.clock.wait

  async pass(ms: number): Promise<void> {
    const end = this.now() + ms
    for (;;) {
      await new Promise(setImmediate)
      if (this.clock.next > end) break
      this.clock.moveTo(this.clock.next)
    }
    this.clock.moveTo(end)
  }

  /** Lets time pass until this is over. */
  async until<A>(promise: Promise<A>): Promise<A> {
    let isOver = false
    const done = () => {
      isOver = true
    }
    promise.then(done, done)
    for (let ms = 0; !isOver && ms < 60_000; ms += 20) await this.pass(20)
    if (!isOver) throw new Error("not over after a minute")
    return promise
  }
}

/** One direction of a stream. */
class Pipe {
  readonly #end: End
  #chunks: Array<Uint8Array> = []
  #ending: Error | "finished" | null = null
  #lastAt = 0
  #unread = 0
  #changed = () => {}
  #change = new Promise<void>((resolve) => {
    this.#changed = resolve
  })

  /** `end`: where it is written. */
  constructor(end: End) {
    this.#end = end
  }

  #wake(): void {
    this.#changed()
    this.#change = new Promise((resolve) => {
      this.#changed = resolve
    })
  }

  /** In order, and as late as the line is. */
  #arrive(act: () => void): void {
    const { net, line } = this.#end
    this.#lastAt = Math.max(this.#lastAt, net.now() + net.latency())
    net.after(this.#lastAt - net.now(), () => {
      if (!line.isCut) act()
    })
  }

  async write(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const { net } = this.#end
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        while (this.#unread >= WINDOW_BYTES && this.#ending === null) await this.#change
        if (this.#ending !== null) throw this.#ending
        const chunk = piece.slice(at, at + net.chance.between(1, 65_536))
        at += chunk.length
        this.#unread += chunk.length
        this.#end.unsentBytes += chunk.length
        this.#arrive(() => {
          this.#end.unsentBytes -= chunk.length
          this.#end.written++
          this.#chunks.push(chunk)
          this.#wake()
        })
      }
    }
  }

  finish(): void {
    this.#arrive(() => this.end("finished"))
  }

  end(ending: Error | "finished"): void {
    this.#ending ??= ending
    this.#wake()
  }

  async *read(): AsyncGenerator<Uint8Array, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#unread -= chunk.length
        this.#wake()
        yield chunk
      } else if (this.#ending === "finished") return undefined
      else if (this.#ending !== null) throw this.#ending
      else await this.#change
    }
  }
}

class FakeStream implements Stream {
  readonly source: AsyncIterable<Uint8Array>
  readonly #incoming: Pipe
  readonly #outgoing: Pipe
  #broken: (reason: Error) => void = () => {}
  readonly #break = new Promise<never>((_, reject) => {
    this.#broken = reject
  })

  constructor(incoming: Pipe, outgoing: Pipe) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.source = incoming.read()
    this.#break.catch(() => {})
  }

  async sink(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    await Promise.race([this.#outgoing.write(pieces), this.#break])
    this.#outgoing.finish()
  }

  async closeWrite(): Promise<void> {
    this.#outgoing.finish()
  }

  close(): Promise<void> {
    return this.closeWrite()
  }

  abort(reason: Error): void {
    this.#broken(reason)
    this.#incoming.end(reason)
    this.#outgoing.end(reason)
  }
}

/** One end of a connection. */
class End implements Connection {
  readonly net: FakeNet
  readonly peer: PeerId
  readonly direction: Connection["direction"]
  readonly address: string
  readonly host: string
  readonly latencyMs = null
  readonly line: { isCut: boolean }
  unsentBytes = 0
  written = 0
  isOpen = true
  readonly #wire: FakeWire
  #other: End | null = null
  #isOver = false
  readonly #streams = new Set<FakeStream>()
  readonly #inbound = new Map<string, number>()

  constructor(wire: FakeWire, far: FakeWire, direction: Connection["direction"], address: string, line: End["line"]) {
    this.net = wire.net
    this.#wire = wire
    this.peer = far.id
    this.direction = direction
    this.address = address
    this.host = address.split("/")[2] ?? ""
    this.line = line
  }

  static pair(from: FakeWire, to: FakeWire, source: string): readonly [near: End, far: End] {
    const line = { isCut: false }
    const near = new End(from, to, "outbound", to.address, line)
    const far = new End(to, from, "inbound", source, line)
    near.#other = far
    far.#other = near
    return [near, far]
  }

  async open(protocol: string): Promise<FakeStream> {
    const other = this.#other
    if (!this.isOpen || other === null) throw new Error("the connection is closed")
    await this.net.sleep(this.line.isCut ? NEGOTIATION_LIMIT_MS : this.net.latency())
    const kind = other.#wire.policy.protocols.find(({ name }) => name === protocol)
    if (!this.isOpen || !other.isOpen || this.line.isCut || kind === undefined) throw new Error("no such stream")
    const count = other.#inbound.get(protocol) ?? 0
    if (count >= kind.maxInbound) throw new Error("too many streams")
    other.#inbound.set(protocol, count + 1)
    const [there, back] = [new Pipe(this), new Pipe(other)]
    const [near, far] = [new FakeStream(back, there), new FakeStream(there, back)]
    this.#streams.add(near)
    other.#streams.add(far)
    kind
      .take(other, far)
      .catch((error: Error) => {
        far.abort(error)
        near.abort(error)
      })
      .finally(() => other.#inbound.set(protocol, (other.#inbound.get(protocol) ?? 1) - 1))
    return near
  }

  close(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.net.after(this.net.latency(), () => this.abort(new Error("closed")))
  }

  abort(reason: Error): void {
    if (this.#isOver) return
    this.#end(reason)
    const other = this.#other
    this.net.after(this.net.latency(), () => {
      if (!this.line.isCut) other?.abort(new Error("closed by the other side"))
    })
  }

  #end(reason: Error): void {
    this.isOpen = false
    this.#isOver = true
    for (const stream of this.#streams) stream.abort(reason)
    const report = () => this.#wire.ended(this)
    this.net.after(this.net.chance.between(0, REPORTED_WITHIN_MS), report)
    if (this.net.chance.percent(REPORTED_TWICE_PERCENT)) this.net.after(2 * REPORTED_WITHIN_MS, report)
  }
}

export class FakeWire implements Wire {
  readonly net: FakeNet
  readonly id: PeerId
  readonly host: string
  readonly port = PORT
  #policy: Policy | null = null
  readonly #ends = new Set<End>()
  readonly #gossip = new Set<string>()

  constructor(net: FakeNet, id: PeerId, host: string) {
    this.net = net
    this.id = id
    this.host = host
  }

  get policy(): Policy {
    if (this.#policy === null) throw new Error("it is not started")
    return this.#policy
  }

  get address(): string {
    return `/ip4/${this.host}/tcp/${PORT}`
  }

  get addresses(): ReadonlyArray<string> {
    return [`${this.address}/p2p/${this.id}`]
  }

  get connections(): ReadonlyArray<End> {
    return [...this.#ends]
  }

  async start(policy: Policy): Promise<void> {
    this.#policy = policy
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) end.abort(new Error("stopped"))
  }

  async dial(target: string, limitMs: number): Promise<PeerId> {
    const limit = this.net.sleep(limitMs).then(() => Promise.reject(new Error("too late")))
    limit.catch(() => {})
    return Promise.race([this.#dial(target), limit])
  }

  async #dial(target: string): Promise<PeerId> {
    const [address = "", id] = target.split("/p2p/")
    const known = this.connections.find(({ peer, isOpen }) => peer === id && isOpen)
    if (known !== undefined) return known.peer
    const there = this.net.at(address)
    await this.net.sleep(this.net.latency())
    const source = `/ip4/${this.host}/tcp/${this.net.freshPort}`
    if (there === undefined || there.policy.refusesHost(source, this.host)) throw new Error("nobody answers")
    let isCut = false
    there.policy.arrived(source, () => {
      isCut = true
    })
    await this.net.sleep(3 * this.net.latency())
    const isOther = id !== undefined && id !== there.id
    const isRefused = this.policy.refusesPeer(there.id) || there.policy.refusesPeer(this.id)
    if (isCut || isOther || isRefused) throw new Error("no handshake")
    const [near, far] = End.pair(this, there, source)
    there.#add(far)
    await this.net.sleep(this.net.latency())
    if (!near.isOpen) throw new Error("closed at once")
    this.#add(near)
    return there.id
  }

  #add(end: End): void {
    this.#ends.add(end)
    this.policy.multiplexed(end.peer, end)
    this.policy.opened(end)
  }

  ended(end: End): void {
    this.#ends.delete(end)
    this.policy.closed(end)
  }

  async publish(topic: string, bytes: Uint8Array): Promise<void> {
    const name = `${topic} ${Buffer.from(bytes).toString("hex")}`
    if (this.#gossip.has(name)) return
    this.#gossip.add(name)
    for (const { peer, line } of this.#ends) {
      this.net.after(this.net.latency(), () => {
        if (!line.isCut) this.net.named(peer)?.hear(this.id, topic, bytes, name)
      })
    }
  }

  async hear(from: PeerId, topic: string, bytes: Uint8Array, name: string): Promise<void> {
    const end = this.connections.find(({ peer }) => peer === from)
    if (end === undefined || this.#gossip.has(name) || !this.policy.topics.includes(topic)) return
    const meter = await this.policy.gossipMeterOf(end)
    if (meter === null) return
    this.policy.gossiped(from, topic, bytes, (decision) => {
      if (decision === "news") void this.publish(topic, bytes)
      else this.#gossip.add(name)
    })
  }
}
