import { describe, expect, it } from "vitest"
import { Chance } from "../simulation/Chance.js"
import { ROUND_MS, SmallNetwork, type SmallNode } from "./SmallNetwork.js"
import { equalWeights, recordOf, rules } from "./TestCommittee.js"

const calm = { minDelayMs: 5, maxDelayMs: 20, loss: 0 }
const shortEpochs = { rules: { ...rules, epochRounds: 40, collectionDepthRounds: 10 } }

/** Every node's commits are a prefix of the longest one's, and so is what they order. */
const expectOneHistory = (network: SmallNetwork): void => {
  const longest = network.nodes.reduce((a, b) => (a.executed.length >= b.executed.length ? a : b))
  for (const { executed, ordered } of network.nodes) {
    expect(executed).toEqual(longest.executed.slice(0, executed.length))
    expect(ordered).toEqual(longest.ordered.slice(0, ordered.length))
  }
}

/** No key has signed two vertices of one slot, whatever its node went through. */
const expectNoEquivocation = (network: SmallNetwork): void => {
  const found = network.nodes.flatMap(({ outputs }) => outputs.filter(({ _tag }) => _tag === "EvidenceFound"))
  expect(found).toEqual([])
}

const nodeAt = (network: SmallNetwork, seat: number): SmallNode => {
  const node = network.nodes[seat]
  if (node === undefined) throw new Error(`no node at seat ${seat}`)
  return node
}

const lag = ({ core: { epoch } }: SmallNode): number => epoch.dag.highestRound - epoch.position.leaderRound
const epochOf = ({ core }: SmallNode): number => core.epoch.opening.record.epoch
const committed = (network: SmallNetwork) => network.nodes.map(({ executed }) => executed.length)

const started = (conditions: ConstructorParameters<typeof SmallNetwork>[0]): SmallNetwork => {
  const network = new SmallNetwork(conditions)
  network.start()
  return network
}

describe("a network of one", () => {
  it("commits every round with a lag of two", () => {
    const network = started({ seed: 1, record: recordOf([1]), ...calm })
    network.run(19 * ROUND_MS + 1)
    const node = nodeAt(network, 0)
    expect(node.core.epoch.dag.highestRound).toBe(20)
    expect(node.executed.map(({ commit }) => commit.leaderRound)).toEqual(Array.from({ length: 18 }, (_, i) => i + 1))
  })

  it("passes from epoch to epoch without asking anybody, at the pace of the interval", () => {
    const record = recordOf([1], { rules: { ...rules, epochRounds: 40, collectionDepthRounds: 4 } })
    const network = started({ seed: 1, record, ...calm })
    network.run(210 * ROUND_MS)
    const node = nodeAt(network, 0)
    expect(epochOf(node)).toBe(6)
    // Each close costs the two rounds that decided it.
    expect(node.core.epoch.position.leaderRound).toBe(200)
  })
})

