/** A replica that has fallen behind, among peers that lie about what it needs. */
import { describe, expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Answer, Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import type * as Stored from "../support/Stored.js"
import { Cluster, type Machine, ROUND_MS } from "./Cluster.js"

type Rounds = Extract<Answer, { _tag: "Rounds" }>

/** How long a peer may take for one answer (`Replica`). */
const PATIENCE_MS = 500
/** How long after the last quorum's round a node requests everything (`Core`). */
const STANDSTILL_MS = 2_000
const LAG_ROUNDS = 120

const four = { validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } }

/** Changes an honest answer. */
type Lie = (honest: Rounds, all: ReadonlyArray<Vertex>, said: number) => Rounds | null

const notLast = (honest: Rounds, vertices: ReadonlyArray<Vertex>): Rounds => ({ ...honest, vertices, isLast: false })

const LIES: { readonly [name: string]: Lie } = {
  "the same old vertex": (honest, all) => notLast(honest, all.slice(0, 1)),
  "an empty answer with more to come": (honest) => notLast(honest, []),
  "an empty answer and no more": (honest) => ({ ...honest, vertices: [], isLast: true }),
  nothing: () => null,
  "what the asker has long had": (honest, all, said) => notLast(honest, all.slice(said % 20, (said % 20) + 4)),
  "hundreds of vertices over and over": (honest, all) =>
    notLast(honest, Array.from({ length: 400 }, (_, i) => all.slice(i % 16, (i % 16) + 1)).flat()),
  "the newest rounds instead of the missing ones": (honest, all, said) =>
    notLast(honest, all.slice(-40 + (said % 40)).slice(0, 2)),
  "one missing vertex at a time": (honest) => notLast(honest, honest.vertices.slice(0, 1)),
}

const lieTo =
  (liar: Machine, lie: Lie) =>
  (_: unknown, message: Message): ReadonlyArray<Message> => {
    if (message._tag !== "Rounds") return [message]
    const said = liar.outputs.filter((output) => output._tag === "Serve").length
    const told = lie(message, liar.disk.verticesOf(Natural.epoch(1)), said)
    return told === null ? [] : [told]
  }

/** Milliseconds until the laggard has caught up, or null if it takes longer than `limitMs`. */
const timeToCatchUp = (cluster: Cluster, laggard: Machine, limitMs: number): number | null => {
  const started = cluster.now
  while (cluster.now - started < limitMs) {
    cluster.run(ROUND_MS)
    const tip = cluster.machine("ann").replica.read.head.leaderRound
    if (laggard.replica.read.head.leaderRound >= tip - 3) return cluster.now - started
  }
  return null
}

interface Past {
  readonly now: Cluster["now"]
  /** The disks of the validators, of a follower that was always present, and of one that slept most of the time. */
  readonly disks: ReadonlyMap<string, Stored.Stored>
}

const past = (): Past => {
  const cluster = new Cluster(four)
  for (const name of ["awake", "asleep"]) cluster.add(name, { isValidator: false })
  cluster.start()
  cluster.runRounds(10)
  cluster.machine("asleep").stop()
  cluster.runRounds(LAG_ROUNDS)
  return { now: cluster.now, disks: new Map(cluster.machines.map(({ name, disk }) => [name, disk])) }
}

let lived: Past | undefined

/** A network with followers that continue from these disks, except the one that sleeps. */
const network = (followers: ReadonlyArray<string>): { readonly cluster: Cluster; readonly eve: Machine } => {
  // One history for all tests, because making it takes longer than they do.
  lived ??= past()
  const { now, disks } = lived
  const cluster = new Cluster(four)
  cluster.now = now
  for (const name of [...followers, "eve"]) cluster.add(name, { isValidator: false })
  for (const machine of cluster.machines) {
    const disk = disks.get(machine.name) ?? disks.get(machine.name === "eve" ? "asleep" : "awake")
    if (disk === undefined) throw new Error("a past without its followers")
    machine.replaceDisk(disk.copy())
  }
  return { cluster, eve: cluster.machine("eve") }
}

/** The others are already running when it wakes up. */
const wakeUp = (cluster: Cluster, eve: Machine): void => {
  for (const machine of cluster.machines) if (machine !== eve) machine.start()
  cluster.runRounds(5)
  eve.start()
  const tip = cluster.machine("ann").replica.read.head.leaderRound
  expect(eve.replica.read.head.leaderRound).toBeLessThan(tip - LAG_ROUNDS + 20)
}

/** A follower that slept, with liars whose ids come first and one honest peer. */
const sleeper = (liars: ReadonlyArray<string>, lie: Lie) => {
  const { cluster, eve } = network(liars)
  const strangers = liars.map((name) => cluster.machine(name))
  const friends = new Set([...strangers, eve, cluster.machine("cleo")])
  cluster.isLinked = (a, b) => (a !== eve && b !== eve) || (friends.has(a) && friends.has(b))
  for (const stranger of strangers) stranger.says = lieTo(stranger, lie)
  wakeUp(cluster, eve)
  return { cluster, eve }
}

