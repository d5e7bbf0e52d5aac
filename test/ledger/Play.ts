/**
 * A network's life as a list of small steps that a machine can draw and shrink, and a person can read and replay. Every
 * step is one commit, executed by the ledger and by the naive one, and every invariant is checked after it.
 */
import { Either, FastCheck as fc } from "effect"
import type { Ledger } from "../../src/ledger/Ledger.js"
import type { Execution } from "../../src/ledger/rules/Execution.js"
import type { Rejection } from "../../src/ledger/rules/Rejection.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as TransactionOf from "../../src/protocol/transaction/Transaction.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { Accounts } from "../edges/Accounts.js"
import * as Door from "../edges/Door.js"
import { Tape, tape } from "../edges/Draws.js"
import { Transactions } from "../edges/Transactions.js"
import { Books } from "./Books.js"
import { Chain, coins, type Person, person, signedBy, singleKey, type VertexDraft, type World } from "./builders.js"
import { NaiveLedger, poolsOf, votesIn } from "./NaiveLedger.js"

export const cast = ["val0", "val1", "val2", "ann", "bob", "cat", "dan", "eve", "fay", "gus"].map(person)
/** One with most of the supply, and two with nothing: they act at the edges only. */
const others = ["whale", "ghost 0", "ghost 1"].map(person)

const acts = [
  "nothing",
  "transfer",
  "overdraw",
  "wrong nonce",
  "stake",
  "unstake",
  "delegate",
  "undelegate",
  "set commission",
  "propose",
  "vote",
  "register name",
  "set policy",
  "equivocate",
  "two in one slot",
  "edge",
] as const

export type Act = (typeof acts)[number]

export interface Step {
  readonly act: Act
  readonly who: number
  readonly whom: number
  readonly size: number
  /** Rounds since the last commit. */
  readonly rounds: number
  /** Members that make no vertex, and stakers that send no heartbeat, by their place in the cast. */
  readonly silent: number
  /** What an edge is drawn by. */
  readonly tape: ReadonlyArray<number>
}

/** The world that a play begins in. */
export interface Stage {
  readonly council: number
  readonly commission: number
  readonly slashPercent: number
  readonly minDelegation: number
  readonly cooldown: number
  readonly treasuryPercent: number
  readonly accountFee: number
  /** Coins short of the cap at the start. */
  readonly room: number
}

const stepOf = (act: fc.Arbitrary<Act>, tape: fc.Arbitrary<Step["tape"]>): fc.Arbitrary<Step> =>
  fc.record({
    act,
    who: fc.nat(cast.length - 1),
    whom: fc.nat(cast.length - 1),
    size: fc.nat(7),
    rounds: fc.integer({ min: 1, max: 9 }),
    silent: fc.constantFrom(0, 0, 0, 0, 0, 1, 2, 4, 5, 7, 255),
    tape,
  })

const usual = acts.filter((act) => act !== "edge")

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: stepOf(
      fc.constantFrom(...usual, "nothing", "stake", "delegate", "delegate", "delegate", "vote", "vote"),
      fc.constant([]),
    ),
  },
  { weight: 1, arbitrary: stepOf(fc.constant("edge"), tape) },
)

export const stage: fc.Arbitrary<Stage> = fc.record({
  council: fc.nat(3),
  commission: fc.constantFrom(0, 10, 33, 100),
  slashPercent: fc.constantFrom(10, 50, 99, 100),
  minDelegation: fc.constantFrom(1, 100_000_000),
  cooldown: fc.constantFrom(40, 40, 75),
  treasuryPercent: fc.constantFrom(0, 7, 50),
  accountFee: fc.constantFrom(0, 4_999, 1_100_000),
  room: fc.constantFrom(1, 1_000_000),
})

