import { expect, it } from "vitest"
import { Readers } from "../../src/edge/admission/Readers.js"
import { TurnScheduler } from "../../src/edge/admission/TurnScheduler.js"

/** Two at a time per client and three in all, in turns that never end. */
const scene = () => {
  const scheduler = new TurnScheduler({ now: () => 0, turnMs: 10, isPressed: () => false, pauseMs: 40 })
  const readers = new Readers({ scheduler, each: 2, total: 3 })
  const begun: Array<string> = []
  const leaves = new Map<string, () => void>()
  const enter = (name: string, client: string) =>
    readers.enter(client, (leave) => {
      begun.push(name)
      leaves.set(name, leave)
    })
  return { readers, begun, enter, leave: (name: string) => leaves.get(name)?.() }
}

it("admits readers up to the limits per client and in all, then the others as readers finish, with clients in turn", () => {
  const { begun, enter, leave } = scene()
  for (const name of ["a1", "a2", "a3", "a4"]) enter(name, "a")
  expect(begun).toEqual(["a1", "a2"])
  for (const name of ["b1", "b2"]) enter(name, "b")
  enter("c1", "c")
  expect(begun).toEqual(["a1", "a2", "b1"])
  leave("a2")
  expect(begun).toEqual(["a1", "a2", "b1", "b2"])
  leave("b1")
  expect(begun).toEqual(["a1", "a2", "b1", "b2", "c1"])
  leave("c1")
  leave("a1")
  expect(begun.slice(5)).toEqual(["a3", "a4"])
})

it("counts a reader that leaves twice only once", () => {
  const { begun, enter, leave } = scene()
  for (const name of ["a1", "a2", "a3", "a4"]) enter(name, "a")
  leave("a1")
  leave("a1")
  expect(begun).toEqual(["a1", "a2", "a3"])
})

it("admits any number of readers that finish at once", () => {
  const { readers, enter, leave, begun } = scene()
  for (const name of ["a1", "a2"]) enter(name, "a")
  let done = 0
  for (let n = 0; n < 100_000; n++) {
    readers.enter("a", (through) => {
      done++
      through()
    })
  }
  leave("a1")
  expect(done).toBe(100_000)
  expect(begun).toEqual(["a1", "a2"])
})
