/**
 * Loads the database page by page and checks first the supply, then the state's root. The replica itself decides the
 * running epoch again. A new database is initialised.
 */
import { Duration, Effect, Either, Option } from "effect"
import type { Opening } from "../../consensus/output/Opening.js"
import { Ledger } from "../../ledger/Ledger.js"
import type * as HalfSipHash from "../../ledger/tables/HalfSipHash.js"
import * as Records from "../../ledger/tables/Records.js"
import * as Trie from "../../ledger/trie/Trie.js"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import type * as Protocol from "../../protocol/epoch/Protocol.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import type { StateRecord } from "../../protocol/state/StateRecord.js"
import * as Transaction from "../../protocol/transaction/Transaction.js"
import * as Header from "../../protocol/vertex/Header.js"
import * as Vertex from "../../protocol/vertex/Vertex.js"
import * as GenesisState from "../../replica/disk/GenesisState.js"
import * as LoadedState from "../../replica/disk/LoadedState.js"
import type { StoredState } from "../../replica/disk/StoredState.js"
import { JoinedLedger, type JoinedState } from "../../replica/joining/JoinedLedger.js"
import type { ReceivedTransaction } from "../../replica/output/Write.js"
import { Storage } from "../../storage/Storage.js"
import type { StoredAccount } from "../../storage/tables/Accounts.js"
import type { Companion, SignedVertex } from "../../storage/tables/SignedVertices.js"
import type { Page } from "../../storage/tables/Vertices.js"
import * as EventLoop from "../../turns/EventLoop.js"
import * as Slice from "../../turns/Slice.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import { fromDamage, type StateDamaged, SupplyViolation, sound } from "../lifecycle/Ending.js"
import * as Log from "../log/Log.js"

const log = Log.for("state")

export interface Loaded {
  readonly contents: StoredState
  readonly opened: LoadedState.LoadedState
}

type Kept = typeof Storage.Service

const PAGE_BYTES = 4_194_304
/** Joiners are served from the states of this many closes. */
export const KEPT_CLOSES = 2
/** Limit of remembered headers signed with this node's key elsewhere. */
const FOREIGN_HEADERS = 1_000

/** A row's content must have the hash in its own column. */
const requireHash = (what: string, found: Hash.Hash, expected: Hash.Hash): Effect.Effect<void, StateDamaged> =>
  found === expected ? Effect.void : Effect.fail(fromDamage({ message: `${what} ${expected} has the hash ${found}` }))

export const noEpoch: StateDamaged = fromDamage({ message: "there is no record of the running epoch" })

/** Commit 0 and the epoch it opens. */
const begin = (storage: Kept, genesis: Genesis.Genesis, tableKey: HalfSipHash.Key) =>
  Effect.gen(function* () {
    const ledger = Ledger.fromGenesis(genesis, tableKey)
    const { effectsDigest } = ledger
    const opening = GenesisState.firstOpening(genesis, ledger)
    const commit = {
      index: Natural.commitIndex(0),
      epoch: Natural.epoch(0),
      leaderRound: Natural.round(0),
      leaderHash: Hash.ZERO,
      previous: Hash.ZERO,
      hash: Genesis.hash(genesis),
      time: genesis.time,
      effectsDigest,
    }
    const postings = genesis.allocations.map(({ address, amount }) => ({
      kind: "genesis" as const,
      address,
      amount,
      proposalId: null,
    }))
    yield* storage.begin({ commit, changes: ledger.records(), vertices: [], postings, settled: [] }, opening)
    return [opening]
  })

/** The record of a row with extras. Any balance is accepted here; anything else that is unreadable is damage. */
const recordOf = (balance: number, nonce: number, extras: Uint8Array) =>
  Either.map(AccountRecord.decode(Binary.encode((writer) => writer.u64(1).u64(nonce).raw(extras))), (record) => ({
    ...record,
    balance: balance as Sats,
  }))

/** Takes pages until one is unreadable. */
class Intake {
  readonly #restoring: ReturnType<typeof Ledger.restoring>
  #failure: { readonly message: string } | undefined
  #head: Records.Head | undefined

