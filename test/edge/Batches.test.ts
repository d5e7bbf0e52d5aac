import { Effect, Either, Exit } from "effect"
import { expect, it } from "vitest"
import * as Batches from "../../src/edge/server/Batches.js"
import type { Handle } from "../../src/edge/server/Group.js"
import * as Run from "../../src/effect3/fibers/Run.js"
import * as Failure from "../../src/rpc/api/Failure.js"
import { example } from "../../src/rpc/api/Field.js"
import { Accepted, maximumTransactions, Signed } from "../../src/rpc/api/Transactions.js"
import type { Of } from "../../src/rpc/handlers/Group.js"

const unstake = (nonce: unknown) => JSON.stringify({ type: "UnstakeTx", from: example.hash, nonce })

const batch = { item: Signed, answer: Accepted, most: maximumTransactions, size: { bytes: 1_048_576, values: 16_384 } }

const read = (text: string) => Either.getOrThrow(Batches.format(batch).parse(text))

/** Accepts every transaction except nonce 2, and returns no answers after nonce 9. */
const handle: Of<"transactions">["submit"] = ({ payloads }) =>
  Effect.succeed(
    payloads
      .filter(({ nonce }) => nonce !== 9)
      .map(({ nonce }) =>
        nonce === 2
          ? Either.left(new Failure.NonceTooLow({ message: "used", next_nonce: nonce }))
          : Either.right({ tx_hash: example.hash as never, status: "accepted" as const, nonce }),
      ),
  )

const answerTo = (text: string) =>
  new Promise<unknown>((resolve) => {
    const batches = new Batches.Batches({
      ...batch,
      status: 200,
      handle: handle as unknown as Handle,
      run: Run.make(Effect.runFork),
    })
    batches.handle(read(text), (exit) => {
      resolve(
        Exit.match(exit, {
          onSuccess: ({ body }) => JSON.parse(String(body)),
          onFailure: (cause) => (cause._tag === "Fail" ? Object(cause.error).message : cause._tag),
        }),
      )
    })
  })

it("accepts or refuses a single transaction, or names its wrong field", async () => {
  expect(await answerTo(unstake(1))).toEqual({ tx_hash: example.hash, status: "accepted", nonce: 1 })
  expect(await answerTo(unstake(2))).toBe("used")
  expect(await answerTo(unstake("3"))).toMatch(/^nonce: /)
  expect(await answerTo(unstake(9))).toBe("Die")
})

it("answers each entry of an array in its place, also beside entries that cannot be read", async () => {
  expect(await answerTo(`[${["7", unstake(1), unstake(1.5), unstake(2), unstake(4)].join()}]`)).toMatchObject([
    { status_code: 400, code: "InvalidRequest" },
    { status_code: 200, nonce: 1 },
    { status_code: 400, field: "nonce" },
    { status_code: 400, code: "NonceTooLow" },
    { status_code: 200, nonce: 4 },
  ])
  expect(await answerTo("[7,8]")).toMatchObject([{ status_code: 400 }, { status_code: 400 }])
  expect(await answerTo(`[${unstake(1)},${unstake(9)}]`)).toBe("Die")
})

it("limits an array to 1,000 entries, requires one, and counts each as a request", () => {
  const array = (length: number) => read(JSON.stringify(Array.from({ length }, () => 0)))
  const lengths = [0, 1, 1_000, 1_001]
  expect(lengths.map((length) => Batches.count(array(length)))).toEqual(lengths)
  expect(lengths.map((length) => Batches.refusalOf(array(length), batch)?.message)).toEqual([
    "body: expected an array of 1 to 1000, got 0",
    undefined,
    undefined,
    "body: expected an array of 1 to 1000, got 1001",
  ])
  expect(Batches.count(read("{}"))).toBe(1)
})

it("lets only an array be larger than one transaction", () => {
  const { limits, maximumBytes } = Batches.format(batch)
  expect([limits("[".charCodeAt(0)).bytes, limits("{".charCodeAt(0)).bytes, limits(undefined).bytes]).toEqual([
    maximumBytes,
    65_536,
    65_536,
  ])
})
