import { effect } from "@preact/signals"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import type * as Address from "../../../src/protocol/identity/Address.js"

const names = vi.hoisted(() => vi.fn())
vi.mock("../../../src/explorer/live/Node.js", () => ({ node: { core: { names } } }))

const alice = "a".repeat(40) as Address.Address
const registered = { names: [{ address: alice, name: "alice" }] }

beforeEach(() => {
  vi.resetModules()
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  names.mockReset()
})

const load = () => import("../../../src/explorer/live/Names.js")

it("brings a page the name that the node could not answer at first", async () => {
  const Names = await load()
  names.mockRejectedValueOnce(new Error("down")).mockResolvedValue(registered)
  const shown: Array<string | null> = []
  const stop = effect(() => void shown.push(Names.of(alice)))
  await vi.advanceTimersByTimeAsync(15_000)
  stop()
  expect(shown).toEqual([null, "alice"])
  expect(names).toHaveBeenCalledTimes(2)
})

it("asks for an account without a name again, at most once a minute", async () => {
  const Names = await load()
  names.mockResolvedValue({ names: [] })
  for (let second = 0; second < 90; second++) {
    expect(Names.of(alice)).toBe(null)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(names).toHaveBeenCalledTimes(2)
  names.mockResolvedValue(registered)
  await vi.advanceTimersByTimeAsync(60_000)
  Names.of(alice)
  await vi.advanceTimersByTimeAsync(1)
  expect(Names.of(alice)).toBe("alice")
  await vi.advanceTimersByTimeAsync(60_000)
  Names.of(alice)
  await vi.advanceTimersByTimeAsync(1)
  expect(names).toHaveBeenCalledTimes(3)
})
