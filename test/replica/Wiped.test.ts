/** A validator that returns with its key and an empty disk: what the others must tell it, and when it signs again. */
import { describe, expect, it } from "vitest"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import * as Rest from "../support/Rest.js"
import * as Stored from "../support/Stored.js"
import { Cluster, type Machine } from "./Cluster.js"

const four = { validators: { ann: 3_000, ben: 3_000, cleo: 3_000, dan: 3_000 } }

const epochOf = ({ replica }: Machine): number => replica.core.epoch.opening.record.epoch

/** Everything that a machine has signed, on any of its disks. */
const verticesOf = (machine: Machine): ReadonlyArray<Vertex> =>
  machine.writes.flatMap((write) => (write._tag === "OwnVertex" ? [write.vertex] : []))

/** Epoch and round of each. */
const signedBy = (machine: Machine): ReadonlyArray<string> =>
  verticesOf(machine).map(({ header: { epoch, round } }) => `${epoch} ${round}`)

const wipe = (machine: Machine, { genesis }: Cluster): void => {
  machine.replaceDisk(Stored.ofGenesis(genesis))
  machine.start()
}

const runUntil = (cluster: Cluster, isReached: () => boolean): void => {
  for (let rounds = 0; !isReached(); rounds++) {
    if (rounds > 200) throw new Error("never reached")
    cluster.runRounds(1)
  }
}

describe("members that have closed an epoch and wait for the signatures of a quorum", () => {
  /** Ann and Dan are in epoch 3. Ben and Cleo are not, and have Dan's first vertex of it. Ann's answers are lost. */
  const lateForEpoch3 = () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start()
    const [ann, dan] = [cluster.machine("ann"), cluster.machine("dan")]
    const late = [cluster.machine("ben"), cluster.machine("cleo")]
    runUntil(cluster, () => cluster.machines.every((machine) => epochOf(machine) === 2))
    cluster.runRounds(5)
    cluster.passes = (from, to, { _tag }) =>
      !late.includes(to) || late.includes(from) || (_tag !== "CheckpointSignature" && _tag !== "Closing")
    runUntil(cluster, () => signedBy(dan).some((slot) => slot.startsWith("3 ")))
    cluster.runRounds(1)
    expect(late.map(epochOf)).toEqual([2, 2])
    ann.says = (_, message) => (message._tag === "Highest" ? [] : [message])
    return { cluster, dan, late }
  }

  // They used to report only inserted vertices, so Dan signed the first round of epoch 3 again.
  it("tell a validator with a lost disk what it has signed in the next epoch", () => {
    const { cluster, dan } = lateForEpoch3()
    const signed = signedBy(dan)
    wipe(dan, cluster)
    runUntil(cluster, () => epochOf(dan) === 3)
    cluster.runRounds(10)
    expect(dan.replica.core.signing).toMatchObject({ _tag: "Silent" })
    cluster.passes = () => true
    cluster.runRounds(20)
    expect(signedBy(dan)).toEqual(signed)
  })

  it("do not count before they are in that epoch: they may have restarted and forgotten", () => {
    const { cluster, dan, late } = lateForEpoch3()
    const signed = signedBy(dan)
    for (const machine of late) {
      machine.stop()
      machine.start()
    }
    wipe(dan, cluster)
    runUntil(cluster, () => epochOf(dan) === 3)
    cluster.runRounds(10)
    expect(dan.replica.core.signing).toMatchObject({ _tag: "Asking" })
    expect(signedBy(dan)).toEqual(signed)
  })
})

// Vertices below the collected rounds used to be dropped unread, so it signed the first round of the epoch again.
it("a validator that loses its disk learns of its vertices that came too late to matter", () => {
  const cluster = new Cluster({ ...four, epochRounds: 40 }).start()
  const [ann, dan] = [cluster.machine("ann"), cluster.machine("dan")]
  runUntil(cluster, () => epochOf(ann) === 2)
  // Its vertices of epoch 3 reach no other machine.
  cluster.passes = (from, _, message) =>
    from !== dan || message._tag !== "Vertices" || message.vertices.every(({ header }) => header.epoch < 3)
  runUntil(cluster, () => epochOf(ann) === 3)
  cluster.runRounds(20)
  const { firstRound } = ann.replica.core.epoch.committee
  const signed = signedBy(dan)
  const late = verticesOf(dan).filter(({ header: { epoch, round } }) => epoch === 3 && round === firstRound)
  expect(late.map(({ header }) => ann.replica.core.useOf(header)._tag)).toEqual(["HeaderOnly"])
  for (const other of cluster.machines) if (other !== dan) other.receive(dan.peer, { _tag: "Vertices", vertices: late })
  expect(late.map(({ header }) => ann.replica.core.useOf(header)._tag)).toEqual(["Known"])
  wipe(dan, cluster)
  cluster.runRounds(40)
  expect(signedBy(dan)).toEqual(signed)
  expect(dan.replica.core.signing).toMatchObject({ _tag: "Silent" })
})

/** Answers of a faulty member: less than it has, and false ones. */
const lieIn = (message: Message): ReadonlyArray<Message> => {
  switch (message._tag) {
    case "Highest":
      return [{ ...message, header: null }]
    case "Rounds":
      return [{ ...message, vertices: message.vertices.slice(0, 1), isLast: true }]
    case "Closing":
      return [{ ...message, signed: [], newest: null }]
    case "State":
      return [{ ...message, subtree: message.subtree?.map((byte) => byte ^ 1) ?? null }]
    default:
      return []
  }
}

describe("a validator that has lost its disk, with three peers that serve nothing, late and falsely", () => {
  for (const [how, epoch] of [
    ["and catches up in epoch 1", 1],
    [Rest.of("three epochs", "and joins epoch 3 by its state"), 3],
  ] as const) {
    it(`signs again within an epoch, and nothing twice, ${how}`, () => {
      const epochRounds = 240
      const cluster = new Cluster({ ...four, epochRounds }).start()
      const dan = cluster.machine("dan")
      cluster.runRounds(20)
      while (epochOf(dan) < epoch) cluster.runRounds(20)
      const before = signedBy(dan)
      // It reports its own progress: without that nobody knows what the lost key may have signed.
      cluster.machine("ann").says = (_, message) => (message._tag === "Highest" ? [message] : [])
      cluster.machine("ben").thinksForMs = 3_000
      cluster.machine("cleo").says = (_, message) => lieIn(message)
      wipe(dan, cluster)
      cluster.runRounds(epochRounds)
      const signed = signedBy(dan)
      expect(signed.length).toBeGreaterThan(before.length)
      expect(new Set(signed).size).toBe(signed.length)
      expect(dan.replica.recovery(cluster.now).signing).toEqual({ _tag: "Signing" })
    })
  }
})
