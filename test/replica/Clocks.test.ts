/** The effects of wrong or adjusted wall clocks and stopped machines, and on whom. */
import { describe, expect, it } from "vitest"
import { SILENT_INTERVALS } from "../../src/consensus/SigningGuard.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Stored from "../support/Stored.js"
import { addressOf, Cluster, type Machine, ROUND_MS } from "./Cluster.js"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const four = { validators: { ann: 3_000, ben: 3_000, cleo: 3_000, dan: 3_000 }, epochRounds: 240 }

const headOf = ({ replica }: Machine): number => replica.read.head.leaderRound

/** Rounds of the vertices of this author that a machine has inserted, in order. */
const roundsOf = (author: string, by: Machine): ReadonlyArray<number> =>
  by.writes.flatMap((write) =>
    write._tag === "Inserted" && write.vertex.header.author === addressOf(author) ? [write.vertex.header.round] : [],
  )

const wipe = (machine: Machine, cluster: Cluster): void => {
  machine.replaceDisk(Stored.ofGenesis(cluster.genesis))
  machine.start()
}

describe("a validator with an adjusted wall clock", () => {
  it("a day ahead, then an hour behind, continues in every round like the others, with and without a restart", () => {
    const cluster = new Cluster(four).start().runRounds(10)
    const [ann, dan] = [cluster.machine("ann"), cluster.machine("dan")]
    for (const [aheadMs, isRestarted] of [
      [DAY_MS, false],
      [-HOUR_MS, false],
      [DAY_MS, true],
      [-HOUR_MS, true],
      [0, true],
      [0, false],
    ] as const) {
      if (isRestarted) dan.stop()
      if (isRestarted) dan.start()
      dan.replica.wallIs(aheadMs)
      const before = [headOf(ann), roundsOf("dan", ann).length]
      cluster.runRounds(20)
      const [round, made] = [headOf(ann), roundsOf("dan", ann).length]
      expect(round - (before[0] ?? 0)).toBeGreaterThanOrEqual(17)
      expect(made - (before[1] ?? 0)).toBeGreaterThanOrEqual(17)
      expect(headOf(dan)).toBeGreaterThanOrEqual(round - 3)
    }
  })

  it("never moves a commit's time out of the range of honest clocks", () => {
    const cluster = new Cluster(four).start()
    const dan = cluster.machine("dan")
    for (const aheadMs of [
      DAY_MS,
      -DAY_MS,
      Number.MAX_SAFE_INTEGER - cluster.now - HOUR_MS,
      -Number.MAX_SAFE_INTEGER,
    ]) {
      dan.replica.wallIs(aheadMs)
      const from = cluster.now
      cluster.runRounds(20)
      const { time } = cluster.machine("ann").replica.read.head
      expect(time).toBeLessThanOrEqual(cluster.now)
      expect(time).toBeGreaterThan(from)
    }
  })
})

describe("the silence of a validator that has lost its disk", () => {
  /** The rounds until it signs again, while it is disturbed repeatedly. */
  const silentRounds = (disturb: (dan: Machine, cluster: Cluster) => void): number => {
    const cluster = new Cluster(four).start().runRounds(20)
    const [ann, dan] = [cluster.machine("ann"), cluster.machine("dan")]
    wipe(dan, cluster)
    const from = roundsOf("dan", ann).length
    for (let rounds = 0; rounds < 3 * SILENT_INTERVALS; rounds += 5) {
      disturb(dan, cluster)
      cluster.runRounds(5)
      if (roundsOf("dan", ann).length > from) return rounds
    }
    return Number.POSITIVE_INFINITY
  }

  it("lasts for 120 intervals, whatever its wall clock shows", () => {
    const undisturbed = silentRounds(() => undefined)
    expect(undisturbed).toBeGreaterThanOrEqual(SILENT_INTERVALS - 5)
    expect(undisturbed).toBeLessThanOrEqual(SILENT_INTERVALS + 10)
    for (const stepMs of [60_000, -HOUR_MS]) {
      let aheadMs = 0
      const stepped = silentRounds((dan) => {
        aheadMs += stepMs
        dan.replica.wallIs(aheadMs)
      })
      expect(stepped).toBe(undisturbed)
    }
  })

  it("is not shortened by a time in which the machine stood still", () => {
    const cluster = new Cluster(four).start().runRounds(20)
    const [ann, dan] = [cluster.machine("ann"), cluster.machine("dan")]
    wipe(dan, cluster)
    cluster.runRounds(20)
    const from = roundsOf("dan", ann).length
    // It is idle for longer than the silence; both looks find everybody connected.
    cluster.now = Natural.timestamp(cluster.now + 10 * SILENT_INTERVALS * ROUND_MS)
    cluster.runRounds(60)
    expect(roundsOf("dan", ann).length).toBe(from)
    cluster.runRounds(60)
    expect(roundsOf("dan", ann).length).toBeGreaterThan(from)
  })
})

// Rounds stopped for as long as the clock had been ahead: its vertices, and all that named them, waited for that time.
it("four validators do not stop when one has lost its disk and another starts with a wrong clock", () => {
  const cluster = new Cluster({ ...four, epochRounds: 120 }).start().runRounds(100)
  const [ann, cleo, dan] = [cluster.machine("ann"), cluster.machine("cleo"), cluster.machine("dan")]
  wipe(cleo, cluster)
  cluster.runRounds(10)
  for (const aheadMs of [DAY_MS, -HOUR_MS, 0]) {
    dan.stop()
    dan.start()
    dan.replica.wallIs(aheadMs)
    const before = headOf(ann)
    cluster.runRounds(40)
    expect(headOf(ann)).toBeGreaterThan(before + 30)
  }
  cluster.runRounds(60)
  // With the validator back that had lost its disk, any other can be away.
  ann.stop()
  const before = headOf(dan)
  cluster.runRounds(40)
  expect(headOf(dan)).toBeGreaterThan(before + 15)
})

describe("a validator that has lost its disk", () => {
  const slotsOf = (machine: Machine): ReadonlyArray<string> =>
    machine.writes.flatMap((write) =>
      write._tag === "OwnVertex" ? [`${write.vertex.header.epoch} ${write.vertex.header.round}`] : [],
    )

  // The others keep what was signed by members of the current epoch and the one before.
  it("and lost its seat two epochs ago signs nothing twice, even after the others forgot its vertices", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start().runRounds(8)
    const [ann, dan] = [cluster.machine("ann"), cluster.machine("dan")]
    const signed = slotsOf(dan)
    expect(signed).toContain("1 1")
    dan.stop()
    cluster.runRounds(140)
    expect(ann.replica.core.epoch.committee.seatOf(addressOf("dan"))).toBeUndefined()
    expect(ann.replica.core.epoch.opening.record.epoch).toBeGreaterThan(2)
    // The end of its epoch becomes visible only after the answers about its key.
    const others = cluster.machines.filter((machine) => machine !== dan)
    for (const other of others) other.says = (_, message) => (message._tag === "Closing" ? [] : [message])
    wipe(dan, cluster)
    cluster.runRounds(10)
    expect(slotsOf(dan)).toEqual(signed)
    for (const other of others) other.says = (_, message) => [message]
    cluster.runRounds(20)
    expect(slotsOf(dan)).toEqual(signed)
    expect(headOf(dan)).toBeGreaterThanOrEqual(headOf(ann) - 3)
  })
})
