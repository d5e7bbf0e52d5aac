import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Pool from "../../src/ledger/tables/Pool.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"

const sats = (amount: number) => Sats.make(amount)
const deposited = (pool: Pool.Pool, amount: number) => Either.getOrThrow(Pool.deposit(pool, sats(amount)))

type Move =
  | { readonly move: "deposit"; readonly amount: number }
  | { readonly move: "withdraw"; readonly who: number }
  | { readonly move: "reward"; readonly amount: number }
  | { readonly move: "slash"; readonly percent: number }

const amount = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 5_000_000_000_000 }))
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ move: fc.constant("deposit" as const), amount }),
  fc.record({ move: fc.constant("withdraw" as const), who: fc.nat(20) }),
  fc.record({ move: fc.constant("reward" as const), amount }),
  fc.record({ move: fc.constant("slash" as const), percent: fc.integer({ min: 10, max: 100 }) }),
)

describe("a pool", () => {
  it("never pays out more than it holds, and joining or leaving gains nothing", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        let pool = Pool.empty
        let holders: Array<Pool.Share> = []
        const worths = () => holders.map((share) => Pool.worth(pool, share))
        for (const step of moves) {
          const before = worths()
          if (step.move === "deposit") {
            if (pool.amount + step.amount > Sats.MAX_SUPPLY) continue
            const result = Pool.deposit(pool, sats(step.amount))
            if (Either.isLeft(result)) continue
            pool = result.right.pool
            const share = { generation: pool.generation, shares: result.right.minted }
            expect(Pool.worth(pool, share)).toBeLessThanOrEqual(step.amount)
            for (const [i, worth] of worths().entries()) expect(worth).toBeGreaterThanOrEqual(before[i] ?? 0)
            holders.push(share)
          } else if (step.move === "withdraw") {
            const share = holders[step.who % Math.max(1, holders.length)]
            if (share === undefined) continue
            const worth = Pool.worth(pool, share)
            const taken = Pool.withdraw(pool, share)
            expect(taken.amount).toBe(worth)
            pool = taken.pool
            holders = holders.filter((holder) => holder !== share)
          } else if (step.move === "reward") {
            if (pool.shares > 0n && pool.amount + step.amount <= Sats.MAX_SUPPLY)
              pool = Pool.reward(pool, sats(step.amount))
          } else {
            const { pool: slashed, burned } = Pool.slash(pool, step.percent)
            expect(slashed.amount + burned).toBe(pool.amount)
            if (slashed.generation !== pool.generation) holders = []
            pool = slashed
          }
          expect(pool.amount > 0).toBe(pool.shares > 0n)
          expect(holders.reduce((sum, { shares }) => sum + shares, 0n)).toBe(pool.shares)
          expect(worths().reduce((sum, worth) => sum + worth, 0)).toBeLessThanOrEqual(pool.amount)
        }
      }),
      { seed: 7, numRuns: 2_000 },
    )
  })

  // A pool of few shares took a deposit whole and gave as many shares as it bought, rounded down: the rest went to the
  // other holders, who had made the shares expensive by joining and leaving with small amounts.
  it("keeps a deposit worth its price less one sat, despite other joins and leaves", () => {
    const others = fc.array(move, { maxLength: 60 })
    fc.assert(
      fc.property(others, fc.integer({ min: 1, max: 5_000_000_000_000 }), others, (before, offered, after) => {
        let pool = Pool.empty
        let holders: Array<bigint> = []
        let own: { readonly shares: bigint; readonly cost: number } | undefined
        const play = (moves: ReadonlyArray<Move>) => {
          for (const step of moves) {
            if (step.move === "deposit") {
              const result = Pool.deposit(pool, sats(step.amount))
              if (Either.isLeft(result)) continue
              pool = result.right.pool
              holders.push(result.right.minted)
            } else if (step.move === "withdraw") {
              const shares = holders[step.who % Math.max(1, holders.length)]
              if (shares === undefined) continue
              pool = Pool.withdraw(pool, { generation: 0, shares }).pool
              holders = holders.filter((_, i) => i !== step.who % holders.length)
            } else if (step.move === "reward" && pool.shares > 0n && pool.amount + step.amount <= Sats.MAX_SUPPLY) {
              pool = Pool.reward(pool, sats(step.amount))
            }
            if (own === undefined) continue
            expect(Pool.worth(pool, { generation: 0, shares: own.shares })).toBeGreaterThanOrEqual(own.cost - 1)
          }
        }
        play(before)
        const result = Pool.deposit(pool, sats(offered))
        if (Either.isLeft(result)) return
        pool = result.right.pool
        own = { shares: result.right.minted, cost: result.right.cost }
        expect(own.cost).toBeLessThanOrEqual(offered)
        // The worst that others can do is in place at once: everything they do later raises the value of a share.
        expect(Pool.worth(pool, { generation: 0, shares: own.shares })).toBeGreaterThanOrEqual(own.cost - 1)
        play(after)
      }),
      { seed: 15, numRuns: 3_000 },
    )
  })

  it("takes from a deposit only what its shares cost", () => {
    const pool = { amount: sats(100_000_000), shares: 1n, generation: 0 }
    const { cost, minted, pool: after } = Either.getOrThrow(Pool.deposit(pool, sats(199_999_999)))
    expect([cost, minted, after.amount]).toEqual([100_000_000, 1n, 200_000_000])
  })

  it("pays everything left, dust included, to its last holder", () => {
    const first = deposited(Pool.empty, 3)
    const second = deposited(Pool.reward(first.pool, sats(7)), 10)
    expect([second.minted, Pool.worth(second.pool, { generation: 0, shares: 3n })]).toEqual([3n, 10])
    const odd = Pool.reward(second.pool, sats(1))
    const out = Pool.withdraw(odd, { generation: 0, shares: 3n })
    expect(out.amount).toBe(10)
    expect(Pool.withdraw(out.pool, { generation: 0, shares: 3n })).toEqual({ amount: 11, pool: Pool.empty })
  })

  it("refuses a deposit that would not buy a share", () => {
    const { pool } = deposited(Pool.empty, 1)
    expect(Pool.deposit(Pool.reward(pool, sats(1_000)), sats(1_000))).toEqual(Either.left("TooSmallForOneShare"))
  })

  it("refuses a deposit that would not fit 128 bits of shares", () => {
    const pool = { amount: sats(1), shares: 1n << 90n, generation: 0 }
    expect(Pool.deposit(pool, sats(2 ** 39))).toEqual(Either.left("TooManyShares"))
    expect(Either.isRight(Pool.deposit(pool, sats(2 ** 37)))).toBe(true)
  })

  it("accepts deposits up to exactly as many shares as 128 bits count", () => {
    const pool = { amount: sats(1), shares: Pool.MAX_SHARES / 3n, generation: 0 }
    expect(deposited(pool, 2).pool.shares).toBe(Pool.MAX_SHARES)
    expect(Pool.deposit(pool, sats(3))).toEqual(Either.left("TooManyShares"))
  })

  it("refuses a deposit that would exceed the whole supply", () => {
    const pool = { amount: Sats.MAX_SUPPLY, shares: BigInt(Sats.MAX_SUPPLY), generation: 0 }
    expect(Pool.deposit(pool, sats(1))).toEqual(Either.left("AboveMaximumSupply"))
  })

  it("rejects foreign shares and a reward without holders as bugs", () => {
    const { pool } = deposited(Pool.empty, 10)
    expect(Pool.withdraw(pool, { generation: 0, shares: 10n }).amount).toBe(10)
    expect(() => Pool.withdraw(pool, { generation: 0, shares: 11n })).toThrow(
      "11 shares of generation 0 are not in the pool",
    )
    expect(() => Pool.withdraw(pool, { generation: 1, shares: 1n })).toThrow(
      "1 shares of generation 1 are not in the pool",
    )
    expect(() => Pool.reward(Pool.empty, sats(5))).toThrow("5 sats for a pool without shares")
  })

  it("rejects an amount without shares, or shares without an amount, as a bug", () => {
    const worthless = { amount: sats(0), shares: 5n, generation: 0 }
    const unowned = { amount: sats(100), shares: 0n, generation: 0 }
    expect(() => Pool.slash(unowned, 10)).toThrow(/90 sats would have 0 shares/)
    expect(() => Pool.withdraw(worthless, { generation: 0, shares: 2n })).toThrow(/0 sats would have 3 shares/)
  })

  it("begins a new generation when it loses everything, and the old shares are worth nothing", () => {
    const { pool, minted } = deposited(Pool.empty, 1_000)
    const { pool: slashed, burned } = Pool.slash(pool, 100)
    expect([burned, slashed]).toEqual([1_000, { amount: 0, shares: 0n, generation: 1 }])
    const { pool: refilled } = deposited(slashed, 500)
    expect(Pool.worth(refilled, { generation: 0, shares: minted })).toBe(0)
  })
})
