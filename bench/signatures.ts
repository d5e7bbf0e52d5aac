/**
 * Signatures checked by the node's threads, one per core, compared with the bare library in as many threads. In turns,
 * because both use the whole machine.
 */
import { availableParallelism } from "node:os"
import { Effect } from "effect"
import { fromHex, randomBytes, verifyNative } from "#crypto"
import { startFile } from "../scripts/threads.mjs"
import { SignatureThreads } from "../src/node/signatures/SignatureThreads.js"
import * as Keys from "../src/protocol/identity/Keys.js"
import type { Check } from "../src/protocol/transaction/Verification.js"
import { type Figure, median, type Suite } from "./Harness.js"
import type { Request } from "./SignatureProgram.js"

const CORES = availableParallelism()
const MESSAGE_BYTES = 145
const CHECKS = 20_000
/** The size of one submitted array. */
const TOGETHER = 100
const ROUNDS = 7

const key = Keys.SecretKey.generate()
const message = randomBytes(MESSAGE_BYTES)
const check: Check = { message, publicKey: key.publicKey, signature: key.sign(message) }

const rateOf = async (checks: number, run: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await run()
  return (checks * 1_000) / (performance.now() - began)
}

/** Checks of each raw thread. */
const share: Request = {
  count: CHECKS / CORES,
  signature: fromHex(check.signature),
  message,
  publicKey: fromHex(check.publicKey),
}

const measure = Effect.gen(function* () {
  const signatures = yield* SignatureThreads.make({ most: CORES })
  if (!verifyNative(share.signature, message, share.publicKey)) throw new Error("the signature does not hold")
  const threads = Array.from({ length: CORES }, () => startFile("bench/SignatureProgram.ts"))
  const raw = () =>
    Promise.all(
      threads.map((thread) => {
        thread.postMessage(share)
        return new Promise((resolve) => thread.once("message", resolve))
      }),
    )
  const list = Array.from({ length: TOGETHER }, () => check)
  const pooled = () =>
    Promise.all(
      Array.from({ length: CHECKS / TOGETHER }, async () => {
        const verdicts = await Effect.runPromise(signatures.results(list))
        if (!verdicts.every((verdict) => verdict === 1)) throw new Error("a good signature was refused")
      }),
    )
  const rates: Array<{ readonly raw: number; readonly pooled: number }> = []
  for (let round = 0; round <= ROUNDS; round++) {
    const one = {
      raw: yield* Effect.promise(() => rateOf(CHECKS, raw)),
      pooled: yield* Effect.promise(() => rateOf(CHECKS, pooled)),
    }
    if (round > 0) rates.push(one)
  }
  yield* Effect.promise(() => Promise.all(threads.map((thread) => thread.terminate())))
  const result: ReadonlyArray<Figure> = [
    { name: `the library alone, ${CORES} threads`, value: median(rates.map(({ raw }) => raw)), unit: "a second" },
    { name: "in the node's threads", value: median(rates.map(({ pooled }) => pooled)), unit: "a second" },
    {
      name: "in the node's threads, of that",
      value: median(rates.map(({ raw, pooled }) => pooled / raw)),
      unit: "share",
    },
  ]
  return result
})

export const suite: Suite = {
  about: `checking signatures in as many threads as cores, ${TOGETHER} at a time, medians of ${ROUNDS} rounds of ${CHECKS} checks`,
  figures: () => Effect.runPromise(Effect.scoped(measure)),
}