const worldOf = ({
  council,
  commission,
  slashPercent,
  minDelegation,
  cooldown,
  treasuryPercent,
  accountFee,
  room,
}: Stage): World => ({
  accounts: {
    ann: 9_000,
    bob: 9_000,
    cat: 5_000,
    dan: 0.0001,
    fay: 700,
    gus: 1_900,
    val1: 3_000,
    whale: 21_000_000 - room - 28_600.0001 - 13_000,
  },
  validators: { val0: 6_000, val1: 4_000, val2: 3_000 },
  commission,
  council: ["ann", "val0", "bob"].slice(0, council),
  parameters: {
    slashPercent,
    minDelegation,
    cooldownRounds: cooldown,
    treasuryPercent,
    accountFee,
    maxActiveProposals: 3,
    maxActivePerProposer: 2,
    proposalBond: coins(3),
    quorumPercent: 40,
    votingPeriodRounds: 50,
    executionDelayRounds: 5,
  },
  protocol: { roundReward: coins(0.300_000_07), halvingRounds: 500 },
})

const amounts = [1, 123_456_789, 100_000_000, 3, 30_000_000_001, 200_000_000, 999, 300_000_000_000]
const at = <A>(items: ReadonlyArray<A>, i: number): A => {
  const item = items[i % items.length]
  if (item === undefined) throw new RangeError("nothing to choose from")
  return item
}

const payloadOf = (size: number, whom: Person): ProposalPayload => {
  switch (size % 4) {
    case 0:
      return { _tag: "TreasurySpend", recipient: whom.address, amount: Sats.make(at(amounts, size)) }
    case 1:
      return { _tag: "CouncilMembership", action: size > 3 ? "add" : "remove", address: whom.address }
    case 2:
      return { _tag: "ParameterChange", param: size > 3 ? "slash_percent" : "cooldown_rounds", value: 40 + size }
    default:
      return { _tag: "Text" }
  }
}

interface Committed {
  readonly execution: Execution
  readonly vertices: ReadonlyArray<Vertex>
  /** What admission said of the first transaction just before. */
  readonly asked: Rejection | undefined
}

export class Play {
  readonly #books: Books
  readonly chain: Chain
  readonly naive: NaiveLedger
  readonly #accounts: Accounts<Person>
  #previousEpoch: EpochRecord | undefined

  constructor(stage: Stage) {
    this.chain = new Chain(worldOf(stage))
    this.#accounts = new Accounts([...cast, ...others], () => this.chain.ledger.read)
    this.naive = new NaiveLedger(this.chain.genesis)
    this.#books = new Books(this.chain.genesis)
  }

