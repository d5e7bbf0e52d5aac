/**
 * A ledger under transactions with edge values: every type, with amounts, fees, nonces, ids and percents at and beside
 * their limits, from accounts of every kind, together with evidence and heartbeats, genuine and forged. Each
 * transaction went through the decoder. The ledger, the naive ledger and a twin execute every commit; the twin is
 * restored from its records after every hundredth commit. Admission and a small mempool judge every transaction. One
 * seed decides everything random.
 */
import { Either } from "effect"
import { toHex } from "#crypto"
import type { Ledger } from "../../src/ledger/Ledger.js"
import { PendingTransactions, type Door as PoolDoor } from "../../src/ledger/pending/PendingTransactions.js"
import type { Execution, Outcome } from "../../src/ledger/rules/Execution.js"
import type { Rejection } from "../../src/ledger/rules/Rejection.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import type { Heartbeat } from "../../src/protocol/vertex/Heartbeat.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { Accounts } from "../edges/Accounts.js"
import * as Door from "../edges/Door.js"
import { MOST } from "../edges/Numbers.js"
import * as Reached from "../edges/Reached.js"
import { Transactions } from "../edges/Transactions.js"
import { Chance } from "../simulation/Chance.js"
import { fromRecords } from "../support/Restored.js"
import { Books } from "./Books.js"
import { Chain, coins, type Person, person, signedBy, singleKey, someHash } from "./builders.js"
import { NaiveLedger, votesIn } from "./NaiveLedger.js"
import { compare, same } from "./Play.js"
import { again } from "./Recoding.js"

/** After this many of a hundred commits the twin is restored from its records. */
const RESTORED_PERCENT = 10
/** The world restarts after this many transactions, so that its permanent state stays small. */
const TRANSACTIONS_OF_A_WORLD = 2_500
const MOST_IN_A_VERTEX = 24
/** Few, so that the mempool is often full. */
const POOL_TRANSACTIONS = 40

const founders = ["val0", "val1", "val2", "val3"].map(person)
const cast = [...founders, ...["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ida", "jan"].map(person)]
/** Nobody funds them; now and then somebody does, and then takes it back. */
const ghosts = Array.from({ length: 60 }, (_, i) => person(`ghost ${i}`))

/** How often a run has seen each outcome or event. */
export type Seen = Map<string, number>

const outcomeOf = (outcome: Outcome): string => {
  if (outcome._tag === "Applied") return "Applied"
  const { reason } = outcome
  return `${outcome._tag} ${reason._tag === "InvalidTransaction" ? reason.rule : reason._tag}`
}

class World {
  readonly #chance: Chance
  readonly #seen: Seen
  readonly #chain: Chain
  readonly #books: Books
  readonly #naive: NaiveLedger
  readonly #pool: PendingTransactions
  readonly #door: PoolDoor
  readonly #accounts: Accounts<Person>
  readonly #drawn: Transactions<Person>
  #twin: Ledger
  #previousEpoch: EpochRecord | undefined
  #commits = 0
  /** Nonces taken by the transactions of the commit in the making. */
  #taken = new Map<string, number>()
  transactions = 0

