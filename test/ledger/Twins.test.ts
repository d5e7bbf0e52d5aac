/**
 * Two ledgers of one life: one that runs through, and one that is restored from its records every few commits, with
 * another key each time and the records in another order. Crowds of thousands of accounts, delegators who leave
 * together, names and proposals catch tables while they grow and releases while they run.
 */
import { setImmediate as turn } from "node:timers/promises"
import { Either, FastCheck as fc } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import type { Ledger } from "../../src/ledger/Ledger.js"
import type { Input } from "../../src/ledger/rules/Execution.js"
import { Recount } from "../../src/ledger/tables/Recount.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as Rest from "../support/Rest.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, type Person, person, stranger } from "./builders.js"

const SEED = 20_260_303
const LIVES = 12

const fail = (failure: unknown): unknown => failure

const validators = ["val", "evil", "third"].map(person)
const crowd = Array.from({ length: 1_500 }, (_, i) => person(`one of the crowd ${i}`))
const council = person("seat")
const everybody = [...validators, ...crowd, council]

const acts = ["delegate", "undelegate", "strangers", "names", "propose", "vote", "slash", "unstake", "stake"] as const

interface Step {
  readonly act: (typeof acts)[number]
  readonly from: number
  readonly count: number
  readonly rounds: number
  /** Whether the second ledger is restored after this commit. */
  readonly isRestored: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom(...acts, "delegate", "undelegate", "strangers"),
  from: fc.nat(crowd.length - 1),
  count: fc.constantFrom(1, 3, 300, 700, 1_500),
  // Now and then enough of them that proposals lose their texts.
  rounds: fc.oneof(
    { weight: 30, arbitrary: fc.integer({ min: 1, max: 14 }) },
    { weight: 1, arbitrary: fc.constant(Limits.PROPOSAL_TEXTS_ROUNDS) },
  ),
  isRestored: fc.boolean(),
})

const payloads = (target: Person): ReadonlyArray<ProposalPayload> => [
  { _tag: "Text" },
  { _tag: "TreasurySpend", recipient: target.address, amount: Sats.make(1) },
  { _tag: "ParameterChange", param: "slash_percent", value: 100 },
  { _tag: "CouncilMembership", action: "add", address: target.address },
]

class Life {
  readonly chain = new Chain({
    accounts: Object.fromEntries(
      crowd
        .map(({ name }) => [name, 20])
        .concat([
          ["seat", 5_000],
          ["evil", 5_000],
        ]),
    ),
    validators: { val: 9_000, evil: 3_000, third: 4_000 },
    council: ["seat"],
    treasury: 10,
    parameters: { minDelegation: 1, slashPercent: 99, maxActiveProposals: 100, votingPeriodRounds: 30 },
    protocol: { roundReward: coins(0.300_000_07) },
  })
  #strangers = 0

  #some({ from, count }: Step): ReadonlyArray<Person> {
    return Array.from({ length: count }, (_, i) => crowd[(from + i) % crowd.length] ?? council)
  }

  #transactions(step: Step): ReadonlyArray<Transaction> {
    const { chain } = this
    const { act, from, count } = step
    const target = validators[from % 3] ?? council
    switch (act) {
      case "delegate":
        return this.#some(step).map((who, i) => chain.delegate(who, target, 1 + ((i * 7_919) % 100_003)))
      case "undelegate":
        return this.#some(step).map((who) => chain.undelegate(who))
      case "strangers":
        return Array.from({ length: count }, () => {
          const address = (++this.#strangers).toString(16).padStart(40, "0")
          return chain.transfer(council, stranger(address), 1)
        })
      case "names":
        return this.#some(step).map((who, i) =>
          chain.tx(who, { _tag: "RegisterNameTx", name: `n${(from + i) % 1_400}x` as never }, { fee: 100_000 }),
        )
      case "propose":
        return payloads(target).map((payload, i) => {
          const description = "d".repeat((from * 4 + i) % (Limits.DESCRIPTION_BYTES + 1))
          return chain.tx(council, { _tag: "CreateProposalTx", title: "t", description, payload }, { fee: 1_000 })
        })
      case "vote":
        return chain.ledger.read
          .proposals(1 + (count % 8))
          .map(({ id }) => chain.tx(target, { _tag: "VoteTx", proposalId: id, vote: from % 5 > 0 }, { fee: 1_000 }))
      case "stake":
        return [chain.stake(person("evil"), Sats.MIN_STAKE_SATS)]
      case "unstake":
        return from % 4 === 0 ? [chain.unstake(person("evil"))] : []
      case "slash":
        return []
    }
  }

  /** Executes a step. Returns its input and its result. */
  take(step: Step): { readonly input: Input; readonly digest: string } {
    const { chain } = this
    const evidence = step.act === "slash" && step.count < 700 ? [chain.evidence(person("evil"), chain.round + 1)] : []
    const [by = council, ...others] = chain.committee
    const transactions = this.#transactions(step)
    const heartbeats = chain.account(person("evil")).stake === null ? [] : [chain.heartbeat(person("evil"))]
    const round = chain.round + step.rounds
    const { effectsDigest } = chain.commit(
      [{ by, transactions, evidence, heartbeats }, ...others.map((by) => ({ by }))],
      round,
    )
    const input = chain.inputs.at(-1)
    if (input === undefined) throw new Error("nothing was executed")
    return { input, digest: effectsDigest }
  }
}

