/**
 * A validator that misuses its own key, and no other. Its host runs a replica without a key, which sees everything that
 * an honest node sees. The adversary makes its own vertices and filters the messages of its host.
 */

import { Either } from "effect"
import { Committee } from "../../src/consensus/dag/Committee.js"
import * as Validity from "../../src/consensus/dag/Validity.js"
import type { Opening } from "../../src/consensus/output/Opening.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { Write } from "../../src/replica/output/Write.js"
import type { Chance } from "./Chance.js"
import type { Signer } from "./Scheme.js"
import { ROUND_MS } from "./World.js"

/** The ways to misbehave. Each adversary of a run has some of them, drawn at random. */
export const HABITS = [
  "equivocates",
  "splits-votes",
  "withholds",
  "votes-for-nothing",
  "breaks-rules",
  "forges-transactions",
  "replays",
  "shuns-leaders",
  "late",
  "early",
  "lies",
  "double-checkpoints",
  "garbage",
  "future-clock",
  "sparse-parents",
  "confesses-falsely",
  "crowds",
  "splits-certificates",
  "misnames",
  "two-faced",
  "floods",
] as const

export type Habit = (typeof HABITS)[number]

/** How an adversary acts on the world. Machines are numbers. */
export interface Means {
  readonly machines: ReadonlyArray<number>
  readonly after: (delayMs: number, act: () => void) => void
  readonly now: () => number
  readonly send: (to: number, message: Message) => void
  /** Passes a message to its own replica, as if from a peer. */
  readonly show: (message: Message) => void
  /** Which of the two faces a machine sees in this round. All conspirators of a run agree on it. */
  readonly faceFor: (machine: number, round: number) => 0 | 1
  /** The machine of the validator with this address. */
  readonly machineOf: (address: Address) => number | undefined
  readonly forged: (transaction: Transaction) => Transaction
  /** A transaction that the decoder accepts and no wallet would send. */
  readonly strange: () => Transaction | null
}

interface Slot {
  readonly round: number
  readonly variants: ReadonlyArray<Vertex.Vertex>
}

const MAX_SEEN_TRANSACTIONS = 40
const MAX_OLD_VERTICES = 200
/** Invented votes per flood. */
const FLOOD = 20
/** More vertices than a node keeps waiting for one author. */
const CROWD = 70

/** Records all inserted vertices of the running epoch, by round. */
export class Adversary {
  readonly #signer: Signer
  readonly #address: Address
  readonly #chance: Chance
  readonly #strangeChance: Chance
  readonly #floodChance: Chance
  readonly #means: Means
  readonly #habits: ReadonlySet<Habit>
  #opening: Opening
  #committee: Committee
  #seen = new Map<number, Map<Address, Array<Vertex.Vertex>>>()
  /** The vertex that its next vertex builds on. `#faces` has all vertices it made for that round. */
  #own: Vertex.Vertex | null = null
  #faces: ReadonlyArray<Vertex.Vertex> = []
  /** The highest round for which it made vertices. */
  #made = 0
  readonly #variants = new Map<Hash, Vertex.Vertex>()
  readonly #withheld = new Set<Hash>()
  readonly #forged = new WeakSet<Transaction>()
  readonly #old: Array<Vertex.Vertex> = []
  #transactions: Array<Transaction> = []
  #equivocations: Array<Evidence.Evidence> = []
  /** The latest checkpoint that it could sign. */
  #checkpoint: Checkpoint.Checkpoint | null = null
  #isClosed = false
  #isHostile: boolean

  constructor(
    signer: Signer,
    address: Address,
    opening: Opening,
    habits: ReadonlyArray<Habit>,
    chance: Chance,
    means: Means,
    isHostile = true,
  ) {
    this.#isHostile = isHostile
    this.#signer = signer
    this.#address = address
    this.#opening = opening
    this.#committee = new Committee(opening.record)
    this.#habits = new Set(habits)
    this.#chance = chance
    this.#strangeChance = chance.stream("strange transactions")
    this.#floodChance = chance.stream("floods of votes")
    this.#means = means
  }

