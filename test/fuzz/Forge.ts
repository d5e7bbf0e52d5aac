/**
 * Messages: real ones with each field set to edge values and signed again with an available key, and invented ones. The
 * caller drops those that the decoder rejects.
 */

import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import * as Messages from "../../src/replica/messages/Message.js"
import type { Purse } from "../edges/Purse.js"
import type { Chance } from "../simulation/Chance.js"
import type { Signer } from "../simulation/Scheme.js"
import { accomplices, type Cast } from "./Cast.js"
import type { Edges } from "./Edges.js"
import type { Knowledge } from "./Knowledge.js"

export interface Surroundings {
  readonly cast: Cast
  readonly knowledge: Knowledge
  readonly purse: Purse
  readonly edges: Edges
  readonly chance: Chance
  readonly now: () => number
  /** Whether the member equivocates, for which it soon loses its seat. */
  readonly isEquivocating: boolean
}

const COLLECTION_ROUNDS = 10
/** A few bodies have the maximum size. */
const FULL_BODIES_PER_MILLE = 1

export class Forge {
  readonly #around: Surroundings
  readonly #chance: Chance
  readonly #edges: Edges
  readonly #knowledge: Knowledge
  readonly #members: ReadonlyArray<Signer>
  readonly #strangers: ReadonlyArray<Signer>
  readonly #honest: ReadonlyArray<Signer>
  readonly #addresses: ReadonlyArray<Address>
  /** Bases of other networks with the same validators. */
  readonly #elsewhere: ReadonlyArray<Hash>

  constructor(around: Surroundings) {
    const { cast, chance, edges, knowledge } = around
    this.#around = around
    this.#chance = chance
    this.#edges = edges
    this.#knowledge = knowledge
    this.#members = [cast.member, ...cast.crowd].map(({ signer }) => signer)
    this.#strangers = [cast.newcomer, ...cast.rich, ...cast.unknown].map(({ signer }) => signer)
    this.#honest = cast.honest.map(({ signer }) => signer)
    this.#addresses = [...cast.honest, ...accomplices(cast)].map(({ address }) => address)
    this.#elsewhere = [0, 1, 2].map(() => edges.hash())
  }

  next(): Message {
    const chance = this.#chance
    const luck = chance.below(100)
    if (luck < 6 && this.#around.isEquivocating)
      return { _tag: "Vertices", vertices: this.#several(() => this.#guest()) }
    if (luck < 22) return { _tag: "Vertices", vertices: this.#several(() => this.#vertex()) }
    if (luck < 38) return { _tag: "Transactions", transactions: this.#several(() => this.#transaction()) }
    if (luck < 45) return { _tag: "Heartbeat", heartbeat: this.#heartbeat() }
    if (luck < 52) return { _tag: "Evidence", evidence: this.#evidence() }
    if (luck < 60) return this.#checkpointSignature()
    if (luck < 75) return this.#question()
    if (luck < 90) return this.#answer()
    return this.#knowledge.messages.any() ?? this.#question()
  }

  #several<A>(make: () => A): ReadonlyArray<A> {
    const count = this.#chance.percent(80) ? 1 : this.#chance.between(0, 6)
    return Array.from({ length: count }, make)
  }

  #transaction(): Transaction {
    const { purse } = this.#around
    const known = this.#knowledge.transactions.any()
    if (known === undefined || this.#chance.percent(60)) return purse.next()
    return this.#chance.percent(40) ? known : purse.usurped(known)
  }

  // Signed messages.

  /** Strangers sign most messages. An equivocating member's second vertices occur in every other world. */
  #signer(): Signer {
    const chance = this.#chance
    return this.#around.isEquivocating && chance.percent(50) ? chance.pick(this.#members) : chance.pick(this.#strangers)
  }

  #epoch(): number {
    const { epoch } = this.#knowledge.opening.record
    const chance = this.#chance
    return chance.percent(70)
      ? epoch
      : chance.percent(70)
        ? Math.max(0, epoch + chance.between(-2, 2))
        : this.#edges.number(epoch)
  }

  #round(): number {
    const { record } = this.#knowledge.opening
    const { highestQuorum } = this.#knowledge
    const chance = this.#chance
    if (chance.percent(50)) return Math.max(0, highestQuorum + chance.between(-COLLECTION_ROUNDS, 3))
    return this.#edges.number(
      record.firstRound,
      EpochRecord.lastRound(record),
      highestQuorum,
      highestQuorum - COLLECTION_ROUNDS,
    )
  }

  #address(): Address {
    return this.#chance.percent(90) ? this.#chance.pick(this.#addresses) : (this.#edges.hash().slice(0, 40) as Address)
  }

