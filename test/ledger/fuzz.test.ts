import { setImmediate as turn } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import * as Reached from "../edges/Reached.js"
import * as Rest from "../support/Rest.js"
import { fuzz, type Seen } from "./Fuzz.js"

const USUAL_TRANSACTIONS = 3_000
const TRANSACTIONS = Number(process.env["UDG_FUZZ_TRANSACTIONS"] ?? 20_000)
const SEED = Number(process.env["UDG_FUZZ_SEED"] ?? 20_261_123)

/** What a long run must have met, or it proves nothing. */
const expected = [
  "Applied Transfer",
  "Applied StakeTx",
  "Applied UnstakeTx",
  "Applied DelegateTx",
  "Applied UndelegateTx",
  "Applied SetCommissionTx",
  "Applied CreateProposalTx",
  "Applied VoteTx",
  "Applied RegisterNameTx",
  "Applied SetAccountPolicyTx",
  "Failed fee_below_minimum",
  "Failed InsufficientBalance",
  "NoEffect fee_below_minimum",
  "NoEffect InsufficientBalance",
  "NoEffect InvalidSignature",
  "NoEffect NonceTooHigh",
  "NoEffect NonceTooLow",
  "ProposalCarriedOut",
  "Slashed",
  "Unlocked",
  "refused by the decoder",
  "the door took it",
  "the door refused it",
  ...Reached.all,
]

describe("a ledger under transactions with edge values", () => {
  const named = (transactions: number) =>
    `answers each of ${transactions}, like the naive ledger and like a twin that is restored now and then`

  const answersEach = async (transactions: number): Promise<Seen> => {
    const run = fuzz(SEED, transactions)
    let step = run.next()
    // The runner gives up on a worker that is silent for a minute.
    for (let commits = 1; step.done !== true; commits++, step = run.next()) if (commits % 100 === 0) await turn()
    return step.value
  }

  it(named(USUAL_TRANSACTIONS), { timeout: 300_000 }, async () => {
    const seen = await answersEach(USUAL_TRANSACTIONS)
    expect(["Applied Transfer", "the door took it", "the door refused it"].filter((what) => !seen.has(what))).toEqual(
      [],
    )
  })

  it(Rest.of("more transactions", named(TRANSACTIONS)), { timeout: 60_000 + TRANSACTIONS * 20 }, async () => {
    const seen = await answersEach(TRANSACTIONS)
    expect(expected.filter((what) => !seen.has(what))).toEqual([])
  })
})