  get habits(): ReadonlyArray<Habit> {
    return [...this.#habits]
  }

  /** Breaks the rules from now on. */
  turn(): void {
    this.#isHostile = true
  }

  /**
   * Follows every rule from now on, and releases what it withheld. A vertex that breaks a rule does not count, so it
   * can make another one for that round.
   */
  reform(): void {
    this.#isHostile = false
    this.#withheld.clear()
    if (this.#own === null || !this.#isSound(this.#own)) {
      this.#made = Math.min(this.#made, this.#highestQuorum())
      this.#advance(this.#made + 1)
    }
  }

  #isSound(vertex: Vertex.Vertex): boolean {
    const isForged = vertex.body.transactions.some((transaction) => this.#forged.has(transaction))
    const isMisnamed = new Set(vertex.header.parents.map(({ hash }) => hash)).size < vertex.header.parents.length
    return !isForged && !isMisnamed && Either.isRight(Validity.check(vertex, this.#opening.base, this.#committee))
  }

  #forge(transaction: Transaction): Transaction {
    const forged = this.#means.forged(transaction)
    this.#forged.add(forged)
    return forged
  }

  #highestQuorum(): number {
    const rounds = [...this.#seen.keys()].filter((round) => this.#committee.isQuorum(this.#weightOf(round)))
    return Math.max(this.#opening.record.firstRound - 1, ...rounds)
  }

  #does(habit: Habit, percent: number): boolean {
    return this.#isHostile && this.#habits.has(habit) && this.#chance.percent(percent)
  }

  /** Learns of vertices, checkpoints and epochs from what its replica writes to disk. */
  wrote(write: Write): void {
    switch (write._tag) {
      case "Inserted":
        this.#inserted(write.vertex)
        return
      case "EpochStarted":
        this.#open(write.opening)
        return
      case "Joined":
        this.#open(write.opening)
        return
      case "Executed":
        this.#isClosed ||= write.execution.nextEpoch !== null
        return
      case "CheckpointBuilt":
        this.#cosign(write.checkpoint)
        return
      default:
        return
    }
  }

  #open(opening: Opening): void {
    this.#opening = opening
    this.#committee = new Committee(opening.record)
    this.#seen = new Map()
    this.#own = null
    this.#faces = []
    this.#made = opening.record.firstRound - 1
    this.#isClosed = false
    this.#variants.clear()
    this.#means.after(this.#chance.between(1, ROUND_MS), () => this.#advance(opening.record.firstRound))
  }

  /** Starts from what is on disk. After a crash it may have forgotten vertices of its own. */
  start(opening: Opening, vertices: ReadonlyArray<Vertex.Vertex>): void {
    this.#open(opening)
    for (const vertex of vertices) this.#inserted(vertex)
    this.#repeat()
  }

  /** After its reform it repeats messages that may have been lost, like an honest validator. */
  #repeat(): void {
    this.#means.after(5 * ROUND_MS, () => {
      if (!this.#isHostile && this.#own !== null) {
        for (const machine of this.#means.machines)
          this.#means.send(machine, { _tag: "Vertices", vertices: [this.#own] })
      }
      this.#repeat()
    })
  }

  #inserted(vertex: Vertex.Vertex): void {
    const { epoch, round, author } = vertex.header
    if (epoch !== this.#opening.record.epoch) return
    const row = this.#seen.get(round) ?? new Map<Address, Array<Vertex.Vertex>>()
    this.#seen.set(round, row)
    const own = row.get(author)
    if (own === undefined) row.set(author, [vertex])
    else if (!own.includes(vertex)) own.push(vertex)
    if (this.#old.length < MAX_OLD_VERTICES) this.#old.push(vertex)
    else this.#old[this.#chance.below(MAX_OLD_VERTICES)] = vertex
    for (const transaction of vertex.body.transactions) this.#saw(transaction)
    if (round >= this.#made && this.#weightOf(round) * 3 > this.#committee.totalWeight * 2) {
      const delay = this.#does("early", 70) ? 1 : this.#chance.between(ROUND_MS / 2, ROUND_MS)
      this.#means.after(delay, () => this.#advance(round + 1))
    }
  }

  #weightOf(round: number): number {
    let weight = 0
    for (const author of this.#seen.get(round)?.keys() ?? []) {
      weight += this.#committee.weightOf(this.#committee.seatOf(author) ?? 0)
    }
    return weight
  }

  #saw(transaction: Transaction): void {
    if (this.#transactions.length < MAX_SEEN_TRANSACTIONS) this.#transactions.push(transaction)
    else this.#transactions[this.#chance.below(MAX_SEEN_TRANSACTIONS)] = transaction
  }

  /** Sees each message before its replica does. */
  heard(from: number, message: Message): void {
    if (message._tag === "Transactions") for (const transaction of message.transactions) this.#saw(transaction)
    if (message._tag !== "AskVertices") return
    // Its own replica may have had no reason to insert these variants.
    const vertices = message.hashes.flatMap((hash) =>
      this.#withheld.has(hash) ? [] : (this.#variants.get(hash) ?? []),
    )
    if (vertices.length > 0) this.#means.send(from, { _tag: "Vertices", vertices })
  }

  /** Makes the vertex or vertices of this round, at most once. */
  #advance(round: number): void {
    const seat = this.#committee.seatOf(this.#address)
    if (seat === undefined || this.#isClosed || round <= this.#made) return
    const isFirst = round === this.#opening.record.firstRound
    const quorum = this.#committee.isQuorum(this.#weightOf(round - 1))
    if (!isFirst && !quorum) return
    this.#made = round
    const variants = this.#make(round, seat, this.#countOfVariants())
    const [first] = variants
    this.#own = first ?? null
    this.#faces = variants
    if (variants.length > 1) {
      const [a, b] = variants
      const evidence = a !== undefined && b !== undefined ? Evidence.of(a.header, b.header) : undefined
      if (evidence !== undefined) this.#equivocations = [...this.#equivocations.slice(-3), evidence]
    }
    for (const variant of variants) {
      this.#variants.set(variant.header.hash, variant)
      this.#means.show({ _tag: "Vertices", vertices: [variant] })
    }
    const slot = { round, variants }
    if (this.#does("late", 40)) this.#means.after(ROUND_MS * this.#chance.between(1, 5), () => this.#hand(slot))
    else this.#hand(slot)
    this.#bother()
  }

  /** Whether it plays two validators, each of which hides the other. */
  get #isTwoFaced(): boolean {
    return this.#isHostile && this.#habits.has("two-faced")
  }

  /** Whether this face hides the vertices of that machine, as far as parents can be left out. */
  #isOfOtherCamp(author: Address, round: number, variant: number): boolean {
    const machine = this.#means.machineOf(author)
    return author !== this.#address && machine !== undefined && this.#means.faceFor(machine, round) !== variant
  }

  #splits(habit: "splits-votes" | "splits-certificates", variant: number): boolean {
    return variant === 1 && (this.#habits.has(habit) || this.#isTwoFaced)
  }

  #countOfVariants(): number {
    if (this.#isTwoFaced) return 2
    if (this.#does("equivocates", 60)) return this.#chance.between(2, 3)
    return this.#does("splits-votes", 80) || this.#does("splits-certificates", 80) ? 2 : 1
  }

  #make(round: number, seat: number, count: number): ReadonlyArray<Vertex.Vertex> {
    return Array.from({ length: count }, (_, i) => this.#vertex(round, seat, i))
  }

  #vertex(round: number, seat: number, variant: number): Vertex.Vertex {
    const chance = this.#chance
    const body = this.#body(round)
    const ahead = this.#does("future-clock", 50) ? chance.between(500, 5_000) : 0
    const content: Header.Content = {
      base: this.#opening.base,
      epoch: this.#opening.record.epoch,
      round: Natural.round(round),
      publicKey: this.#signer.publicKey,
      parents: this.#parents(round, variant),
      timestamp: Natural.timestamp(this.#means.now() + variant + ahead),
      coinbase: this.#committee.coinbase(Natural.round(round), seat),
      bodyHash: Vertex.bodyHash(body),
    }
    const bad = this.#does("breaks-rules", 8) ? this.#broken(content) : content
    return Vertex.make(
      Header.make(bad, (bytes) => this.#signer.sign(bytes)),
      body,
    )
  }

  /**
   * Parents from the previous round with at least a quorum of weight, one per slot. Some adversaries leave out the
   * leader's, and some name an older vertex as well.
   */
  #parents(round: number, variant: number): ReadonlyArray<Header.Parent> {
    const chance = this.#chance
    if (round === this.#opening.record.firstRound) return []
    const row = this.#seen.get(round - 1) ?? new Map<Address, Array<Vertex.Vertex>>()
    const leader = this.#committee.member(this.#committee.leaderOf(Natural.round(round - 1))).address
    const avoided = this.#does("votes-for-nothing", 80) || this.#splits("splits-votes", variant) ? leader : null
    let weight = this.#weightOf(round - 1)
    const chosen: Array<Vertex.Vertex> = []
    const isSparse = this.#does("sparse-parents", 80)
    const isToCertify = !this.#splits("splits-certificates", variant)
    const isUnwanted = (author: Address): boolean =>
      author === avoided ||
      (this.#isTwoFaced && this.#isOfOtherCamp(author, round, variant)) ||
      (!isToCertify && this.#isVoter(row.get(author) ?? [], round - 2))
    // The first authors are left out as long as a quorum remains.
    const unwanted = new Set([...row.keys()].filter(isUnwanted))
    const authors = chance.shuffle([...row.keys()]).sort((a, b) => Number(unwanted.has(b)) - Number(unwanted.has(a)))
    for (const author of authors) {
      const own = this.#committee.weightOf(this.#committee.seatOf(author) ?? 0)
      const mayLeaveOut = this.#committee.isQuorum(weight - own) && author !== this.#address
      if (mayLeaveOut && (unwanted.has(author) || (isSparse && chance.percent(70)))) {
        weight -= own
        continue
      }
      const vertices = row.get(author) ?? []
      const face = author === this.#address ? this.#ownParent(variant, vertices) : undefined
      chosen.push(face ?? chance.pick(vertices))
    }
    const isOwnNamed = chosen.some(({ header }) => header.author === this.#address)
    if (this.#isHostile && chance.percent(10)) {
      const older = this.#seen.get(round - chance.between(2, 6))
      const vertices = [...(older?.values() ?? [])]
        .flat()
        .filter(({ header }) => !isOwnNamed || header.author !== this.#address)
      if (vertices.length > 0) chosen.push(chance.pick(vertices))
    }
    const named = chosen.map(({ header }) => ({ round: header.round, author: header.author, hash: header.hash }))
    const [first] = named
    if (first === undefined || !this.#does("misnames", 10)) return named
    // One hash under the slots of all parents: a quorum for a node that trusts the slots.
    return named.map((parent) => ({ ...parent, hash: first.hash }))
  }

  /** Each face builds on its own previous vertex. A machine that has seen only the other face asks for this one. */
  #ownParent(variant: number, inserted: ReadonlyArray<Vertex.Vertex>): Vertex.Vertex | undefined {
    const face = this.#isTwoFaced ? this.#faces[variant] : undefined
    if (face !== undefined && inserted.some(({ header }) => header.round === face.header.round)) return face
    return this.#own !== null && inserted.includes(this.#own) ? this.#own : undefined
  }

  /** Whether one of these vertices names a vertex of the round's leader. */
  #isVoter(vertices: ReadonlyArray<Vertex.Vertex>, round: number): boolean {
    if (round < this.#opening.record.firstRound) return false
    const leader = this.#committee.member(this.#committee.leaderOf(Natural.round(round))).address
    return vertices.some(({ header: { parents } }) =>
      parents.some((parent) => parent.round === round && parent.author === leader),
    )
  }

  #body(round: number): Vertex.Body {
    const chance = this.#chance
    const known = chance.percent(50) ? this.#transactions.slice(0, chance.below(6)) : []
    const good = [...this.#strange(), ...known]
    const [some] = this.#transactions
    const transactions =
      some !== undefined && this.#does("forges-transactions", 15) ? [...good, this.#forge(some)] : good
    const evidence = this.#does("confesses-falsely", 30)
      ? [this.#falseConfession(round)]
      : this.#isHostile && chance.percent(10)
        ? this.#equivocations.slice(0, 1)
        : []
    const heartbeats = this.#does("garbage", 20) ? [this.#heartbeat(round)] : []
    return { transactions, evidence, heartbeats }
  }

  /** Transactions with valid form and signatures, and extreme values. */
  #strange(): ReadonlyArray<Transaction> {
    const count = this.#isHostile && this.#strangeChance.percent(30) ? this.#strangeChance.between(1, 3) : 0
    return Array.from({ length: count }, this.#means.strange).filter((transaction) => transaction !== null)
  }

  /** Evidence from two headers of its own that proves nothing, since their base is no checkpoint of this network. */
  #falseConfession(round: number): Evidence.Evidence {
    const { epoch } = this.#opening.record
    const header = (timestamp: number): Header.Header =>
      Header.make(
        {
          base: Vertex.bodyHash(Vertex.emptyBody),
          epoch,
          round: Natural.round(round),
          publicKey: this.#signer.publicKey,
          parents: [],
          timestamp: Natural.timestamp(timestamp),
          coinbase: Sats.ZERO,
          bodyHash: Vertex.bodyHash(Vertex.emptyBody),
        },
        (bytes) => this.#signer.sign(bytes),
      )
    const evidence = Evidence.of(header(1), header(2))
    if (evidence === undefined) throw new Error("two headers of one slot that are no evidence")
    return evidence
  }

  #heartbeat(round: number): Heartbeat.Heartbeat {
    const content = {
      publicKey: this.#signer.publicKey,
      commitIndex: Natural.commitIndex(round),
      commitHash: this.#opening.base,
    }
    const signature = this.#signer.sign(Heartbeat.signedBytes(content))
    return { ...content, signature, validator: this.#address }
  }

  /** Breaks one rule, under a valid signature. */
  #broken(content: Header.Content): Header.Content {
    const { parents } = content
    const [first] = parents
    switch (this.#chance.below(7)) {
      case 0:
        return { ...content, coinbase: (content.coinbase + 1) as Header.Content["coinbase"] }
      case 1:
        return { ...content, parents: parents.slice(0, parents.length >>> 1) }
      case 2:
        return { ...content, round: Natural.round(content.round + 1_000) }
      case 3:
        return { ...content, epoch: Natural.epoch(content.epoch + 1) }
      case 4:
        return { ...content, base: content.bodyHash }
      case 5:
        return first === undefined
          ? content
          : { ...content, parents: [...parents, { ...first, hash: content.bodyHash }] }
      default:
        return first === undefined ? content : { ...content, parents: [...parents, { ...first, round: content.round }] }
    }
  }

  /** Sends each machine the variants meant for it, if any. */
  #hand({ round, variants }: Slot): void {
    const chance = this.#chance
    const isSecret = this.#does("withholds", 30)
    const next = this.#committee.member(this.#committee.leaderOf(Natural.round(round + 1))).address
    const shunned = this.#does("shuns-leaders", 60) ? this.#means.machineOf(next) : undefined
    for (const machine of this.#means.machines) {
      if (machine === shunned || (isSecret && chance.percent(60))) continue
      const seen = this.#shownTo(machine, round, variants)
      for (const variant of seen) this.#means.send(machine, { _tag: "Vertices", vertices: [variant] })
    }
    if (isSecret) for (const { header } of variants) if (chance.percent(50)) this.#withheld.add(header.hash)
  }

  #shownTo(machine: number, round: number, variants: ReadonlyArray<Vertex.Vertex>): ReadonlyArray<Vertex.Vertex> {
    const face = this.#isTwoFaced ? variants[this.#means.faceFor(machine, round)] : undefined
    if (face !== undefined) return [face]
    return this.#isHostile && this.#chance.percent(5) ? variants : [this.#chance.pick(variants)]
  }

  /** Sends unsolicited messages. */
  #bother(): void {
    const chance = this.#chance
    const { machines } = this.#means
    if (this.#does("replays", 20) && this.#old.length > 0) {
      this.#means.send(chance.pick(machines), {
        _tag: "Vertices",
        vertices: [chance.pick(this.#old), chance.pick(this.#old)],
      })
    }
    if (this.#does("garbage", 20)) {
      const heartbeat = this.#heartbeat(this.#made)
      this.#means.send(chance.pick(machines), { _tag: "Heartbeat", heartbeat })
      const [evidence] = this.#equivocations
      if (evidence !== undefined) this.#means.send(chance.pick(machines), { _tag: "Evidence", evidence })
    }
    if (this.#does("crowds", 3)) this.#crowd()
    if (this.#isHostile && this.#habits.has("floods") && this.#floodChance.percent(20)) this.#flood()
    if (this.#does("confesses-falsely", 20)) {
      const evidence = this.#falseConfession(this.#made)
      for (const machine of machines) this.#means.send(machine, { _tag: "Evidence", evidence })
    }
    const some = this.#transactions.at(-1)
    if (this.#does("forges-transactions", 30) && some !== undefined) {
      this.#means.send(chance.pick(machines), { _tag: "Transactions", transactions: [this.#forge(some)] })
    }
  }

  /**
   * Floods a machine with signatures under invented checkpoints and with heartbeats for their commits. A node that
   * relayed them all would never finish.
   */
  #flood(): void {
    const machine = this.#floodChance.pick(this.#means.machines)
    for (let i = 0; i < FLOOD; i++) {
      this.#means.send(machine, { _tag: "Heartbeat", heartbeat: this.#heartbeat(this.#made + i) })
      if (this.#checkpoint === null) continue
      const commitIndex = Natural.commitIndex(this.#checkpoint.commitIndex + this.#made * FLOOD + i)
      const checkpoint = Checkpoint.make({ ...this.#checkpoint, commitIndex, nextEpoch: null })
      const signature = this.#signer.sign(Checkpoint.signedBytes(checkpoint))
      const signed = { validator: this.#address, signature }
      this.#means.send(machine, { _tag: "CheckpointSignature", checkpoint, signature: signed })
    }
  }

  /** Fills its share of another node's waiting room with vertices whose parents do not exist. */
  #crowd(): void {
    const seat = this.#committee.seatOf(this.#address)
    if (seat === undefined) return
    const body = Vertex.emptyBody
    const vertices = Array.from({ length: CROWD }, (_, i) => {
      const round = Natural.round(Math.max(this.#opening.record.firstRound + 1, this.#made - 1))
      const parents = this.#committee.record.members.map(({ address: author }) => ({
        round: Natural.round(round - 1),
        author,
        hash: Vertex.bodyHash({ ...body, transactions: this.#transactions.slice(0, i % 8) }),
      }))
      const content: Header.Content = {
        base: this.#opening.base,
        epoch: this.#opening.record.epoch,
        round,
        publicKey: this.#signer.publicKey,
        parents,
        timestamp: Natural.timestamp(this.#means.now() - i),
        coinbase: this.#committee.coinbase(round, seat),
        bodyHash: Vertex.bodyHash(body),
      }
      return Vertex.make(
        Header.make(content, (bytes) => this.#signer.sign(bytes)),
        body,
      )
    })
    const machine = this.#chance.pick(this.#means.machines)
    this.#means.send(machine, { _tag: "Vertices", vertices })
  }

  #cosign(checkpoint: Checkpoint.Checkpoint): void {
    this.#checkpoint = checkpoint
    if (this.#committee.seatOf(this.#address) === undefined) return
    const send = (machine: number, shown: Checkpoint.Checkpoint): void => {
      const signature = this.#signer.sign(Checkpoint.signedBytes(shown))
      this.#means.send(machine, {
        _tag: "CheckpointSignature",
        checkpoint: shown,
        signature: { validator: this.#address, signature },
      })
    }
    if (this.#does("withholds", 30)) return
    const isDouble = this.#does("double-checkpoints", 50)
    const other = Checkpoint.make({ ...checkpoint, stateRoot: checkpoint.effectsDigest })
    for (const machine of this.#means.machines) {
      const isOther = isDouble && this.#chance.percent(50)
      send(machine, isOther ? other : checkpoint)
      if (isOther && this.#chance.percent(30)) send(machine, checkpoint)
    }
  }

  /** Filters what its replica sends to a machine. */
  says(to: number, message: Message): ReadonlyArray<Message> {
    switch (message._tag) {
      case "Vertices":
      case "Rounds": {
        const vertices = message.vertices.filter(({ header }) => !this.#withheld.has(header.hash))
        if (this.#does("lies", 30)) return []
        return [{ ...message, vertices: this.#does("lies", 10) ? [...vertices].reverse() : vertices }]
      }
      case "Highest":
        return this.#does("lies", 40) ? [{ ...message, header: null }] : [message]
      case "State":
        return this.#does("garbage", 30) && message.subtree !== null
          ? [{ ...message, subtree: message.subtree.map((byte, i) => (i === to ? byte ^ 1 : byte)) }]
          : [message]
      case "Closing":
        return this.#does("lies", 30) ? [{ ...message, signed: message.signed.slice(0, -1), newest: null }] : [message]
      case "CheckpointSignature":
      case "Evidence":
      case "Transactions":
        return this.#does("withholds", 50) ? [] : [message]
      default:
        return [message]
    }
  }
}
