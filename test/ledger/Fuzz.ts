/**
 * A ledger under transactions from the edges: every type, amounts, fees, nonces, ids and percents at and beside their
 * limits, from accounts of every kind, together with evidence and heartbeats, genuine and not. Each transaction went
 * through the decoder. Every commit is executed by the ledger, by the naive one and by a twin that is restored from its
 * records after every hundredth commit; the door and a small mempool are asked about every transaction. All chance comes from one seed.
 */
import { Either } from "effect"
import type { Ledger } from "../../src/ledger/Ledger.js"
import { PendingTransactions } from "../../src/ledger/pending/PendingTransactions.js"
import type { Execution, Outcome } from "../../src/ledger/rules/Execution.js"
import type { Rejection } from "../../src/ledger/rules/Rejection.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Charges from "../../src/protocol/transaction/Charges.js"
import type * as Operation from "../../src/protocol/transaction/Operation.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import type { Heartbeat } from "../../src/protocol/vertex/Heartbeat.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { Chance } from "../simulation/Chance.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, type Person, person, signedBy, singleKey, someHash } from "./builders.js"
import { NaiveLedger, votesIn } from "./NaiveLedger.js"
import { compare, same } from "./Play.js"

const MOST = Number.MAX_SAFE_INTEGER
/** After so many commits the twin is put together again from its records. */
const RESTORED_EVERY = 100
/** A world begins anew after so many transactions, so that what it keeps for good stays small. */
const TRANSACTIONS_OF_A_WORLD = 5_000
const MOST_IN_A_VERTEX = 24
/** Few, so that the mempool is full often. */
const POOL_TRANSACTIONS = 40

const types: ReadonlyArray<Operation.Type> = [
  "Transfer",
  "StakeTx",
  "UnstakeTx",
  "DelegateTx",
  "UndelegateTx",
  "SetCommissionTx",
  "CreateProposalTx",
  "VoteTx",
  "RegisterNameTx",
  "SetAccountPolicyTx",
]

const founders = ["val0", "val1", "val2", "val3"].map(person)
const cast = [...founders, ...["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ida", "jan"].map(person)]
/** Nobody has given them anything; now and then somebody does, and then takes it away again. */
const ghosts = Array.from({ length: 60 }, (_, i) => person(`ghost ${i}`))

/** What a run has seen: an outcome or an event, and how often. */
export type Seen = Map<string, number>

const outcomeOf = (outcome: Outcome): string => {
  if (outcome._tag === "Applied") return "Applied"
  const { reason } = outcome
  return `${outcome._tag} ${reason._tag === "InvalidTransaction" ? reason.rule : reason._tag}`
}

/** Rules that time breaks between the door and the commit. */
const isTimely = (reason: Rejection): boolean => reason._tag === "InvalidTransaction" && reason.rule === "voting_ended"

class World {
  readonly #chance: Chance
  readonly #seen: Seen
  readonly #chain: Chain
  readonly #naive: NaiveLedger
  readonly #pool: PendingTransactions
  #twin: Ledger
  #previousEpoch: EpochRecord | undefined
  #commits = 0
  /** Nonces taken by the transactions of the commit that is being made. */
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
      council: ["ann", "val0"].slice(0, chance.below(3)),
      treasury: chance.pick([0, 100]),
      parameters: {
        slashPercent: chance.pick([10, 50, 99, 100]),
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
    this.#naive = new NaiveLedger(this.#chain.genesis)
    const { ledger } = this.#chain
    this.#pool = new PendingTransactions(
      {
        admission: (transaction, reserved) => ledger.admission(transaction, reserved),
        spending: (transaction) => ledger.spending(transaction),
        account: (address) => ledger.read.account(address),
      },
      POOL_TRANSACTIONS,
    )
    this.#twin = this.#restored(this.#chain.ledger)
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

  // What is drawn.

