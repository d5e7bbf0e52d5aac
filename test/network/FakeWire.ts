/**
 * Wires without sockets, on a clock that the test moves. They are as bad as real ones: bytes arrive late and cut
 * anywhere, the end of a connection is reported late and sometimes twice, and a cut line is silent at both ends.
 */

import type { Clock } from "../../src/network/peers/Clock.js"
import { Violation } from "../../src/network/peers/Frame.js"
import { Lanes } from "../../src/network/peers/Lanes.js"
import type { Connection, Policy, Wire } from "../../src/network/peers/Wire.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import type { Chance } from "../simulation/Chance.js"
import { ManualClock } from "./ManualClock.js"

const PORT = 9_333
/** How much later than the fact the end of a connection is reported. */
const REPORTED_WITHIN_MS = 2_000
const REPORTED_TWICE_PERCENT = 30
const UNSENT_BYTES = 262_144

/** All wires of a test. */
export class FakeNet {
  readonly chance: Chance
  readonly clock: Clock
  readonly #wires = new Map<string, FakeWire>()
  #ports = 20_000
  #isCut: (from: FakeWire, to: FakeWire) => boolean = () => false
  #held: Array<() => void> = []

  constructor(chance: Chance, clock: Clock) {
    this.chance = chance
    this.clock = clock
  }

  get now(): Clock["now"] {
    return this.clock.now
  }

  wire(name: string, host: string): FakeWire {
    return this.add(new FakeWire(this, name as PeerId, host))
  }

  add<W extends FakeWire>(wire: W): W {
    this.#wires.set(wire.address, wire)
    return wire
  }

  /** What arrives at this wire. Until the lines between the two are whole, it waits, as TCP sends it again. */
  deliver(from: FakeWire, to: FakeWire, delayMs: number, act: () => void): void {
    to.after(delayMs, () => {
      if (this.#isCut(from, to)) this.#held.push(() => this.deliver(from, to, 0, act))
      else act()
    })
  }

  cut(isCut: (from: FakeWire, to: FakeWire) => boolean): void {
    this.#isCut = isCut
  }

  heal(): void {
    this.#isCut = () => false
    for (const deliver of this.#held.splice(0)) deliver()
  }

  /** Its process is gone. */
  lose(wire: FakeWire): void {
    if (this.#wires.get(wire.address) === wire) this.#wires.delete(wire.address)
    wire.reset()
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

  /** One direction of a line. */
  latency(): number {
    return this.chance.between(5, 60)
  }

  get sleep(): Clock["wait"] {
    return this.clock.wait
  }
}

/** A net whose time a test moves. */
export class SteppedNet extends FakeNet {
  declare readonly clock: ManualClock

  constructor(chance: Chance) {
    super(chance, new ManualClock(1_000_000))
  }

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

interface Arrival {
  readonly bytes: Uint8Array
  readonly read: () => void
}

/** One end of a connection. */
class End implements Connection {
  readonly net: FakeNet
  readonly peer: PeerId
  readonly direction: Connection["direction"]
  readonly address: string
  readonly host: string
  readonly line: { isCut: boolean }
  readonly lanes: Lanes
  unsentBytes = 0
  written = 0
  isOpen = true
  readonly #wire: FakeWire
  readonly #far: FakeWire
  #other: End | null = null
  #isOver = false
  #lastAt = 0
  /** Arrivals in the order in which they were sent. */
  readonly #underWay: Array<() => void> = []
  /** Not read yet, from the oldest on. */
  readonly #unread: Array<Arrival> = []
  /** Also before both ends are there. */
  #isPaused = true
  #silentTicks = 0

  constructor(wire: FakeWire, far: FakeWire, direction: Connection["direction"], address: string, line: End["line"]) {
    this.net = wire.net
    this.#wire = wire
    this.#far = far
    this.peer = far.id
    this.direction = direction
    this.address = address
    this.host = address.split(":")[0] ?? ""
    this.line = line
    const write = (bytes: Uint8Array) => this.write(bytes)
    this.lanes = new Lanes({ write, soon: queueMicrotask, later: queueMicrotask, now: wire.net.now }, (error) =>
      this.#fail(error),
    )
  }

  static pair(from: FakeWire, to: FakeWire, source: string): readonly [near: End, far: End] {
    const line = { isCut: false }
    const near = new End(from, to, "outbound", to.address, line)
    const far = new End(to, from, "inbound", source, line)
    near.#other = far
    far.#other = near
    return [near, far]
  }

  /** Cut anywhere, in order, and as late as the line. */
  write(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; ) {
      const chunk = bytes.slice(at, at + this.net.chance.between(1, 65_536))
      at += chunk.length
      this.unsentBytes += chunk.length
      const read = () => this.net.deliver(this.#far, this.#wire, 0, () => this.#acknowledged(chunk.length))
      this.#arrive(() => this.#other?.receive({ bytes: chunk, read }))
    }
    return this.unsentBytes < UNSENT_BYTES
  }

  #acknowledged(bytes: number): void {
    this.unsentBytes -= bytes
    this.written += bytes
    if (this.unsentBytes === 0 && !this.#isOver) this.lanes.drained()
  }

  #arrive(act: () => void): void {
    this.#lastAt = Math.max(this.#lastAt, this.net.now() + this.net.latency())
    this.#underWay.push(act)
    this.net.deliver(this.#wire, this.#far, this.#lastAt - this.net.now(), () => {
      const first = this.#underWay.shift()
      if (!this.line.isCut) first?.()
    })
  }

  /** Earlier arrivals wait until then. */
  begin(): void {
    this.#isPaused = false
    this.#readOn()
  }

  receive(arrival: Arrival): void {
    this.#silentTicks = 0
    this.#unread.push(arrival)
    this.#readOn()
  }

  /** Counts ticks in which nothing arrived, except while this end does not read. */
  isSilentFor(ticks: number): boolean {
    this.#silentTicks = this.#isPaused ? 0 : this.#silentTicks + 1
    return this.#silentTicks > ticks
  }

  #readOn(): void {
    while (!this.#isPaused && !this.#isOver) {
      const next = this.#unread.shift()
      if (next === undefined) return
      next.read()
      this.#read(next.bytes)
    }
  }

  #read(bytes: Uint8Array): void {
    try {
      const frames = this.lanes.received(bytes)
      const pause = this.#wire.policy.meterOf(this.peer).charge(1 + frames, bytes.length)
      if (pause === undefined) return
      this.#isPaused = true
      void pause.then(() => this.begin())
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (error instanceof Violation) this.#wire.policy.violated(this, error)
    else this.#wire.policy.failed(this.peer, "reading", error)
    this.abort(error as Error)
  }

  close(): void {
    if (!this.isOpen) return
    this.lanes.flush()
    this.isOpen = false
    this.#wire.after(2 * this.net.latency(), () => this.abort(new Error("closed")))
  }

  abort(_reason: Error): void {
    if (this.#isOver) return
    this.#end()
    this.#endOther()
  }

  #endOther(): void {
    const other = this.#other
    this.net.deliver(this.#wire, this.#far, this.net.latency(), () => {
      if (!this.line.isCut) other?.abort(new Error("closed by the other side"))
    })
  }

  /** Its process is gone, and the system closes what it had. */
  reset(): void {
    this.isOpen = false
    this.#isOver = true
    this.#endOther()
  }

  #end(): void {
    this.isOpen = false
    this.#isOver = true
    this.lanes.end()
    const report = () => this.#wire.ended(this)
    this.#wire.after(this.net.chance.between(0, REPORTED_WITHIN_MS), report)
    if (this.net.chance.percent(REPORTED_TWICE_PERCENT)) this.#wire.after(2 * REPORTED_WITHIN_MS, report)
  }
}