  /** Mostly somebody for whom the act makes sense, sometimes anybody. */
  #actor({ act, who, size }: Step): Person {
    const { read } = this.chain.ledger
    const suits = ({ address }: Person): boolean => {
      const { stake, delegation } = read.account(address)
      switch (act) {
        case "stake":
          return delegation === null
        case "unstake":
        case "set commission":
        case "equivocate":
          return stake !== null
        case "delegate":
          return stake === null && address !== cast[6]?.address
        case "undelegate":
          return delegation !== null
        case "vote":
          return read.ballot(read.proposals(1)[0]?.id ?? Natural.proposalId(0), address)?.vote === null
        default:
          return true
      }
    }
    const suited = size === 7 ? [] : cast.filter(suits)
    return at(suited.length > 0 ? suited : cast, who)
  }

  #target({ act, whom, size }: Step, actor: Person): Person {
    const { read } = this.chain.ledger
    if (act !== "delegate" || size === 7) return at(cast, whom)
    const held = read.delegation(actor.address)?.validator
    const active = cast.filter(
      ({ address }) => held === address || (held === undefined && read.stake(address).isActiveValidator),
    )
    return at(active.length > 0 ? active : cast, whom)
  }

  #operation(step: Step, actor: Person): Operation | undefined {
    const { chain } = this
    const { act, size } = step
    const target = this.#target(step, actor)
    switch (act) {
      case "transfer":
      case "wrong nonce":
        return { _tag: "Transfer", to: target.address, amount: Sats.make(at(amounts, size)), memo: "" }
      case "overdraw":
        return { _tag: "Transfer", to: target.address, amount: Sats.make(2_000_000_000_000_000), memo: "" }
      case "stake":
        return { _tag: "StakeTx", amount: Sats.make(Sats.MIN_STAKE_SATS + at(amounts, size % 4)) }
      case "unstake":
        return { _tag: "UnstakeTx" }
      case "delegate":
        return { _tag: "DelegateTx", validator: target.address, amount: Sats.make(at(amounts, size)) }
      case "undelegate":
        return { _tag: "UndelegateTx" }
      case "set commission":
        return { _tag: "SetCommissionTx", commissionPercent: size * 14 }
      case "propose":
        return { _tag: "CreateProposalTx", title: "t", description: "", payload: payloadOf(size, target) }
      case "vote": {
        const [newest] = chain.ledger.read.proposals(1)
        return newest && { _tag: "VoteTx", proposalId: newest.id, vote: size !== 0 }
      }
      case "register name":
        return { _tag: "RegisterNameTx", name: at(["ann", "bobby", "the-treasury"], size) as never }
      case "set policy":
        return { _tag: "SetAccountPolicyTx", threshold: 1, keys: [at(cast, size).publicKey, target.publicKey] }
      case "nothing":
      case "equivocate":
      case "two in one slot":
      case "edge":
        return undefined
    }
  }

  /** Undefined where no decoder accepts it. */
  #edge({ tape }: Step): ReadonlyArray<Transaction> {
    const { chain } = this
    const { networkId, protocol } = chain.genesis
    const drawn = new Transactions(new Tape(tape), this.#accounts, this.#accounts, {
      keyOf: ({ publicKey }) => publicKey,
      nextNonce: (address) => chain.ledger.read.account(address).nonce,
      parameters: Parameters.table,
      epochRounds: protocol.epochRounds,
    })
    const { unsigned, signers, isPolicy } = drawn.next()
    const [first = at(cast, 0)] = signers
    const made = TransactionOf.make(networkId, unsigned, isPolicy ? signedBy(...signers) : singleKey(first))
    return Either.match(TransactionOf.decode(networkId, made.encoded), {
      onLeft: () => [],
      onRight: (transaction) => [transaction],
    })
  }

  #transactions(step: Step): ReadonlyArray<Transaction> {
    const { chain } = this
    if (step.act === "edge") return this.#edge(step)
    const from = this.#actor(step)
    const operation = this.#operation(step, from)
    if (operation === undefined) return []
    const { policy, nonce } = chain.account(from)
    const signer = cast.find(({ publicKey }) => policy?.keys.includes(publicKey))
    const authorization = signer === undefined ? singleKey(from) : signedBy(signer)
    const exempt = ["StakeTx", "UnstakeTx", "DelegateTx", "UndelegateTx", "SetCommissionTx"].includes(operation._tag)
    const isFirst = operation._tag === "Transfer" && AccountRecord.isEmpty(chain.ledger.read.account(operation.to))
    const forAccount = isFirst && step.size !== 7 ? chain.ledger.read.parameters.accountFee : 0
    const least = operation._tag === "RegisterNameTx" ? 100_000 : exempt ? 0 : 1_000 + step.size + forAccount
    const fee = exempt && step.size === 7 ? 77 : least
    if (step.act === "wrong nonce") return [chain.tx(from, operation, { fee, authorization, nonce: nonce + 1 })]
    // The second is usually one too many: a repeated stake, vote, name. To a new account, it pays the minimum alone.
    return [fee, fee - forAccount].map((fee) => chain.tx(from, operation, { fee, authorization }))
  }

  #vertices(step: Step): ReadonlyArray<VertexDraft> {
    const { chain } = this
    const round = Math.max(chain.round + 1, chain.round + step.rounds)
    const isSilent = (someone: Person): boolean => ((step.silent >>> cast.indexOf(someone)) & 1) === 1
    const committee = cast.filter(({ address }) => chain.epoch.members.some((member) => member.address === address))
    const heartbeats = cast
      .filter((someone) => !isSilent(someone) && chain.account(someone).stake !== null)
      .map((someone) => chain.heartbeat(someone))
    const talking = committee.filter((someone) => !isSilent(someone))
    const [first = at(committee, 0), ...others] = talking
    const evidence =
      step.act === "equivocate"
        ? [chain.evidence(this.#actor(step), round, (step.size > 5 && this.#previousEpoch) || chain.epoch)]
        : []
    const twice: ReadonlyArray<VertexDraft> = step.act === "two in one slot" ? [{ by: first, round }] : []
    return [
      { by: first, round, transactions: this.#transactions(step), evidence, heartbeats },
      ...others.map((by) => ({ by, round })),
      ...twice,
    ]
  }

  /** The inputs of one step, executed by the ledger; the supply is counted again after it. */
  commit(step: Step): Committed {
    const { chain } = this
    const epoch = chain.epoch
    const round = chain.round + step.rounds
    const vertices = this.#vertices(step).map((draft) => chain.vertex(draft, round))
    const [first] = vertices[0]?.body.transactions ?? []
    const asked = first && chain.ledger.admission(first, 0)
    const execution = Either.getOrThrowWith(chain.executeVertices(vertices, round), (violation) => violation)
    Either.getOrThrowWith(chain.ledger.recount(), (violation) => violation)
    this.#books.enter(execution, vertices)
    if (execution.nextEpoch !== null) this.#previousEpoch = epoch
    this.#accounts.look()
    return { execution, vertices, asked }
  }

  /** One commit in both ledgers, then every invariant. */
  take(step: Step): Execution {
    const { chain, naive } = this
    const epoch = chain.epoch
    const previousEpoch = this.#previousEpoch
    const parameters = chain.ledger.read.parameters
    const payloads = new Map(chain.ledger.read.proposals(200).map(({ id, payload }) => [id, payload]))
    const noncesBefore = new Map([...cast, ...others].map((someone) => [someone.address, chain.account(someone).nonce]))
    const { execution, vertices, asked } = this.commit(step)
    const [met] = execution.vertices[0]?.transactions ?? []
    // Evidence comes before the transactions of its vertex.
    if (met !== undefined && step.act !== "equivocate") Door.expectMet(asked, met, step)
    const verdicts = naive.execute(vertices, chain.round, {
      epoch,
      previousEpoch,
      parameters,
      outcomes: execution.vertices.map(({ transactions }) => transactions),
      events: execution.events,
      payloads,
      votes: votesIn(chain.ledger),
      closes: execution.nextEpoch !== null,
    })
    const outcomes = execution.vertices.map(({ transactions }) => transactions.map(({ _tag }) => _tag))
    same(JSON.stringify(outcomes), JSON.stringify(verdicts), "outcomes")
    this.#check(execution, vertices, noncesBefore)
    return execution
  }

  #check(
    { vertices, nextEpoch }: Execution,
    given: ReadonlyArray<Vertex>,
    noncesBefore: ReadonlyMap<string, number>,
  ): void {
    const { ledger } = this.chain
    const taken = new Map<string, number>()
    given.forEach(({ body }, i) => {
      body.transactions.forEach(({ from, nonce }, j) => {
        if (vertices[i]?.transactions[j]?._tag === "NoEffect") return
        const expected = (noncesBefore.get(from) ?? 0) + (taken.get(from) ?? 0)
        same(nonce, expected, `nonce taken from ${from}`)
        taken.set(from, (taken.get(from) ?? 0) + 1)
      })
    })
    for (const someone of [...cast, ...others]) {
      const { nonce } = this.chain.account(someone)
      same(
        nonce,
        (noncesBefore.get(someone.address) ?? 0) + (taken.get(someone.address) ?? 0),
        `nonce of ${someone.name}`,
      )
    }
    for (const someone of [...cast, ...others]) compare(this.chain.ledger, this.naive, someone)
    const { total, treasury } = ledger.read.totals
    const held = [...this.naive.bonds].map(([id, { amount }]) => `${id}: ${amount}`)
    const bonds = ledger.read.proposals(200).filter(({ bondStatus }) => bondStatus === "held")
    same(
      bonds
        .map(({ id, bond }) => `${id}: ${bond}`)
        .reverse()
        .join(),
      held.join(),
      "held bonds",
    )
    same(BigInt(total), this.naive.total, "total supply")
    same(BigInt(treasury), this.naive.treasury, "treasury")
    if (nextEpoch !== null) checkCommittee(nextEpoch)
  }
}

