import { createHash } from "node:crypto"
import { performance } from "node:perf_hooks"
import { Worker } from "node:worker_threads"
import { it } from "@effect/vitest"
import * as ed25519 from "@noble/ed25519"
import { Effect, HashMap, Logger } from "effect"
import { describe, expect } from "vitest"
import type { Owner } from "../../src/node/signatures/FairQueue.js"
import { SignatureThreads } from "../../src/node/signatures/SignatureThreads.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { cosign, make, sign, type Unsigned } from "../../src/protocol/transaction/Transaction.js"
import { type Check, checksOf, isStrictlyValid } from "../../src/protocol/transaction/Verification.js"
import { zip215 } from "../protocol/crypto/published.js"
import * as Rest from "../support/Rest.js"

const key = Keys.SecretKey.generate()

const networkId = "udg-threads" as NetworkId
const unsigned = (nonce: number): Unsigned => ({
  from: Address.fromPublicKey(key.publicKey),
  nonce: Natural.nonce(nonce),
  fee: Sats.make(1_000),
  operation: { _tag: "Transfer", to: Address.fromPublicKey(key.publicKey), amount: Sats.make(1), memo: "" },
})
const payment = (nonce: number) => sign(networkId, unsigned(nonce), key)

const member: Owner = { peer: "member", standing: "member" }

/** Messages of every length, each with a different fault. */
const check = (i: number): Check => {
  const message = Uint8Array.from({ length: (i * 7) % 300 }, (_, j) => i + j)
  const signature = key.sign(message)
  const good = { message, publicKey: key.publicKey, signature }
  switch (i % 5) {
    case 1:
      return { ...good, message: Uint8Array.of(...message, 1) }
    case 2:
      return { ...good, publicKey: Keys.SecretKey.generate().publicKey }
    case 3:
      return { ...good, signature: "00".repeat(64) as Keys.Signature, publicKey: "ff".repeat(32) as Keys.PublicKey }
    default:
      return good
  }
}

