/**
 * A vocabulary for stories about a ledger: people by name, coins, commits. Signatures are made up, since the ledger
 * receives only verified input; keys and addresses match.
 */
import { Either } from "effect"
import { fromHex, sha256Hex } from "#crypto"
import { Ledger } from "../../src/ledger/Ledger.js"
import type { Event, Execution, Input, Outcome } from "../../src/ledger/rules/Execution.js"
import type * as HalfSipHash from "../../src/ledger/tables/HalfSipHash.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import type * as Genesis from "../../src/protocol/epoch/Genesis.js"
import type * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { PublicKey, Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import type { Authorization, Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import type * as Header from "../../src/protocol/vertex/Header.js"
import type { Heartbeat } from "../../src/protocol/vertex/Heartbeat.js"
import type * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as Networks from "../support/Genesis.js"

/** What a node draws at random; no result may depend on it. */
export const tableKey: HalfSipHash.Key = { low: 0x1b2c_3d4e, high: 0x5f60_7182 }

export const coins = (amount: number): Sats.Sats => Sats.make(Math.round(amount * Sats.SATS_PER_COIN))

export interface Person {
  readonly name: string
  readonly publicKey: PublicKey
  readonly address: Address.Address
}

const people = new Map<string, Person>()

/** The same name is the same person everywhere. */
export const person = (name: string): Person => {
  const known = people.get(name)
  if (known !== undefined) return known
  const publicKey = sha256Hex(new TextEncoder().encode(name)) as PublicKey
  const made = { name, publicKey, address: Address.fromPublicKey(publicKey) }
  people.set(name, made)
  return made
}

/** Somebody with a chosen address and no key to it. */
export const stranger = (address: string): Person => ({
  name: address,
  publicKey: "0".repeat(64) as PublicKey,
  address: address as Address.Address,
})

export interface World {
  readonly accounts?: { readonly [name: string]: number }
  /** Stakes in coins. */
  readonly validators?: { readonly [name: string]: number }
  readonly commission?: number
  readonly council?: ReadonlyArray<string>
  readonly treasury?: number
  readonly names?: { readonly [name: string]: string }
  readonly parameters?: Partial<Parameters.Parameters>
  readonly protocol?: Partial<Protocol.Protocol>
}

/** Epochs of 40 rounds, a cooldown of 40: the shortest a genesis allows. */
export const genesisOf = (world: World): Genesis.Genesis =>
  Networks.genesisOf({
    allocations: Object.entries(world.accounts ?? {}).map(([name, amount]) => ({
      address: person(name).address,
      amount: coins(amount),
    })),
    validators: Object.entries(world.validators ?? { val: 10_000 }).map(([name, stake]) => ({
      publicKey: person(name).publicKey,
      stake: coins(stake),
      commissionPercent: world.commission ?? 10,
    })),
    council: (world.council ?? []).map((name) => person(name).address),
    names: Object.entries(world.names ?? {}).map(([name, owner]) => ({
      name: name as Genesis.NamedAccount["name"],
      address: person(owner).address,
    })),
    treasury: coins(world.treasury ?? 0),
    parameters: { cooldownRounds: 40, votingPeriodRounds: 10, ...world.parameters },
    protocol: { epochRounds: 40, collectionDepthRounds: 10, ...world.protocol },
  })

const SIGNATURE = "5".repeat(128) as Signature

export const singleKey = ({ publicKey }: Person): Authorization => ({
  _tag: "SingleKey",
  publicKey,
  signature: SIGNATURE,
})

export const signedBy = (...signers: ReadonlyArray<Person>): Authorization => ({
  _tag: "Policy",
  signatures: signers.map(({ publicKey }) => ({ publicKey, signature: SIGNATURE })),
})

let serial = 0

/** A hash of nothing. */
export const someHash = (): Hash.Hash => (++serial).toString(16).padStart(64, "0") as Hash.Hash

const baseOf = (epoch: number): Hash.Hash => epoch.toString(16).padStart(64, "b") as Hash.Hash

export interface Draft {
  readonly operation: Operation
  readonly fee: number
  readonly nonce: number
  readonly authorization?: Authorization
}

export const transaction = (from: Person, { operation, fee, nonce, authorization }: Draft): Transaction => ({
  from: from.address,
  nonce: Natural.nonce(nonce),
  fee: Sats.make(fee),
  operation,
  authorization: authorization ?? singleKey(from),
  id: someHash(),
  encoded: new Uint8Array(0),
})

export interface VertexDraft {
  readonly by: Person
  readonly round?: number
  readonly transactions?: ReadonlyArray<Transaction>
  readonly evidence?: Vertex.Body["evidence"]
  readonly heartbeats?: ReadonlyArray<Heartbeat>
}

/** A network's life, one commit after the other. */
export class Chain {
  readonly genesis: Genesis.Genesis
  readonly ledger: Ledger
  /** Everything executed so far, for replays. */
  readonly inputs: Array<Input> = []
  #previous: Hash.Hash
  #pending = new Map<string, number>()

  constructor(world: World | Genesis.Genesis, ledger?: Ledger) {
    this.genesis = "networkId" in world ? world : genesisOf(world)
    this.ledger = ledger ?? Ledger.fromGenesis(this.genesis, tableKey)
    this.#previous = this.ledger.read.head.hash
  }

  get round(): number {
    return this.ledger.read.head.leaderRound
  }

  get epoch(): EpochRecord.EpochRecord {
    return this.ledger.read.epoch
  }

  get lastRound(): number {
    return EpochRecord.lastRound(this.epoch)
  }

  account(who: Person) {
    return this.ledger.read.account(who.address)
  }

  balance(who: Person): number {
    return this.account(who).balance
  }

  /** A transaction with the sender's next nonce, counting those already made for the next commit. */
  tx(from: Person, operation: Operation, extra: Partial<Draft> = {}): Transaction {
    const pending = this.#pending.get(from.address) ?? 0
    const nonce = extra.nonce ?? this.account(from).nonce + pending
    if (extra.nonce === undefined) this.#pending.set(from.address, pending + 1)
    return transaction(from, { fee: 0, ...extra, operation, nonce })
  }

  transfer(from: Person, to: Person, amount: number, fee = 1_000): Transaction {
    return this.tx(from, { _tag: "Transfer", to: to.address, amount: Sats.make(amount), memo: "" }, { fee })
  }

  stake(from: Person, amount: number): Transaction {
    return this.tx(from, { _tag: "StakeTx", amount: Sats.make(amount) })
  }

  unstake(from: Person): Transaction {
    return this.tx(from, { _tag: "UnstakeTx" })
  }

  delegate(from: Person, validator: Person, amount: number): Transaction {
    return this.tx(from, { _tag: "DelegateTx", validator: validator.address, amount: Sats.make(amount) })
  }

  undelegate(from: Person): Transaction {
    return this.tx(from, { _tag: "UndelegateTx" })
  }

  header(
    by: Person,
    round: number,
    hash: Hash.Hash = someHash(),
    epoch: EpochRecord.EpochRecord = this.epoch,
  ): Header.Header {
    const weight = EpochRecord.memberOf(epoch, by.address)?.weight ?? Sats.ZERO
    return {
      base: baseOf(epoch.epoch),
      epoch: epoch.epoch,
      round: Natural.round(round),
      publicKey: by.publicKey,
      parents: [],
      timestamp: Natural.timestamp(0),
      coinbase: EpochRecord.coinbase(epoch.rules, Natural.round(round), weight, EpochRecord.totalWeight(epoch)),
      bodyHash: Hash.ZERO,
      signature: SIGNATURE,
      author: by.address,
      hash,
    }
  }

  /** Proof that somebody signed two vertices for one slot. */
  evidence(by: Person, round: number, epoch: EpochRecord.EpochRecord = this.epoch) {
    return { first: this.header(by, round, someHash(), epoch), second: this.header(by, round, someHash(), epoch) }
  }

  /** A heartbeat that names the last commit. */
  heartbeat(by: Person): Heartbeat {
    const { index, hash } = this.ledger.read.head
    return {
      publicKey: by.publicKey,
      commitIndex: index,
      commitHash: hash,
      signature: SIGNATURE,
      validator: by.address,
    }
  }

  vertex({ by, round, transactions, evidence, heartbeats }: VertexDraft, leaderRound: number): Vertex.Vertex {
    return {
      header: this.header(by, round ?? leaderRound),
      body: { transactions: transactions ?? [], evidence: evidence ?? [], heartbeats: heartbeats ?? [] },
      encoded: new Uint8Array(0),
    }
  }

  /** Executes these vertices in a commit of this leader round. */
  executeVertices(vertices: ReadonlyArray<Vertex.Vertex>, leaderRound: number): ReturnType<Ledger["execute"]> {
    const { index } = this.ledger.read.head
    const commit = Commit.make({
      index: Natural.commitIndex(index + 1),
      epoch: this.epoch.epoch,
      leaderRound: Natural.round(leaderRound),
      leaderHash: Hash.ZERO,
      previous: this.#previous,
    })
    this.#pending = new Map()
    this.#previous = commit.hash
    const time = Natural.timestamp(this.genesis.time + leaderRound * 500)
    const input = { commit, time, vertices }
    this.inputs.push(input)
    return this.ledger.execute(input)
  }

  tryCommit(drafts: ReadonlyArray<VertexDraft>, leaderRound = this.round + 1): ReturnType<Ledger["execute"]> {
    return this.executeVertices(
      drafts.map((draft) => this.vertex(draft, leaderRound)),
      leaderRound,
    )
  }

  commit(drafts: ReadonlyArray<VertexDraft>, leaderRound = this.round + 1): Execution {
    return Either.getOrThrowWith(this.tryCommit(drafts, leaderRound), (violation) => violation)
  }

  /** One commit of one vertex with these transactions; returns their outcomes. */
  run(...transactions: ReadonlyArray<Transaction>): ReadonlyArray<Outcome> {
    return this.runBy(this.proposer, ...transactions)
  }

  runBy(by: Person, ...transactions: ReadonlyArray<Transaction>): ReadonlyArray<Outcome> {
    return this.commit([{ by, transactions }]).vertices.flatMap((vertex) => vertex.transactions)
  }

  /** A committee member with a known name. */
  get proposer(): Person {
    for (const { address } of this.epoch.members) {
      for (const someone of people.values()) if (someone.address === address) return someone
    }
    throw new Error("nobody of the committee has a name")
  }

  /** The committee members with known names. */
  get committee(): ReadonlyArray<Person> {
    return [...people.values()].filter(({ address }) => EpochRecord.memberOf(this.epoch, address) !== undefined)
  }

  /** A commit of this round, with a vertex of every committee member, or of the given ones. */
  advanceTo(
    round: number,
    by: ReadonlyArray<Person> = this.committee,
    heartbeats: ReadonlyArray<Person> = [],
  ): Execution {
    const beats = heartbeats.map((someone) => this.heartbeat(someone))
    return this.commit(
      by.map((someone, i) => ({ by: someone, heartbeats: i === 0 ? beats : [] })),
      round,
    )
  }

  /**
   * The rest of the epoch: a commit in each quarter and the closing one, with vertices of these members and heartbeats
   * of these candidates.
   */
  closeEpoch(by: ReadonlyArray<Person> = this.committee, heartbeats: ReadonlyArray<Person> = []): ReadonlyArray<Event> {
    const { firstRound, rules } = this.epoch
    const last = this.lastRound
    const events: Array<Event> = []
    for (let round = firstRound + 1; round < last; round += Math.floor(rules.epochRounds / 8)) {
      if (round > this.round) events.push(...this.advanceTo(round, by, heartbeats).events)
    }
    return [...events, ...this.advanceTo(last, by, heartbeats).events]
  }
}

/** An outcome in few words: `applied`, `failed: rule`, `no effect: code`. */
export const told = (outcome: Outcome | undefined): string => {
  if (outcome === undefined) return "nothing"
  if (outcome._tag === "Applied") return "applied"
  const { reason } = outcome
  const why = reason._tag === "InvalidTransaction" ? reason.rule : reason._tag
  return outcome._tag === "Failed" ? `failed: ${why}` : `no effect: ${why}`
}

export const bytesOf = (hex: string): Uint8Array => fromHex(hex)
