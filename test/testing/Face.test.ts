import { Effect, Stream } from "effect"
import { expect, it } from "vitest"
import * as Answer from "../../src/rpc/server/Answer.js"
import { Face, type Node } from "../../src/testing/Face.js"

/** A node that answers with its name, as if it never changed. */
const nodeOf = (name: string): Node => ({
  handlers: {
    core: {
      status: () =>
        Effect.succeed(
          Answer.atVersion(
            () => 1,
            () => name,
          ),
        ),
    },
    events: { stream: () => Effect.succeed(Stream.never) },
  } as never,
  behind: { isMainnet: false },
})

const answered = (face: Face) =>
  Effect.map(face.handlers.core.status({ client: "" }), (answer) => {
    if (!(answer instanceof Answer.Versioned)) throw new Error("no version")
    return { name: answer.make(), isCurrent: () => Object.is(answer.version(), answer.at) }
  })

it("holds no answer of a node for current once another has its place", async () => {
  const face = new Face(nodeOf("first"))
  const before = await Effect.runPromise(answered(face))
  expect([before.name, before.isCurrent()]).toEqual(["first", true])
  await Effect.runPromise(face.replaced(Effect.succeed([nodeOf("second"), undefined] as const)))
  expect(before.isCurrent()).toBe(false)
  expect((await Effect.runPromise(answered(face))).name).toBe("second")
})

it("lets requests wait while there is no node, and lets go of answers that were begun", async () => {
  const face = new Face(nodeOf("first"))
  const next = Effect.delay(Effect.succeed([nodeOf("second"), undefined] as const), "50 millis")
  const [, { name }] = await Effect.runPromise(
    Effect.all([face.replaced(next), Effect.delay(answered(face), "10 millis")], { concurrency: 2 }),
  )
  expect(name).toBe("second")
})
