/** What replicas of one network must have in common. */
import { expect } from "vitest"
import type { Machine } from "./Cluster.js"

const commitsOf = (machine: Machine) => machine.executed.map(({ execution }) => execution.effectsDigest)

/** Every machine's commits are a prefix of the longest one's. */
export const expectOneHistory = (machines: ReadonlyArray<Machine>): void => {
  const longest = machines.map(commitsOf).reduce((a, b) => (a.length >= b.length ? a : b))
  for (const machine of machines) expect(commitsOf(machine)).toEqual(longest.slice(0, commitsOf(machine).length))
}

export const writtenBy = (machine: Machine) => new Set(machine.writes.map(({ _tag }) => _tag))

export const four = { validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } }

export const expectAgreement = (machines: ReadonlyArray<Machine>): void => {
  const byIndex = new Map<number, string>()
  for (const { executed } of machines) {
    for (const { execution } of executed) {
      const known = byIndex.get(execution.commit.index)
      if (known !== undefined) expect(execution.effectsDigest).toBe(known)
      byIndex.set(execution.commit.index, execution.effectsDigest)
    }
  }
  expect(byIndex.size).toBeGreaterThan(0)
}