/** Whether both agree on an account's holdings and pools. */
export const compare = (ledger: Ledger, naive: NaiveLedger, { address, name }: Person): void => {
  const { read } = ledger
  const account = read.account(address)
  if (!Sats.isSats(account.balance)) throw new Error(`the balance of ${name} is ${account.balance}`)
  same(BigInt(account.balance), naive.balance(address), `balance of ${name}`)
  same(BigInt(account.stake?.amount ?? 0), naive.stakes.get(address)?.amount ?? 0n, `stake of ${name}`)
  const held = naive.delegation(address)
  const delegation = read.delegation(address)
  same(delegation?.validator, held?.validator, `validator of ${name}`)
  const validator = naive.validators.get(address)
  const delegators = read.delegators(address, 500)
  const pools = validator === undefined ? [] : poolsOf(validator)
  const amount = pools.reduce((sum, pool) => sum + pool.amount, 0n)
  same(BigInt(delegators.total), amount, `pools of ${name}`)
  const holders = pools.reduce((sum, pool) => sum + pool.holders.size, 0)
  same(delegators.count, holders, `delegators of ${name}`)
}

export const same = <A>(actual: A, expected: A, what: string): void => {
  if (actual !== expected) throw new Error(`${what}: ${String(actual)}, expected ${String(expected)}`)
}

