import { Effect, Stream } from "effect"
import { expect, it } from "vitest"
import type { Implementation } from "../../src/edge/server/Group.js"
import { Face, type Node } from "../../src/testing/Face.js"

/** A node that answers with its name, as an immutable response. */
const nodeOf = (name: string): Node => ({
  handlers: new Map<string, Implementation>([
    ["core", new Map([["status", () => Effect.succeed(name)]])],
    ["events", new Map([["stream", () => Effect.succeed(Stream.never)]])],
  ]),
  behind: {
    isMainnet: false,
    versions: { state: () => 1 },
    memory: { versions: new Set(), isWritten: () => true, written: Effect.void },
    onAnswer: () => {},
    onDefect: () => {},
    isPressed: () => false,
  },
})

const answered = (face: Face): Effect.Effect<unknown, unknown> =>
  face.handlers.get("core")?.get("status")?.({}) ?? Effect.dieMessage("no handler")

const second = Effect.succeed([nodeOf("second"), undefined] as const)

it("discards a node's answer once another node has replaced it", async () => {
  const face = new Face(nodeOf("first"))
  const { state, restart } = face.behind.versions
  const [version, start] = [state?.(), restart?.()]
  expect(await Effect.runPromise(answered(face))).toBe("first")
  expect([state?.() === version, restart?.() === start]).toEqual([true, true])
  await Effect.runPromise(face.replaced(second))
  expect([state?.() === version, restart?.() === start]).toEqual([false, false])
  expect(await Effect.runPromise(answered(face))).toBe("second")
})

it("lets requests wait while it has no node, and drops answers in progress", async () => {
  const face = new Face(nodeOf("first"))
  const [, name] = await Effect.runPromise(
    Effect.all([face.replaced(Effect.delay(second, "50 millis")), Effect.delay(answered(face), "10 millis")], {
      concurrency: 2,
    }),
  )
  expect(name).toBe("second")
})
