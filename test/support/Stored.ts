/**
 * The contents of a replica's disk: the fold of all its writes, and all it needs to continue. Tests use this class for
 * disks. The node keeps the same data in database tables; `test/node/Folding.test.ts` compares the two.
 */
import { Either } from "effect"
import { toHex } from "#crypto"
import type { Opening } from "../../src/consensus/output/Opening.js"
import type { EndedEpoch, StoredEpoch } from "../../src/consensus/output/StoredEpoch.js"
import { Ledger } from "../../src/ledger/Ledger.js"
import type { Execution } from "../../src/ledger/rules/Execution.js"
import type { Change } from "../../src/ledger/tables/Effects.js"
import type * as HalfSipHash from "../../src/ledger/tables/HalfSipHash.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import type { SignedCheckpoint } from "../../src/protocol/epoch/Checkpoint.js"
import type { Genesis } from "../../src/protocol/epoch/Genesis.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { Epoch } from "../../src/protocol/numbers/Natural.js"
import { KINDS } from "../../src/protocol/state/StateKey.js"
import type * as StateRecord from "../../src/protocol/state/StateRecord.js"
import type { Header } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import * as GenesisState from "../../src/replica/disk/GenesisState.js"
import * as LoadedState from "../../src/replica/disk/LoadedState.js"
import type { StoredJoin, StoredState } from "../../src/replica/disk/StoredState.js"
import type { ReceivedTransaction, Write } from "../../src/replica/output/Write.js"
import { type Options, Replica } from "../../src/replica/Replica.js"
import { recordsOf } from "../../src/storage/tables/StateReplacement.js"
import { endedEpoch } from "./EndedEpoch.js"
import { fromRecords } from "./Restored.js"

/** The state at an epoch's close, stored as what has changed since. */
export interface ClosingView {
  readonly epoch: Epoch
  /** Records as they were at the close; null for those that did not exist. */
  readonly before: ReadonlyArray<Change>
}

/** For a ledger that is not kept. */
const TABLE_KEY: HalfSipHash.Key = { low: 0, high: 0 }
/** Joining nodes are served from the last two closing states. */
const KEPT_VIEWS = 2

type Mutable<A> = { -readonly [K in keyof A]: A[K] extends ReadonlyArray<infer B> ? Array<B> : A[K] }

/** The beginning of a network: its records, their digest and the epoch they open. */
export interface Beginning {
  readonly genesis: Genesis
  readonly records: Iterable<StateRecord.StateRecord>
  readonly effectsDigest: Hash
  readonly opening: Opening
}

const keyOf = ({ kind, key }: Pick<Change, "kind" | "key">): string => `${KINDS[kind].byte} ${toHex(key)}`

const fresh = (opening: Opening): Mutable<StoredEpoch> => ({
  opening,
  vertices: [],
  commits: [],
  checkpoints: [],
  signed: [],
})

const copied = (epoch: Mutable<StoredEpoch>): Mutable<StoredEpoch> => ({
  opening: epoch.opening,
  vertices: [...epoch.vertices],
  commits: [...epoch.commits],
  checkpoints: [...epoch.checkpoints],
  signed: [...epoch.signed],
})

/** Invariant: `#vertices` holds exactly the vertices of the two epochs. */
export class Stored implements StoredState {
  readonly genesis: Genesis
  #records = new Map<string, StateRecord.StateRecord>()
  #effectsDigest: Hash
  #current: Mutable<StoredEpoch>
  #previous: Mutable<StoredEpoch> | null = null
  #vertices = new Map<Hash, Vertex>()
  /** Own vertices of the running epoch and the previous one: the content of `signed.db`. */
  #own = new Map<Hash, Vertex>()
  #companions: Array<Vertex> = []
  #intent: Vertex | null = null
  #foreignHeaders = new Map<Hash, Header>()
  #closing = new Map<Epoch, SignedCheckpoint>()
  #pending = new Map<Hash, ReceivedTransaction>()
  #views: Array<{ readonly epoch: Epoch; readonly before: Map<string, Change> }> = []
  /** Executions whose changes are not applied to the records yet: most disks are never read. */
  #unfolded: Array<Execution> = []
  #join: { readonly target: SignedCheckpoint; readonly subtrees: Array<Uint8Array> } | null = null

  constructor({ genesis, records, effectsDigest, opening }: Beginning) {
    this.genesis = genesis
    for (const record of records) this.#records.set(keyOf(record), record)
    this.#effectsDigest = effectsDigest
    this.#current = fresh(opening)
  }

  get intent(): Vertex | null {
    return this.#intent
  }

  /** As of the last executed commit. */
  get records(): Iterable<StateRecord.StateRecord> {
    this.#fold()
    return this.#records.values()
  }

  get effectsDigest(): Hash {
    return this.#effectsDigest
  }