  constructor(chance: Chance, seen: Seen) {
    this.#chance = chance
    this.#seen = seen
    const rich = chance.pick([1_000, 20_900_000])
    this.#chain = new Chain({
      accounts: { ann: rich, bob: 9_000, cat: 5_000, dan: 0.00001, eve: 0.00002, fay: 700, gus: 2_500, hal: 60 },
      validators: { val0: 6_000, val1: 4_000, val2: 3_000, val3: 2_000 },
      commission: chance.pick([0, 10, 100]),
      // A holder of nothing but a seat vanishes without a trace when it loses the seat.
      council: [...["ann", "val0"].slice(0, chance.below(3)), ...ghosts.slice(0, 15).map(({ name }) => name)],
      treasury: chance.pick([0, 100]),
      parameters: {
        slashPercent: chance.pick([10, 50, 99, 100, 100]),
        minDelegation: chance.pick([1, 100_000_000]),
        treasuryPercent: chance.pick([0, 50]),
        councilPercent: chance.pick([0, 30]),
        votingPeriodRounds: 40,
        executionDelayRounds: 5,
        maxActiveProposals: 6,
        approvalPercent: 51,
      },
      protocol: {
        roundReward: chance.pick([Sats.ZERO, Sats.make(7), coins(0.300_000_07), coins(500)]),
        halvingRounds: 900,
      },
    })
    this.#books = new Books(this.#chain.genesis)
    this.#naive = new NaiveLedger(this.#chain.genesis)
    const { ledger } = this.#chain
    this.#door = {
      admission: (transaction, reserved) => ledger.admission(transaction, reserved),
      hasEffect: (transaction) => ledger.hasEffect(transaction),
      spending: (transaction) => ledger.spending(transaction),
      account: (address) => ledger.read.account(address),
    }
    this.#pool = new PendingTransactions(this.#door, POOL_TRANSACTIONS)
    this.#accounts = new Accounts([...cast, ...ghosts], () => ledger.read)
    this.#drawn = new Transactions(chance, this.#accounts, this.#accounts, {
      keyOf: ({ publicKey }) => publicKey,
      nextNonce: (address) => this.#nextNonce(address),
      parameters: Parameters.table,
      epochRounds: this.#chain.genesis.protocol.epochRounds,
    })
    this.#twin = this.#restored(ledger)
  }

  #note(what: string): void {
    this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1)
  }

  #restored(ledger: Ledger): Ledger {
    const records = this.#chance.percent(50) ? [...ledger.records()].reverse() : ledger.records()
    const key = { low: this.#chance.below(2 ** 32), high: this.#commits }
    const { protocol } = this.#chain.genesis
    return Either.getOrThrowWith(fromRecords(protocol, key, records, ledger.effectsDigest), (failure) => failure)
  }

  // Random draws.

  #nextNonce(address: Address): number {
    return this.#chain.ledger.read.account(address).nonce + (this.#taken.get(address) ?? 0)
  }

  /** As the decoder returns it; undefined where the decoder refuses it. */
  #draw(): Transaction.Transaction | undefined {
    const { networkId } = this.#chain.genesis
    const { unsigned, signers, isPolicy } = this.#drawn.next()
    const [first] = signers
    if (first === undefined) throw new RangeError("nobody signs")
    const made = Transaction.make(networkId, unsigned, isPolicy ? signedBy(...signers) : singleKey(first))
    const decoded = Transaction.decode(networkId, made.encoded)
    if (Either.isLeft(decoded)) {
      this.#note("refused by the decoder")
      return undefined
    }
    for (const what of Reached.of(decoded.right, this.#accounts)) this.#note(what)
    return decoded.right
  }

  /** Often a single one: the state that the first transaction of a commit meets is known. */
  #transactions(): ReadonlyArray<Transaction.Transaction> {
    const drawn: Array<Transaction.Transaction> = []
    const count = this.#chance.percent(50) ? 1 : this.#chance.below(MOST_IN_A_VERTEX + 1)
    for (let left = count; left > 0; left--) {
      const transaction = this.#draw()
      if (transaction === undefined) continue
      const asked = this.#askDoor(transaction)
      const { from, nonce } = transaction
      const { nonce: next, balance } = this.#chain.ledger.read.account(from)
      const taken = this.#taken.get(from) ?? 0
      const isTaken = asked === undefined || (asked._tag !== "InvalidSignature" && balance > 100_000)
      if (nonce === next + taken && isTaken) this.#taken.set(from, taken + 1)
      drawn.push(transaction)
    }
    return drawn
  }

  /** Admission answers, whatever its sender has pending; with nothing pending, this. */
  #askDoor(transaction: Transaction.Transaction): Rejection | undefined {
    const { ledger } = this.#chain
    const [asked] = [0, 1, Sats.MAX_SUPPLY, MOST].map((reserved) => ledger.admission(transaction, reserved))
    const judged = new PendingTransactions(this.#door).judge(transaction)
    same(
      JSON.stringify(Either.flip(judged)),
      JSON.stringify(asked ? Either.right(asked) : Either.left("new")),
      "the pool",
    )
    this.#pool.submit(transaction, Natural.timestamp(this.#chain.round * 500), Natural.round(this.#chain.round))
    return asked
  }

  #evidence(): ReadonlyArray<Evidence.Evidence> {
    const chance = this.#chance
    if (!chance.percent(7)) return []
    const { epoch } = this.#chain
    const future = { ...epoch, epoch: Natural.epoch(chance.pick([0, epoch.epoch + 1, MOST])) }
    const of = chance.pick([epoch, epoch, this.#previousEpoch ?? epoch, future])
    const { first, second } = this.#chain.evidence(
      this.#accounts.any(chance),
      chance.pick([1, this.#chain.round, MOST]),
      of,
    )
    const base = chance.percent(80) ? first.base : someHash()
    const evidence = Evidence.of({ ...first, base }, { ...second, base })
    return evidence === undefined ? [] : [evidence]
  }

  #heartbeats(): ReadonlyArray<Heartbeat> {
    const chance = this.#chance
    const heartbeats = cast.filter(() => chance.percent(60)).map((someone) => this.#chain.heartbeat(someone))
    return heartbeats.map((heartbeat) => {
      if (chance.percent(90)) return heartbeat
      const commitIndex = Natural.commitIndex(chance.pick([0, Math.max(0, heartbeat.commitIndex - 5), MOST]))
      return { ...heartbeat, commitIndex, commitHash: chance.pick([heartbeat.commitHash, Hash.ZERO]) }
    })
  }

  #vertices(round: number): ReadonlyArray<Vertex> {
    const chain = this.#chain
    const members = [...cast, ...ghosts].filter(({ address }) =>
      chain.epoch.members.some((of) => of.address === address),
    )
    return members
      .filter((_, i) => i === 0 || this.#chance.percent(70))
      .map((by, i) => {
        const evidence = this.#evidence()
        const heartbeats = this.#heartbeats()
        const transactions = i < 2 ? this.#transactions() : []
        return chain.vertex({ by, round: round - this.#chance.below(2), transactions, evidence, heartbeats }, round)
      })
  }

  // What must hold.

  /** Of the first transaction in a commit, which nothing precedes. */
  #meetsDoor(transaction: Transaction.Transaction | undefined, asked: Rejection | undefined, outcome?: Outcome): void {
    if (transaction === undefined || outcome === undefined) return
    Door.expectMet(asked, outcome, transaction)
    this.#note(asked === undefined ? "the door took it" : "the door refused it")
  }

  /** Waiting transactions keep waiting, and some of them would be proposed. */
  #settle(execution: Execution, vertices: ReadonlyArray<Vertex>): void {
    const round = Natural.round(this.#chain.round)
    this.#pool.evictExecuted(
      execution,
      vertices.map(({ body }) => body.transactions),
    )
    this.#pool.expire(Natural.timestamp(this.#chain.round * 500))
    this.#pool.choose({ round, maxBytes: 20_000, freshBytes: 10_000, isAssigned: () => true, hasTurn: () => true })
    if (this.#pool.size > POOL_TRANSACTIONS) throw new Error(`${this.#pool.size} transactions are pending`)
  }

  #compareWithTwin(execution: Execution): void {
    const input = this.#chain.inputs.at(-1)
    if (input === undefined) throw new Error("nothing was executed")
    const twin = Either.getOrThrowWith(this.#twin.execute(input), (violation) => violation)
    same(twin.effectsDigest, execution.effectsDigest, "digest of the twin")
    const told = ({ vertices, events, nextEpoch }: Execution): string => JSON.stringify({ vertices, events, nextEpoch })
    same(told(twin), told(execution), "outcomes of the twin")
    this.#chain.inputs.length = 0
    this.#commits++
    if (!this.#chance.percent(RESTORED_PERCENT)) return
    const { ledger } = this.#chain
    Either.getOrThrowWith(ledger.recount(), (violation) => violation)
    this.#twin = this.#restored(this.#twin)
    const rootOf = (of: Ledger) => Trie.apply(Trie.empty, of.entries()).hash
    same(rootOf(this.#twin), rootOf(ledger), "root of the twin")
  }

  #compareWithNaive(vertices: ReadonlyArray<Vertex>, execution: Execution, before: Before): void {
    const outcomes = execution.vertices.map(({ transactions }) => transactions)
    const { ledger, round } = this.#chain
    const verdicts = this.#naive.execute(vertices, round, {
      ...before,
      outcomes,
      events: execution.events,
      closes: execution.nextEpoch !== null,
      votes: votesIn(ledger),
    })
    same(JSON.stringify(outcomes.map((of) => of.map(({ _tag }) => _tag))), JSON.stringify(verdicts), "outcomes")
    const touched = new Set(vertices.flatMap(({ body }) => body.transactions.flatMap(addressesOf)))
    for (const someone of [...cast, ...ghosts.filter(({ address }) => touched.has(address))]) {
      compare(ledger, this.#naive, someone)
      same(ledger.read.account(someone.address).nonce, this.#naive.nonces.get(someone.address) ?? 0, "nonce")
    }
    const { total, treasury } = ledger.read.totals
    same(BigInt(total), this.#naive.total, "total supply")
    same(BigInt(treasury), this.#naive.treasury, "treasury")
  }

  commit(): void {
    const chain = this.#chain
    const { ledger } = chain
    this.#taken = new Map()
    const { epoch } = chain
    const before: Before = {
      epoch,
      previousEpoch: this.#previousEpoch,
      parameters: ledger.read.parameters,
      payloads: new Map(ledger.read.proposals(50).map(({ id, payload }) => [id, payload])),
    }
    const round = chain.round + 1 + this.#chance.below(8)
    const vertices = this.#vertices(round)
    const [body] = vertices.map(({ body }) => body)
    // Evidence changes what its vertex's transactions meet.
    const first = body?.evidence.length === 0 ? body.transactions[0] : undefined
    const asked = first && ledger.admission(first, 0)
    const execution = Either.getOrThrowWith(chain.executeVertices(vertices, round), (violation) => violation)
    this.#settle(execution, vertices)
    this.#books.enter(execution, vertices)
    this.#meetsDoor(first, asked, execution.vertices[0]?.transactions[0])
    this.#compareWithNaive(vertices, execution, before)
    this.#compareWithTwin(execution)
    expectSameBytes(execution)
    this.#accounts.look()
    if (execution.nextEpoch !== null) this.#previousEpoch = epoch
    for (const { _tag } of execution.events) this.#note(_tag)
    execution.vertices.forEach(({ transactions }, i) => {
      transactions.forEach((outcome, j) => {
        this.transactions++
        this.#note(outcomeOf(outcome))
        if (outcome._tag === "Applied") this.#note(`Applied ${vertices[i]?.body.transactions[j]?.operation._tag}`)
      })
    })
  }
}

/** Of every record that a commit changed. */
const expectSameBytes = ({ changes }: Execution): void => {
  for (const { kind, key, value } of changes) {
    if (value === null) continue
    const bytes = StateRecord.encode({ kind, key, value })
    const read = Either.getOrThrowWith(StateRecord.decode(bytes), (failure) => failure)
    same(
      toHex(StateRecord.encode({ ...read, value: again(read) ?? new Uint8Array(0) })),
      toHex(bytes),
      `${kind} record`,
    )
  }
}

interface Before {
  readonly epoch: EpochRecord
  readonly previousEpoch: EpochRecord | undefined
  readonly parameters: Parameters.Parameters
  readonly payloads: ReadonlyMap<number, ProposalPayload>
}

const addressesOf = ({ from, operation }: Transaction.Transaction): ReadonlyArray<string> =>
  operation._tag === "Transfer" ? [from, operation.to] : [from]

/** Executes this many transactions, world after world; throws with the seed at the first failed check. */
export function* fuzz(seed: number, transactions: number): Generator<number, Seen> {
  const seen: Seen = new Map()
  let done = 0
  for (let number = 0; done < transactions; number++) {
    const world = new World(new Chance(seed, `world ${number}`), seen)
    while (world.transactions < TRANSACTIONS_OF_A_WORLD && done + world.transactions < transactions) {
      try {
        world.commit()
      } catch (cause) {
        throw new Error(`seed ${seed}, world ${number}, after ${world.transactions} transactions`, { cause })
      }
      yield done + world.transactions
    }
    done += world.transactions
  }
  return seen
}
