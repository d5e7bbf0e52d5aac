/**
 * Signatures checked by the node's threads, one for each core, beside the same library in as many threads that do nothing
 * else. By turns, since both want the whole machine.
 */
import { createRequire } from "node:module"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { randomBytes, verifyNative } from "#crypto"
import { Verifier } from "../src/node/signatures/Verifier.js"
import * as Keys from "../src/protocol/identity/Keys.js"
import type { Check } from "../src/protocol/transaction/Verification.js"
import { type Figure, median, type Suite } from "./Harness.js"

const CORES = availableParallelism()
const MESSAGE_BYTES = 145
const CHECKS = 20_000
/** As many as come to the door in one array. */
const TOGETHER = 100
const ROUNDS = 7

/** Checks one signature so many times, and says when it is done. */
const PROGRAM = `
const { parentPort, workerData: { library, signature, message, key } } = require("node:worker_threads")
const sodium = require(library)
parentPort.on("message", (count) => {
  for (let i = 0; i < count; i++) sodium.crypto_sign_verify_detached(signature, message, key)
  parentPort.postMessage("done")
})
`

const key = Keys.SecretKey.generate()
const message = randomBytes(MESSAGE_BYTES)
const check: Check = { message, publicKey: key.publicKey, signature: key.sign(message) }

const rateOf = async (checks: number, run: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await run()
  return (checks * 1_000) / (performance.now() - began)
}

const rawThreads = () => {
  const [signature, publicKey] = [check.signature, check.publicKey].map((hex) => Buffer.from(hex, "hex"))
  if (signature === undefined || publicKey === undefined || !verifyNative(signature, message, publicKey)) {
    throw new Error("the signature does not hold")
  }
  const library = createRequire(import.meta.url).resolve("sodium-native")
  const workerData = { library, signature, message, key: publicKey }
  return Array.from({ length: CORES }, () => new Worker(PROGRAM, { eval: true, workerData }))
}

const measure = Effect.gen(function* () {
  const verifier = yield* Verifier.make({ most: CORES })
  const threads = rawThreads()
  const raw = () =>
    Promise.all(
      threads.map((thread) => {
        thread.postMessage(CHECKS / CORES)
        return new Promise((resolve) => thread.once("message", resolve))
      }),
    )
  const list = Array.from({ length: TOGETHER }, () => check)
  const pooled = () =>
    Promise.all(
      Array.from({ length: CHECKS / TOGETHER }, async () => {
        const verdicts = await Effect.runPromise(verifier.verdicts(list))
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
  about: `signatures in all threads, medians of ${ROUNDS} rounds of ${CHECKS}, ${TOGETHER} at a time`,
  figures: () => Effect.runPromise(Effect.scoped(measure)),
}
