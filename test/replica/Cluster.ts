/**
 * A few replicas on perfect wires and disks: messages arrive in order after a moment, and writes are immediate. Enough
 * to test one replica's interaction with the others; the simulator tests faults.
 */
import { Either } from "effect"
import type { Word } from "../../src/consensus/KeyMemory.js"
import type * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Signature, Signer } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import type { Check } from "../../src/protocol/transaction/Verification.js"
import type { Pin } from "../../src/replica/joining/ProvenChain.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import type { Output, Outputs } from "../../src/replica/output/Output.js"
import * as Write from "../../src/replica/output/Write.js"
import type { Replica } from "../../src/replica/Replica.js"
import type { Place } from "../../src/signer/Statement.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import * as Networks from "../support/Genesis.js"
import * as Serving from "../support/Serving.js"
import * as Stored from "../support/Stored.js"

export const ROUND_MS = 100
const START = 1_700_000_000_000
const WIRE_MS = 10
/** Small, since only a few vertices wait here. */
const PREPARED_AT = 3
const NETWORK = "udg-cluster" as NetworkId

export const signerOf = (name: string): Signer => {
  const publicKey = FakeKeys.publicKeyOf(name)
  return { publicKey, sign: FakeKeys.signWith(publicKey) }
}

export const addressOf = (name: string): Address.Address => Address.fromPublicKey(signerOf(name).publicKey)

export const coins = (amount: number): Sats.Sats => Sats.make(amount * Sats.SATS_PER_COIN)

export const sign = (from: string, nonce: number, operation: Operation, fee: number): Transaction.Transaction => {
  const unsigned = { from: addressOf(from), nonce: Natural.nonce(nonce), fee: Sats.make(fee), operation }
  const { publicKey, sign: signWith } = signerOf(from)
  const signature = signWith(Transaction.signedBytes(NETWORK, unsigned))
  return Transaction.make(NETWORK, unsigned, { _tag: "SingleKey", publicKey, signature })
}

export const transfer = (from: string, nonce: number, to: string, amount: number, fee = 1_000) =>
  sign(from, nonce, { _tag: "Transfer", to: addressOf(to), amount: Sats.make(amount), memo: "" }, fee)

export interface World {
  /** Stakes in coins. */
  readonly validators: { readonly [name: string]: number }
  readonly accounts?: { readonly [name: string]: number }
  readonly epochRounds?: number
  readonly roundMs?: number
  readonly collectionDepthRounds?: number
  /** Otherwise a round without transactions takes one interval, and one with transactions as long as it needs. */
  readonly isMetered?: true
  readonly parameters?: Partial<Parameters.Parameters>
}

export const genesisOf = (world: World): Genesis.Genesis =>
  Networks.genesisOf({
    networkId: NETWORK,
    time: Natural.timestamp(START),
    allocations: Object.entries(world.accounts ?? { alice: 1_000, bob: 1_000 }).map(([name, amount]) => ({
      address: addressOf(name),
      amount: coins(amount),
    })),
    validators: Object.entries(world.validators).map(([name, stake]) => ({
      publicKey: signerOf(name).publicKey,
      stake: coins(stake),
      commissionPercent: 10,
    })),
    parameters: { cooldownRounds: 240, checkpointIntervalRounds: 10, ...world.parameters },
    protocol: {
      roundIntervalMs: world.roundMs ?? ROUND_MS,
      epochRounds: world.epochRounds ?? 240,
      collectionDepthRounds: world.collectionDepthRounds ?? 10,
    },
  })

export interface Kind {
  readonly isValidator?: boolean
  readonly pin?: Pin | null
  /** Whose key it has; its own by default. */
  readonly keyOf?: string
  /** The holder of its key, if that is elsewhere. */
  readonly signedBy?: Elsewhere
}

/** A signer that several machines can use. */
export interface Elsewhere {
  /** Null: it refuses. Undefined: it is away, and is asked again. */
  readonly sign: (by: Machine, bytes: Uint8Array, signedAt: Place | null) => Signature | null | undefined
}

interface Event {
  readonly at: number
  readonly order: number
  readonly act: () => void
}

export class Machine {
  readonly name: string
  readonly peer: PeerId
  readonly #cluster: Cluster
  readonly #signer: Signer | null
  readonly #signedBy: Elsewhere | null
  readonly #pin: Pin | null
  /** All writes so far. */
  disk: Stored.Stored
  /** Everything that the worst power cut leaves: what was signed, and the ledger as it was last synced. */
  #durable: Stored.Stored
  #unsynced: Array<Write.Write> = []
  #replica: Replica | null = null
  readonly outputs: Array<Output> = []
  readonly writes: Array<Write.Write> = []
  /** Rewrites what this machine sends to one peer: a liar with an honest disk. */
  says: (to: PeerId, message: Message) => ReadonlyArray<Message> = (_, message) => [message]
  /** The delay of its messages to one peer; its broadcasts come at once. */
  thinksForMs = 0
  /** Its native verifier, which may refuse what a vertex may hold. */
  isStrictlyValid = FakeKeys.isValid
  /** The newest protocol version that its program knows from the next start on; by default the one built here. */
  newestVersion: number | undefined
  /** The operator's statement for the next start. */
  word: Word | null = null
  /** What reached it while its process was paused; null while it runs. */
  #unread: Array<() => void> | null = null
  readonly #keyOf: string