/** Every possible question; addresses of a sample of the crowd. */
const answers = ({ read }: Ledger) => ({
  head: read.head,
  totals: read.totals,
  epoch: read.epoch,
  previousEpoch: read.previousEpoch,
  council: read.council(),
  parameters: read.parameters,
  validators: read.validators(500),
  stakes: validators.map(({ address }) => read.stake(address)),
  delegators: validators.map(({ address }) => read.delegators(address, 700)),
  people: everybody
    .filter((_, i) => i % 17 === 0)
    .map(({ address }) => [read.account(address), read.delegation(address)]),
  names: Array.from({ length: 1_400 }, (_, i) => read.addressOf(`n${i}x` as never)),
  proposals: read.proposals(500),
  voters: read.proposals(500).map(({ id }) => read.voters(id)),
  ballots: read.proposals(500).map(({ id }) => validators.map(({ address }) => read.ballot(id, address))),
})

const restored = (ledger: Ledger, { genesis }: Chain, salt: number): Ledger => {
  const records = [...ledger.records()]
    .map((record, i) => ({ record, place: ((i + salt) * 7_919) % 1_009 }))
    .sort((a, b) => a.place - b.place)
    .map(({ record }) => record)
  const key = { low: Math.imul(salt, 0x9e3779b1) >>> 0, high: salt }
  return Either.getOrThrowWith(fromRecords(genesis.protocol, key, records, ledger.effectsDigest), fail)
}

const rootOf = (ledger: Ledger) => Trie.apply(Trie.empty, ledger.entries()).hash

/** What the life must have met, or it proves nothing. */
interface Seen {
  released: number
  largestRelease: number
  slashed: number
  decided: number
  accounts: number
  named: number
}

const live = (steps: ReadonlyArray<Step>, seen: Seen): void => {
  const life = new Life()
  const { chain } = life
  let twin = restored(chain.ledger, chain, 1)
  steps.forEach((step, i) => {
    const { input, digest } = life.take(step)
    const { effectsDigest, events } = Either.getOrThrowWith(twin.execute(input), fail)
    if (effectsDigest !== digest) throw new Error(`step ${i}: digest ${effectsDigest}, expected ${digest}`)
    const unlocked = events.filter(({ _tag }) => _tag === "Unlocked").length
    seen.released += unlocked
    seen.largestRelease = Math.max(seen.largestRelease, unlocked)
    seen.slashed += events.filter(({ _tag }) => _tag === "Slashed").length
    seen.decided += events.filter(({ _tag }) => _tag === "ProposalDecided").length
    if (!step.isRestored) return
    Either.getOrThrowWith(chain.ledger.recount(), fail)
    twin = restored(twin, chain, i + 2)
    expect(answers(twin)).toEqual(answers(chain.ledger))
  })
  const recount = new Recount()
  for (const record of twin.records()) Either.getOrThrowWith(recount.add(record), fail)
  expect(Either.getOrThrowWith(recount.finish(), fail)).toEqual(chain.ledger.read.totals)
  expect(rootOf(twin)).toBe(rootOf(chain.ledger))
  seen.accounts = Math.max(seen.accounts, chain.ledger.read.accountCount)
  seen.named += answers(twin).names.filter((address) => address !== undefined).length
}

describe(Rest.of("thousands of accounts", "a ledger that is restored in the middle of a crowd's life"), () => {
  // The lives are synchronous, and the runner gives up on a worker that is silent for a minute.
  afterEach(() => turn())

  const seen: Seen = { released: 0, largestRelease: 0, slashed: 0, decided: 0, accounts: 0, named: 0 }

  const livesAlike = (seed: number): void => {
    const life = fc.array(step, { minLength: 40, maxLength: 40, size: "max" })
    for (const steps of fc.sample(life, { seed, numRuns: 1 })) live(steps, seen)
  }

  const seeds = Array.from({ length: LIVES }, (_, i) => SEED + i)
  it.each(seeds)(
    "has the same digests, answers and root as one that never stopped, from seed %i",
    { timeout: 300_000 },
    livesAlike,
  )

  it("has met limited releases, slashes, decisions, names, and growing tables", () => {
    expect(seen.largestRelease).toBe(Limits.RELEASES_PER_COMMIT)
    expect(Math.min(seen.released, seen.named)).toBeGreaterThan(1_000)
    expect(seen.accounts).toBeGreaterThan(4_096)
    expect(Math.min(seen.slashed, seen.decided)).toBeGreaterThan(3)
  })
})
