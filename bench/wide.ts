/**
 * A committee of a hundred on a wide-area network: whole replicas on a virtual clock, with 80 ms of latency for every
 * message, plus or minus a quarter. Vertices go directly to all members, as between nodes. Only the network takes time:
 * there are no disks or signatures, and processors are never busy.
 */
import { Either } from "effect"
import * as MessageCodec from "../src/network/MessageCodec.js"
import type { Hash } from "../src/protocol/identity/Hash.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import type { Vertex } from "../src/protocol/vertex/Vertex.js"
import type { Message } from "../src/replica/messages/Message.js"
import type { PeerId } from "../src/replica/messages/Peer.js"
import type { Outputs } from "../src/replica/output/Output.js"
import type { Replica } from "../src/replica/Replica.js"
import * as FakeKeys from "../test/consensus/FakeKeys.js"
import * as Cluster from "../test/replica/Cluster.js"
import { Agenda } from "../test/simulation/Agenda.js"
import { Chance } from "../test/simulation/Chance.js"
import * as Serving from "../test/support/Serving.js"
import * as Stored from "../test/support/Stored.js"
import { type Figure, quantile, type Suite } from "./Harness.js"

const MEMBERS = 100
/** Less than a message's latency: a round continues when a quorum of the previous one has arrived. */
const ROUND_MS = 50
const DELAY_MS = { least: 60, most: 100 }
/** Virtual time: warm-up, then measurement. */
const WARM_UP_MS = 2_000
const MEASURED_MS = 4_000
const SUBMITTED_EVERY_MS = 20
const STAKE = 2_000

const peerOf = (index: number): PeerId => String(index) as PeerId

const names = Array.from({ length: MEMBERS }, (_, i) => `v${i}`)

interface Machine {
  readonly index: number
  readonly disk: Stored.Stored
  readonly replica: Replica
  wakeAt: number
}

class Wide {
  readonly #agenda: Agenda
  readonly #chance = new Chance(1, "wide")
  readonly #machines: ReadonlyArray<Machine>
  readonly #sizes = new WeakMap<Message, number>()
  readonly #submitted = new Map<Hash, { readonly by: number; readonly at: number }>()
  readonly finality: Array<number> = []
  messages = 0
  bytes = 0

