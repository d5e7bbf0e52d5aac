/**
 * No coin appears or is lost, whatever happens on a network: transfers, stakes, delegations, slashing, votes, names,
 * and transactions at the edges of every number. In half of the networks the cap is one coin away.
 */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import type { Execution } from "../../src/ledger/rules/Execution.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { lives, Play, type Stage, type Step } from "./Play.js"

const SEED = 20_260_102
const LIVES = 15
const COMMITS = 200

const sum = (amounts: ReadonlyArray<number>): bigint => amounts.reduce((total, amount) => total + BigInt(amount), 0n)

const BURNED: ReadonlyArray<string> = ["stake_slashed", "delegations_slashed"]

const mintedIn = ({ vertices }: Execution): bigint => sum(vertices.map(({ minted }) => minted))
const burnedIn = ({ postings }: Execution): bigint =>
  sum(postings.filter(({ kind }) => BURNED.includes(kind)).map(({ amount }) => amount))

/** What has happened in all lives, so that a vacuous run is noticed. */
const met = { minted: 0n, burned: 0n, atTheCap: 0 }

const keepsTheSupply = (stage: Stage, steps: ReadonlyArray<Step>): void => {
  const play = new Play(stage)
  const { ledger } = play.chain
  for (const step of steps) {
    const before = BigInt(ledger.read.totals.total)
    const { execution } = play.commit(step)
    const { liquid, staked, delegated, treasury, total } = ledger.read.totals
    const [minted, burned] = [mintedIn(execution), burnedIn(execution)]

    expect(sum([liquid, staked, delegated, treasury])).toBe(BigInt(total))
    expect(BigInt(total)).toBe(before + minted - burned)
    expect(total).toBeLessThanOrEqual(Sats.MAX_SUPPLY)
    expect(execution.totals).toEqual(ledger.read.totals)
    // The records themselves, added up: all balances and bonds, all stakes, all pools.
    expect(Either.getOrThrow(ledger.recount())).toEqual(ledger.read.totals)

    met.minted += minted
    met.burned += burned
    if (total === Sats.MAX_SUPPLY) met.atTheCap++
  }
}

describe("the supply", () => {
  it("is the sum of its parts after every commit, grows only by minting, and stays below the cap", () => {
    lives({ seed: SEED, count: LIVES, length: COMMITS }, keepsTheSupply)
    expect(met.minted).toBeGreaterThan(0n)
    expect(met.burned).toBeGreaterThan(0n)
    expect(met.atTheCap).toBeGreaterThan(0)
  })
})