  constructor(protocol: Protocol.Protocol, tableKey: HalfSipHash.Key) {
    this.#restoring = Ledger.restoring(protocol, tableKey)
  }

  #keep(restored: Either.Either<void, { readonly message: string }>): void {
    if (Either.isLeft(restored)) this.#failure ??= restored.left
  }

  accounts(page: ReadonlyArray<StoredAccount>): void {
    const { account, plainAccount } = this.#restoring
    for (const { address, balance, nonce, extras } of page) {
      if (nonce < 0) this.#keep(Either.left({ message: `account ${address} has the nonce ${nonce}` }))
      else if (extras === null) plainAccount(address, balance as Sats, Natural.nonce(nonce))
      else this.#keep(Either.map(recordOf(balance, nonce, extras), (record) => account(address, record)))
    }
  }

  records(page: ReadonlyArray<StateRecord>): void {
    for (const record of page) {
      this.#keep(this.#restoring.record(record))
      if (record.kind === "Head") this.#head = Either.getOrUndefined(Records.decode(Records.head, record.value))
    }
  }

  get head(): Either.Either<Records.Head, { readonly message: string }> {
    if (this.#failure !== undefined) return Either.left(this.#failure)
    return Either.fromNullable(this.#head, () => ({ message: "there is no record of the last commit" }))
  }

  finish(effectsDigest: Hash.Hash): Either.Either<Ledger, { readonly message: string }> {
    return this.#restoring.finish(effectsDigest)
  }
}

/** From the last commit or, after a fast sync without a commit, from its checkpoint. */
const effectsDigestOf = (storage: Kept, { index, leaderRound }: Records.Head) =>
  Effect.gen(function* () {
    const commit = yield* storage.commits.at(index)
    if (Option.isSome(commit)) return commit.value.effectsDigest
    const checkpoint = yield* storage.checkpoints.at(leaderRound)
    if (Option.isSome(checkpoint)) return checkpoint.value.checkpoint.effectsDigest
    return yield* fromDamage({ message: `there is no record of commit ${index}` })
  })

const restoreLedger = (storage: Kept, { protocol }: Genesis.Genesis, tableKey: HalfSipHash.Key) =>
  Effect.gen(function* () {
    const intake = new Intake(protocol, tableKey)
    yield* storage.accounts.load((page) => intake.accounts(page))
    yield* storage.records.load((page) => intake.records(page))
    const head = yield* sound(intake.head)
    return yield* sound(intake.finish(yield* effectsDigestOf(storage, head)))
  })

const recount = (ledger: Ledger) =>
  Effect.mapError(
    Effect.suspend(() => ledger.recount()),
    (violation) => new SupplyViolation({ violation }),
  ).pipe(Effect.withSpan("recount"))

/** The trie after these changes, built in slices. */
export const updated = (trie: Trie.Trie, changes: Iterable<Trie.Change>) =>
  Effect.gen(function* () {
    const update = Trie.update(trie, changes)
    for (;;) {
      const done = update.step(Slice.begin())
      if (done !== undefined) return done
      yield* EventLoop.turn
    }
  })

/** The ledger of a state given as a trie, built in slices, or why it is invalid. */
export const ledgerOf = (protocol: Protocol.Protocol, tableKey: HalfSipHash.Key, state: JoinedState) =>
  Effect.gen(function* () {
    const making = new JoinedLedger(protocol, tableKey, state)
    for (;;) {
      const made = making.work(Slice.begin())
      if (made !== undefined) return made
      yield* EventLoop.turn
    }
  })

const trieOf = (ledger: Ledger) => updated(Trie.empty, ledger.entries()).pipe(Effect.withSpan("state trie"))

/** The states of the last closes, oldest first, each reconstructed from the one after it. */
const closedOf = (storage: Kept, ledger: Ledger, present: Trie.Trie) =>
  Effect.gen(function* () {
    const closed: Array<LoadedState.ClosedState> = []
    let trie = present
    for (let back = 1; back <= KEPT_CLOSES && ledger.read.epoch.epoch - back >= 1; back++) {
      const epoch = Natural.epoch(ledger.read.epoch.epoch - back)
      const changes: Array<Trie.Change> = []
      yield* storage.closedStates.load(epoch, (page) => changes.push(...page.map(LoadedState.placed)))
      trie = yield* updated(trie, changes)
      closed.unshift({ epoch, trie })
    }
    return closed
  }).pipe(Effect.withSpan("closed states"))

const vertexOf = (what: string, networkId: NetworkId, { hash, bytes }: Companion) =>
  Effect.tap(sound(Vertex.decode(networkId, bytes)), ({ header }) => requireHash(what, header.hash, hash))

const verticesOf = (storage: Kept, { networkId }: Genesis.Genesis, epoch: Natural.Epoch) =>
  Effect.gen(function* () {
    const vertices: Array<Vertex.Vertex> = []
    const rounds = { fromRound: Natural.round(0), toRound: Natural.round(Number.MAX_SAFE_INTEGER) }
    let after: number | null = null
    for (;;) {
      const page: Page = yield* storage.vertices.ofEpoch({ epoch, ...rounds, after, maxBytes: PAGE_BYTES })
      for (const stored of page.vertices) vertices.push(yield* vertexOf("vertex", networkId, stored))
      const last = page.vertices.at(-1)
      if (last === undefined || page.isLast) return vertices
      after = last.arrival
      yield* EventLoop.turn
    }
  })

const ownVertices = (storage: Kept, { networkId }: Genesis.Genesis, author: Address | null, from: Natural.Epoch) =>
  Effect.gen(function* () {
    const vertices: Array<Vertex.Vertex> = []
    if (author === null) return vertices
    const kept: Array<SignedVertex> = []
    yield* storage.signed.load(author, from, (page) => void kept.push(...page))
    for (const stored of kept) vertices.push(yield* vertexOf("own vertex", networkId, stored))
    return vertices
  })

const intentOf = (storage: Kept, { networkId }: Genesis.Genesis, author: Address | null) =>
  author === null
    ? Effect.succeed(null)
    : Effect.flatMap(
        storage.signed.intent(author),
        Option.match({
          onNone: () => Effect.succeed(null),
          onSome: (stored) => vertexOf("intended vertex", networkId, stored),
        }),
      )

const companionsOf = (storage: Kept, { networkId }: Genesis.Genesis, epoch: Natural.Epoch) =>
  Effect.flatMap(storage.signed.companions(epoch), (rows) =>
    Effect.forEach(rows, (stored) => vertexOf("companion", networkId, stored)),
  )

const epochOf = (storage: Kept, opening: Opening, vertices: ReadonlyArray<Vertex.Vertex>) =>
  Effect.gen(function* () {
    const { epoch } = opening.record
    const { built, signed } = yield* storage.checkpoints.ofEpoch(epoch)
    const records = yield* storage.commits.ofEpoch(epoch)
    const commits = records.map(({ effectsDigest, time: _, ...commit }) => ({ commit, effectsDigest }))
    return { opening, vertices, commits, checkpoints: built, signed }
  })

const endedOf = (storage: Kept, opening: Opening, own: ReadonlyArray<Vertex.Vertex>) =>
  Effect.gen(function* () {
    const heads = yield* storage.vertices.highestHeads(opening.record.epoch)
    const decoded = yield* Effect.forEach(heads, ({ bytes }) => sound(Vertex.decodeHead(bytes)))
    return { ...(yield* epochOf(storage, opening, own)), highestHeaders: decoded.map(({ header }) => header) }
  })

/**
 * Arrival times in the future are capped. If the wall clock was ahead in an earlier run, its transactions and those
 * queued after them would otherwise neither be announced again nor expire until the real time caught up.
 */
const pendingOf = (storage: Kept, { networkId }: Genesis.Genesis) =>
  Effect.zipWith(storage.pending.all, SteadyClock.current, (rows, now) =>
    Effect.forEach(rows, ({ id, bytes, receivedAt }) =>
      Effect.gen(function* () {
        const transaction = yield* sound(Transaction.decode(networkId, bytes))
        yield* requireHash("waiting transaction", transaction.id, id)
        return { transaction, receivedAt: Natural.timestamp(Math.min(receivedAt, now)) } satisfies ReceivedTransaction
      }),
    ),
  ).pipe(Effect.flatten)

const foreignOf = (storage: Kept, author: Address | null) =>
  author === null
    ? Effect.succeed([])
    : Effect.flatMap(storage.signed.foreign(author, FOREIGN_HEADERS), (rows) =>
        Effect.forEach(rows, ({ bytes }) => sound(Header.decode(bytes))),
      )

const contentsOf = (
  storage: Kept,
  genesis: Genesis.Genesis,
  self: Address | null,
  [running, before]: ReadonlyArray<Opening>,
) =>
  Effect.gen(function* () {
    if (running === undefined) return yield* noEpoch
    const { epoch } = running.record
    const own = yield* ownVertices(storage, genesis, self, (before ?? running).record.epoch)
    const ownOf = (of: Natural.Epoch) => own.filter(({ header }) => header.epoch === of)
    const kept = yield* verticesOf(storage, genesis, epoch)
    const closings = yield* storage.checkpoints.closing(Natural.epoch(Math.max(0, epoch - 2)), 2)
    const contents: StoredState = {
      genesis,
      current: yield* epochOf(storage, running, kept),
      previous: before === undefined ? null : yield* endedOf(storage, before, ownOf(before.record.epoch)),
      ownVertices: own,
      intent: yield* intentOf(storage, genesis, self),
      companions: yield* companionsOf(storage, genesis, epoch),
      foreignHeaders: yield* foreignOf(storage, self),
      pending: yield* pendingOf(storage, genesis),
      closings: closings.filter(({ hasQuorum }) => hasQuorum),
      join: Option.getOrNull(yield* storage.joins.kept),
    }
    return contents
  })

export interface Read extends Loaded {
  /** The states of the last closes, oldest first, including one that contradicts its checkpoint. */
  readonly closed: ReadonlyArray<LoadedState.ClosedState>
}

/** Loads and checks everything, and writes nothing. */
const readOf = (
  storage: Kept,
  genesis: Genesis.Genesis,
  self: Address | null,
  tableKey: HalfSipHash.Key,
  openings: ReadonlyArray<Opening>,
) =>
  Effect.gen(function* () {
    const [restoring, ledger] = yield* Effect.timed(restoreLedger(storage, genesis, tableKey))
    const [counting] = yield* Effect.timed(recount(ledger))
    const [building, trie] = yield* Effect.timed(trieOf(ledger))
    const [reading, contents] = yield* Effect.timed(contentsOf(storage, genesis, self, openings))
    const [returning, closed] = yield* Effect.timed(closedOf(storage, ledger, trie))
    const opened = yield* sound(LoadedState.check(contents, ledger, trie, closed))
    yield* log.debug("loaded", () => ({
      accounts: ledger.read.accountCount,
      commit: ledger.read.head.index,
      round: ledger.read.head.leaderRound,
      vertices: contents.current.vertices.length,
      pending: [...contents.pending].length,
      accountsMs: Math.round(Duration.toMillis(restoring)),
      recountMs: Math.round(Duration.toMillis(counting)),
      stateRootMs: Math.round(Duration.toMillis(building)),
      verticesMs: Math.round(Duration.toMillis(reading)),
      closedStatesMs: Math.round(Duration.toMillis(returning)),
    }))
    return { contents, opened, closed } satisfies Read
  }).pipe(Effect.withSpan("loading"))

/** For a database that is only read; it must have been initialised. */
export const read = (genesis: Genesis.Genesis, tableKey: HalfSipHash.Key) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    return yield* readOf(storage, genesis, null, tableKey, yield* storage.epochs.kept)
  })

/** `self`: null for a node without a validator key. */
export const load = (genesis: Genesis.Genesis, self: Address | null, tableKey: HalfSipHash.Key) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const kept = yield* storage.epochs.kept
    const openings = kept.length > 0 ? kept : yield* begin(storage, genesis, tableKey)
    const { contents, opened } = yield* readOf(storage, genesis, self, tableKey, openings)
    return { contents, opened } satisfies Loaded
  })