  #somebody(): Person {
    return this.#chance.percent(8) ? this.#chance.pick(ghosts) : this.#chance.pick(cast)
  }

  /** Mostly somebody to whom this type makes sense, sometimes just anybody. */
  #sender(type: Operation.Type): Person {
    const { read } = this.#chain.ledger
    const suits = ({ address }: Person): boolean => {
      const { stake, delegation, balance } = read.account(address)
      switch (type) {
        case "Transfer":
        case "RegisterNameTx":
        case "SetAccountPolicyTx":
          return balance > 200_000
        case "StakeTx":
          return delegation === null && balance > Sats.MIN_STAKE_SATS
        case "DelegateTx":
          return stake === null && balance > 1
        case "UnstakeTx":
          // Pools that live long become dear.
          return stake?.leaving === null && address !== founders[0]?.address && this.#chance.percent(40)
        case "SetCommissionTx":
        case "CreateProposalTx":
          return stake?.leaving === null
        case "UndelegateTx":
          return delegation !== null
        case "VoteTx":
          return read.ballot((read.head.nextProposalId - 1) as Natural.ProposalId, address)?.vote === null
      }
    }
    const suited = this.#chance.percent(70) ? cast.filter(suits) : []
    return suited.length > 0 ? this.#chance.pick(suited) : this.#somebody()
  }

  /** These, and what lies beside each of them. */
  #beside(...limits: ReadonlyArray<number>): number {
    return this.#chance.pick(limits) + this.#chance.pick([-1, 0, 0, 0, 1])
  }

  #balance(from: Person): number {
    return this.#chain.account(from).balance
  }

  #amount(from: Person): number {
    const { minDelegation } = this.#chain.ledger.read.parameters
    const balance = this.#balance(from)
    if (this.#chance.percent(60))
      return 1 + this.#chance.below(Math.max(1, this.#chance.pick([9, Math.floor(balance / 2), 1e9])))
    return this.#beside(0, 1, minDelegation, Sats.MIN_STAKE_SATS, balance, balance - 1_000, Sats.MAX_SUPPLY, MOST)
  }

  #fee(from: Person, type: Operation.Type): number {
    const { minFee, nameFee } = this.#chain.ledger.read.parameters
    const minimum = Charges.leastFee(type, { minFee, nameFee })
    if (this.#chance.percent(75)) return minimum
    return this.#beside(0, 1, minFee, nameFee, this.#balance(from), Sats.MAX_SUPPLY, MOST)
  }

  #nonce(from: Person): number {
    const next = this.#chain.account(from).nonce + (this.#taken.get(from.address) ?? 0)
    return this.#chance.percent(92) ? next : this.#beside(0, next, next + 1, next + 63, MOST)
  }

  #payload(): ProposalPayload {
    const { treasury } = this.#chain.ledger.read.totals
    switch (this.#chance.below(5)) {
      case 0:
        return { _tag: "Text" }
      case 1:
      case 2: {
        const action = this.#chance.pick(["add", "remove"] as const)
        return { _tag: "CouncilMembership", action, address: this.#somebody().address }
      }
      case 3: {
        const recipient = this.#somebody().address
        return { _tag: "TreasurySpend", recipient, amount: this.#beside(1, treasury, Sats.MAX_SUPPLY) as Sats.Sats }
      }
      default: {
        const entry = this.#chance.pick(Parameters.table)
        // In most worlds time goes on: a delay of a million rounds ends what can be seen.
        const isSlow = entry.name.endsWith("_rounds") || entry.name === "quorum_percent"
        const most = isSlow && this.#chance.percent(98) ? entry.max + 1 : entry.max
        const least = Parameters.minimumOf(entry, this.#chain.genesis.protocol.epochRounds)
        const param = this.#chance.percent(95) ? entry.name : "no_such_parameter"
        return {
          _tag: "ParameterChange",
          param,
          value: this.#chance.pick([0, least - 1, least, least + 1, most, MOST]),
        }
      }
    }
  }

  #operation(type: Operation.Type, from: Person): Operation.Operation {
    const chance = this.#chance
    const { read } = this.#chain.ledger
    switch (type) {
      case "Transfer":
        return { _tag: "Transfer", to: this.#somebody().address, amount: this.#amount(from) as Sats.Sats, memo: "" }
      case "StakeTx":
        return {
          _tag: "StakeTx",
          amount: (chance.percent(50) ? Sats.MIN_STAKE_SATS + chance.below(100) : this.#amount(from)) as Sats.Sats,
        }
      case "UnstakeTx":
        return { _tag: "UnstakeTx" }
      case "DelegateTx": {
        const held = read.delegation(from.address)?.validator
        const active = cast.filter(({ address }) => read.stake(address).isActiveValidator)
        const { address } = chance.pick(active.length > 0 && chance.percent(80) ? active : cast)
        const validator = held !== undefined && chance.percent(60) ? held : address
        const least = this.#beside(read.parameters.minDelegation)
        return {
          _tag: "DelegateTx",
          validator,
          amount: (chance.percent(40) ? least : this.#amount(from)) as Sats.Sats,
        }
      }
      case "UndelegateTx":
        return { _tag: "UndelegateTx" }
      case "SetCommissionTx":
        return { _tag: "SetCommissionTx", commissionPercent: chance.pick([0, 1, 99, 100, 101, 255]) }
      case "CreateProposalTx":
        return { _tag: "CreateProposalTx", title: "t", description: "", payload: this.#payload() }
      case "VoteTx": {
        const newest = read.head.nextProposalId - 1
        const id = chance.percent(80) ? newest - chance.below(4) : this.#beside(1, newest, MOST)
        return { _tag: "VoteTx", proposalId: id as Natural.ProposalId, vote: chance.percent(80) }
      }
      case "RegisterNameTx":
        return { _tag: "RegisterNameTx", name: `n${chance.below(30)}x` as Name }
      case "SetAccountPolicyTx": {
        const keys = Array.from(
          { length: chance.pick([1, 1, 2, 16, 17]) },
          () => chance.pick([...cast, ...ghosts]).publicKey,
        )
        return {
          _tag: "SetAccountPolicyTx",
          threshold: chance.pick([0, 1, 1, 2, keys.length]),
          keys: [...new Set(keys)],
        }
      }
    }
  }

  /** Mostly what the account asks for. */
  #authorization(from: Person): Transaction.Authorization {
    const { policy } = this.#chain.account(from)
    const chance = this.#chance
    if (chance.percent(3)) return singleKey(chance.pick(cast))
    if (chance.percent(3)) return signedBy(chance.pick(cast))
    if (policy === null) return singleKey(from)
    const all = [...cast, ...ghosts].filter(({ publicKey }) => policy.keys.includes(publicKey))
    return all.length === 0 ? singleKey(from) : signedBy(...all.slice(0, chance.percent(90) ? policy.threshold : 1))
  }

  /** As the decoder gives it; none where the decoder refuses it. */
  #draw(): Transaction.Transaction | undefined {
    const type = this.#chance.pick(types)
    const from = this.#sender(type)
    const operation = this.#operation(type, from)
    const numbers = { nonce: this.#nonce(from), fee: this.#fee(from, operation._tag) }
    const amounts = "amount" in operation ? [operation.amount] : []
    // The encoder asserts what it writes; what it cannot write no decoder can read.
    if ([...Object.values(numbers), ...amounts].some((value) => !Natural.isNatural(value))) return undefined
    if (operation._tag === "VoteTx" && !Natural.isNatural(operation.proposalId)) return undefined
    if (operation._tag === "CreateProposalTx") {
      const { payload } = operation
      if (payload._tag === "ParameterChange" && !Natural.isNatural(payload.value)) return undefined
      if (payload._tag === "TreasurySpend" && !Natural.isNatural(payload.amount)) return undefined
    }
    const { networkId } = this.#chain.genesis
    const unsigned = {
      from: from.address,
      nonce: Natural.nonce(numbers.nonce),
      fee: numbers.fee as Sats.Sats,
      operation,
    }
    const made = Transaction.make(networkId, unsigned, this.#authorization(from))
    const decoded = Transaction.decode(networkId, made.encoded)
    if (Either.isLeft(decoded)) {
      this.#note("refused by the decoder")
      return undefined
    }
    return decoded.right
  }

  #transactions(): ReadonlyArray<Transaction.Transaction> {
    const drawn: Array<Transaction.Transaction> = []
    for (let left = this.#chance.below(MOST_IN_A_VERTEX + 1); left > 0; left--) {
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

  /** The door answers, whatever its sender has pending; with nothing pending, this. */
  #askDoor(transaction: Transaction.Transaction): Rejection | undefined {
    const { ledger } = this.#chain
    const [asked] = [0, 1, Sats.MAX_SUPPLY, MOST].map((reserved) => ledger.admission(transaction, reserved))
    this.#pool.submit(transaction, Natural.timestamp(this.#chain.round * 500), Natural.round(this.#chain.round))
    return asked
  }

  #evidence(): ReadonlyArray<Evidence.Evidence> {
    const chance = this.#chance
    if (!chance.percent(4)) return []
    const { epoch } = this.#chain
    const future = { ...epoch, epoch: Natural.epoch(chance.pick([0, epoch.epoch + 1, MOST])) }
    const of = chance.pick([epoch, epoch, this.#previousEpoch ?? epoch, future])
    const { first, second } = this.#chain.evidence(this.#somebody(), chance.pick([1, this.#chain.round, MOST]), of)
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
    // The first has nothing before its transactions, so what the door says of them is what they meet.
    return members
      .filter((_, i) => i === 0 || this.#chance.percent(70))
      .map((by, i) => {
        const evidence = i === 0 ? [] : this.#evidence()
        const heartbeats = i === 0 ? [] : this.#heartbeats()
        const transactions = i < 2 ? this.#transactions() : []
        return chain.vertex({ by, round: round - this.#chance.below(2), transactions, evidence, heartbeats }, round)
      })
  }

  // What must hold.

  /** Of the first transaction in a commit: whatever the door takes is applied, and whatever it refuses is not. */
  #meetsDoor(transaction: Transaction.Transaction | undefined, asked: Rejection | undefined, outcome?: Outcome): void {
    if (transaction === undefined || outcome === undefined) return
    const told = JSON.stringify({ transaction, asked, outcome })
    if (outcome._tag === "Applied" && asked !== undefined) throw new Error(`refused at the door and applied: ${told}`)
    if (outcome._tag === "Applied" || asked !== undefined) return
    const { reason } = outcome
    if (reason._tag !== "NonceTooHigh" && !isTimely(reason)) throw new Error(`taken at the door, not applied: ${told}`)
  }

  /** What waits goes on waiting, and some of it would be proposed. */
  #settle(execution: Execution, vertices: ReadonlyArray<Vertex>): void {
    const round = Natural.round(this.#chain.round)
    this.#pool.evictExecuted(
      execution,
      vertices.map(({ body }) => body.transactions),
    )
    this.#pool.expire(Natural.timestamp(this.#chain.round * 500))
    this.#pool.choose({ round, maxBytes: 20_000, freshBytes: 10_000, isAssigned: () => true })
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
    if (++this.#commits % RESTORED_EVERY !== 0) return
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
    const round = chain.round + 1 + this.#chance.below(4)
    const vertices = this.#vertices(round)
    const first = vertices[0]?.body.transactions[0]
    const asked = first && ledger.admission(first, 0)
    const execution = Either.getOrThrowWith(chain.executeVertices(vertices, round), (violation) => violation)
    this.#settle(execution, vertices)
    this.#meetsDoor(first, asked, execution.vertices[0]?.transactions[0])
    this.#compareWithNaive(vertices, execution, before)
    this.#compareWithTwin(execution)
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

interface Before {
  readonly epoch: EpochRecord
  readonly previousEpoch: EpochRecord | undefined
  readonly parameters: Parameters.Parameters
  readonly payloads: ReadonlyMap<number, ProposalPayload>
}

const addressesOf = ({ from, operation }: Transaction.Transaction): ReadonlyArray<string> =>
  operation._tag === "Transfer" ? [from, operation.to] : [from]

/** Executes so many transactions, world after world; throws with the seed at the first thing that does not hold. */
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
