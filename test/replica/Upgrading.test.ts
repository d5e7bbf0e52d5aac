/** Replicas around the first round of an epoch with another protocol version. */
import { describe, expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { Cluster, type Machine, sign, transfer } from "./Cluster.js"
import { expectAgreement, four } from "./FourReplicas.js"

const names = Object.keys(four.validators)

/** Votes for version 3 during epoch 1. `old` run a program that only knows version 2. */
const voting = (old: ReadonlyArray<string> = []): Cluster => {
  const cluster = new Cluster({
    ...four,
    accounts: Object.fromEntries(["alice", "bob", ...names].map((name) => [name, 1_000])),
    epochRounds: 60,
    parameters: { votingPeriodRounds: 20, executionDelayRounds: 5 },
  })
  const payload = { _tag: "ParameterChange", param: "protocol_version", value: 3 } as const
  const proposal = sign("ann", 0, { _tag: "CreateProposalTx", title: "t", description: "", payload }, 1_000)
  const vote = { _tag: "VoteTx", proposalId: Natural.proposalId(1), vote: true } as const
  for (const name of old) cluster.machine(name).newestVersion = 2
  cluster.start()
  cluster.runRounds(5)
  cluster.machine("ann").replica.submit(proposal, cluster.now)
  cluster.runRounds(8)
  for (const name of names.slice(0, 3))
    cluster.machine(name).replica.submit(sign(name, name === "ann" ? 1 : 0, vote, 1_000), cluster.now)
  return cluster
}

const upgrade = (machine: Machine): void => {
  machine.newestVersion = undefined
  machine.start()
}

const recordOf = ({ replica }: Machine) => replica.core.epoch.opening.record

const fatalOf = ({ outputs }: Machine) => outputs.flatMap((output) => (output._tag === "Fatal" ? [output.fatal] : []))

const UNKNOWN = { _tag: "UnknownVersion", epoch: 2, version: 3, newest: 2 }

const lastWritten = ({ writes }: Machine) => writes.filter(({ _tag }) => _tag !== "Pending").at(-1)?._tag

describe("a replica that does not know the version of the next epoch", () => {
  it("signs the close, halts before the first round, and continues with a program that knows the version", () => {
    const cluster = voting(["dan"])
    const old = cluster.machine("dan")
    cluster.runRounds(90)
    expect(fatalOf(old)).toEqual([UNKNOWN])
    expect([old.isUp, lastWritten(old)]).toEqual([false, "EpochStarted"])
    const others = cluster.machines.filter((machine) => machine !== old)
    for (const machine of others) expect(recordOf(machine)).toMatchObject({ epoch: 2, rules: { protocolVersion: 3 } })
    const closing = others[0]?.replica.core.epoch.opening.base
    const signed = old.outputs.flatMap((output) =>
      output._tag === "Broadcast" && output.message._tag === "CheckpointSignature"
        ? [output.message.checkpoint.hash]
        : [],
    )
    expect(signed).toContain(closing)

    old.start()
    expect([old.isUp, fatalOf(old)]).toEqual([false, [UNKNOWN, UNKNOWN]])
    upgrade(old)
    cluster.machine("ann").replica.submit(transfer("alice", 0, "bob", 1), cluster.now)
    cluster.runRounds(20)
    expectAgreement(cluster.machines)
    const heights = cluster.machines.map(({ replica }) => replica.read.head.leaderRound)
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(5)
  })

  it("halts with all others, and the network continues where it stopped", () => {
    const cluster = voting(names)
    cluster.runRounds(90)
    const stopped = cluster.machines.filter(({ isUp }) => !isUp)
    for (const machine of stopped) expect(fatalOf(machine)).toEqual([UNKNOWN])
    expect(stopped.length).toBeGreaterThan(0)
    for (const machine of cluster.machines) {
      if (machine.isUp) machine.stop()
      upgrade(machine)
    }
    cluster.runRounds(60)
    expectAgreement(cluster.machines)
    for (const machine of cluster.machines) expect(recordOf(machine).rules.protocolVersion).toBe(3)
    const heights = cluster.machines.map(({ replica }) => replica.read.head.leaderRound)
    expect(Math.min(...heights)).toBeGreaterThan(80)
  })

  it("halts as it joins, since the signers of the close know more than it", () => {
    const cluster = voting()
    cluster.runRounds(160)
    const late = cluster.add("eve", { isValidator: false })
    late.newestVersion = 2
    late.start()
    cluster.runRounds(100)
    expect(fatalOf(late)).toMatchObject([{ _tag: "UnknownVersion", version: 3, newest: 2 }])
    upgrade(late)
    cluster.runRounds(100)
    expect(recordOf(late).rules.protocolVersion).toBe(3)
    expectAgreement(cluster.machines)
  })
})