describe("the threads", () => {
  const saysWhatTheDoorSays = (count: number) =>
    Effect.gen(function* () {
      const checks = Array.from({ length: count }, (_, i) => check(i))
      for (const most of [1, 2]) {
        const threads = yield* SignatureThreads.make({ most })
        const alone = checks.map((check) => threads.results([check]))
        const answers = yield* Effect.all([...alone, threads.results(checks)], { concurrency: "unbounded" })
        expect(answers.slice(0, -1).map(([verdict]) => verdict === 1)).toEqual(checks.map(isStrictlyValid))
        expect(Array.from(answers.at(-1) ?? [], (verdict) => verdict === 1)).toEqual(checks.map(isStrictlyValid))
      }
    })

  const SAYS = "agrees with the native check on each of %i signatures in any number of threads"
  it.scopedLive.each([1, 4, 129])(SAYS, saysWhatTheDoorSays)
  it.scopedLive.each([3, 127, 700])(Rest.of("more signatures", SAYS), saysWhatTheDoorSays)

  it.scopedLive("answers also when no thread can start, and reports that once", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logger = Logger.make(({ logLevel, message, annotations }) => {
        said.push([logLevel.label, ...[message].flat(), ...HashMap.values(annotations)].join(" "))
      })
      const start = () => new Worker("throw new Error('no such program')", { eval: true })
      const checks = Array.from({ length: 40 }, (_, i) => check(i))
      yield* Effect.gen(function* () {
        const threads = yield* SignatureThreads.make({ most: 1, start })
        for (let i = 0; i < 3; i++) {
          const results = yield* threads.results(checks)
          expect(Array.from(results, (verdict) => verdict === 1)).toEqual(checks.map(isStrictlyValid))
        }
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      expect(said).toHaveLength(1)
      expect(said[0]).toMatch(/^ERROR a thread that checks signatures has failed .*no such program/)
    }),
  )

  it.scopedLive("checks what rounds wait for before earlier work that can wait", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const checks = Array.from({ length: 128 }, (_, i) => check(i))
      const done: Array<string> = []
      const all = Effect.async<void>((resume) => {
        const settle = (name: string) => () => {
          done.push(name)
          if (done.length === 11) resume(Effect.void)
        }
        for (let i = 0; i < 10; i++) threads.check(checks, settle(`transactions ${i}`))
        expect(threads.waiting).toBe(1_280)
        setTimeout(() => threads.check(checks, settle("vertex"), { owner: member, isUrgent: true }), 5)
      })
      yield* all
      expect(threads.checked).toBe(11 * 128)
      expect(threads.waiting).toBe(0)
      // The thread finishes its earlier work first, and may have answered some more.
      expect(done.indexOf("vertex")).toBeLessThan(9)
      expect(done.filter((name) => name !== "vertex")).toEqual(
        Array.from({ length: 10 }, (_, i) => `transactions ${i}`),
      )
    }),
  )

  it.scopedLive("checks a transaction once, even if several peers' copies wait", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const checks = Array.from({ length: 1_000 }, (_, nonce) => checksOf(networkId, payment(nonce))).flat()
      const copies = [false, true, true, false].map((isUrgent, i) =>
        Effect.async<Uint8Array>((resume) => {
          const owner: Owner = { peer: `peer ${i}`, standing: "member" }
          threads.check(checks, (results) => resume(Effect.succeed(results)), { owner, isUrgent })
        }),
      )
      const answers = yield* Effect.all(copies, { concurrency: "unbounded" })
      expect(answers.map((results) => results.reduce((sum, one) => sum + one, 0))).toEqual([1_000, 1_000, 1_000, 1_000])
      expect(threads.checked).toBe(1_000)
      expect(threads.waiting).toBe(0)
      expect(threads.verified.size).toBe(1_000)
    }),
  )

  it.scopedLive("reuses a result only for the same bytes under the same key and signature", () =>
    Effect.gen(function* () {
      const real = payment(0)
      const { authorization } = real
      if (authorization._tag !== "SingleKey") throw new Error("signed by one key")
      const elsewhere = { ...authorization, publicKey: Keys.SecretKey.generate().publicKey }
      // Another payment with its signature, and the payment itself with its signature by another key.
      const others = [make(networkId, unsigned(1), authorization), make(networkId, unsigned(0), elsewhere)]
      const filling = Array.from({ length: 20 }, (_, i) => checksOf(networkId, payment(100 + i))).flat()
      for (const order of others.flatMap((other) => [
        [real, other],
        [other, real],
      ])) {
        const threads = yield* SignatureThreads.make({ most: 1 })
        const checks = [...order.flatMap((transaction) => checksOf(networkId, transaction)), ...filling]
        const results = yield* threads.results(checks)
        expect(order.map((_, i) => results[i])).toEqual(order.map((each) => (each === real ? 1 : 0)))
        expect(others.some((each) => threads.verified.has(each))).toBe(false)
      }
    }),
  )

  it.scopedLive("gives copies turns too, so that a flood of them delays neither this thread nor another peer", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const [one, other] = [payment(0), payment(1)]
      for (const known of [one, other]) threads.verified.add(known)
      const copies = (count: number, of: typeof one) =>
        Array.from({ length: count }, () => checksOf(networkId, of)).flat()
      const done: Array<string> = []
      const lane = (peer: string) => ({ owner: { peer, standing: "member" as const }, isUrgent: true })
      const flood = copies(20_000, one)
      for (let i = 0; i < 5; i++) threads.check(flood, () => done.push("flood"), lane("flood"))
      threads.check(copies(100, other), () => done.push("other"), lane("other"))
      yield* Effect.promise(() => new Promise(setImmediate))
      expect(threads.waiting).toBeGreaterThan(90_000)
      yield* Effect.promise(() => expect.poll(() => threads.waiting).toBe(0))
      expect(done).toEqual(["other", "flood", "flood", "flood", "flood", "flood"])
      expect(threads.checked).toBe(0)
    }),
  )

  it.scopedLive(
    "remembers a multi-key transaction only if all its signatures are valid, and never by one of them",
    () =>
      Effect.gen(function* () {
        const threads = yield* SignatureThreads.make({ most: 1 })
        const keys = Array.from({ length: 5 }, () => Keys.SecretKey.generate())
        const shared = (nonce: number, isFalse: (i: number) => boolean) => {
          const signatures = keys.map((each, i) =>
            cosign(networkId, unsigned(isFalse(i) ? nonce + 1_000 : nonce), each),
          )
          return make(networkId, unsigned(nonce), { _tag: "Policy", signatures })
        }
        const good = Array.from({ length: 40 }, (_, nonce) => shared(nonce, () => false))
        const bad = Array.from({ length: 40 }, (_, nonce) => shared(100 + nonce, (i) => i === nonce % 5))
        const mixed = good.flatMap((transaction, i) => [transaction, bad[i] ?? transaction])
        const results = yield* threads.results(mixed.flatMap((transaction) => checksOf(networkId, transaction)))
        expect(results.reduce((sum, one) => sum + one, 0)).toBe(40 * 5 + 40 * 4)
        expect(bad.some((transaction) => threads.verified.has(transaction))).toBe(false)
        expect(good.every((transaction) => threads.verified.has(transaction))).toBe(true)
      }),
  )

  it.scopedLive("does not reuse an acceptance by the vertex rule for a client's transaction", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const onlyInVertex = make(networkId, unsigned(0), {
        _tag: "SingleKey",
        publicKey: `01${"00".repeat(31)}` as Keys.PublicKey,
        signature: `01${"00".repeat(63)}` as Keys.Signature,
      })
      const checks = checksOf(networkId, onlyInVertex)
      const holds = yield* Effect.async<boolean>((resume) =>
        threads.checkByZip215(checks, (answer) => resume(Effect.succeed(answer)), member),
      )
      expect(holds).toBe(true)
      expect(threads.verified.has(onlyInVertex)).toBe(false)
      expect(Array.from(yield* threads.results(checks))).toEqual([0])
    }),
  )

  it.scopedLive("delays other peers by at most a turn for a thousand signatures of one peer", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const many = Array.from({ length: 2_000 }, (_, i) => check(5 * i))
      const few = many.slice(0, 4)
      const done: Array<string> = []
      yield* Effect.async<void>((resume) => {
        const settle = (name: string) => () => {
          done.push(name)
          if (done.length === 4) resume(Effect.void)
        }
        const lane = (peer: string, standing: Owner["standing"]) => ({ owner: { peer, standing }, isUrgent: false })
        threads.check(many, settle("flood"), lane("flood", "stranger"))
        setTimeout(() => {
          threads.check(few, settle("stranger"), lane("stranger", "stranger"))
          threads.check(few, settle("named"), lane("named", "named"))
          threads.check(few, settle("member"), lane("member", "member"))
        }, 5)
      })
      expect(done.at(-1)).toBe("flood")
    }),
  )

  it.scopedLive("limits all strangers together to their rate in every lane", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 2, strangers: { burst: 100, perSecond: 400 } })
      const checks = Array.from({ length: 60 }, (_, i) => check(5 * i))
      const done: Array<string> = []
      // Starting a thread takes as long as the strangers have to wait.
      yield* threads.results(checks)
      const began = performance.now()
      const judged = (peer: string, standing: Owner["standing"], isUrgent: boolean) =>
        Effect.async<void>((resume) => {
          const settle = () => {
            done.push(peer)
            resume(Effect.void)
          }
          threads.check(checks, settle, { owner: { peer, standing }, isUrgent })
        })
      const strangers = ["a", "b", "c", "d", "e"].map((peer, i) => judged(peer, "stranger", i % 2 === 0))
      yield* Effect.all([...strangers, judged("member", "member", false)], { concurrency: "unbounded" })
      // 300 signatures, 100 of them at once and 400 a second: a member's do not wait for them.
      expect(performance.now() - began).toBeGreaterThan(300)
      expect(done).toHaveLength(6)
      expect(done.at(-1)).not.toBe("member")
    }),
  )

  it.live.each([1, 2])("leaves no check unanswered when it ends while answers are on their way (%i)", () =>
    Effect.gen(function* () {
      const checks = Array.from({ length: 16 }, (_, i) => check(5 * i))
      const busy = (milliseconds: number) => {
        for (const until = performance.now() + milliseconds; performance.now() < until; );
      }
      let settled = 0
      yield* Effect.scoped(
        Effect.gen(function* () {
          const threads = yield* SignatureThreads.make({ most: 3 })
          yield* threads.results(Array.from({ length: 300 }, (_, i) => check(5 * i)))
          for (let i = 0; i < 60; i++) threads.check(checks, () => settled++)
          yield* Effect.sleep("1 millis")
          busy(6)
          // The answers given before the threads were told to stop arrive when the threads are gone.
          setImmediate(() => busy(8))
        }),
      )
      expect(settled).toBe(60)
    }),
  )

  it.live("leaves no check unanswered when it ends", () =>
    Effect.gen(function* () {
      const checks = Array.from({ length: 300 }, (_, i) => check(i))
      const waiting = yield* Effect.scoped(
        Effect.gen(function* () {
          const threads = yield* SignatureThreads.make({ most: 2 })
          const fiber = yield* Effect.forkDaemon(
            Effect.forEach(checks, (check) => threads.results([check]), { concurrency: "unbounded" }),
          )
          yield* Effect.sleep("1 millis")
          return fiber
        }),
      )
      expect((yield* waiting).map(([verdict]) => verdict === 1)).toEqual(checks.map(isStrictlyValid))
    }),
  )
})