export class FakeWire implements Wire {
  readonly net: FakeNet
  readonly id: PeerId
  readonly host: string
  readonly port = PORT
  #policy: Policy | null = null
  readonly #ends = new Set<End>()
  /** How to give up each handshake that goes on. */
  readonly #leaving = new Set<() => void>()

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
    return `${this.host}:${PORT}`
  }

  get addresses(): ReadonlyArray<string> {
    return [`${this.id}@${this.address}`]
  }

  /** Something that happens to its machine. */
  after(ms: number, act: () => void): void {
    this.net.clock.after(ms, act)
  }

  reset(): void {
    for (const end of this.#ends) end.reset()
    this.#ends.clear()
    for (const leave of this.#leaving) leave()
    this.#leaving.clear()
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
    const [address = "", id] = target.split("@").reverse()
    const known = this.connections.find(({ peer, isOpen }) => peer === id && isOpen)
    if (known !== undefined) return known.peer
    const there = this.net.at(address)
    const source = `${this.host}:${this.net.freshPort}`
    if (there === undefined) {
      await this.net.sleep(this.net.latency())
      throw new Error("nobody answers")
    }
    const ask = <A>(question: (policy: Policy) => A) =>
      new Promise<A>((resolve) =>
        this.net.deliver(this, there, this.net.latency(), () => resolve(question(there.policy))),
      )
    if (await ask((policy) => policy.refusesHost(source, this.host))) throw new Error("nobody answers")
    let isCut = false
    const leave = () => this.net.deliver(this, there, this.net.latency(), () => there.policy.vanished(source))
    const cut = () => {
      isCut = true
    }
    this.#leaving.add(leave)
    await ask((policy) => policy.arrived(source, cut))
    await this.net.sleep(2 * this.net.latency())
    const isOther = id !== undefined && id !== there.id
    const isRefused = this.policy.refusesPeer(there.id) || (await ask((policy) => policy.refusesPeer(this.id)))
    this.#leaving.delete(leave)
    if (isCut || isOther || isRefused) {
      leave()
      throw new Error("no handshake")
    }
    const [near, far] = End.pair(this, there, source)
    await ask(() => there.#add(far))
    await this.net.sleep(this.net.latency())
    if (!near.isOpen) throw new Error("closed at once")
    this.#add(near)
    return there.id
  }

  #add(end: End): void {
    this.#ends.add(end)
    this.policy.opened(end)
    end.begin()
  }

  ended(end: End): void {
    this.#ends.delete(end)
    this.policy.closed(end)
  }
}
