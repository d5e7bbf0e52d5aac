import { expect } from "vitest"
import * as Processes from "./Processes.js"

/** That all have the same commits, effects and signed checkpoints where they have any, up to this round at least. */
export const expectOneHistory = (nodes: ReadonlyArray<Pick<Processes.Started, "directory">>, round: number): void => {
  const [first, ...others] = nodes
  if (first === undefined) throw new Error("there is no node to look at")
  const chain = new Map(Processes.commits(first).map((commit) => [commit.index, commit]))
  const signed = new Map(Processes.checkpoints(first).map((checkpoint) => [checkpoint.round, checkpoint]))
  for (const other of others) {
    const common = Processes.commits(other).filter(({ index }) => chain.has(index))
    expect(common.at(-1)?.round).toBeGreaterThanOrEqual(round)
    for (const commit of common) expect(commit).toEqual(chain.get(commit.index))
    const both = Processes.checkpoints(other).filter((checkpoint) => signed.has(checkpoint.round))
    expect(both.length).toBeGreaterThan(0)
    for (const checkpoint of both) expect(checkpoint).toEqual(signed.get(checkpoint.round))
  }
}