describe("a network of four", () => {
  it("keeps the pace of the interval and a lag of two or three", () => {
    const network = started({ seed: 2, record: recordOf(equalWeights(4)), ...calm })
    network.run(60 * ROUND_MS)
    expectOneHistory(network)
    for (const node of network.nodes) {
      expect(node.core.epoch.dag.highestRound).toBeGreaterThan(55)
      expect(lag(node)).toBeLessThanOrEqual(3)
    }
  })

  it("passes from epoch to epoch together", () => {
    const network = started({ seed: 3, record: recordOf(equalWeights(4), shortEpochs), ...calm })
    network.run(200 * ROUND_MS)
    expectOneHistory(network)
    for (const node of network.nodes) expect(epochOf(node)).toBe(5)
  })

  it("continues with one of four dead, without waiting for its turns to lead", () => {
    const network = started({ seed: 4, record: recordOf(equalWeights(4)), ...calm })
    nodeAt(network, 2).isUp = false
    network.run(100 * ROUND_MS)
    expectOneHistory(network)
    expect(nodeAt(network, 0).core.epoch.dag.highestRound).toBeGreaterThan(90)
    // One of four leaders is dead, and each costs its own slot only.
    expect(committed(network)[0]).toBeGreaterThan(60)
  })

  it("stops without a quorum, and continues once there is one again", () => {
    const network = started({ seed: 5, record: recordOf(equalWeights(4), shortEpochs), ...calm })
    network.run(20 * ROUND_MS)
    for (const seat of [2, 3]) nodeAt(network, seat).isUp = false
    network.run(5 * ROUND_MS)
    const before = committed(network)
    network.run(50 * ROUND_MS)
    expect(committed(network)).toEqual(before)
    for (const seat of [2, 3]) nodeAt(network, seat).restart()
    network.run(30 * ROUND_MS)
    expect(committed(network)[0]).toBeGreaterThan((before[0] ?? 0) + 15)
    expectOneHistory(network)
    expectNoEquivocation(network)
  })

  it("survives the loss of every fifth message, and long delays", () => {
    for (const seed of [6, 7, 8]) {
      const record = recordOf(equalWeights(4), shortEpochs)
      const network = started({ seed, record, minDelayMs: 5, maxDelayMs: 300, loss: 20 })
      network.run(400 * ROUND_MS)
      expectOneHistory(network)
      expectNoEquivocation(network)
      for (const node of network.nodes) expect(epochOf(node)).toBeGreaterThanOrEqual(3)
    }
  })

  it("survives nodes that crash and return repeatedly", () => {
    for (const seed of [9, 10, 11]) {
      const network = started({ seed, record: recordOf(equalWeights(4), shortEpochs), ...calm, loss: 5 })
      const chance = new Chance(seed)
      for (let crash = 0; crash < 30; crash++) {
        const node = nodeAt(network, chance.below(4))
        node.isUp = false
        network.run(chance.below(12) * ROUND_MS)
        node.restart()
        network.run(chance.below(6) * ROUND_MS)
      }
      network.run(30 * ROUND_MS)
      expectOneHistory(network)
      expectNoEquivocation(network)
      for (const node of network.nodes) expect(lag(node)).toBeLessThanOrEqual(6)
    }
  })

  it("lets a node that slept through an epoch's end decide what it missed", () => {
    const network = started({ seed: 12, record: recordOf(equalWeights(4), shortEpochs), ...calm })
    network.run(30 * ROUND_MS)
    const sleeper = nodeAt(network, 1)
    sleeper.isUp = false
    network.run(40 * ROUND_MS)
    expect(epochOf(nodeAt(network, 0))).toBe(2)
    sleeper.restart()
    network.run(20 * ROUND_MS)
    expect(epochOf(sleeper)).toBe(epochOf(nodeAt(network, 0)))
    expect(lag(sleeper)).toBeLessThanOrEqual(4)
    expectOneHistory(network)
    expectNoEquivocation(network)
  })

  it("recovers from a partition into halves", () => {
    const network = started({ seed: 13, record: recordOf(equalWeights(4), shortEpochs), ...calm })
    network.run(15 * ROUND_MS)
    network.passes = (from, to) => from.seat % 2 === to.seat % 2
    network.run(60 * ROUND_MS)
    const before = committed(network)
    network.passes = () => true
    network.run(40 * ROUND_MS)
    expect(committed(network)[0]).toBeGreaterThan((before[0] ?? 0) + 20)
    expectOneHistory(network)
  })
})

describe("a validator restored from an old backup", () => {
  it("stays silent, learns what it had signed, and signs again above it", () => {
    const network = started({ seed: 14, record: recordOf(equalWeights(4)), ...calm })
    network.run(10 * ROUND_MS)
    const node = nodeAt(network, 1)
    const backup = node.disk
    network.run(10 * ROUND_MS)
    node.isUp = false
    network.run(2 * ROUND_MS)
    node.outputs.length = 0
    node.executed.length = backup.current.commits.length
    node.ordered.length = 0
    node.restart(backup)
    network.run(60 * ROUND_MS)
    expect(node.outputs.some(({ _tag }) => _tag === "ForeignOwnHeader")).toBe(true)
    expect(node.outputs.some(({ _tag }) => _tag === "Propose")).toBe(false)
    network.run(100 * ROUND_MS)
    expect(node.outputs.some(({ _tag }) => _tag === "Propose")).toBe(true)
    expectNoEquivocation(network)
  })
})