/** One round trip per page, and as many pages as the honest peer needs. */
const HONEST_MS = 2_000

describe("a replica that has fallen behind", () => {
  for (const [name, lie] of Object.entries(LIES)) {
    it(`catches up although a stranger answers with ${name}`, () => {
      const { cluster, eve } = sleeper(["aaa"], lie)
      expect(timeToCatchUp(cluster, eve, HONEST_MS + PATIENCE_MS)).not.toBeNull()
    })

    it(`catches up although three strangers answer with ${name}`, () => {
      const { cluster, eve } = sleeper(["aaa", "aab", "zzz"], lie)
      expect(timeToCatchUp(cluster, eve, HONEST_MS + 3 * PATIENCE_MS)).not.toBeNull()
    })

    it(`catches up although a member answers with ${name}`, () => {
      const { cluster, eve } = network([])
      const [liar, honest] = [cluster.machine("ann"), cluster.machine("cleo")]
      cluster.isLinked = (a, b) => (a !== eve && b !== eve) || [a, b].includes(liar) || [a, b].includes(honest)
      liar.says = lieTo(liar, lie)
      wakeUp(cluster, eve)
      expect(timeToCatchUp(cluster, eve, HONEST_MS + PATIENCE_MS)).not.toBeNull()
    })
  }

  // A second vertex that honest ones named was missing. The follower kept requesting the rounds above it.
  it("gets vertices below the rounds it lacks, even if many strangers are silent", () => {
    const cluster = new Cluster(four)
    const eve = cluster.add("eve", { isValidator: false })
    const [dan, cleo] = [cluster.machine("dan"), cluster.machine("cleo")]
    cluster.isLinked = (a, b) => (a !== eve && b !== eve) || a === cleo || b === cleo
    cluster.start()
    cluster.runRounds(20)
    const round = dan.replica.core.epoch.dag.highestRound + 2
    const isLate = ({ header }: Vertex): boolean => header.author === dan.validator && header.round === round
    const from = cluster.now
    for (const machine of cluster.machines) {
      const receive = machine.receive.bind(machine)
      machine.receive = (sender, message) => {
        // The others get it three rounds later, the follower only in answers with whole rounds.
        const isHeldBack = machine === eve ? message._tag === "Vertices" : cluster.now - from < 7 * ROUND_MS
        const drops = isHeldBack && (message._tag === "Vertices" || message._tag === "Rounds")
        return receive(
          sender,
          drops ? { ...message, vertices: message.vertices.filter((each) => !isLate(each)) } : message,
        )
      }
    }
    cluster.runRounds(20)
    const silent = Array.from({ length: 100 }, (_, n) => ({
      peer: `a${n}` as PeerId,
      validator: null,
      isDialled: false,
    }))
    const connections = [...silent, { peer: cleo.peer, validator: cleo.validator, isDialled: false }]
    eve.handle(eve.replica.connected(connections, cluster.now))
    // Past the round of the late vertex, and no further.
    expect(eve.replica.core.epoch.dag.quorumRound).toBeGreaterThan(round)
    expect(eve.replica.core.epoch.dag.quorumRound).toBeLessThan(cleo.replica.core.epoch.dag.quorumRound - 5)
    // Two silent peers, the second of which has twice as long, and two questions to the one that answers.
    const patiences = 1 + 2 + 2
    expect(timeToCatchUp(cluster, eve, STANDSTILL_MS + patiences * PATIENCE_MS)).not.toBeNull()
  })

  it("ignores unrequested rounds, and blames an answer that holds a vertex twice", () => {
    const cluster = new Cluster(four)
    const eve = cluster.add("eve", { isValidator: false })
    const stranger = cluster.add("aaa", { isValidator: false })
    cluster.isLinked = (a, b) => a !== eve && b !== eve
    cluster.start()
    cluster.runRounds(10)
    const vertices = stranger.disk.verticesOf(Natural.epoch(1))
    const rounds = { _tag: "Rounds", epoch: Natural.epoch(1), vertices, isLast: true } as const
    expect(eve.replica.isAwaited(stranger.peer, rounds)).toBe(false)
    eve.receive(stranger.peer, rounds)
    expect(eve.replica.read.head.index).toBe(0)

    const { cluster: other, eve: sleeping } = sleeper(["aaa"], (honest) => ({
      ...honest,
      vertices: [...honest.vertices, ...honest.vertices],
    }))
    // Members are asked first.
    other.machine("cleo").says = (_, message) => (message._tag === "Rounds" ? [] : [message])
    other.run(HONEST_MS)
    expect(sleeping.outputs.filter(({ _tag }) => _tag === "Misbehaved")).toHaveLength(1)
  })
})
