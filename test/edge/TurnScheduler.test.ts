import { expect, it } from "vitest"
import { TurnScheduler } from "../../src/edge/admission/TurnScheduler.js"

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A scheduler of ten milliseconds a turn, and steps that take some by a clock of their own. */
const scene = () => {
  let clock = 0
  let isPressed = false
  const done: Array<string> = []
  const scheduler = new TurnScheduler({ now: () => clock, turnMs: 10, isPressed: () => isPressed, pauseMs: 40 })
  const pass = (name: string, takes: number, client = "somebody") =>
    scheduler.schedule(client, () => {
      clock += takes
      done.push(name)
    })
  return { done, pass, wait: (ms: number) => (clock += ms), press: (now: boolean) => (isPressed = now) }
}

it("lets through what fits into a turn, and the rest in its order in the next ones", async () => {
  const { done, pass } = scene()
  for (const name of ["a", "b", "c", "d", "e"]) pass(name, 6)
  expect(done).toEqual(["a", "b"])
  await turn()
  expect(done).toEqual(["a", "b", "c", "d"])
  pass("f", 1)
  expect(done).toEqual(["a", "b", "c", "d"])
  await turn()
  expect(done).toEqual(["a", "b", "c", "d", "e", "f"])
})

it("makes nobody wait for all that another one has sent", async () => {
  const { done, pass } = scene()
  for (const name of ["a1", "a2", "a3", "a4", "a5", "a6"]) pass(name, 6, "a")
  pass("b1", 6, "b")
  pass("c1", 6, "c")
  for (let i = 0; i < 4; i++) await turn()
  expect(done).toEqual(["a1", "a2", "a3", "b1", "c1", "a4", "a5", "a6"])
})

it("lets one through in every turn, however long it takes", async () => {
  const { done, pass } = scene()
  for (const name of ["a", "b", "c"]) pass(name, 50)
  expect(done).toEqual(["a"])
  await turn()
  expect(done).toEqual(["a", "b"])
  await turn()
  expect(done).toEqual(["a", "b", "c"])
})

it("keeps nobody waiting when there was nothing for a while", async () => {
  const { done, pass, wait } = scene()
  pass("a", 6)
  await turn()
  await turn()
  wait(1_000)
  pass("b", 6)
  expect(done).toEqual(["a", "b"])
})

it("lets a turn's worth through from time to time while the node is late, and all again when it is not", async () => {
  const { done, pass, wait, press } = scene()
  press(true)
  for (const name of ["a", "b", "c", "d", "e", "f"]) pass(name, 6)
  expect(done).toEqual(["a", "b"])
  const began = performance.now()
  await turn()
  await turn()
  expect(done).toEqual(["a", "b"])
  wait(40)
  await expect.poll(() => done).toEqual(["a", "b", "c", "d"])
  // The turn's 40 ms less the 12 ms that the first two took.
  expect(performance.now() - began).toBeGreaterThan(25)
  press(false)
  await expect.poll(() => done).toEqual(["a", "b", "c", "d", "e", "f"])
})
