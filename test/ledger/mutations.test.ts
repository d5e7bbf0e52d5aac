/**
 * Whether the tests could fail: rules are broken one at a time, in the source text, and the random lives have to notice.
 * Each mutant is bundled from the real sources with one line changed, so nothing in production knows of this.
 */
import { rmSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import * as Bundle from "../support/Bundle.js"
import type * as Play from "./Play.js"

const bundles: Array<string> = []

interface Mutation extends Bundle.Change {
  readonly rule: string
}

/** Money appears or vanishes: the running totals or the recount notice, without knowing what the rules are. */
const conservation: ReadonlyArray<Mutation> = [
  {
    rule: "a fee is paid to nobody",
    file: "ledger/rules/Transactions.ts",
    line: "} else state.pay(row, author, fee)",
    by: "} else state.accounts.setBalance(row, Sats.subtractBounded(state.accounts.balance(row), fee))",
  },
  {
    rule: "a name's fee is lost",
    file: "ledger/rules/Transactions.ts",
    line: `state.supply.increase("treasury", fee)`,
    by: "",
  },
  {
    rule: "a transfer arrives without having left",
    file: "ledger/rules/Transactions.ts",
    line: "state.pay(row, recipient ?? state.accounts.findOrAdd(operation.to), operation.amount)",
    by: "state.accounts.setBalance(state.accounts.findOrAdd(operation.to), operation.amount)",
  },
  {
    rule: "a reward is not counted as minted",
    file: "ledger/rules/Rewards.ts",
    line: "state.supply.mint(minted)",
    by: "",
  },
  {
    rule: "a reward is not held against the cap",
    file: "ledger/rules/Rewards.ts",
    line: "Sats.min(header.coinbase, state.supply.room)",
    by: "header.coinbase",
  },
  {
    rule: "the treasury's share is lost",
    file: "ledger/rules/Rewards.ts",
    line: `state.supply.increase("treasury", parts.treasury)`,
    by: "",
  },
  {
    rule: "the author is not paid",
    file: "ledger/rules/Rewards.ts",
    line: "state.creditAddress(author, parts.author)",
    by: "",
  },
  {
    rule: "delegators are paid beside the pool",
    file: "ledger/rules/Rewards.ts",
    line: "working: Pool.reward(validator.working, parts.pool)",
    by: "working: validator.working",
  },
  {
    rule: "what is slashed is not burned",
    file: "ledger/rules/Slashing.ts",
    line: "state.supply.burn(Sats.addBounded(ownStake, delegated))",
    by: "",
  },
  {
    rule: "a slashed stake still counts as staked",
    file: "ledger/rules/Slashing.ts",
    line: `state.supply.decrease("staked", burned)`,
    by: "",
  },
  {
    rule: "a leaving pool is burned and kept",
    file: "ledger/rules/Slashing.ts",
    line: "state.leavingPools.set(author, epoch, pool)",
    by: "",
  },
  { rule: "a stake costs nothing", file: "ledger/rules/Staking.ts", line: "state.debit(row, amount)", by: "" },
  {
    rule: "a released stake stays staked",
    file: "ledger/rules/Staking.ts",
    line: `state.supply.decrease("staked", stake.amount)`,
    by: "",
  },
  {
    rule: "a delegation does not count as delegated",
    file: "ledger/rules/Delegation.ts",
    line: `state.supply.increase("delegated", cost)`,
    by: "",
  },
  {
    rule: "a second deposit loses the first shares",
    file: "ledger/rules/Delegation.ts",
    line: "held + minted",
    by: "minted",
  },
  {
    rule: "a departing delegation stays in the working pool too",
    file: "ledger/rules/Delegation.ts",
    line: "{ ...validator, working, departing: 0n }",
    by: "{ ...validator, departing: 0n }",
  },
  {
    rule: "a released delegation stays in the pool",
    file: "ledger/rules/Delegation.ts",
    line: "state.leavingPools.set(delegation.validator, delegation.leaving.epoch, left)",
    by: "",
  },
  {
    rule: "the treasury pays and keeps",
    file: "ledger/rules/Governance.ts",
    line: `state.supply.decrease("treasury", amount)`,
    by: "",
  },
  { rule: "a bond is taken from nobody", file: "ledger/rules/Governance.ts", line: "state.hold(row, bond)", by: "" },
  {
    rule: "a bond that comes back is lost",
    file: "ledger/rules/Governance.ts",
    line: "state.giveBack(proposer, bond)",
    by: "{}",
  },
  { rule: "a forfeited bond stays liquid", file: "ledger/rules/Governance.ts", line: "state.forfeit(bond)", by: "{}" },
  {
    rule: "a pool slashed to nothing keeps its shares",
    file: "ledger/tables/Pool.ts",
    line: "return { burned, pool: { amount, shares: 0n, generation: pool.generation + 1 } }",
    by: "return { burned, pool: { ...pool, amount } }",
  },
]

/** The sums are right and the wrong one has the money: only the naive ledger notices. */
const fairness: ReadonlyArray<Mutation> = [
  {
    rule: "council seats are rounded up",
    file: "ledger/rules/Rewards.ts",
    line: "Sats.partBounded(council, 1, councilSeats)",
    by: "Sats.make(Sats.partBounded(council, 1, councilSeats) + 1)",
  },
  {
    rule: "an author is paid for both of its vertices",
    file: "ledger/rules/Rewards.ts",
    line: "claimed.includes(position)",
    by: "false",
  },
  {
    rule: "no commission is taken",
    file: "ledger/rules/Rewards.ts",
    line: "Sats.subtractBounded(rest, Sats.percent(rest, commissionPercent))",
    by: "rest",
  },
  {
    rule: "an exempt transaction fails for free",
    file: "ledger/rules/Transactions.ts",
    line: "Sats.max(fee, Sats.make(state.parameters.minFee))",
    by: "fee",
  },
  {
    rule: "a stake is released an epoch early",
    file: "ledger/tables/UnlockQueue.ts",
    line: "leaving.epoch + 2 > epoch",
    by: "leaving.epoch + 1 > epoch",
  },
  {
    rule: "a member's stake is released",
    file: "ledger/rules/Unlocking.ts",
    line: "if (state.isAnswerable(address))",
    by: "if (address.length === 0)",
  },
  {
    rule: "a delegation that counts in a weight is released",
    file: "ledger/tables/State.ts",
    line: "held.weighedIn <= leftIn &&",
    by: "held.weighedIn < 0 &&",
  },
  {
    rule: "delegators wait for every member",
    file: "ledger/tables/State.ts",
    line: "held.weighedIn <= leftIn &&",
    by: "",
  },
  {
    rule: "a bond comes back without a quorum",
    file: "ledger/rules/Governance.ts",
    line: "settleBond(state, proposal, isQuorum)",
    by: "settleBond(state, proposal, true)",
  },
  {
    rule: "a bond comes back only to who wins",
    file: "ledger/rules/Governance.ts",
    line: "settleBond(state, proposal, isQuorum)",
    by: `settleBond(state, proposal, status === "Passed")`,
  },
  {
    rule: "one equivocation is punished twice",
    file: "ledger/rules/Slashing.ts",
    line: "!state.slashed.has(markOf(epoch, author))",
    by: "author.length > 0",
  },
  {
    rule: "evidence of the epoch before is refused",
    file: "ledger/rules/Slashing.ts",
    line: "held !== undefined &&",
    by: "held !== undefined && epoch === state.epoch.record.epoch &&",
  },
  {
    rule: "nonces may be skipped",
    file: "ledger/rules/Transactions.ts",
    line: "if (nonce !== next)",
    by: "if (nonce < next)",
  },
  {
    rule: "shares are minted one for every sat",
    file: "ledger/tables/Pool.ts",
    line: "isEmpty ? amount : Sats.mulDivBigint(amount, pool.shares, held)",
    by: "amount",
  },
  {
    rule: "a deposit is taken whole, whatever its shares cost",
    file: "ledger/tables/Pool.ts",
    line: "isEmpty ? offered : Sats.make(Number(Sats.mulDivBigintUp(minted, held, pool.shares)))",
    by: "offered",
  },
  {
    rule: "the cost of a deposit is rounded down",
    file: "ledger/tables/Pool.ts",
    line: "Sats.mulDivBigintUp(minted, held, pool.shares)",
    by: "Sats.mulDivBigint(minted, held, pool.shares)",
  },
  {
    rule: "who leaves goes on working after the close",
    file: "ledger/rules/Unlocking.ts",
    line: "validator.departing > 0n",
    by: "validator.departing < 0n",
  },
  {
    rule: "who leaves is released with the first commit",
    file: "ledger/tables/UnlockQueue.ts",
    line: " || bucket.leaving.unlockAtRound > round",
    by: "",
  },
  {
    rule: "a slash spares who has left",
    file: "ledger/rules/Slashing.ts",
    line: "Sats.addBounded(slashWorking(state, author, percent), slashLeaving(state, author, percent))",
    by: "slashWorking(state, author, percent)",
  },
]

/** The random lives, against ledger sources with one line changed. */
const mutant = async ({ rule, ...change }: Mutation): Promise<typeof Play> => {
  const outfile = `mutants/${rule.replaceAll(/\W+/g, "-")}-${process.pid}.mjs`
  const program = { entry: "test/ledger/Play.ts", outfile, changes: [change], arePackagesExternal: true }
  const path = await Bundle.make(program)
  bundles.push(path)
  return import(pathToFileURL(path).href)
}

const draw = { seed: 20_260_303, count: 60, length: 200 }

describe("a broken rule is noticed", { timeout: 300_000 }, () => {
  afterAll(() => {
    for (const bundle of bundles) rmSync(bundle, { force: true })
  })

  describe("by the running totals or the recount alone", () => {
    it.each(conservation.map((mutation) => [mutation.rule, mutation] as const))("%s", async (_, mutation) => {
      const { firstFailure, playCounting } = await mutant(mutation)
      expect(firstFailure(draw, playCounting)?.message).toMatch(/totals|recount|add up|supply|shares|sats/)
    })
  })

  describe("by the naive ledger", () => {
    it.each(fairness.map((mutation) => [mutation.rule, mutation] as const))("%s", async (_, mutation) => {
      const { firstFailure, play } = await mutant(mutation)
      expect(firstFailure(draw, play)?.message).toBeDefined()
    })
  })

  it("and without a mutation nothing is", async () => {
    const { firstFailure, play } = await mutant({
      rule: "none",
      file: "ledger/Ledger.ts",
      line: "export class Ledger {",
      by: "export class Ledger {",
    })
    expect(firstFailure({ ...draw, count: 10 }, play)).toBeUndefined()
  })
})