describe("turns on one thread", () => {
  /** A thread that accepts by the first rule, and by the vertex rule only several checks at once. */
  const start = () =>
    new Worker(
      `const { parentPort } = require("node:worker_threads")
      parentPort.on("message", ({ count, isByZip215 }) =>
        parentPort.postMessage(new Uint8Array(count).fill(isByZip215 && count === 1 ? 0 : 1)))`,
      { eval: true },
    )

  it.scopedLive("go three times in a row to work that rounds wait for, then once to the rest", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1, start })
      const batch = Array.from({ length: 32 }, () => check(0))
      const done: Array<string> = []
      yield* Effect.async<void>((resume) => {
        const settle = (name: string) => () => {
          done.push(name)
          if (done.length === 16) resume(Effect.void)
        }
        for (let i = 0; i < 12; i++) threads.check(batch, settle("urgent"), { owner: member, isUrgent: true })
        for (let i = 0; i < 4; i++) threads.check(batch, settle("other"), { owner: member, isUrgent: false })
      })
      const round = ["urgent", "urgent", "urgent", "other"]
      expect(done).toEqual([...round, ...round, ...round, ...round])
    }),
  )

  it.scopedLive("are charged the full cost of a rejection, not that of an acceptance", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1, start })
      const done: Array<string> = []
      yield* Effect.async<void>((resume) => {
        const judge = (peer: string, count: number) =>
          threads.checkByZip215(
            Array.from({ length: count }, () => check(0)),
            () => {
              done.push(peer)
              if (done.filter((each) => each === "honest").length === 30) resume(Effect.void)
            },
            { peer, standing: "member" },
          )
        for (let i = 0; i < 100; i++) judge("liar", 1)
        for (let i = 0; i < 30; i++) judge("honest", 2)
      })
      // Thirty acceptances of two signatures cost as much as ten rejections, and some were in flight before the first.
      expect(done.filter((each) => each === "liar").length).toBeLessThan(30)
    }),
  )
})