  get current(): StoredEpoch {
    return this.#current
  }

  get previous(): EndedEpoch | null {
    const previous = this.#previous
    if (previous === null) return null
    const own = [...this.#own.values()].filter(({ header }) => header.epoch === previous.opening.record.epoch)
    return { ...endedEpoch(previous), vertices: own }
  }

  get ownVertices(): Iterable<Vertex> {
    return this.#own.values()
  }

  get companions(): ReadonlyArray<Vertex> {
    return this.#companions.filter(({ header }) => header.epoch === this.#current.opening.record.epoch)
  }

  get foreignHeaders(): Iterable<Header> {
    return this.#foreignHeaders.values()
  }

  /** In order of arrival. */
  get pending(): Iterable<ReceivedTransaction> {
    return this.#pending.values()
  }

  /** The oldest first. */
  get views(): ReadonlyArray<ClosingView> {
    this.#fold()
    return this.#views.map(({ epoch, before }) => ({ epoch, before: [...before.values()] }))
  }

  get join(): StoredJoin | null {
    return this.#join
  }

  vertex(hash: Hash): Vertex | undefined {
    return this.#vertices.get(hash) ?? this.#own.get(hash)
  }

  /**
   * In the order of insertion; empty for an epoch that is not kept. Own vertices that were not inserted again follow in
   * the order of their rounds.
   */
  verticesOf(epoch: Epoch): ReadonlyArray<Vertex> {
    const kept = [this.#current, this.#previous].find((stored) => stored?.opening.record.epoch === epoch)
    const inserted = kept?.vertices ?? []
    const others = [...this.#own.values()].filter(
      ({ header }) => header.epoch === epoch && !this.#vertices.has(header.hash),
    )
    return others.length === 0 ? inserted : [...inserted, ...others.sort((a, b) => a.header.round - b.header.round)]
  }

  /** The signed checkpoint that closed an epoch. */
  closing(epoch: Epoch): SignedCheckpoint | undefined {
    return this.#closing.get(epoch)
  }

  /** Signed closing checkpoints in the order of their epochs. */
  get closings(): ReadonlyArray<SignedCheckpoint> {
    return [...this.#closing.values()].sort((a, b) => a.checkpoint.epoch - b.checkpoint.epoch)
  }

  /** The same content, as a backup or to lose separately. */
  copy(): Stored {
    const copy = new Stored({
      genesis: this.genesis,
      records: [],
      effectsDigest: this.#effectsDigest,
      opening: this.#current.opening,
    })
    copy.#records = new Map(this.#records)
    copy.#unfolded = [...this.#unfolded]
    copy.#current = copied(this.#current)
    copy.#previous = this.#previous && copied(this.#previous)
    copy.#vertices = new Map(this.#vertices)
    copy.#own = new Map(this.#own)
    copy.#intent = this.#intent
    copy.#companions = [...this.#companions]
    copy.#foreignHeaders = new Map(this.#foreignHeaders)
    copy.#closing = new Map(this.#closing)
    copy.#pending = new Map(this.#pending)
    copy.#views = this.#views.map(({ epoch, before }) => ({ epoch, before: new Map(before) }))
    copy.#join = this.#join && { target: this.#join.target, subtrees: [...this.#join.subtrees] }
    return copy
  }

  /** The same ledger with another copy's signatures, since the two are separate files. */
  withSignedOf(other: Stored): Stored {
    const copy = this.copy()
    copy.#own = new Map(other.#own)
    copy.#intent = other.#intent
    copy.#companions = [...other.#companions]
    copy.#foreignHeaders = new Map(other.#foreignHeaders)
    return copy
  }

  apply(write: Write): void {
    switch (write._tag) {
      case "OwnVertex":
        this.#own.set(write.vertex.header.hash, write.vertex)
        this.#companions = write.companions === null ? [] : [...this.#companions, ...write.companions]
        return
      case "Intent":
        this.#intent = write.vertex
        this.#companions = write.companions === null ? [] : [...this.#companions, ...write.companions]
        return
      case "Inserted":
        this.#insert(write.vertex)
        return
      case "Executed":
        this.#execute(write)
        return
      case "CheckpointBuilt":
        this.#epochOf(write.checkpoint.epoch)?.checkpoints.push(write.checkpoint)
        return
      case "CheckpointFinal":
        this.#epochOf(write.signed.checkpoint.epoch)?.signed.push(write.signed)
        if (write.signed.checkpoint.nextEpoch !== null) this.#close(write.signed)
        return
      case "EpochStarted":
        this.#start(write.opening)
        return
      case "Pending":
        for (const id of write.removed) this.#pending.delete(id)
        for (const added of write.added) this.#pending.set(added.transaction.id, added)
        return
      case "ForeignOwnHeader":
        this.#foreignHeaders.set(write.header.hash, write.header)
        return
      case "JoinBegun":
        this.#join = { target: write.target, subtrees: [] }
        return
      case "JoinSubtree":
        this.#join?.subtrees.push(write.subtree)
        return
      case "Joined":
        this.#joined(write)
    }
  }

  #epochOf(epoch: Epoch): Mutable<StoredEpoch> | undefined {
    return [this.#current, this.#previous].find((stored) => stored?.opening.record.epoch === epoch) ?? undefined
  }

  #insert(vertex: Vertex): void {
    const { hash, epoch } = vertex.header
    const stored = this.#epochOf(epoch)
    if (stored === undefined || this.#vertices.has(hash)) return
    this.#vertices.set(hash, vertex)
    stored.vertices.push(vertex)
  }

  #execute({ execution, settled }: Extract<Write, { _tag: "Executed" }>): void {
    const { commit, effectsDigest } = execution
    this.#unfolded.push(execution)
    this.#effectsDigest = effectsDigest
    this.#epochOf(commit.epoch)?.commits.push({ commit, effectsDigest })
    for (const id of settled) this.#pending.delete(id)
  }

  #fold(): void {
    for (const { commit, changes, nextEpoch } of this.#unfolded) {
      for (const change of changes) this.#change(change)
      if (nextEpoch !== null)
        this.#views = [...this.#views, { epoch: commit.epoch, before: new Map() }].slice(-KEPT_VIEWS)
    }
    this.#unfolded = []
  }

  #change(change: Change): void {
    const key = keyOf(change)
    const { kind, value } = change
    const old = this.#records.get(key)
    for (const { before } of this.#views) {
      if (!before.has(key)) before.set(key, { kind, key: change.key, value: old?.value ?? null })
    }
    if (value === null) this.#records.delete(key)
    else this.#records.set(key, { kind, key: change.key, value })
  }