  #parent(round: number): Header.Parent {
    const row = [...(this.#knowledge.rows.get(round)?.values() ?? [])].flat()
    const real = row.length === 0 ? undefined : this.#chance.pick(row)
    if (real === undefined || this.#chance.percent(25)) {
      return { round: Natural.round(Math.max(0, round)), author: this.#address(), hash: this.#edges.hash() }
    }
    const { header } = real
    return {
      round: this.#chance.percent(97) ? header.round : Natural.round(this.#round()),
      author: this.#chance.percent(95) ? header.author : this.#address(),
      hash: header.hash,
    }
  }

  #parents(round: number): ReadonlyArray<Header.Parent> {
    const chance = this.#chance
    const kind = chance.below(10)
    if (kind === 0) return []
    if (kind === 1) {
      const count = chance.pick([1, 2, 30, Header.MAX_PARENTS])
      return Array.from({ length: count }, () => this.#parent(round - chance.between(0, COLLECTION_ROUNDS + 2)))
    }
    // One vertex of each slot of the previous round, like a valid vertex; sometimes more of a slot with several.
    const row = this.#knowledge.rows.get(round - 1)
    const whole = [...(row?.values() ?? [])].map((vertices) => chance.pick(vertices).header)
    const parents = whole.map(
      (header): Header.Parent => ({ round: header.round, author: header.author, hash: header.hash }),
    )
    if (kind < 6) return parents
    if (kind < 8) return parents.map((parent) => (chance.percent(20) ? this.#parent(round - 1) : parent))
    return [
      ...parents,
      ...Array.from({ length: chance.between(1, 6) }, () => this.#parent(round - chance.between(1, 6))),
    ]
  }

  #content(signer: Signer, bodyHash: Hash): Header.Content {
    const { opening, committee } = this.#knowledge
    const chance = this.#chance
    const round = this.#round()
    const seat = committee.seatOf(this.#addressOf(signer))
    const expected =
      round >= 1 && round < 1e9 && seat !== undefined ? committee.coinbase(Natural.round(round), seat) : Sats.ZERO
    const now = this.#around.now()
    return {
      base: chance.percent(75) ? opening.base : (this.#knowledge.bases.any() ?? this.#edges.hash()),
      epoch: Natural.epoch(this.#epoch()),
      round: Natural.round(round),
      publicKey: signer.publicKey,
      parents: this.#parents(round),
      timestamp: Natural.nearestTimestamp(chance.percent(70) ? now : this.#edges.number(now, Natural.LATEST)),
      coinbase: chance.percent(85) ? expected : this.#edges.sats(expected),
      bodyHash: chance.percent(97) ? bodyHash : this.#edges.hash(),
    }
  }

  #addressOf(signer: Signer): Address {
    return Header.make({ ...this.#bare, publicKey: signer.publicKey }, () => "" as never).author
  }

  get #bare(): Omit<Header.Content, "publicKey"> {
    return {
      base: this.#knowledge.opening.base,
      epoch: Natural.epoch(0),
      round: Natural.round(0),
      parents: [],
      timestamp: Natural.timestamp(0),
      coinbase: Sats.ZERO,
      bodyHash: this.#knowledge.opening.base,
    }
  }

  header(bodyHash: Hash): Header.Header {
    const chance = this.#chance
    const luck = chance.below(100)
    const known = this.#knowledge.vertices.any()?.header
    if (known !== undefined && luck < 10) return known
    if (luck < 25) {
      // Signed by an honest key, for another network of the same validators.
      const signer = chance.pick(this.#honest)
      return this.#signed({ ...this.#content(signer, bodyHash), base: chance.pick(this.#elsewhere) }, signer)
    }
    const signer = this.#signer()
    if (known === undefined || luck < 60) return this.#signed(this.#content(signer, bodyHash), signer)
    // A real one with some fields changed.
    const other = this.#content(signer, bodyHash)
    const bent = { ...known, publicKey: signer.publicKey }
    for (const field of ["base", "epoch", "round", "parents", "timestamp", "coinbase", "bodyHash"] as const) {
      if (chance.percent(20)) Object.assign(bent, { [field]: other[field] })
    }
    return chance.percent(3)
      ? { ...this.#signed(bent, signer), signature: known.signature }
      : this.#signed(bent, signer)
  }

  #signed(content: Header.Content, { sign }: Signer): Header.Header {
    return Header.make(content, sign)
  }

  body(): Vertex.Body {
    const chance = this.#chance
    const transactions = this.#bodyTransactions()
    const evidence = chance.percent(80) ? [] : this.#listOf([1, 2, Limits.VERTEX_EVIDENCE], () => this.#evidence())
    const heartbeats = chance.percent(80) ? [] : this.#listOf([1, 3, Limits.VERTEX_HEARTBEATS], () => this.#heartbeat())
    return { transactions, evidence, heartbeats }
  }

  #bodyTransactions(): ReadonlyArray<Transaction> {
    const chance = this.#chance
    if (chance.below(1_000) < FULL_BODIES_PER_MILLE) {
      return Array.from({ length: Limits.VERTEX_TRANSACTIONS }, () => this.#around.purse.next())
    }
    return chance.percent(30) ? [] : this.#listOf([1, 2, 3, 8], () => this.#transaction())
  }

  #listOf<A>(lengths: ReadonlyArray<number>, make: () => A): ReadonlyArray<A> {
    return Array.from({ length: this.#chance.pick(lengths) }, make)
  }

  #vertex(): Vertex.Vertex {
    const chance = this.#chance
    const known = this.#knowledge.vertices.any()
    if (known !== undefined && chance.percent(15)) return known
    const body = chance.percent(60) ? Vertex.emptyBody : this.body()
    return Vertex.make(this.header(Vertex.bodyHash(body)), body)
  }

  /** A valid vertex whose parents do not exist. */
  #guest(): Vertex.Vertex {
    const { opening, committee, highestQuorum } = this.#knowledge
    const chance = this.#chance
    const seats = this.#members.flatMap((signer) => {
      const seat = committee.seatOf(this.#addressOf(signer))
      return seat === undefined ? [] : [{ signer, seat }]
    })
    if (seats.length === 0) return this.#vertex()
    const { signer, seat } = chance.pick(seats)
    const { firstRound } = opening.record
    const round = Natural.round(Math.max(firstRound + 1, highestQuorum - chance.between(0, COLLECTION_ROUNDS - 1)))
    const others = committee.record.members.filter(
      ({ weight }) => weight * 20 > committee.totalWeight || chance.percent(10),
    )
    const parents = others.map(
      ({ address }): Header.Parent => ({ round: Natural.round(round - 1), author: address, hash: this.#edges.hash() }),
    )
    const bodyHash = Vertex.bodyHash(Vertex.emptyBody)
    const { publicKey } = signer
    const content: Header.Content = {
      base: opening.base,
      epoch: opening.record.epoch,
      round,
      publicKey,
      parents,
      timestamp: Natural.timestamp(this.#around.now()),
      coinbase: committee.coinbase(round, seat),
      bodyHash,
    }
    return Vertex.make(this.#signed(content, signer), Vertex.emptyBody)
  }

  #evidence(): Evidence.Evidence {
    const chance = this.#chance
    const known = this.#knowledge.evidence.any()
    if (known !== undefined && chance.percent(20)) return known
    const signer = this.#signer()
    const slot = this.#content(signer, this.#edges.hash())
    const other = { ...slot, timestamp: Natural.timestamp((slot.timestamp + 1) % Natural.LATEST) }
    const evidence = Evidence.of(this.#signed(slot, signer), this.#signed(other, signer))
    if (evidence === undefined) throw new RangeError("two headers of one slot")
    return chance.percent(95) ? evidence : { first: evidence.second, second: evidence.first }
  }

  #heartbeat(): Heartbeat.Heartbeat {
    const chance = this.#chance
    const known = this.#knowledge.heartbeats.any()
    if (known !== undefined && chance.percent(15)) return known
    const signer = chance.percent(50)
      ? this.#around.cast.newcomer.signer
      : chance.pick([...this.#strangers, ...this.#members])
    const checkpoint = this.#knowledge.checkpoints.any()
    const index = checkpoint?.commitIndex ?? 1
    const content = {
      publicKey: signer.publicKey,
      commitIndex: Natural.commitIndex(chance.percent(70) ? index : this.#edges.number(index)),
      commitHash: checkpoint !== undefined && chance.percent(80) ? checkpoint.commitHash : this.#edges.hash(),
    }
    // Some have an invalid signature.
    const isForged = chance.percent(10)
    const signature = (isForged ? this.#around.cast.member.signer : signer).sign(Heartbeat.signedBytes(content))
    return { ...content, signature, validator: this.#addressOf(signer) }
  }

  // Checkpoints.

  #record(): EpochRecord.EpochRecord {
    const { record } = this.#knowledge.opening
    const chance = this.#chance
    const members = chance.percent(50)
      ? record.members
      : record.members.map((member) => ({ ...member, weight: this.#edges.sats(member.weight) }))
    const rules = { ...record.rules }
    for (const key of ["epochRounds", "collectionDepthRounds", "checkpointIntervalRounds", "halvingRounds"] as const) {
      if (chance.percent(20)) rules[key] = this.#edges.number(record.rules[key])
    }
    // Its encoding has four bytes.
    rules.epochRounds = Math.min(rules.epochRounds, 2 ** 32 - 1)
    return {
      epoch: Natural.epoch(chance.percent(60) ? record.epoch + 1 : this.#epoch()),
      firstRound: Natural.round(chance.percent(60) ? EpochRecord.lastRound(record) + 1 : this.#round()),
      seed: this.#edges.hash(),
      rules,
      members: chance.percent(90) ? members : members.slice(0, 1),
    }
  }

  #checkpoint(): Checkpoint.Checkpoint {
    const chance = this.#chance
    const known = this.#knowledge.checkpoints.any()
    if (known !== undefined && chance.percent(25)) return known
    const made = {
      epoch: Natural.epoch(this.#epoch()),
      round: Natural.round(this.#round()),
      commitIndex: Natural.commitIndex(this.#edges.number(known?.commitIndex ?? 1)),
      commitHash: this.#edges.hash(),
      effectsDigest: this.#edges.hash(),
      stateRoot: this.#edges.hash(),
      totalSupply: this.#edges.sats(),
      nextEpoch: chance.percent(50) ? this.#record() : null,
      previous: this.#knowledge.bases.any() ?? this.#edges.hash(),
    }
    if (known === undefined || chance.percent(30)) return Checkpoint.make(made)
    const bent = { ...known }
    for (const field of Object.keys(made) as ReadonlyArray<keyof typeof made>) {
      if (chance.percent(15)) Object.assign(bent, { [field]: made[field] })
    }
    return Checkpoint.make(bent)
  }

  #signatureUnder(checkpoint: Checkpoint.Checkpoint): Checkpoint.CheckpointSignature {
    const signer = this.#chance.pick(this.#chance.percent(70) ? this.#members : this.#strangers)
    const signature = signer.sign(Checkpoint.signedBytes(checkpoint))
    return { validator: this.#chance.percent(90) ? this.#addressOf(signer) : this.#address(), signature }
  }

  #checkpointSignature(): Message {
    const known = this.#knowledge.signatures.any()
    if (known !== undefined && this.#chance.percent(25)) return { _tag: "CheckpointSignature", ...known }
    const checkpoint = this.#checkpoint()
    return { _tag: "CheckpointSignature", checkpoint, signature: this.#signatureUnder(checkpoint) }
  }

  #signedCheckpoint(): Checkpoint.SignedCheckpoint {
    const chance = this.#chance
    const known = this.#knowledge.closings.any()
    if (known !== undefined && chance.percent(40)) return known
    const checkpoint = this.#checkpoint()
    const signers = chance.percent(50) ? [...this.#members, ...this.#strangers] : [...this.#members]
    const signatures = signers.map((signer) => ({
      validator: this.#addressOf(signer),
      signature: signer.sign(Checkpoint.signedBytes(checkpoint)),
    }))
    const others =
      known?.signatures.filter(({ validator }) => signatures.every((own) => own.validator !== validator)) ?? []
    const all = chance.percent(30) ? [...signatures, ...others] : signatures
    return {
      checkpoint,
      signatures: all.sort((a, b) => (a.validator < b.validator ? -1 : 1)).slice(0, Limits.COMMITTEE_MEMBERS),
    }
  }

  // Questions, and answers that mostly nobody requested.

  #question(): Message {
    const chance = this.#chance
    const hash = () =>
      (chance.percent(60) ? this.#knowledge.vertices.any()?.header.hash : undefined) ?? this.#edges.hash()
    switch (chance.below(5)) {
      case 0:
        return { _tag: "AskVertices", hashes: this.#listOf([0, 1, 5, Messages.ASKED_VERTICES], hash) }
      case 1:
        return {
          _tag: "AskRounds",
          epoch: Natural.epoch(this.#epoch()),
          fromRound: Natural.round(this.#round()),
          toRound: Natural.round(this.#round()),
          after: chance.percent(50) ? null : hash(),
        }
      case 2:
        return { _tag: "AskClosing", from: Natural.epoch(this.#epoch()) }
      case 3:
        return { _tag: "AskHighest", author: this.#address() }
      default:
        return { _tag: "AskState", root: this.#root(), position: this.#edges.bytes(chance.pick([0, 1, 32, 33])) }
    }
  }

  #root(): Hash {
    return (this.#chance.percent(80) ? this.#knowledge.checkpoints.any()?.stateRoot : undefined) ?? this.#edges.hash()
  }

  #answer(): Message {
    const chance = this.#chance
    switch (chance.below(4)) {
      case 0:
        return {
          _tag: "Rounds",
          epoch: Natural.epoch(this.#epoch()),
          isLast: chance.percent(50),
          vertices: chance.percent(50) ? this.#knowledge.vertices.some(4) : this.#several(() => this.#vertex()),
        }
      case 1:
        return this.closing()
      case 2: {
        const header = chance.percent(80) ? this.header(this.#edges.hash()) : null
        return {
          _tag: "Highest",
          author: chance.percent(50) ? this.#address() : (header?.author ?? this.#address()),
          epoch: Natural.epoch(this.#epoch()),
          header,
        }
      }
      default:
        return this.state(this.#root())
    }
  }

  closing(): Message {
    const chance = this.#chance
    return {
      _tag: "Closing",
      signed: chance.percent(50)
        ? this.#knowledge.closings.some(4)
        : this.#listOf([0, 1, 3], () => this.#signedCheckpoint()),
      newest: chance.percent(80) ? this.#signedCheckpoint() : null,
    }
  }

  state(root: Hash): Message {
    const chance = this.#chance
    const known = this.#knowledge.subtrees.any()
    if (known === undefined || chance.percent(30)) {
      return {
        _tag: "State",
        root,
        subtree: chance.percent(30) ? null : this.#edges.bytes(chance.pick([0, 1, 40, 400])),
      }
    }
    const subtree = known.subtree.slice()
    for (let flips = chance.below(3); flips > 0; flips--) {
      const at = chance.below(subtree.length)
      subtree[at] = (subtree[at] ?? 0) ^ (1 << chance.below(8))
    }
    return {
      _tag: "State",
      root: chance.percent(50) ? root : known.root,
      subtree: chance.percent(80) ? subtree : subtree.slice(0, chance.below(subtree.length + 1)),
    }
  }
}
