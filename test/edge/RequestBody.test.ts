/** How much of the memory for bodies a request holds, from its first byte to its response. */
import { once } from "node:events"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { Budget } from "../../src/edge/admission/Budget.js"
import { TurnScheduler } from "../../src/edge/admission/TurnScheduler.js"
import * as RequestBody from "../../src/edge/server/RequestBody.js"
import * as Failure from "../../src/rpc/api/Failure.js"

/** What a request takes besides the bytes of its body, according to the docs. */
const WAITING = 1_024
const BODY = JSON.stringify({ amount: 1 })
const TURN_MS = 10

/** A request whose body arrives after this turn of the event loop is used up. */
const scene = (limit: number, refusal?: Failure.Failure) => {
  let clock = 0
  const scheduler = new TurnScheduler({ now: () => clock, turnMs: TURN_MS, isPressed: () => false, pauseMs: 0 })
  const budget = new Budget(limit)
  const request = new IncomingMessage(new Socket())
  const held: Array<number> = []
  const answer = new Promise<string>((resolve) => {
    RequestBody.read(
      request,
      {
        client: "somebody",
        format: RequestBody.oneValue,
        budget,
        scheduler,
        refusalOfCost: () => refusal,
        guard: (step) => step(),
        onConfetti: () => {},
      },
      (body) => {
        held.push(budget.used)
        resolve(Either.match(body, { onLeft: ({ _tag }) => _tag, onRight: JSON.stringify }))
      },
    )
  })
  request.on("data", () => held.push(budget.used))
  request.on("end", () => held.push(budget.used))
  const send = (text: string) => {
    scheduler.schedule("somebody else", () => {
      clock += TURN_MS
    })
    request.push(text)
    request.push(null)
  }
  return { budget, request, held, answer, send }
}

describe("a body", () => {
  it("holds a request's base memory before its first byte, then its bytes too, and nothing once read", async () => {
    const { budget, held, answer, send } = scene(100_000)
    expect(budget.used).toBe(WAITING)
    send(BODY)
    expect(await answer).toBe(BODY)
    expect(held).toEqual([WAITING + BODY.length, WAITING + BODY.length, 0])
  })

  it("is refused when its bytes have room but the waiting request has none", async () => {
    // A client can hold as many bytes as are still free, because its own count double.
    const least = 2 * WAITING + BODY.length
    const [enough, tooLittle] = [scene(least), scene(least - 1)]
    enough.send(BODY)
    tooLittle.send(BODY)
    expect([await enough.answer, await tooLittle.answer]).toEqual([BODY, "Overloaded"])
    expect(tooLittle.budget.used).toBe(0)
  })

  it("holds nothing once it is refused for its price or its length", async () => {
    const dear = scene(100_000, new Failure.Overloaded({ message: "too dear", retry_after_seconds: 1 }))
    dear.send(BODY)
    expect(await dear.answer).toBe("Overloaded")
    const long = scene(1_000_000)
    long.send(`"${"x".repeat(RequestBody.ONE_VALUE.bytes)}"`)
    expect(await long.answer).toBe("BodyTooLarge")
    expect([dear.budget.used, long.budget.used]).toEqual([0, 0])
  })

  it("in small pieces holds the memory that the pieces take, at most twice their length", async () => {
    const { budget, request, answer } = scene(1_000_000)
    const text = JSON.stringify({ memo: "x".repeat(20_000) })
    const most: Array<number> = []
    let length = 0
    request.on("data", (piece: Buffer) => {
      length += piece.length
      most.push(budget.used - WAITING - Math.max(1_024, 2 * length))
    })
    for (let at = 0; at < text.length; at += 50) request.push(text.slice(at, at + 50))
    request.push(null)
    expect(await answer).toBe(text)
    expect(most.length).toBeGreaterThan(400)
    expect(Math.max(...most)).toBeLessThanOrEqual(0)
    expect(budget.used).toBe(0)
  })

  it("holds nothing once its client is gone", async () => {
    const { budget, request, held } = scene(100_000)
    request.push(BODY)
    await once(request, "data")
    expect(held).toEqual([WAITING + BODY.length])
    request.destroy()
    await once(request, "close")
    expect(budget.used).toBe(0)
  })
})