  constructor(
    cluster: Cluster,
    name: string,
    disk: Stored.Stored,
    { isValidator = true, pin = null, keyOf = name, signedBy }: Kind = {},
  ) {
    this.#cluster = cluster
    this.name = name
    this.peer = name as PeerId
    this.disk = disk
    this.#durable = disk.copy()
    this.#keyOf = keyOf
    this.#signer = isValidator ? signerOf(keyOf) : null
    this.#signedBy = signedBy ?? null
    this.#pin = pin
  }

  get isUp(): boolean {
    return this.#replica !== null
  }

  get replica(): Replica {
    if (this.#replica === null) throw new Error(`${this.name} is down`)
    return this.#replica
  }

  /** The commits executed here, as they were written. */
  get executed() {
    return this.writes.flatMap((write) => (write._tag === "Executed" ? [write] : []))
  }

  get validator(): Address.Address | null {
    return this.#signer === null ? null : addressOf(this.#keyOf)
  }

  get isPaused(): boolean {
    return this.#unread !== null
  }

  /** Pauses the process where it is, as SIGSTOP does. */
  pause(): void {
    this.#unread = []
  }

  /** Its timers run first, then everything that arrived meanwhile. */
  resume(): void {
    const unread = this.#unread ?? []
    this.#unread = null
    this.tick()
    for (const read of unread) read()
  }

  /** Now, or when the process resumes. */
  whenAwake(act: () => void): void {
    if (this.#unread === null) act()
    else this.#unread.push(act)
  }

  start(): void {
    // A different one each time: no result may depend on it.
    const tableKey = { low: this.name.length, high: this.#cluster.machines.indexOf(this) }
    const options = {
      signer: this.#signer && this.#signedBy ? { publicKey: this.#signer.publicKey, sign: null } : this.#signer,
      isValid: (check: Check) => this.isStrictlyValid(check),
      trust: this.#pin,
      tableKey,
      joins: true,
      preparedAt: PREPARED_AT,
      pace: this.#cluster.isMetered ? ("budget" as const) : ("at once" as const),
      word: this.word,
      ...(this.newestVersion === undefined ? {} : { newestVersion: this.newestVersion }),
    }
    this.#replica = Either.getOrThrowWith(
      Stored.replicaOf(options, this.disk),
      (left) => new Error(JSON.stringify(left)),
    )
    this.#cluster.reconnect()
    this.handle(this.replica.start(this.#cluster.now))
  }

  stop(): void {
    this.#replica = null
    this.#unread = null
    this.#cluster.reconnect()
  }

  /** Stops, and loses what was not synced. */
  cutPower(): void {
    this.stop()
    this.#restoreDisk(this.#durable.copy())
  }

  /** Inserts another disk, as it was at some time. */
  replaceDisk(disk: Stored.Stored): void {
    if (this.isUp) this.stop()
    this.#restoreDisk(disk)
  }

  #restoreDisk(disk: Stored.Stored): void {
    this.disk = disk
    this.#durable = disk.copy()
    this.#unsynced = []
  }

  #keep(write: Write.Write): void {
    this.disk.apply(write)
    if (Write.fileOf(write) === "signed") this.#durable.apply(write)
    else this.#unsynced.push(write)
    if (!Write.syncsLedger(write)) return
    for (const each of this.#unsynced) this.#durable.apply(each)
    this.#unsynced = []
  }

  handle(outputs: Outputs): void {
    for (const output of outputs) if (this.isUp) this.#do(output)
  }

  #do(output: Output): void {
    const { now } = this.#cluster
    this.outputs.push(output)
    switch (output._tag) {
      case "Send":
        this.#say(output.to, output.message)
        return
      case "Broadcast":
        for (const { peer } of this.#cluster.machines) this.#cluster.send(this, peer, output.message)
        return
      case "Serve":
        this.#say(
          output.to,
          Serving.answer(
            Serving.shown(this.disk, (hash) => this.replica.isWithheld(hash)),
            output.question,
          ),
        )
        return
      case "Write":
        this.writes.push(output.write)
        this.#keep(output.write)
        this.#cluster.soon(this, () => this.handle(this.replica.written(output.id, this.#cluster.now)))
        return
      case "Sign":
        this.#askElsewhere(output)
        return
      case "Fatal":
        if (output.fatal._tag === "UnknownVersion") {
          this.stop()
          return
        }
        throw new Error(`${this.name} at ${now}: ${JSON.stringify(output.fatal)}`)
      default:
        return
    }
  }

  #askElsewhere(asked: Extract<Output, { readonly _tag: "Sign" }>): void {
    const { id, bytes, signedAt } = asked
    const signature = this.#signedBy?.sign(this, bytes, signedAt)
    this.#cluster.soon(
      this,
      () => {
        if (signature === undefined) this.#askElsewhere(asked)
        else this.handle(this.replica.signed(id, signature, this.#cluster.now))
      },
      WIRE_MS,
    )
  }

  #say(to: PeerId, message: Message): void {
    for (const said of this.says(to, message)) this.#cluster.send(this, to, said, this.thinksForMs)
  }

  /** Returns whether gossip is to relay the message. */
  receive(from: PeerId, message: Message): boolean {
    if (!this.replica.checksOf(message).every(FakeKeys.isValid)) return false
    const { outputs, isRelayed } = this.replica.receive(from, message, this.#cluster.now)
    this.handle(outputs)
    return isRelayed
  }

  tick(): void {
    if (this.isPaused) return
    this.handle(this.replica.tick(this.#cluster.now))
    while (this.isUp && this.replica.hasWork) {
      let pieces = 0
      this.handle(this.replica.work(() => ++pieces < 4, this.#cluster.now))
    }
  }
}

export class Cluster {
  readonly genesis: Genesis.Genesis
  readonly machines: Array<Machine> = []
  now = Natural.timestamp(START)
  #events: Array<Event> = []
  #sent = 0
  passes: (from: Machine, to: Machine, message: Message) => boolean = () => true
  /** Whether two machines have a connection. */
  isLinked: (a: Machine, b: Machine) => boolean = () => true
  hasDialled: (machine: Machine, other: PeerId) => boolean = () => false

  readonly isMetered: boolean

  constructor(world: World, kindOf: (name: string) => Kind = () => ({})) {
    this.genesis = genesisOf(world)
    this.isMetered = world.isMetered === true
    for (const name of Object.keys(world.validators)) this.add(name, kindOf(name))
  }

  add(name: string, kind: Kind = {}, disk = Stored.ofGenesis(this.genesis)): Machine {
    const machine = new Machine(this, name, disk, kind)
    this.machines.push(machine)
    return machine
  }

  machine(name: string): Machine {
    const found = this.machines.find((machine) => machine.name === name)
    if (found === undefined) throw new Error(`no machine ${name}`)
    return found
  }

  start(): this {
    for (const machine of this.machines) if (!machine.isUp) machine.start()
    return this
  }

  reconnect(): void {
    const up = this.machines.filter(({ isUp }) => isUp)
    for (const machine of up) {
      const others = up.filter((other) => other !== machine && this.isLinked(machine, other))
      const connections = others.map(({ peer, validator }) => ({
        peer,
        validator,
        isDialled: this.hasDialled(machine, peer),
      }))
      machine.whenAwake(() => machine.handle(machine.replica.connected(connections, this.now)))
    }
  }

  #at(at: number, act: () => void): void {
    this.#events.push({ at, order: this.#sent++, act })
  }

  soon(machine: Machine, act: () => void, laterMs = 0): void {
    const { replica } = machine
    this.#at(this.now + laterMs, () => {
      machine.whenAwake(() => {
        if (machine.isUp && machine.replica === replica) act()
      })
    })
  }

  send(from: Machine, peer: PeerId, message: Message, laterMs = 0): void {
    const to = this.machines.find((machine) => machine.peer === peer)
    if (to === undefined || to === from || !this.isLinked(from, to)) return
    this.#at(this.now + WIRE_MS + laterMs, () => {
      if (!to.isUp || !this.passes(from, to, message)) return
      to.whenAwake(() => {
        if (to.isUp) to.receive(from.peer, message)
      })
    })
  }

  run(forMs: number): void {
    const end = this.now + forMs
    while (this.now < end) {
      const up = this.machines.filter(({ isUp, isPaused }) => isUp && !isPaused)
      const wake = up.reduce((soonest, { replica }) => Math.min(soonest, replica.wakeAt(this.now)), end)
      const next = this.#events.reduce((soonest, { at }) => Math.min(soonest, at), wake)
      this.now = Natural.timestamp(Math.max(this.now, next))
      const due = this.#events.filter(({ at }) => at <= this.now).sort((a, b) => a.at - b.at || a.order - b.order)
      this.#events = this.#events.filter(({ at }) => at > this.now)
      for (const { act } of due) act()
      if (due.length === 0 && next === wake && wake <= this.now) this.now = Natural.timestamp(this.now + 1)
      for (const machine of this.machines) if (machine.isUp) machine.tick()
    }
  }

  runRounds(rounds: number): this {
    this.run(rounds * ROUND_MS)
    return this
  }
}
