/** Rules of the ledger, each broken in one place. The random lives of `Play.ts` must notice each. */
import type { Change, Fault } from "../support/Planting.js"

/** A file of the ledger and the defect in it. */
type Place = Pick<Change, "file" | "of" | "call">

const rule = (name: string, { file, ...place }: Place, by: string): Fault => ({
  name,
  changes: [{ file: `src/ledger/${file}`, ...place, by }],
})

const skipped = "() => {}"

/** Money appears or vanishes: the running totals or the recount notice without knowing the rules. */
export const conservation: ReadonlyArray<Fault> = [
  rule(
    "a fee is paid to nobody",
    { file: "rules/Transactions.ts", of: "payFee" },
    `(state, row, _author, { fee }) => {
      state.accounts.setBalance(row, Sats.subtractBounded(state.accounts.balance(row), fee))
      return Sats.ZERO
    }`,
  ),
  rule(
    "a name's fee and the price of an account are lost",
    { file: "rules/Transactions.ts", of: "payFee", call: "supply.increase" },
    skipped,
  ),
  rule(
    "a transfer arrives without having left",
    { file: "rules/Transactions.ts", of: "applyTransfer" },
    `(state, _row, recipient, { to, amount }) =>
      state.accounts.setBalance(recipient ?? state.accounts.findOrAdd(to), amount)`,
  ),
  rule("a reward is not counted as minted", { file: "rules/Rewards.ts", of: "apply", call: "supply.mint" }, skipped),
  rule(
    "a reward is not held against the cap",
    { file: "rules/Rewards.ts", of: "apply", call: "Sats.min" },
    "(coinbase) => coinbase",
  ),
  rule(
    "the treasury's share is lost",
    { file: "rules/Rewards.ts", of: "split" },
    "(minted, measures) => ({ ...original(minted, measures), treasury: Sats.ZERO })",
  ),
  rule(
    "the author is not paid",
    { file: "rules/Rewards.ts", of: "split" },
    "(minted, measures) => ({ ...original(minted, measures), author: Sats.ZERO })",
  ),
  rule(
    "delegators are paid beside the pool",
    { file: "rules/Rewards.ts", of: "apply", call: "Pool.reward" },
    "(pool) => pool",
  ),
  rule("what is slashed is not burned", { file: "rules/Slashing.ts", of: "apply", call: "supply.burn" }, skipped),
  rule(
    "a slashed stake still counts as staked",
    { file: "rules/Slashing.ts", of: "slashStake", call: "supply.decrease" },
    skipped,
  ),
  rule(
    "a leaving pool is burned and kept",
    { file: "rules/Slashing.ts", of: "slashLeaving", call: "leavingPools.set" },
    skipped,
  ),
  rule("a stake costs nothing", { file: "rules/Staking.ts", of: "applyStake", call: "debit" }, skipped),
  rule("a released stake stays staked", { file: "rules/Staking.ts", of: "release", call: "supply.decrease" }, skipped),
  rule(
    "a delegation does not count as delegated",
    { file: "rules/Delegation.ts", of: "applyDelegate", call: "supply.increase" },
    skipped,
  ),
  rule(
    "a second deposit loses the first shares",
    { file: "rules/Delegation.ts", of: "applyDelegate", call: "livingDelegation" },
    "() => null",
  ),
  rule(
    "a departing delegation stays in the working pool too",
    { file: "rules/Delegation.ts", of: "depart", call: "Pool.withdraw" },
    "(pool, share) => ({ ...Pool.withdraw(pool, share), pool })",
  ),
  rule(
    "a released delegation stays in the pool",
    { file: "rules/Delegation.ts", of: "release", call: "leavingPools.set" },
    skipped,
  ),
  rule("the treasury pays and keeps", { file: "rules/Governance.ts", of: "spend", call: "supply.decrease" }, skipped),
  rule("a bond is taken from nobody", { file: "rules/Governance.ts", of: "applyProposal", call: "hold" }, skipped),
  rule("a bond that comes back is lost", { file: "rules/Governance.ts", of: "settleBond", call: "giveBack" }, skipped),
  rule("a forfeited bond stays liquid", { file: "rules/Governance.ts", of: "settleBond", call: "forfeit" }, skipped),
  rule(
    "a pool slashed to nothing keeps its shares",
    { file: "tables/Pool.ts", of: "slash" },
    `(pool, percent) => {
      const { burned, pool: { amount } } = original(pool, percent)
      return { burned, pool: { ...pool, amount } }
    }`,
  ),
]