  constructor() {
    const genesis = Cluster.genesisOf({
      roundMs: ROUND_MS,
      validators: Object.fromEntries(names.map((name) => [name, STAKE])),
      accounts: Object.fromEntries(names.map((name) => [`of ${name}`, 1_000])),
    })
    this.#agenda = new Agenda(genesis.time)
    this.#machines = names.map((name, index) => {
      const disk = Stored.ofGenesis(genesis)
      const options = { signer: Cluster.signerOf(name), isValid: FakeKeys.isValid, trust: null, word: null }
      const replica = Either.getOrThrow(
        Stored.replicaOf(
          { ...options, tableKey: { low: index, high: 1 }, joins: true, preparedAt: Number.POSITIVE_INFINITY },
          disk,
        ),
      )
      return { index, disk, replica, wakeAt: Number.POSITIVE_INFINITY }
    })
    for (const machine of this.#machines) {
      const others = this.#machines.filter((other) => other !== machine)
      const connections = others.map(({ index }) => ({
        peer: peerOf(index),
        validator: Cluster.addressOf(names[index] ?? ""),
        isDialled: false,
      }))
      this.#give(machine, machine.replica.connected(connections, this.now))
    }
    for (const machine of this.#machines) this.#give(machine, machine.replica.start(this.now))
  }

  get now(): Natural.Timestamp {
    return Natural.timestamp(this.#agenda.now)
  }

  get round(): number {
    return this.#machines[0]?.replica.core.epoch.dag.highestRound ?? 0
  }

  #send(from: Machine, to: Machine, message: Message): void {
    const size = this.#sizes.get(message) ?? MessageCodec.encode(message).length
    this.#sizes.set(message, size)
    this.messages++
    this.bytes += size
    this.#agenda.after(this.#chance.between(DELAY_MS.least, DELAY_MS.most), () =>
      this.#give(to, to.replica.receive(peerOf(from.index), message, this.now).outputs),
    )
  }

  /** Carries out the replica's requests and schedules its next wake-up. */
  #give(machine: Machine, outputs: Outputs): void {
    for (const output of outputs) {
      switch (output._tag) {
        case "Broadcast":
          for (const to of this.#machines) if (to !== machine) this.#send(machine, to, output.message)
          break
        case "Send":
          this.#sendTo(machine, output.to, output.message)
          break
        case "Serve":
          this.#sendTo(machine, output.to, Serving.answer(machine.disk, output.question))
          break
        case "Write":
          machine.disk.apply(output.write)
          if (output.write._tag === "Executed") this.#executed(machine, output.write.vertices)
          this.#agenda.after(0, () => this.#give(machine, machine.replica.written(output.id, this.now)))
          break
        case "Fatal":
          throw new Error(JSON.stringify(output.fatal))
        default:
      }
    }
    this.#wake(machine)
  }

  #executed(machine: Machine, vertices: ReadonlyArray<Vertex>): void {
    for (const { body } of vertices) for (const { id } of body.transactions) this.#final(machine, id)
  }

  #sendTo(from: Machine, peer: PeerId, message: Message): void {
    const to = this.#machines[Number(peer)]
    if (to !== undefined) this.#send(from, to, message)
  }

  #wake(machine: Machine): void {
    const { replica } = machine
    const at = replica.hasWork ? this.#agenda.now + 1 : Math.max(this.#agenda.now + 1, replica.wakeAt(this.now))
    if (at >= machine.wakeAt) return
    machine.wakeAt = at
    this.#agenda.at(at, () => {
      if (machine.wakeAt !== at) return
      machine.wakeAt = Number.POSITIVE_INFINITY
      this.#give(machine, replica.tick(this.now))
      if (replica.hasWork)
        this.#give(
          machine,
          replica.work(() => true, this.now),
        )
    })
  }

  /** A payment at one replica; final once that one has executed it. */
  submit(n: number): void {
    const machine = this.#machines[n % MEMBERS]
    if (machine === undefined) return
    const name = `of v${machine.index}`
    const transaction = Cluster.transfer(name, Math.floor(n / MEMBERS), name, 1)
    Either.getOrThrowWith(machine.replica.submit(transaction, this.now), (refusal) => new Error(refusal._tag))
    this.#submitted.set(transaction.id, { by: machine.index, at: this.#agenda.now })
    this.#wake(machine)
  }

  #final(machine: Machine, id: Hash): void {
    const submitted = this.#submitted.get(id)
    if (submitted?.by === machine.index) this.finality.push(this.#agenda.now - submitted.at)
  }

  run(forMs: number): void {
    const end = this.#agenda.now + forMs
    while (this.#agenda.now < end && this.#agenda.step()) {}
  }
}

const figures = (): ReadonlyArray<Figure> => {
  const wide = new Wide()
  wide.run(WARM_UP_MS)
  const before = { messages: wide.messages, bytes: wide.bytes, round: wide.round }
  for (let n = 0; n * SUBMITTED_EVERY_MS < MEASURED_MS; n++) {
    wide.submit(n)
    wide.run(SUBMITTED_EVERY_MS)
  }
  const seconds = MEASURED_MS / 1_000
  const each = (value: number): number => value / MEMBERS / seconds
  const sent = { messages: wide.messages - before.messages, bytes: wide.bytes - before.bytes }
  const rounds = wide.round - before.round
  wide.run(WARM_UP_MS)
  return [
    { name: "finality, p50", value: quantile(wide.finality, 0.5), unit: "ms of virtual time" },
    { name: "finality, p99", value: quantile(wide.finality, 0.99), unit: "ms of virtual time" },
    { name: "rounds", value: rounds / seconds, unit: "a second" },
    { name: "messages sent", value: each(sent.messages), unit: "a validator and second" },
    { name: "bytes sent", value: each(sent.bytes) / 1_000, unit: "kB a validator and second" },
  ]
}

export const suite: Suite = {
  about: `${MEMBERS} validators, ${DELAY_MS.least} to ${DELAY_MS.most} ms apart, rounds of at least ${ROUND_MS} ms, on a virtual clock`,
  figures,
}
