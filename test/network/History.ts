import { expect } from "vitest"
import * as Processes from "./Processes.js"

type Node = Pick<Processes.Started, "directory">

/** Signatures arrive some time after the commit that they sign. */
const untilCheckpointInCommon = ([first, ...others]: ReadonlyArray<Node>): Promise<void> => {
  const roundsOf = (node: Node | undefined) => new Set(node && Processes.checkpoints(node).map(({ round }) => round))
  return Processes.until("all have a checkpoint in common with the first", () =>
    others.every((other) => [...roundsOf(other)].some((round) => roundsOf(first).has(round))),
  )
}

/**
 * Asserts that all have the same commits, effects and signed checkpoints where they have any, up to at least this
 * round.
 */
export const expectOneHistory = async (nodes: ReadonlyArray<Node>, round: number): Promise<void> => {
  await untilCheckpointInCommon(nodes)
  const [first, ...others] = nodes
  if (first === undefined) throw new Error("there is no node to look at")
  const chain = new Map(Processes.commits(first).map((commit) => [commit.index, commit]))
  const signed = new Map(Processes.checkpoints(first).map((checkpoint) => [checkpoint.round, checkpoint]))
  for (const other of others) {
    const common = Processes.commits(other).filter(({ index }) => chain.has(index))
    expect(common.at(-1)?.round).toBeGreaterThanOrEqual(round)
    for (const commit of common) expect(commit).toEqual(chain.get(commit.index))
    const both = Processes.checkpoints(other).filter((checkpoint) => signed.has(checkpoint.round))
    for (const checkpoint of both) expect(checkpoint).toEqual(signed.get(checkpoint.round))
  }
}

/** Asserts that no validator has filled a slot twice, by this node's records. */
export const expectNoSlotTwice = ({ keys }: Processes.Founded, by: Node): void => {
  for (const key of keys) {
    const slots = Processes.slotsOf(by, key)
    expect(new Set(slots).size).toBe(slots.length)
  }
}

/** Asserts one history, no slot filled twice, and nobody accused of it. */
export const expectSound = async (
  network: Processes.Founded,
  nodes: ReadonlyArray<Processes.Started>,
  round: number,
): Promise<void> => {
  await expectOneHistory(nodes, round)
  for (const node of nodes) {
    expectNoSlotTwice(network, node)
    expect(node.log()).not.toContain("no honest node")
  }
}
