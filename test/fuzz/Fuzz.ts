/**
 * One run: three honest validators and a follower that joins late, against one member, all other keys of the adversary,
 * and strangers connected to each node. One seed decides everything. Messages of the adversary go through the codec, so
 * that nodes receive only what a decoder accepts.
 */
import { setImmediate as turn } from "node:timers/promises"
import { Either } from "effect"
import type { Reads } from "../../src/ledger/Reads.js"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { Connection, PeerId } from "../../src/replica/messages/Peer.js"
import type { Output } from "../../src/replica/output/Output.js"
import type { Write } from "../../src/replica/output/Write.js"
import { Purse } from "../edges/Purse.js"
import { Agenda } from "../simulation/Agenda.js"
import { Chance } from "../simulation/Chance.js"
import { Digest } from "../simulation/Digest.js"
import { Host } from "../simulation/Host.js"
import * as Memory from "../simulation/Memory.js"
import * as Network from "../simulation/Network.js"
import * as Schemes from "../simulation/Scheme.js"
import { Violation, Witness } from "../simulation/Witness.js"
import * as Stored from "../support/Stored.js"
import * as WholeMessage from "../support/WholeMessage.js"
import * as Cast from "./Cast.js"
import { Edges } from "./Edges.js"
import { Forge } from "./Forge.js"
import { Knowledge } from "./Knowledge.js"
import { Member } from "./Member.js"

export interface Options {
  readonly seed: number
  /** Messages of the adversary that a decoder accepts. Each goes to one honest node or to all. */
  readonly messages: number
}

export interface Report {
  readonly seed: number
  readonly messages: number
  /** Messages that no decoder accepts. */
  readonly unreadable: number
  readonly rounds: number
  readonly commits: number
  readonly epochs: number
  /** The longest time in which an honest validator finalized nothing, and that a payment took. */
  readonly longestSilenceMs: number
  readonly longestPaymentMs: number
  readonly payments: number
  readonly slowestMs: number
  readonly slowest: string
  /** How many messages of honest validators the replica asked gossip to relay, by tag. */
  readonly relayed: { readonly [tag: string]: number }
  readonly digest: string
  readonly failure: string | null
}

/** In simulated time, while over three quarters of the weight are honest and up. */
export const MOST_SILENCE_MS = 5_000
export const MOST_PAYMENT_MS = 10_000
/** The time in which a node catches up after a restart, or from an empty disk. */
export const MOST_CATCHING_UP_MS = 30_000

/** Vitest gives up on a worker that is silent for a minute. */
const TURN_EVERY_MS = 500

const MESSAGES_PER_ROUND = 150
const BURST_MS = 5
const LOOK_MS = 100
const STRANGERS = 6
const LATE_EVERY_MS = 9_000
const CRASH_EVERY_MS = 5_000
/**
 * A payment is not gossiped or stored immediately. A node that is killed this soon loses it, and the payer sends it
 * again.
 */
const UNTOLD_MS = 100
const SHOWN_IN_TRACE = 12
/** In one of this many runs the committee has a hundred members. */
const CROWDED_EVERY = 5
const CROWD = 96
/** This many members of a crowd send transactions. */
const FEW = 3
const EPOCH_ROUNDS = 40
/** Used in some runs: without closes for a long time, a late node must fetch all of it. */
const LONG_EPOCH_ROUNDS = 400
const LONG_EVERY = 4
const NEAR_ROUNDS = 10

const strangersPeer = (n: number): PeerId => `a${n}` as PeerId

/** A person who makes one payment at a time. */
interface Payer {
  readonly person: Cast.Cast["victims"][number]
  waiting: { readonly transaction: Transaction; readonly since: number; readonly at: Host } | null
  spent: number
}

