/**
 * A few cores wired together: a message queue with delays from a seed, and a ledger that only counts. Enough to watch
 * the core's interaction with its host; the simulator shows what real faults do to whole validators.
 */
import { Core, type Options, type Stored } from "../../src/consensus/Core.js"
import type { ExecutedCommit } from "../../src/consensus/commit/Rollback.js"
import type { Opening } from "../../src/consensus/output/Opening.js"
import type { Output, Wanted } from "../../src/consensus/output/Output.js"
import { type EndedEpoch, freshEpoch, type StoredEpoch } from "../../src/consensus/output/StoredEpoch.js"
import { SigningGuard } from "../../src/consensus/SigningGuard.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type * as Commit from "../../src/protocol/vertex/Commit.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { Chance } from "../simulation/Chance.js"
import { endedEpoch } from "../support/EndedEpoch.js"
import * as FakeKeys from "./FakeKeys.js"
import { openingOf } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

export interface Conditions {
  readonly seed: number
  readonly record: EpochRecord
  readonly minDelayMs: number
  readonly maxDelayMs: number
  /** Per cent of messages that are lost. */
  readonly loss: number
}

export const ROUND_MS = 100
const START = 1_000_000

/** What one node has on its disk. */
interface Disk {
  current: StoredEpoch
  previous: EndedEpoch | null
}

const chained = (previous: Hash.Hash, commit: Commit.Commit): Hash.Hash =>
  Hash.of("udg/effects", new TextEncoder().encode(previous + commit.hash))

/** The committee stays, the seed moves on: all that the next epoch needs here. */
const nextRecord = (record: EpochRecord, closing: Commit.Commit): EpochRecord => ({
  ...record,
  epoch: Natural.epoch(record.epoch + 1),
  firstRound: Natural.round(closing.leaderRound + 1),
  seed: Hash.of("udg/seed", new TextEncoder().encode(record.seed + closing.hash)),
})

export class SmallNode {
  readonly address: Address
  readonly network: SmallNetwork
  readonly seat: number
  core: Core
  disk: Disk
  /** Everything that was ever executed. */
  readonly executed: Array<ExecutedCommit> = []
  readonly ordered: Array<Hash.Hash> = []
  #todo: Array<{ readonly output: Output; readonly sender: SmallNode | null }> = []
  readonly outputs: Array<Output> = []
  isUp = true
  #effects = Hash.ZERO

  constructor(network: SmallNetwork, seat: number, opening: Opening) {
    this.network = network
    this.seat = seat
    this.address = new VertexBuilder(opening).committee.member(seat).address
    this.disk = { current: freshEpoch(opening), previous: null }
    this.core = this.#boot()
  }