describe("the vertex rule", () => {
  const odd: ReadonlyArray<Check> = zip215
    .map(({ message, publicKey, signature }) => ({
      message: Buffer.from(message, "hex"),
      publicKey: publicKey as Keys.PublicKey,
      signature: signature as Keys.Signature,
    }))
    .filter((check) => !isStrictlyValid(check))

  const many = Array.from({ length: 20 }, () => odd).flat()

  const falseOne: Check = { message: Uint8Array.of(1), publicKey: key.publicKey, signature: key.sign(Uint8Array.of(2)) }

  const judged = (threads: SignatureThreads, checks: ReadonlyArray<Check>, peer = "ben") =>
    Effect.async<boolean>((resume) =>
      threads.checkByZip215(checks, (holds) => resume(Effect.succeed(holds)), { peer, standing: "member" }),
    )

  it.scopedLive("accepts signatures that the native rule refuses, and no invalid ones", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 2 })
      expect(odd.length).toBeGreaterThan(100)
      expect(yield* judged(threads, odd)).toBe(true)
      expect(yield* judged(threads, [])).toBe(true)
      for (const checks of [[falseOne], [...odd, falseOne], [falseOne, ...odd], [check(3)], [check(2), check(0)]]) {
        expect(yield* judged(threads, checks)).toBe(false)
      }
    }),
  )

  it.scopedLive("runs in other threads, however few there are", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const { sha512 } = ed25519.hashes
      let here = 0
      ed25519.hashes.sha512 = (message) => {
        here++
        return Uint8Array.from(createHash("sha512").update(message).digest())
      }
      const before = performance.eventLoopUtilization()
      yield* judged(threads, [...many, falseOne])
      yield* judged(threads, [falseOne])
      const { utilization } = performance.eventLoopUtilization(before)
      ed25519.hashes.sha512 = sha512
      expect(here).toBe(0)
      expect(utilization).toBeLessThan(0.5)
    }),
  )

  it.scopedLive("gives fair turns to the peers that cause it", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const done: Array<string> = []
      const asked = (peer: string, checks: ReadonlyArray<Check>) =>
        Effect.tap(judged(threads, checks, peer), () => Effect.sync(() => done.push(peer)))
      yield* Effect.all([asked("flood", many), asked("ben", odd.slice(0, 2))], { concurrency: "unbounded" })
      expect(done).toEqual(["ben", "flood"])
    }),
  )

  it.scopedLive("ends with the first rejection, since a vertex is invalid as a whole", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const rest = Array.from({ length: 1_000 }, () => falseOne)
      expect(yield* judged(threads, [falseOne, ...rest])).toBe(false)
      // The rest of it does not come before the next one either.
      expect(yield* judged(threads, [falseOne])).toBe(false)
      expect(threads.checked).toBeLessThan(100)
    }),
  )

  it.scopedLive("leaves most of the threads' time to work that rounds wait for", () =>
    Effect.gen(function* () {
      const threads = yield* SignatureThreads.make({ most: 1 })
      const urgent = Array.from({ length: 1_000 }, (_, i) => check(5 * i))
      let slow = 0
      let isOver = false
      const again = (): void => {
        if (!isOver)
          threads.checkByZip215(odd.slice(0, 6), () => again(), { peer: `m${slow++ % 33}`, standing: "member" })
      }
      for (let i = 0; i < 33; i++) again()
      yield* Effect.async<void>((resume) =>
        threads.check(urgent, () => resume(Effect.void), { owner: member, isUrgent: true }),
      )
      isOver = true
      // 32 of them go in a message and three messages in a row, then one slow check: the rest is an overhang.
      expect(slow - 33).toBeLessThan(1_000 / 32 / 3 + 10)
    }),
  )

  it.live("leaves no check unanswered when the node ends, and does not delay the end", () =>
    Effect.gen(function* () {
      const began = performance.now()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const threads = yield* SignatureThreads.make({ most: 1 })
          yield* threads.results(many.slice(0, 20))
          for (let i = 0; i < 20; i++) threads.checkByZip215(many, () => {}, member)
        }),
      )
      // Judged one after the other, they would take twenty seconds.
      expect(performance.now() - began).toBeLessThan(15_000)
    }),
  )
})