export class Fuzz {
  readonly #options: Options
  readonly #agenda = new Agenda(Cast.START)
  readonly #chance: Chance
  readonly #scheme = Schemes.fast
  readonly #cast: Cast.Cast
  readonly #isEquivocating: boolean
  /** Whether strangers answer every question for rounds immediately, with the same vertex and a promise of more. */
  readonly #isStubborn: boolean
  #oldest: Vertex | undefined
  readonly #beginning: Stored.Stored
  readonly #network: Network.Network<Message>
  readonly #hosts: Array<Host> = []
  readonly #witness: Witness
  readonly #knowledge: Knowledge
  readonly #forge: Forge
  readonly #members: ReadonlyArray<Member>
  readonly #purse: Purse
  readonly #payers: ReadonlyArray<Payer>
  readonly #genuine = new WeakMap<Message | Vertex, boolean>()
  readonly #digest = new Digest()
  readonly #trace: Array<string> = []
  /** Host → the highest round it finalized, and when. Faults can set it back. */
  readonly #progress = new Map<number, { round: number; at: number }>()
  #messages = 0
  #unreadable = 0
  #longestSilenceMs = 0
  #longestPaymentMs = 0
  #payments = 0
  readonly #relayed = new Map<Message["_tag"], number>()
  #slowest = { ms: 0, what: "" }
  #isOver = false

  constructor(options: Options) {
    this.#options = options
    const chance = new Chance(options.seed, "fuzz")
    this.#chance = chance
    const isCrowded = options.seed % CROWDED_EVERY === 0
    this.#isEquivocating = isCrowded || chance.percent(50)
    this.#isStubborn = chance.percent(50)
    const epochRounds = options.seed % LONG_EVERY === LONG_EVERY - 1 ? LONG_EPOCH_ROUNDS : EPOCH_ROUNDS
    this.#cast = Cast.make(this.#scheme, chance.stream("cast"), { crowd: isCrowded ? CROWD : 0, epochRounds })
    this.#beginning = Stored.ofGenesis(this.#cast.genesis)
    const { opening } = this.#beginning.current
    const honest = new Set(this.#cast.honest.map(({ address }) => address))
    this.#witness = new Witness(opening.record, (author) => !honest.has(author))
    this.#network = new Network.Network(this.#agenda, chance.stream("network"), Network.calm, (to, from, message) =>
      this.#deliver(to, from, message),
    )
    const edges = new Edges(chance.stream("edges"))
    this.#knowledge = new Knowledge(chance.stream("knowledge"), opening)
    const { genesis, honest: others, victims, crowd } = this.#cast
    this.#purse = new Purse(chance.stream("purse"), {
      genesis,
      own: Cast.accomplices({ ...this.#cast, crowd: crowd.slice(0, FEW) }),
      others: [...others, ...victims],
      parameters: Parameters.table,
      read: () => this.#ledgerOfShadow,
    })
    const isEquivocating = this.#isEquivocating
    const around = {
      cast: this.#cast,
      knowledge: this.#knowledge,
      purse: this.#purse,
      edges,
      chance: chance.stream("forge"),
      now: () => this.#agenda.now,
      isEquivocating,
    }
    this.#forge = new Forge(around)
    this.#payers = this.#cast.victims.map((person) => ({ person, waiting: null, spent: 0 }))
    const waiting = () => this.#payers.flatMap((payer) => payer.waiting?.transaction ?? [])
    this.#members = [this.#cast.member, ...this.#cast.crowd.slice(0, 6)].map(
      (person) => new Member(person, { ...around, forge: this.#forge, chance: chance.stream(person.name), waiting }),
    )
  }

  /** The adversary's own replica, without a key. */
  get #shadow(): Host {
    return this.#host(3)
  }