/** The sums are right but the wrong account has the money: only the naive ledger notices. */
export const fairness: ReadonlyArray<Fault> = [
  rule(
    "council seats are rounded up",
    { file: "rules/Rewards.ts", of: "split" },
    `(minted, measures) => {
      const { perCouncilSeat, author, ...parts } = original(minted, measures)
      const more = Math.min(author, measures.councilSeats)
      return { ...parts, perCouncilSeat: Sats.make(perCouncilSeat + 1), author: Sats.make(author - more) }
    }`,
  ),
  rule(
    "an author is paid for both of its vertices",
    { file: "rules/Rewards.ts", of: "claim", call: "includes" },
    "() => false",
  ),
  rule(
    "no commission is taken",
    { file: "rules/Rewards.ts", of: "split" },
    "(minted, measures) => original(minted, { ...measures, commissionPercent: 0 })",
  ),
  rule(
    "an exempt transaction fails for free",
    { file: "rules/Transactions.ts", of: "feeOfFailure" },
    "(_state, { fee }) => fee",
  ),
  rule("a new account costs nothing", { file: "rules/Transactions.ts", of: "accountFeeOf" }, "() => 0"),
  rule(
    "the author is paid for a new account",
    { file: "rules/Transactions.ts", of: "payFee" },
    "(state, row, author, transaction) => original(state, row, author, transaction, 0)",
  ),
  rule(
    "the second of two transfers pays for the account again",
    { file: "rules/Transactions.ts", of: "accountFeeOf" },
    `(state, operation, recipient) =>
      operation._tag === "Transfer" && recipient === undefined ? state.parameters.accountFee : 0`,
  ),
  rule(
    "a stake is released an epoch early",
    { file: "tables/UnlockQueue.ts", of: "UnlockQueue.takeDue" },
    "(round, epoch, isHeld) => original(round, (epoch + 1) as Epoch, isHeld)",
  ),
  rule(
    "a member's stake is released",
    { file: "rules/Unlocking.ts", of: "takeTurn", call: "isAnswerable" },
    "() => false",
  ),
  rule(
    "a delegation that counts in a weight is released",
    { file: "tables/State.ts", of: "State.isWeightOf" },
    "() => false",
  ),
  rule(
    "delegators wait for every member",
    { file: "tables/State.ts", of: "State.isWeightOf" },
    "(validator) => original(validator, Natural.epoch(Number.MAX_SAFE_INTEGER))",
  ),
  rule(
    "a bond comes back without a quorum",
    { file: "rules/Governance.ts", of: "decide", call: "settleBond" },
    "(state, proposal) => settleBond(state, proposal, true)",
  ),
  rule(
    "a bond comes back only to who wins",
    { file: "rules/Governance.ts", of: "decide", call: "settleBond" },
    `(state, proposal, isQuorum) =>
      settleBond(state, proposal, isQuorum && isApproved(proposal, state.parameters))`,
  ),
  rule(
    "one equivocation is punished twice",
    { file: "rules/Slashing.ts", of: "isPunishable", call: "slashed.has" },
    "() => false",
  ),
  rule(
    "evidence of the epoch before is refused",
    { file: "rules/Slashing.ts", of: "isPunishable" },
    "(state, evidence) => evidence.first.epoch === state.epoch.record.epoch && original(state, evidence)",
  ),
  rule(
    "nonces may be skipped",
    { file: "rules/Transactions.ts", of: "noEffect" },
    `(state, transaction, row) => {
      const nonce = Natural.nonce(Math.min(transaction.nonce, state.accounts.nonce(row)))
      return original(state, { ...transaction, nonce }, row)
    }`,
  ),
  rule(
    "shares are minted one for every sat",
    { file: "tables/Pool.ts", of: "deposit", call: "Sats.mulDivBigint" },
    "(amount) => amount",
  ),
  rule(
    "a deposit is taken whole, whatever its shares cost",
    { file: "tables/Pool.ts", of: "deposit" },
    `(pool, offered) =>
      Either.map(original(pool, offered), (deposit) => ({
        ...deposit,
        pool: { ...deposit.pool, amount: Sats.addBounded(pool.amount, offered) },
        cost: offered,
      }))`,
  ),
  rule(
    "the cost of a deposit is rounded down",
    { file: "tables/Pool.ts", of: "deposit", call: "Sats.mulDivBigintUp" },
    "Sats.mulDivBigint",
  ),
  rule(
    "who leaves goes on working after the close",
    { file: "rules/Unlocking.ts", of: "depart", call: "Delegation.depart" },
    skipped,
  ),
  rule(
    "who leaves is released with the first commit",
    { file: "tables/UnlockQueue.ts", of: "UnlockQueue.takeDue" },
    "(_round, epoch, isHeld) => original(Number.MAX_SAFE_INTEGER as Round, epoch, isHeld)",
  ),
  rule(
    "a slash spares who has left",
    { file: "rules/Slashing.ts", of: "slashPools", call: "slashLeaving" },
    "() => Sats.ZERO",
  ),
]
