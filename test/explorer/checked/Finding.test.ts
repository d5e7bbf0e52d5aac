import { describe, expect, it } from "vitest"
import * as Finding from "../../../src/explorer/checked/Finding.js"
import type { Address } from "../../../src/protocol/identity/Address.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"

const claim = (balance: number, nonce = 7, address = "aa".repeat(20)): Finding.Claim => ({
  address: address as Address,
  balance: Sats.make(balance),
  nonce: Natural.nonce(nonce),
})

const signed = (balance: number, round: number, nonce = 7): Finding.Signed => ({
  ...claim(balance, nonce),
  round,
  signers: { by: 3, of: 4 },
})

describe("a node's claim", () => {
  it("dates from when it was first made, while it stays the same", () => {
    const first = Finding.standing(undefined, claim(5), 100)
    expect(first).toEqual({ claim: claim(5), since: 100 })
    expect(Finding.standing(first, claim(5), 150)).toBe(first)
    expect(Finding.standing(first, claim(6), 150)).toEqual({ claim: claim(6), since: 150 })
    expect(Finding.standing(first, claim(5, 8), 150)).toEqual({ claim: claim(5, 8), since: 150 })
  })
})

describe("a balance", () => {
  it.each([
    ["that a quorum signed is proven", claim(5), signed(5, 200), "Proven"],
    ["that may have changed since the checkpoint is proven as it was there", claim(6), signed(5, 100), "Proven"],
    [
      "that stood before the checkpoint and after it, and is another in it, is refused",
      claim(6),
      signed(5, 101),
      "Refused",
    ],
    ["whose nonce is another in it is refused, too", claim(5, 8), signed(5, 101), "Refused"],
    ["of another account is refused", claim(5, 7, "bb".repeat(20)), signed(5, 50), "Refused"],
  ] as const)("%s", (_, said, under, tag) => {
    expect(Finding.judge(under, { claim: said, since: 100 })._tag).toBe(tag)
  })
})
