/** A replica that has fallen behind, among peers that lie about what it lacks. */
import { describe, expect, it, vi } from "vitest"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { CatchingUp } from "../../src/replica/asking/CatchingUp.js"
import type { Answer, Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Peers } from "../../src/replica/messages/Peers.js"
import { draw } from "../consensus/Picture.js"
import { Cluster, type Machine, ROUND_MS } from "./Cluster.js"

type Rounds = Extract<Answer, { _tag: "Rounds" }>

/** How long a peer is given for one answer (`Replica`). */
const PATIENCE_MS = 500
/** After how long without a quorum's round a node asks for all that is kept (`Core`). */
const STANDSTILL_MS = 2_000
const LAG_ROUNDS = 120

const four = { validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } }

/** What a liar makes of an honest answer. */
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

/** Milliseconds that the laggard needs until it is with the others, or null when it is not within `limitMs`. */
const timeToCatchUp = (cluster: Cluster, laggard: Machine, limitMs: number): number | null => {
  const started = cluster.now
  while (cluster.now - started < limitMs) {
    cluster.run(ROUND_MS)
    const tip = cluster.machine("ann").replica.read.head.leaderRound
    if (laggard.replica.read.head.leaderRound >= tip - 3) return cluster.now - started
  }
  return null
}

/** A follower that slept, with liars whose ids come first and one honest peer. */
const sleeper = (liars: ReadonlyArray<string>, lie: Lie) => {
  const cluster = new Cluster(four)
  const strangers = liars.map((name) => cluster.add(name, { isValidator: false }))
  const eve = cluster.add("eve", { isValidator: false })
  const friends = new Set([...strangers, eve, cluster.machine("cleo")])
  cluster.isLinked = (a, b) => (a !== eve && b !== eve) || (friends.has(a) && friends.has(b))
  cluster.start()
  cluster.runRounds(10)
  eve.stop()
  cluster.runRounds(LAG_ROUNDS)
  for (const stranger of strangers) stranger.says = lieTo(stranger, lie)
  eve.start()
  return { cluster, eve }
}