const checkCommittee = ({ members }: EpochRecord): void => {
  if (members.length === 0) throw new Error("a committee of nobody")
  if (members.some(({ weight }) => weight < 1)) throw new Error("a member without weight")
}

/** Plays all steps; throws at the first step after which an invariant fails. */
export const play = (stage: Stage, steps: ReadonlyArray<Step>): Play => {
  const play = new Play(stage)
  for (const step of steps) play.take(step)
  return play
}

/** Plays it watched only by the ledger's own running totals and the recount. */
export const playCounting = (stage: Stage, steps: ReadonlyArray<Step>): void => {
  const play = new Play(stage)
  for (const step of steps) play.commit(step)
}

type Run = (stage: Stage, steps: ReadonlyArray<Step>) => void

interface Draw {
  readonly seed: number
  readonly count: number
  readonly length: number
}

interface Failure {
  readonly seed: number
  readonly stage: Stage
  readonly steps: ReadonlyArray<Step>
  readonly message: string
}

const messageOf = (run: Run, stage: Stage, steps: ReadonlyArray<Step>): string | undefined => {
  try {
    run(stage, steps)
    return undefined
  } catch (failure) {
    return failure instanceof Error ? failure.message : String(failure)
  }
}

/** Draws lives of `length` steps and runs each; returns the first failure. */
export const firstFailure = ({ seed, count, length }: Draw, run: Run): Failure | undefined => {
  const life = fc.tuple(stage, fc.array(step, { minLength: length, maxLength: length, size: "max" }))
  for (let i = 0; i < count; i++) {
    for (const [stage, steps] of fc.sample(life, { seed: seed + i, numRuns: 1 })) {
      const message = messageOf(run, stage, steps)
      if (message !== undefined) return { seed: seed + i, stage, steps, message }
    }
  }
  return undefined
}

/** A failure in as few steps as dropping some of them allows. */
const shrunk = (run: Run, failure: Failure): Failure => {
  let { steps, message } = failure
  for (let chunk = steps.length; chunk >= 1; chunk = Math.floor(chunk / 2)) {
    for (let from = 0; from < steps.length; ) {
      const fewer = [...steps.slice(0, from), ...steps.slice(from + chunk)]
      const still = messageOf(run, failure.stage, fewer)
      if (still === undefined) from += chunk
      else {
        steps = fewer
        message = still
      }
    }
  }
  return { ...failure, steps, message }
}

/** Runs many lives; a failure is shrunk and reported so that it can be replayed. */
export const lives = (draw: Draw, run: Run): void => {
  const failure = firstFailure(draw, run)
  if (failure === undefined) return
  const { seed, stage, steps, message } = shrunk(run, failure)
  const told = steps.map((step) => `  ${JSON.stringify(step)},\n`).join("")
  throw new Error(`${message}\nseed ${seed}; replay with play(${JSON.stringify(stage)}, [\n${told}])`)
}
