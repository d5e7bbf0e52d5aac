import { describe, expect, it } from "vitest"
import type { UnderWay } from "../../src/node/signatures/Batch.js"
import * as CheckBatch from "../../src/node/signatures/CheckBatch.js"
import { Deduplication } from "../../src/node/signatures/Deduplication.js"
import type { Job } from "../../src/node/signatures/Job.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { make, sign, type Transaction, type Unsigned } from "../../src/protocol/transaction/Transaction.js"
import { type Check, checksOf, VerifiedTransactions } from "../../src/protocol/transaction/Verification.js"

const networkId = "udg-copies" as NetworkId
const key = Keys.SecretKey.generate()
const unsigned = (nonce: number): Unsigned => ({
  from: Address.fromPublicKey(key.publicKey),
  nonce: Natural.nonce(nonce),
  fee: Sats.make(1_000),
  operation: { _tag: "Transfer", to: Address.fromPublicKey(key.publicKey), amount: Sats.make(1), memo: "" },
})

const real = sign(networkId, unsigned(0), key)
/** A different payment with the signature of the real one. */
const forged = make(networkId, unsigned(1), real.authorization)

const jobOf = (transaction: Transaction): Job => {
  const checks = checksOf(networkId, transaction)
  return {
    checks,
    results: new Uint8Array(checks.length),
    missing: checks.length,
    lane: { owner: { peer: "peer", standing: "member" }, isUrgent: false },
    isByZip215: false,
    complete: () => {},
  }
}

describe("copies of a check", () => {
  it("take its result even if another transaction with the same signature was refused meanwhile", () => {
    const verified = new VerifiedTransactions(100)
    const copies = new Deduplication(verified)
    const batch: Array<UnderWay> = []
    const [first, second, copy] = [jobOf(forged), jobOf(real), jobOf(real)]
    copies.begin(first, 0, batch)
    copies.begin(second, 0, batch)
    expect(batch.map(({ job }) => job)).toEqual([first, second])
    const [refused, accepted] = batch
    if (refused === undefined || accepted === undefined) throw new Error("both are under way")
    copies.end(refused, 0)
    copies.begin(copy, 0, batch)
    expect(batch).toHaveLength(2)
    copies.end(accepted, 1)
    expect([first, second, copy].map(({ results, missing }) => [results[0], missing])).toEqual([
      [0, 0],
      [1, 0],
      [1, 0],
    ])
    expect([verified.has(forged), verified.has(real)]).toEqual([false, true])
    // The next one, which nobody remembers, starts a new check.
    copies.begin(jobOf(forged), 0, batch)
    expect(batch).toHaveLength(3)
  })
})

describe("a packed check", () => {
  const packed = (checks: ReadonlyArray<Check>) =>
    [...CheckBatch.unpack(CheckBatch.pack(checks))].map(({ message, publicKey, signature }) => ({
      message: Array.from(message),
      publicKey: Buffer.from(publicKey).toString("hex"),
      signature: Buffer.from(signature).toString("hex"),
    }))

  it("has its own key, signature and message, even if its transaction has others", () => {
    const { publicKey } = Keys.SecretKey.generate()
    const signature = key.sign(Uint8Array.of(1))
    const checks = checksOf(networkId, real).flatMap((check) => [
      check,
      { ...check, publicKey },
      { ...check, signature },
      { message: check.message, publicKey, signature },
    ])
    const expected = checks.map((check) => ({
      message: Array.from(check.message),
      publicKey: check.publicKey,
      signature: check.signature,
    }))
    expect(packed(checks)).toEqual(expected)
  })
})