/** One round trip a page, and as many pages as the honest peer needs. */
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
      const cluster = new Cluster(four)
      const eve = cluster.add("eve", { isValidator: false })
      const [liar, honest] = [cluster.machine("ann"), cluster.machine("cleo")]
      cluster.isLinked = (a, b) => (a !== eve && b !== eve) || [a, b].includes(liar) || [a, b].includes(honest)
      cluster.start()
      cluster.runRounds(10)
      eve.stop()
      cluster.runRounds(LAG_ROUNDS)
      liar.says = lieTo(liar, lie)
      eve.start()
      expect(timeToCatchUp(cluster, eve, HONEST_MS + PATIENCE_MS)).not.toBeNull()
    })
  }

  // A second vertex that honest ones named had not come. The follower asked for the rounds above it, for good.
  it("gets what lies below the rounds it lacks, however many strangers are silent", () => {
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
        // The others get it three rounds later, the follower gets it in answers with whole rounds only.
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
    const questions = 3
    expect(timeToCatchUp(cluster, eve, STANDSTILL_MS + (questions + 1) * PATIENCE_MS)).not.toBeNull()
  })

  it("ignores rounds that it did not ask for, and blames an answer that holds a vertex twice", () => {
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

/** One that catches up, with two strangers to ask. */
const askingTwo = () => {
  const picture = draw(`
        A    B    C    D
    1   .    .    .    .
    2  ABC  ABC  ABC  BCD
    3  BCD  BCD  BCD  BCD
  `)
  const [first, second] = [stranger("first"), stranger("second")]
  const peers = new Peers(PATIENCE_MS, () => 0)
  peers.connect([first, second])
  const catchingUp = new CatchingUp(peers, PATIENCE_MS)
  const here = new Set<Hash>()
  const shelf = { has: (hash: Hash) => here.has(hash), collectedRound: 0, committee: { size: 4 } }
  const { epoch } = picture.opening.record
  const wanted = { epoch, fromRound: Natural.round(0), toRound: Natural.round(9) }
  return {
    picture,
    catchingUp,
    peers,
    here,
    epoch,
    first: first.peer,
    ask: (ms: number) => catchingUp.wanted(wanted, Natural.timestamp(ms))?.to,
    /** What `first` answers. */
    take: (ms: number, names: string, isLast = false, { at = epoch, collectedRound = 0 } = {}) => {
      const vertices = names.split(" ").flatMap((name) => (name === "" ? [] : [picture.vertex(name)]))
      const answer = { _tag: "Rounds", epoch: at, vertices, isLast } as const
      const receive = ({ header }: Vertex): void => void here.add(header.hash)
      return catchingUp.take(first.peer, answer, { ...shelf, collectedRound }, receive, Natural.timestamp(ms))
    },
  }
}

const stranger = (name: string) => ({ peer: name as PeerId, validator: null, isDialled: false })

describe("catching up with one peer", () => {
  it("takes no answer about another epoch than it asked for", () => {
    const { ask, take, here, epoch } = askingTwo()
    expect(ask(0)).toBe("first")
    expect(take(1, "A1", false, { at: Natural.epoch(epoch + 1) })).toEqual({ next: null, lie: null })
    expect(here.size).toBe(0)
  })

  it("blames a vertex of another epoch than the answer is of, keeps nothing of it and asks the next peer at once", () => {
    const { picture, catchingUp, ask, first, here, epoch } = askingTwo()
    ask(0)
    const { header, ...rest } = picture.vertex("B1")
    const foreign = { ...rest, header: { ...header, epoch: Natural.epoch(epoch + 1) } }
    const answer = { _tag: "Rounds", epoch, vertices: [picture.vertex("A1"), foreign], isLast: false } as const
    const shelf = { has: () => false, collectedRound: 0, committee: { size: 4 } }
    const receive = (vertex: Vertex): void => void here.add(vertex.header.hash)
    const { lie } = catchingUp.take(first, answer, shelf, receive, Natural.timestamp(1))
    expect(lie).toMatch(/not of epoch/)
    expect([here.size, ask(2)]).toEqual([0, "second"])
  })

  it("asks the next peer when a page brings nothing that is not here, and was not shown before", () => {
    const { ask, take } = askingTwo()
    ask(0)
    expect(take(1, "A1 B1").next?.question.after).toBeDefined()
    expect(take(2, "A1").next?.to).toBe("first")
    expect(take(3, "A1").next).toBeNull()
    expect(ask(4)).toBe("second")
  })

  it("does not count vertices of rounds that are collected", () => {
    const { ask, take } = askingTwo()
    ask(0)
    expect(take(1, "A1 B1 C1", false, { collectedRound: 1 }).next).toBeNull()
    expect(ask(2)).toBe("second")
  })

  it("counts a last page as nothing when all of it was here", () => {
    const { ask, take, here, picture, peers } = askingTwo()
    const failed = vi.spyOn(peers, "broughtNothing")
    for (const name of ["A1", "B1"]) here.add(picture.vertex(name).header.hash)
    ask(0)
    take(1, "A1 B1", true)
    expect(failed.mock.calls.map(([peer]) => peer)).toEqual(["first"])
  })

  it("awaits at most four answers of a peer that answers late, and none of one that is gone", () => {
    const { catchingUp, peers, first, ask, take, epoch } = askingTwo()
    peers.connect([stranger("first")])
    for (let i = 0; i < 9; i++) expect(ask(i * PATIENCE_MS)).toBe("first")
    const isAwaited = () => catchingUp.isAwaited(first, { epoch })
    for (let i = 0; i < 4; i++) {
      expect(isAwaited()).toBe(true)
      take(9 * PATIENCE_MS, "")
    }
    expect(isAwaited()).toBe(false)
    ask(20 * PATIENCE_MS)
    expect(isAwaited()).toBe(true)
    peers.connect([])
    catchingUp.connected()
    expect(isAwaited()).toBe(false)
  })
})
