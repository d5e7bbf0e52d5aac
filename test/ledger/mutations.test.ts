/**
 * Whether the tests could fail: rules are broken one at a time, in the source text, and the random lives have to notice.
 * Each mutant is bundled from the real sources with one line changed, so nothing in production knows of this.
 */
import { mkdirSync, readFileSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type * as Play from "./Play.js"

const root = resolve(import.meta.dirname, "../..")
// Inside the project, so that the mutants find its packages.
const folder = join(root, "node_modules/.cache/udg-mutants")

interface Mutation {
  readonly rule: string
  readonly file: string
  readonly line: string
  readonly becomes: string
}

/** Money appears or vanishes: the running totals or the recount notice, without knowing what the rules are. */
const conservation: ReadonlyArray<Mutation> = [
  {
    rule: "a fee is paid to nobody",
    file: "Transactions",
    line: "} else state.pay(row, author, fee)",
    becomes: "} else state.accounts.setBalance(row, Sats.subtractBounded(state.accounts.balance(row), fee))",
  },
  { rule: "a name's fee is lost", file: "Transactions", line: `state.supply.increase("treasury", fee)`, becomes: "" },
  {
    rule: "a transfer arrives without having left",
    file: "Transactions",
    line: "state.pay(row, recipient ?? state.accounts.findOrAdd(operation.to), operation.amount)",
    becomes: "state.accounts.setBalance(state.accounts.findOrAdd(operation.to), operation.amount)",
  },
  { rule: "a reward is not counted as minted", file: "Rewards", line: "state.supply.mint(minted)", becomes: "" },
  {
    rule: "a reward is not held against the cap",
    file: "Rewards",
    line: "Sats.min(header.coinbase, state.supply.room)",
    becomes: "header.coinbase",
  },
  {
    rule: "the treasury's share is lost",
    file: "Rewards",
    line: `state.supply.increase("treasury", parts.treasury)`,
    becomes: "",
  },
  { rule: "the author is not paid", file: "Rewards", line: "state.creditAddress(author, parts.author)", becomes: "" },
  {
    rule: "delegators are paid beside the pool",
    file: "Rewards",
    line: "working: Pool.reward(validator.working, parts.pool)",
    becomes: "working: validator.working",
  },
  {
    rule: "what is slashed is not burned",
    file: "Slashing",
    line: "state.supply.burn(Sats.addBounded(ownStake, delegated))",
    becomes: "",
  },
  {
    rule: "a slashed stake still counts as staked",
    file: "Slashing",
    line: `state.supply.decrease("staked", burned)`,
    becomes: "",
  },
  {
    rule: "a leaving pool is burned and kept",
    file: "Slashing",
    line: "state.leavingPools.set(author, epoch, pool)",
    becomes: "",
  },
  { rule: "a stake costs nothing", file: "Staking", line: "state.debit(row, amount)", becomes: "" },
  {
    rule: "a released stake stays staked",
    file: "Staking",
    line: `state.supply.decrease("staked", stake.amount)`,
    becomes: "",
  },
  {
    rule: "a delegation does not count as delegated",
    file: "Delegation",
    line: `state.supply.increase("delegated", cost)`,
    becomes: "",
  },
  { rule: "a second deposit loses the first shares", file: "Delegation", line: "held + minted", becomes: "minted" },
  {
    rule: "a departing delegation stays in the working pool too",
    file: "Delegation",
    line: "{ ...validator, working, departing: 0n }",
    becomes: "{ ...validator, departing: 0n }",
  },
  {
    rule: "a released delegation stays in the pool",
    file: "Delegation",
    line: "state.leavingPools.set(delegation.validator, delegation.leaving.epoch, left)",
    becomes: "",
  },
  {
    rule: "the treasury pays and keeps",
    file: "Governance",
    line: `state.supply.decrease("treasury", amount)`,
    becomes: "",
  },
  { rule: "a bond is taken from nobody", file: "Governance", line: "state.hold(row, bond)", becomes: "" },
  { rule: "a bond that comes back is lost", file: "Governance", line: "state.giveBack(proposer, bond)", becomes: "{}" },
  { rule: "a forfeited bond stays liquid", file: "Governance", line: "state.forfeit(bond)", becomes: "{}" },
  {
    rule: "a pool slashed to nothing keeps its shares",
    file: "Pool",
    line: "return { burned, pool: { amount, shares: 0n, generation: pool.generation + 1 } }",
    becomes: "return { burned, pool: { ...pool, amount } }",
  },
]

/** The sums are right and the wrong one has the money: only the naive ledger notices. */
const fairness: ReadonlyArray<Mutation> = [
  {
    rule: "council seats are rounded up",
    file: "Rewards",
    line: "Sats.partBounded(council, 1, councilSeats)",
    becomes: "Sats.make(Sats.partBounded(council, 1, councilSeats) + 1)",
  },
  {
    rule: "an author is paid for both of its vertices",
    file: "Rewards",
    line: "claimed.includes(position)",
    becomes: "false",
  },
  {
    rule: "no commission is taken",
    file: "Rewards",
    line: "Sats.subtractBounded(rest, Sats.percent(rest, commissionPercent))",
    becomes: "rest",
  },
  {
    rule: "an exempt transaction fails for free",
    file: "Transactions",
    line: "Sats.max(fee, Sats.make(state.parameters.minFee))",
    becomes: "fee",
  },
  {
    rule: "a stake is released an epoch early",
    file: "UnlockQueue",
    line: "leaving.epoch + 2 > epoch",
    becomes: "leaving.epoch + 1 > epoch",
  },
  {
    rule: "a member's stake is released",
    file: "Unlocking",
    line: "if (state.isAnswerable(address))",
    becomes: "if (address.length === 0)",
  },
  {
    rule: "a delegation that counts in a weight is released",
    file: "State",
    line: "held.weighedIn <= leftIn &&",
    becomes: "held.weighedIn < 0 &&",
  },
  {
    rule: "delegators wait for every member",
    file: "State",
    line: "held.weighedIn <= leftIn &&",
    becomes: "",
  },
  {
    rule: "a bond comes back without a quorum",
    file: "Governance",
    line: "settleBond(state, proposal, isQuorum)",
    becomes: "settleBond(state, proposal, true)",
  },
  {
    rule: "a bond comes back only to who wins",
    file: "Governance",
    line: "settleBond(state, proposal, isQuorum)",
    becomes: `settleBond(state, proposal, status === "Passed")`,
  },
  {
    rule: "one equivocation is punished twice",
    file: "Slashing",
    line: "!state.slashed.has(markOf(epoch, author))",
    becomes: "author.length > 0",
  },
  {
    rule: "evidence of the epoch before is refused",
    file: "Slashing",
    line: "held !== undefined &&",
    becomes: "held !== undefined && epoch === state.epoch.record.epoch &&",
  },
  { rule: "nonces may be skipped", file: "Transactions", line: "if (nonce !== next)", becomes: "if (nonce < next)" },
  {
    rule: "shares are minted one for every sat",
    file: "Pool",
    line: "isEmpty ? amount : Sats.mulDivBigint(amount, pool.shares, held)",
    becomes: "amount",
  },
  {
    rule: "a deposit is taken whole, whatever its shares cost",
    file: "Pool",
    line: "isEmpty ? offered : Sats.make(Number(Sats.mulDivBigintUp(minted, held, pool.shares)))",
    becomes: "offered",
  },
  {
    rule: "the cost of a deposit is rounded down",
    file: "Pool",
    line: "Sats.mulDivBigintUp(minted, held, pool.shares)",
    becomes: "Sats.mulDivBigint(minted, held, pool.shares)",
  },
  {
    rule: "who leaves goes on working after the close",
    file: "Unlocking",
    line: "validator.departing > 0n",
    becomes: "validator.departing < 0n",
  },
  {
    rule: "who leaves is released with the first commit",
    file: "UnlockQueue",
    line: " || bucket.leaving.unlockAtRound > round",
    becomes: "",
  },
  {
    rule: "a slash spares who has left",
    file: "Slashing",
    line: "Sats.addBounded(slashWorking(state, author, percent), slashLeaving(state, author, percent))",
    becomes: "slashWorking(state, author, percent)",
  },
]

/** The random lives, against ledger sources with one line changed. */
const mutant = async (mutation: Mutation): Promise<typeof Play> => {
  const path = join(root, `src/ledger/${mutation.file}.ts`)
  const source = readFileSync(path, "utf8")
  // A mutation that no longer fits the source must not pass for one that was caught.
  expect(source.split(mutation.line), `${mutation.file} holds the line once`).toHaveLength(2)
  const outfile = join(folder, `${mutation.rule.replaceAll(/\W+/g, "-")}.mjs`)
  await build({
    entryPoints: [join(root, "test/ledger/Play.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    conditions: ["udg-source"],
    logLevel: "warning",
    plugins: [
      {
        name: "mutation",
        setup: ({ onLoad }) => {
          onLoad({ filter: new RegExp(`src/ledger/${mutation.file}\\.ts$`) }, () => ({
            contents: source.replace(mutation.line, () => mutation.becomes),
            loader: "ts",
          }))
        },
      },
    ],
  })
  return import(pathToFileURL(outfile).href)
}

const draw = { seed: 20_260_303, count: 60, length: 200 }

describe("a broken rule is noticed", { timeout: 300_000 }, () => {
  beforeAll(() => mkdirSync(folder, { recursive: true }))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

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
      file: "Ledger",
      line: "export class Ledger {",
      becomes: "export class Ledger {",
    })
    expect(firstFailure({ ...draw, count: 10 }, play)).toBeUndefined()
  })
})