  get #ledgerOfShadow(): Reads {
    const { replica } = this.#shadow
    if (replica === null) throw new RangeError("the shadow is down")
    return replica.read
  }

  #host(index: number): Host {
    const host = this.#hosts[index]
    if (host === undefined) throw new RangeError(`no machine ${index}`)
    return host
  }

  get #validators(): ReadonlyArray<Host> {
    return this.#hosts.slice(0, 3)
  }

  async run(): Promise<Report> {
    let failure: string | null = null
    try {
      this.#begin()
      let turnAt = performance.now() + TURN_EVERY_MS
      while (!this.#isOver && this.#agenda.step()) {
        if (performance.now() < turnAt) continue
        await turn()
        turnAt = performance.now() + TURN_EVERY_MS
      }
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      failure = `${error.message}\nafter ${this.#messages} messages, the last ones:\n${this.#trace.join("\n")}`
    }
    return {
      seed: this.#options.seed,
      messages: this.#messages,
      unreadable: this.#unreadable,
      rounds: this.#witness.highestRound,
      commits: this.#witness.commits,
      epochs: this.#witness.epochs,
      longestSilenceMs: this.#longestSilenceMs,
      longestPaymentMs: this.#longestPaymentMs,
      payments: this.#payments,
      slowestMs: Math.round(this.#slowest.ms),
      slowest: this.#slowest.what,
      relayed: Object.fromEntries(this.#relayed),
      digest: this.#digest.text,
      failure,
    }
  }

  #begin(): void {
    const { honest } = this.#cast
    for (const person of honest) this.#addHost(person.name, person.signer)
    this.#addHost("shadow", null)
    this.#addHost("late", null)
    for (const host of this.#hosts) this.#start(host)
    this.#every(BURST_MS, () => this.#burst())
    this.#every(LOOK_MS, () => this.#look())
    this.#every(CRASH_EVERY_MS, () => this.#crash(this.#chance.pick(this.#validators)))
    this.#every(LATE_EVERY_MS, () => this.#empty(this.#host(4)))
  }

  #every(ms: number, act: () => void): void {
    this.#agenda.after(ms, () => {
      act()
      if (!this.#isOver) this.#every(ms, act)
    })
  }

  #addHost(name: string, signer: Schemes.Signer | null): void {
    const index = this.#hosts.length
    this.#hosts.push(
      new Host(
        index,
        name,
        signer === null ? [] : [signer],
        null,
        this.#beginning.copy(),
        this.#chance.stream(`host ${index}`),
        {
          agenda: this.#agenda,
          scheme: this.#scheme,
          networkId: this.#cast.genesis.networkId,
          genuine: this.#genuine,
          send: (from, to, message) => this.#send(from, to, message),
          broadcast: (from, message) => {
            for (const each of this.#hosts) if (each !== from) this.#send(from, each.peer, message)
          },
          told: (host, output) => this.#told(host, output),
          kept: (host, write) => {
            if (write._tag === "Executed") this.#witness.published(host.name, write.execution.commit.index)
          },
          relayed: (_, from, message) => {
            if (!this.#validators.some(({ peer }) => peer === from)) return
            this.#relayed.set(message._tag, (this.#relayed.get(message._tag) ?? 0) + 1)
          },
          dropped: () => {},
        },
      ),
    )
  }

  #validatorOf({ index }: Host): Address | null {
    return [...this.#cast.honest, this.#cast.member][index]?.address ?? null
  }

  #connections(of: Host): ReadonlyArray<Connection> {
    const others = this.#hosts.filter((host) => host !== of && host.isUp)
    return [
      ...Array.from({ length: STRANGERS }, (_, n) => ({
        peer: strangersPeer(n),
        validator: null,
        isDialled: false,
      })),
      ...others.map((host) => ({ peer: host.peer, validator: this.#validatorOf(host), isDialled: false })),
    ]
  }

  #reconnect(): void {
    for (const host of this.#hosts) if (host.isUp) host.connected(this.#connections(host))
  }

  #start(host: Host): void {
    const { current } = host.disk.stored
    this.#witness.started(host.name, current.commits.at(-1)?.commit.index ?? current.opening.position.index)
    host.start(this.#connections(host))
    this.#moved(host)
    this.#reconnect()
  }

  #moved(host: Host): void {
    this.#progress.set(host.index, { round: host.replica?.read.head.leaderRound ?? 0, at: this.#agenda.now })
  }

  /** Takes a host down for a moment. It keeps its disk. */
  #crash(host: Host): void {
    if (this.#validators.some((each) => !each.isUp)) return
    host.crash("killed")
    this.#reconnect()
    for (const payer of this.#payers) this.#sendAgain(payer, host)
    this.#agenda.after(this.#chance.between(50, 1_500), () => this.#start(host))
  }

  #sendAgain(payer: Payer, killed: Host): void {
    const { waiting } = payer
    if (waiting === null || waiting.at !== killed || this.#agenda.now - waiting.since > UNTOLD_MS) return
    const at = this.#chance.pick(this.#validators.filter(({ isUp }) => isUp))
    payer.waiting = at.submit(waiting.transaction) ? { ...waiting, at } : null
  }

  /** The follower starts again from an empty disk. */
  #empty(host: Host): void {
    host.crash("killed")
    host.disk.restore(this.#beginning, "both files")
    this.#witness.setBack(host.name, 0)
    this.#start(host)
  }

  // Messages.

  #send(from: Host, to: PeerId, message: Message): void {
    const receiver = this.#hosts.find(({ peer }) => peer === to)
    if (receiver === undefined) this.#answerAsStranger(from, to, message)
    else if (receiver === this.#shadow) {
      this.#knowledge.heard(message)
      this.#network.send(from.index, receiver.index, message)
    } else if (from !== this.#shadow || this.#chance.percent(60)) {
      this.#network.send(from.index, receiver.index, message)
    }
  }

  #deliver(to: number, from: number, message: Message): void {
    const host = this.#host(to)
    if (host.isUp) host.receive(this.#host(from).peer, message)
  }

  /** A stranger answers a question with something that looks valid. */
  #answerAsStranger(from: Host, stranger: PeerId, message: Message): void {
    this.#knowledge.heard(message)
    const answer = this.#answerTo(message)
    if (answer === null) return
    this.#agenda.after(this.#chance.between(1, 40), () => this.#say(stranger, [from], answer))
  }

  #answerTo(question: Message): Message | null {
    const chance = this.#chance
    this.#oldest ??= this.#knowledge.vertices.last
    if (!this.#isStubborn && chance.percent(10)) return null
    switch (question._tag) {
      case "AskRounds": {
        const old = this.#isStubborn ? this.#oldest : this.#knowledge.vertices.any()
        const isLast = !this.#isStubborn && chance.percent(20)
        return { _tag: "Rounds", epoch: question.epoch, isLast, vertices: old === undefined ? [] : [old] }
      }
      case "AskVertices":
        return { _tag: "Vertices", vertices: this.#knowledge.vertices.some(2) }
      case "AskClosing":
        return this.#forge.closing()
      case "AskHighest":
        return {
          _tag: "Highest",
          author: question.author,
          epoch: this.#knowledge.opening.record.epoch,
          header: chance.percent(50) ? this.#forge.header(this.#knowledge.opening.base) : null,
        }
      case "AskState":
        return this.#forge.state(question.root)
      default:
        return null
    }
  }

  #burst(): void {
    for (const [i, member] of this.#members.entries()) {
      for (const message of member.advance())
        this.#say(i === 0 ? this.#shadow.peer : strangersPeer(i), this.#audience(), message)
    }
    const count = this.#isEnding ? 0 : (MESSAGES_PER_ROUND * BURST_MS) / Cast.ROUND_MS
    for (let n = 0; n < count; n++) {
      const from = this.#chance.percent(30) ? this.#shadow.peer : strangersPeer(this.#chance.below(STRANGERS))
      this.#say(from, this.#chance.percent(85) ? [this.#chance.pick(this.#hosts)] : this.#hosts, this.#forge.next())
    }
  }

  /** Nothing new begins any more; what has begun must finish within the same bounds. */
  get #isEnding(): boolean {
    return this.#messages >= this.#options.messages
  }

  /** Usually all honest nodes. */
  #audience(): ReadonlyArray<Host> {
    return this.#chance.percent(80)
      ? this.#hosts
      : this.#hosts.filter((host) => host === this.#shadow || this.#chance.percent(50))
  }

  /** Sends a message through the codec to these nodes. */
  #say(from: PeerId, to: ReadonlyArray<Host>, message: Message): void {
    const heard = this.#decoded(message)
    if (heard === null) {
      this.#unreadable++
      return
    }
    this.#messages++
    for (const host of to) {
      if (!host.isUp || host.peer === from) continue
      this.#trace.push(`${this.#agenda.now - Cast.START} ms ${from} → ${host.name}: ${describe(heard)}`)
      if (this.#trace.length > SHOWN_IN_TRACE) this.#trace.shift()
      const began = performance.now()
      host.receive(from, heard)
      const ms = performance.now() - began
      if (ms > this.#slowest.ms) this.#slowest = { ms, what: `${host.name}: ${describe(heard)}` }
    }
  }

  /** Null if no decoder accepts the message, or it cannot be encoded. */
  #decoded(message: Message): Message | null {
    let bytes: Uint8Array
    try {
      bytes = MessageCodec.encode(message)
    } catch (error) {
      if (error instanceof RangeError) return null
      throw error
    }
    return Either.getOrNull(WholeMessage.decode(this.#cast.genesis.networkId, bytes))
  }

  // Outputs.

  #told(host: Host, output: Output): void {
    switch (output._tag) {
      case "Write":
        if (host === this.#shadow) this.#knowledge.wrote(output.write)
        this.#wrote(host, output.write)
        return
      case "Broadcast":
        if (output.message._tag === "Vertices" && host.signer !== null) {
          for (const { header } of output.message.vertices) {
            if (header.publicKey === host.signer.publicKey) this.#witness.signed(host.name, header)
          }
        }
        return
      case "Misbehaved": {
        const sender = this.#hosts.find(({ peer }) => peer === output.peer)
        if (sender === undefined || sender === this.#shadow) return
        throw new Violation(sender.name, `misbehaved in the eyes of ${host.name}: ${JSON.stringify(output.error)}`)
      }
      case "Fatal":
        throw new Violation(host.name, `stops: ${JSON.stringify(output.fatal).slice(0, 2_000)}`)
      case "JoinStopped":
        throw new Violation(host.name, `cannot join: ${JSON.stringify(output.problem).slice(0, 2_000)}`)
      default:
        return
    }
  }

  #wrote(host: Host, write: Write): void {
    switch (write._tag) {
      case "Inserted":
        this.#witness.knows(write.vertex)
        this.#witness.inserted(host.name, write.vertex.header, host.replica?.core.epoch.dag.collectedRound ?? 0)
        return
      case "CheckpointBuilt":
        this.#witness.checkpointBuilt(host.name, write.checkpoint)
        return
      case "Executed": {
        const { execution, vertices } = write
        this.#witness.executed(host.name, execution, vertices)
        if (host.replica !== null) this.#witness.counted(host.name, host.replica.read.totals)
        this.#digest.text8(execution.effectsDigest)
        if (execution.nextEpoch !== null) this.#watchWeight(execution.nextEpoch)
        return
      }
      default:
        return
    }
  }

  /** With a third of the weight nothing is guaranteed, so the run ends. */
  #watchWeight(record: EpochRecord.EpochRecord): void {
    const honest = new Set(this.#cast.honest.map(({ address }) => address))
    const weight = record.members.reduce((sum, member) => sum + (honest.has(member.address) ? member.weight : 0), 0)
    if (!EpochRecord.isQuorum(weight, EpochRecord.totalWeight(record))) this.#isOver = true
  }

  #look(): void {
    for (const { name, replica } of this.#hosts) if (replica !== null) Memory.expectBounded(name, replica)
    for (const host of this.#hosts) this.#expectProgress(host)
    this.#isOver ||= this.#isEnding && this.#hasCalmedDown
    for (const payer of this.#payers) this.#agenda.after(this.#chance.below(LOOK_MS), () => this.#pay(payer))
  }

  get #hasCalmedDown(): boolean {
    const isNear = ({ replica }: Host): boolean =>
      replica !== null && replica.read.head.leaderRound > this.#witness.highestRound - NEAR_ROUNDS
    return this.#payers.every(({ waiting }) => waiting === null) && this.#hosts.every(isNear)
  }

  #expectProgress(host: Host): void {
    const round = host.replica?.read.head.leaderRound
    const known = this.#progress.get(host.index)
    if (round === undefined || known === undefined) return
    const silenceMs = this.#agenda.now - known.at
    const isBehind = this.#witness.highestRound - round > 2 * NEAR_ROUNDS
    if (round > known.round && !(host.signer === null && isBehind)) {
      if (host.signer !== null) this.#longestSilenceMs = Math.max(this.#longestSilenceMs, silenceMs)
      this.#moved(host)
      return
    }
    const most = host.signer === null ? MOST_CATCHING_UP_MS : MOST_SILENCE_MS
    if (silenceMs <= most || this.#validators.some(({ isUp }) => !isUp)) return
    throw new Violation(
      host.name,
      `has finalized round ${round} and nothing more for ${silenceMs} ms, others round ${this.#witness.highestRound}: ${this.#standing()}`,
    )
  }

  #standing(): string {
    return this.#hosts
      .map(({ name, replica }) => {
        if (replica === null) return `${name} down`
        const { epoch } = replica.core
        return `${name} epoch ${epoch.opening.record.epoch} own ${epoch.ownRound} quorum ${epoch.dag.quorumRound} finalized ${replica.read.head.leaderRound}${replica.isJoining ? " joining" : ""}`
      })
      .join("; ")
  }

  /** A payment sent once to one honest node must become final: nobody may suppress it. */
  #pay(payer: Payer): void {
    const { person, waiting } = payer
    const read = this.#validators.map(({ replica }) => replica?.read).find((each) => each !== undefined)
    if (read === undefined) return
    const { nonce, balance } = read.account(person.address)
    const now = this.#agenda.now
    if (waiting !== null && nonce <= waiting.transaction.nonce) {
      if (now - waiting.since <= MOST_PAYMENT_MS) return
      throw new Violation(
        person.name,
        `its payment ${waiting.transaction.id} is not final after ${now - waiting.since} ms`,
      )
    }
    if (waiting !== null) {
      this.#longestPaymentMs = Math.max(this.#longestPaymentMs, now - waiting.since)
      this.#payments++
      payer.spent += amountOf(waiting.transaction)
      payer.waiting = null
    }
    const initial = this.#cast.genesis.allocations.find(({ address }) => address === person.address)?.amount ?? 0
    if (balance < initial - payer.spent) {
      throw new Violation(
        person.name,
        `has ${balance} sats, ${initial - payer.spent} expected: somebody else spent its money`,
      )
    }
    if (this.#isEnding) return
    const transaction = this.#purse.sign(
      {
        from: person.address,
        nonce,
        fee: Sats.make(2_000),
        operation: {
          _tag: "Transfer",
          to: this.#chance.pick(this.#cast.honest).address,
          amount: Sats.make(1_000),
          memo: "",
        },
      },
      [person.signer],
    )
    const at = this.#chance.pick(this.#validators)
    if (at.submit(transaction)) payer.waiting = { transaction, since: now, at }
  }
}

const amountOf = ({ fee, operation }: Transaction): number =>
  fee + (operation._tag === "Transfer" ? operation.amount : 0)

const describe = (message: Message): string => {
  switch (message._tag) {
    case "Vertices":
    case "Rounds":
      return `${message._tag} ${message.vertices
        .slice(0, 3)
        .map(({ header, body }) => `${header.epoch}/${header.round} with ${body.transactions.length} transactions`)
        .join(", ")}`
    case "Transactions":
      return `Transactions ${message.transactions
        .slice(0, 3)
        .map(({ from, nonce, fee, operation }) => `${operation._tag} of ${from.slice(0, 8)} nonce ${nonce} fee ${fee}`)
        .join(", ")}`
    default:
      return message._tag
  }
}

export const run = (options: Options): Promise<Report> => new Fuzz(options).run()