  #boot(): Core {
    const { current, previous } = this.disk
    const own = [...(previous?.vertices ?? []), ...current.vertices]
      .map(({ header }) => header)
      .filter(({ author }) => author === this.address)
    const oldest = (previous ?? current).opening.record.epoch
    const options: Options = {
      roundIntervalMs: ROUND_MS,
      guard: new SigningGuard(this.address, ROUND_MS, oldest, own, {
        heldBack: [],
        hasMemory: own.length > 0,
        word: null,
      }),
      // A round takes one interval, whatever preceded it.
      pace: "at once",
    }
    const stored: Stored = { current, previous, signed: [], companions: [] }
    return new Core(options, stored)
  }

  restart(disk: Disk = this.disk): void {
    this.disk = disk
    this.core = this.#boot()
    this.isUp = true
    this.core.connected(this.network.nodes.map(({ address }) => address))
    this.handle(this.core.start(this.network.now), null)
  }

  #store(change: Partial<StoredEpoch>): void {
    this.disk = { ...this.disk, current: { ...this.disk.current, ...change } }
  }

  #keep(vertex: Vertex): void {
    const { vertices } = this.disk.current
    const isNew = !vertices.some(({ header }) => header.hash === vertex.header.hash)
    if (isNew && vertex.header.epoch === this.disk.current.opening.record.epoch) {
      this.#store({ vertices: [...vertices, vertex] })
    }
  }

  /** In the order given: consequences come after everything that was there before. */
  handle(outputs: ReadonlyArray<Output>, sender: SmallNode | null): void {
    const isUnderWay = this.#todo.length > 0
    this.#todo.push(...outputs.map((output) => ({ output, sender })))
    if (isUnderWay) return
    for (let next = this.#todo[0]; next !== undefined; next = this.#todo[0]) {
      this.#do(next.output, next.sender)
      this.#todo.shift()
    }
  }

  #do(output: Output, sender: SmallNode | null): void {
    this.outputs.push(output)
    switch (output._tag) {
      case "Inserted":
        this.#keep(output.vertex)
        break
      case "Propose":
        this.#propose(output)
        break
      case "Committed":
        this.#execute(output)
        break
      case "Resend":
        this.#resend(output)
        break
      case "Fetch":
        for (const wanted of output.wanted) this.#fetch(wanted)
        break
      case "CatchUp": {
        const asked = this.network.anyBut(this)
        this.ask(asked, () => asked?.storedRounds(output.epoch, output.fromRound, output.toRound) ?? [])
        break
      }
      case "SignCheckpoint":
        this.#cosign(output.checkpoint)
        break
      case "CheckpointFinal":
        this.#store({ signed: [...this.disk.current.signed, output.signed] })
        break
      case "EpochStarted":
        this.disk = { current: freshEpoch(output.opening), previous: endedEpoch(this.disk.current) }
        break
      case "AskClosing":
        this.network.send(this, sender, (to) => to.#offerTo(this))
        break
      case "OfferClosing":
        if (sender !== null) this.#offerTo(sender)
        break
      case "AskOwnHighest":
        for (const member of output.members) this.#askOwnHighest(this.network.node(member))
        break
      case "AskProgress":
        for (const member of output.members) this.#askProgress(this.network.node(member))
        break
      case "FinalityRollback":
        throw new Error(`${this.seat}: ${JSON.stringify(output.rollback)}`)
      case "Invalid":
        throw new Error(`${this.seat}: ${output.error._tag}`)
      case "EvidenceFound":
      case "Returned":
      case "ForeignOwnHeader":
      case "HeartbeatDue":
        break
    }
  }

  #propose({ round, parents, timestamp }: Extract<Output, { _tag: "Propose" }>): void {
    const vertex = new VertexBuilder(this.core.epoch.opening).make(this.seat, round, parents, { timestamp })
    this.#keep(vertex)
    this.handle(this.core.own(vertex, this.network.now), null)
    this.broadcast((to) => to.core.receive(vertex, this.network.now))
  }

  #resend({ vertices, closing }: Extract<Output, { _tag: "Resend" }>): void {
    for (const vertex of vertices) this.broadcast((to) => to.core.receive(vertex, this.network.now))
    if (closing === null) return
    const { checkpoint, signature } = closing
    this.broadcast((to) => to.core.checkpointSigned(checkpoint, signature, this.network.now))
  }

  #fetch({ parent, attempt, namedBy }: Wanted): void {
    const asked = attempt === 0 ? this.network.node(namedBy) : this.network.anyBut(this)
    this.ask(asked, () => {
      const vertex = asked?.core.vertex(parent.hash) ?? asked?.stored(parent.hash)
      return vertex === undefined ? [] : [vertex]
    })
  }

  #cosign(checkpoint: Checkpoint.Checkpoint): void {
    const { publicKey } = this.core.epoch.committee.member(this.seat)
    const signature = FakeKeys.signWith(publicKey)(Checkpoint.signedBytes(checkpoint))
    const signed = { validator: this.address, signature }
    this.handle(this.core.checkpointSigned(checkpoint, signed, this.network.now), null)
    this.broadcast((to) => to.core.checkpointSigned(checkpoint, signed, this.network.now))
  }

  #askOwnHighest(member: SmallNode | undefined): void {
    this.network.send(this, member, (to) => {
      const told = to.core.highestKnownOf(this.address)
      this.network.send(to, this, () => this.handle(this.core.answered(to.address, told, this.network.now), to))
    })
  }

  #askProgress(member: SmallNode | undefined): void {
    this.network.send(this, member, (to) => {
      const told = to.core.highestKnownOf(to.address)
      this.network.send(to, this, () => this.handle(this.core.testified(to.address, told, this.network.now), to))
    })
  }

  #offerTo(to: SmallNode): void {
    const signed = [this.disk.previous, this.disk.current].flatMap((epoch) => epoch?.signed ?? [])
    for (const each of signed.filter(({ checkpoint }) => checkpoint.nextEpoch !== null)) {
      this.network.send(this, to, () => to.handle(to.core.checkpointsSigned(each, this.network.now), this))
    }
  }

  stored(hash: Hash.Hash): Vertex | undefined {
    return this.#allStored().find(({ header }) => header.hash === hash)
  }

  storedRounds(epoch: number, from: number, to: number): ReadonlyArray<Vertex> {
    return this.#allStored().filter(
      ({ header }) => header.epoch === epoch && header.round >= from && header.round <= to,
    )
  }

  #allStored(): ReadonlyArray<Vertex> {
    return [...(this.disk.previous?.vertices ?? []), ...this.disk.current.vertices]
  }

  ask(asked: SmallNode | undefined, answer: () => ReadonlyArray<Vertex>): void {
    this.network.send(this, asked ?? null, () => {
      for (const vertex of answer()) {
        this.network.send(asked ?? this, this, () =>
          this.handle(this.core.receive(vertex, this.network.now), asked ?? null),
        )
      }
    })
  }

  broadcast(act: (to: SmallNode) => ReadonlyArray<Output>): void {
    for (const to of this.network.nodes) {
      if (to !== this) this.network.send(this, to, () => to.handle(act(to), this))
    }
  }

  #execute({ commit, vertices, closes }: Extract<Output, { _tag: "Committed" }>): void {
    this.#effects = chained(this.#effects, commit)
    const executed = { commit, effectsDigest: this.#effects }
    this.executed.push(executed)
    this.ordered.push(...vertices.map(({ header }) => header.hash))
    this.#store({ commits: [...this.disk.current.commits, executed] })
    this.handle(this.core.executed(executed, this.network.now), null)
    if (!closes) return
    const { record, base } = this.disk.current.opening
    const checkpoint = Checkpoint.make({
      epoch: commit.epoch,
      round: commit.leaderRound,
      commitIndex: commit.index,
      commitHash: commit.hash,
      effectsDigest: this.#effects,
      stateRoot: Hash.ZERO,
      totalSupply: Sats.make(1_000_000),
      nextEpoch: nextRecord(record, commit),
      previous: base,
    })
    this.#store({ checkpoints: [checkpoint] })
    this.handle(this.core.built(checkpoint, this.network.now), null)
  }
}

