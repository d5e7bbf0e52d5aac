import { Effect, Exit } from "effect"
import { expect, it } from "vitest"
import { Batcher } from "../../src/edge/server/Batcher.js"
import * as Run from "../../src/effect3/fibers/Run.js"

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Doubles numbers and dies on a negative one. Records which numbers came together. */
const scene = (
  results: (items: ReadonlyArray<number>) => ReadonlyArray<number> = (items) => items.map((n) => 2 * n),
) => {
  const together: Array<ReadonlyArray<number>> = []
  const answers: Array<string> = []
  const batcher = new Batcher<number, number, never>({
    run: Run.make(Effect.runFork),
    handle: (items) => {
      together.push(items)
      if (items.some((n) => n < -1)) throw new Error("a bug")
      return items.includes(-1) ? Effect.die("a bug") : Effect.succeed(results(items))
    },
  })
  const add = (...items: ReadonlyArray<number>) =>
    batcher.add(items, (exit) => answers.push(Exit.isSuccess(exit) ? exit.value.join() : "died"))
  return { together, answers, add }
}

it("handles requests of one turn together and gives each its part", async () => {
  const { together, answers, add } = scene()
  add(1)
  add(2, 3)
  expect(together).toEqual([])
  await turn()
  add(4)
  await turn()
  expect(together).toEqual([[1, 2, 3], [4]])
  expect(answers).toEqual(["2", "4,6", "8"])
})

it("does not delay sixteen requests", async () => {
  const { together, add } = scene()
  for (let i = 0; i < 17; i++) add(i)
  expect(together.map(({ length }) => length)).toEqual([16])
  await turn()
  expect(together.map(({ length }) => length)).toEqual([16, 1])
})

it("answers an empty batch with nothing and calls nothing", () => {
  const { together, answers, add } = scene()
  add()
  expect({ together, answers }).toEqual({ together: [], answers: [""] })
})

it.each([-1, -2])("keeps one request's bug away from the others: %i", async (bad) => {
  const { answers, add } = scene()
  add(1)
  add(bad, 2)
  add(3)
  await turn()
  expect(answers).toEqual(["2", "died", "6"])
})

it("fails every request with a bug when the results cannot be examined", async () => {
  const { answers, add } = scene(() => {
    return Object.create({
      get slice() {
        throw new Error("a bug")
      },
    })
  })
  add(1)
  add(2)
  await turn()
  expect(answers).toEqual(["died", "died"])
})