  #start(opening: Opening): void {
    for (const { header } of this.#previous?.vertices ?? []) this.#vertices.delete(header.hash)
    this.#previous = this.#current
    this.#current = fresh(opening)
    this.#forgetHeaders()
  }

  #forgetHeaders(): void {
    const oldest = (this.#previous ?? this.#current).opening.record.epoch
    for (const [hash, { header }] of this.#own) if (header.epoch < oldest) this.#own.delete(hash)
    for (const [hash, { epoch }] of this.#foreignHeaders) if (epoch < oldest) this.#foreignHeaders.delete(hash)
  }

  /** A quorum can arrive twice with signatures of different members; all of them are kept. */
  #close({ checkpoint, signatures }: SignedCheckpoint): void {
    const isNew = new Set(signatures.map(({ validator }) => validator))
    const known = this.#closing.get(checkpoint.epoch)?.signatures.filter(({ validator }) => !isNew.has(validator)) ?? []
    this.#closing.set(checkpoint.epoch, { checkpoint, signatures: [...known, ...signatures] })
  }

  #joined({ target, proven, opening }: Extract<Write, { _tag: "Joined" }>): void {
    const subtrees = this.#join?.subtrees ?? []
    this.#unfolded = []
    this.#records = new Map()
    for (const bytes of subtrees) for (const record of recordsOf(bytes)) this.#records.set(keyOf(record), record)
    this.#effectsDigest = target.checkpoint.effectsDigest
    this.#current = fresh(opening)
    this.#previous = null
    this.#vertices = new Map()
    for (const signed of [...proven, target]) this.#close(signed)
    this.#views = [{ epoch: target.checkpoint.epoch, before: new Map() }]
    this.#join = null
  }
}

/** The disk of a new network. */
export const ofGenesis = (genesis: Genesis): Stored => {
  const ledger = Ledger.fromGenesis(genesis, TABLE_KEY)
  const opening = GenesisState.firstOpening(genesis, ledger)
  return new Stored({ genesis, records: ledger.records(), effectsDigest: ledger.effectsDigest, opening })
}

/** The parts of a replica, checked as the node checks them when it loads its database. */
export const open = (stored: Stored, tableKey: HalfSipHash.Key) =>
  Either.gen(function* () {
    const { genesis, records, effectsDigest, views } = stored
    const ledger = yield* fromRecords(genesis.protocol, tableKey, records, effectsDigest)
    yield* ledger.recount()
    const trie = Trie.apply(Trie.empty, ledger.entries())
    const closed = views.map(({ epoch, before }) => ({ epoch, trie: Trie.apply(trie, before.map(LoadedState.placed)) }))
    return yield* LoadedState.check(stored, ledger, trie, closed)
  })

/** A replica from this disk. */
export const replicaOf = (options: Options, stored: Stored) =>
  Either.map(open(stored, options.tableKey), (opened) => new Replica(options, stored, opened))