interface Event {
  readonly at: number
  readonly order: number
  readonly act: () => void
}

export class SmallNetwork {
  readonly nodes: Array<SmallNode> = []
  readonly #conditions: Conditions
  readonly #chance: Chance
  #events: Array<Event> = []
  #sent = 0
  now = Natural.timestamp(START)
  /** Whether a message passes; a test may cut links. */
  passes: (from: SmallNode, to: SmallNode) => boolean = () => true

  constructor(conditions: Conditions) {
    this.#conditions = conditions
    this.#chance = new Chance(conditions.seed)
    const opening = openingOf(conditions.record)
    for (const seat of conditions.record.members.keys()) this.nodes.push(new SmallNode(this, seat, opening))
  }

  node(address: Address): SmallNode | undefined {
    return this.nodes.find((node) => node.address === address)
  }

  anyBut(node: SmallNode): SmallNode | undefined {
    const others = this.nodes.filter((other) => other !== node)
    return others[this.#chance.below(Math.max(1, others.length))]
  }

  send(from: SmallNode, to: SmallNode | null | undefined, act: (to: SmallNode) => void): void {
    const { minDelayMs, maxDelayMs, loss } = this.#conditions
    if (to === null || to === undefined || this.#chance.percent(loss)) return
    const at = this.now + minDelayMs + this.#chance.below(maxDelayMs - minDelayMs + 1)
    this.#events.push({
      at,
      order: this.#sent++,
      act: () => {
        if (from.isUp && to.isUp && this.passes(from, to)) act(to)
      },
    })
  }

  start(): void {
    for (const node of this.nodes) node.restart()
  }

  /** Lets this much time pass. */
  run(forMs: number): void {
    const end = this.now + forMs
    while (this.now < end) {
      const next = this.#events.reduce((soonest, { at }) => Math.min(soonest, at), end)
      const up = this.nodes.filter(({ isUp }) => isUp)
      const wake = up.reduce((soonest, { core }) => Math.min(soonest, core.wakeAt(this.now)), end)
      this.now = Natural.timestamp(Math.max(this.now, Math.min(next, wake)))
      const due = this.#events.filter(({ at }) => at <= this.now).sort((a, b) => a.at - b.at || a.order - b.order)
      this.#events = this.#events.filter(({ at }) => at > this.now)
      for (const { act } of due) act()
      for (const node of up) if (node.isUp) node.handle(node.core.tick(this.now), null)
    }
  }
}
