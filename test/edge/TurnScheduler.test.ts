import { expect, it } from "vitest"
import { TurnScheduler } from "../../src/edge/admission/TurnScheduler.js"

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A scheduler with ten milliseconds a turn, and steps that take time on a manual clock. */
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

it("runs what fits into a turn, and the rest in order in the next turns", async () => {
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

it("makes no client wait for everything that another has sent", async () => {
  const { done, pass } = scene()
  for (const name of ["a1", "a2", "a3", "a4", "a5", "a6"]) pass(name, 6, "a")
  pass("b1", 6, "b")
  pass("c1", 6, "c")
  for (let i = 0; i < 4; i++) await turn()
  expect(done).toEqual(["a1", "a2", "a3", "b1", "c1", "a4", "a5", "a6"])
})

it("runs one step in every turn, however long it takes", async () => {
  const { done, pass } = scene()
  for (const name of ["a", "b", "c"]) pass(name, 50)
  expect(done).toEqual(["a"])
  await turn()
  expect(done).toEqual(["a", "b"])
  await turn()
  expect(done).toEqual(["a", "b", "c"])
})

it("causes no wait after an idle time", async () => {
  const { done, pass, wait } = scene()
  pass("a", 6)
  await turn()
  await turn()
  wait(1_000)
  pass("b", 6)
  expect(done).toEqual(["a", "b"])
})

it("runs one turn's worth at intervals while the node is late, and everything again afterwards", async () => {
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
