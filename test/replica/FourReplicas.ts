/** Four replicas: what they must have in common, and what one of them may do. */
import { expect } from "vitest"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import { type Machine, signerOf } from "./Cluster.js"

const commitsOf = (machine: Machine) => machine.executed.map(({ execution }) => execution.effectsDigest)

/** Every machine's commits are a prefix of the longest one's. */
export const expectOneHistory = (machines: ReadonlyArray<Machine>): void => {
  const longest = machines.map(commitsOf).reduce((a, b) => (a.length >= b.length ? a : b))
  for (const machine of machines) expect(commitsOf(machine)).toEqual(longest.slice(0, commitsOf(machine).length))
}

export const writtenBy = (machine: Machine) => new Set(machine.writes.map(({ _tag }) => _tag))

export const ownRounds = (machine: Machine): ReadonlyArray<number> =>
  machine.writes.flatMap((write) => (write._tag === "OwnVertex" ? [write.vertex.header.round] : []))

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

/** Two headers by somebody for one slot. */
export const equivocation = (by: string, base: Hash.Hash, epoch: Natural.Epoch, round: number): Evidence.Evidence => {
  const slot = { base, epoch, round: Natural.round(round), parents: [], bodyHash: Hash.ZERO }
  const headerWith = (coinbase: number) =>
    Header.sign({ ...slot, timestamp: Natural.timestamp(1), coinbase: Sats.make(coinbase) }, signerOf(by))
  const evidence = Evidence.of(headerWith(1), headerWith(2))
  if (evidence === undefined) throw new Error("evidence expected")
  return evidence
}
