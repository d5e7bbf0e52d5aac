import { it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { describe, expect } from "vitest"
import type { Message } from "../../src/consensus/replica/Message.js"
import type { PeerId } from "../../src/consensus/replica/Peer.js"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { Received } from "../../src/network/Network.js"
import * as Scrutiny from "../../src/node/Scrutiny.js"
import { Verifier } from "../../src/node/Verifier.js"
import * as Keys from "../../src/protocol/Keys.js"
import type { NetworkId } from "../../src/protocol/Network.js"
import { type Check, isValidAtDoor, VerifiedTransactions } from "../../src/protocol/Verification.js"
import { zip215 } from "../protocol/crypto/published.js"

const networkId = "udg-scrutiny" as NetworkId
const key = Keys.SecretKey.generate()

const checks = (count: number, isGood = true): ReadonlyArray<Check> =>
  Array.from({ length: count }, (_, i) => {
    const message = Uint8Array.of(count, i, i >> 8)
    return { message, publicKey: key.publicKey, signature: key.sign(isGood ? message : Uint8Array.of(...message, 1)) }
  })

const vertices = (): Message => ({ _tag: "Vertices", vertices: [] })
const transactions = (): Message => ({ _tag: "Transactions", transactions: [] })
const question = (): Message => ({ _tag: "AskVertices", hashes: [] })

interface Said {
  readonly name: string
  readonly from: string
  readonly message: Message
  readonly checks: ReadonlyArray<Check>
}

/** What comes out when all of this goes in at once: names in their order, with what was found. */
const passed = (said: ReadonlyArray<Said>) =>
  Effect.gen(function* () {
    const verifier = yield* Verifier.make(2)
    const out: Array<{ readonly name: string; readonly holds: boolean }> = []
    const done = yield* Deferred.make<void>()
    const judged = said.filter(({ message }) => Scrutiny.ruleFor(message) !== null)
    const names = new Map<Received["settle"], string>()
    const scrutiny = new Scrutiny.Scrutiny({
      replica: { checksOf: () => judged.shift()?.checks ?? [], isAwaited: () => true },
      networkId,
      verified: new VerifiedTransactions(10),
      verifier,
      malformed: (from, what) => Deferred.unsafeDone(done, Effect.die(`${from}: ${what}`)),
      pass: ({ settle, holds }) => {
        out.push({ name: names.get(settle) ?? "", holds })
        if (out.length === said.length) Deferred.unsafeDone(done, Effect.void)
      },
    })
    for (const { name, from, message } of said) {
      const settle = () => {}
      names.set(settle, name)
      const bytes = MessageCodec.encode(message)
      scrutiny.take({ from: from as PeerId, standing: "stranger", tag: message._tag, bytes, settle })
    }
    yield* Deferred.await(done)
    return out
  })

describe("what peers say", () => {
  it.scopedLive("is passed on in each peer's order, whatever takes longer to verify", () =>
    Effect.gen(function* () {
      const out = yield* passed([
        { name: "a1", from: "a", message: vertices(), checks: checks(1_000) },
        { name: "a2", from: "a", message: vertices(), checks: checks(1, false) },
        { name: "a3", from: "a", message: question(), checks: [] },
        { name: "b1", from: "b", message: question(), checks: [] },
        { name: "a4", from: "a", message: vertices(), checks: checks(20) },
      ])
      expect(out.filter(({ name }) => name.startsWith("a"))).toEqual([
        { name: "a1", holds: true },
        { name: "a2", holds: false },
        { name: "a3", holds: true },
        { name: "a4", holds: true },
      ])
      expect(out[0]?.name).toBe("b1")
    }),
  )

  it.scopedLive("is judged by ZIP-215 where it stands in a vertex, and at the door by the native verifier", () =>
    Effect.gen(function* () {
      const odd = zip215.map(({ message, publicKey, signature }) => ({
        message: Buffer.from(message, "hex"),
        publicKey: publicKey as Keys.PublicKey,
        signature: signature as Keys.Signature,
      }))
      expect(odd.some((check) => !isValidAtDoor(check))).toBe(true)
      const out = yield* passed([
        { name: "odd", from: "a", message: vertices(), checks: [...odd, ...checks(1)] },
        { name: "odd and false", from: "a", message: vertices(), checks: [...odd, ...checks(1, false), ...odd] },
        { name: "false", from: "a", message: vertices(), checks: checks(1, false) },
        { name: "odd payments", from: "b", message: transactions(), checks: odd },
        { name: "payments", from: "b", message: transactions(), checks: checks(1) },
      ])
      expect(new Map(out.map(({ name, holds }) => [name, holds]))).toEqual(
        new Map([
          ["odd", true],
          ["odd and false", false],
          ["false", false],
          ["odd payments", false],
          ["payments", true],
        ]),
      )
    }),
  )

  it.scopedLive("does not wait for its transactions", () =>
    Effect.gen(function* () {
      const out = yield* passed([
        { name: "many", from: "a", message: transactions(), checks: checks(1_000) },
        { name: "more", from: "a", message: transactions(), checks: [] },
        { name: "question", from: "a", message: question(), checks: [] },
      ])
      expect(out.map(({ name }) => name)).toEqual(["question", "many", "more"])
    }),
  )
})
