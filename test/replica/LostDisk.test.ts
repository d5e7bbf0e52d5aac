/** No accident may make a validator sign two vertices of one round, which costs half of its stake. */
import { describe, expect, it } from "vitest"
import { SILENT_INTERVALS } from "../../src/consensus/SigningGuard.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import * as Stored from "../support/Stored.js"
import { addressOf, Cluster, type Machine, ROUND_MS, signerOf } from "./Cluster.js"

const names = ["ann", "ben", "cleo", "dan"]
const four = { validators: Object.fromEntries(names.map((name) => [name, 3_000])) }

const verticesOf = (machine: Machine): ReadonlyArray<Vertex> =>
  machine.writes.flatMap((write) => (write._tag === "OwnVertex" ? [write.vertex] : []))

/** Epoch and round of everything that these machines have signed, on any of their disks. */
const signedBy = (...machines: ReadonlyArray<Machine>): ReadonlyArray<string> =>
  machines.flatMap(verticesOf).map(({ header: { epoch, round } }) => `${epoch} ${round}`)

const expectNoneTwice = (...machines: ReadonlyArray<Machine>): void => {
  const signed = signedBy(...machines)
  expect(signed.filter((slot, i) => signed.indexOf(slot) !== i)).toEqual([])
}

const lastOf = (machine: Machine): number => verticesOf(machine).at(-1)?.header.round ?? 0

const wipe = (machine: Machine, { genesis }: Cluster): void => {
  machine.replaceDisk(Stored.ofGenesis(genesis))
  machine.start()
}

const started = (rounds = 20) => {
  const cluster = new Cluster(four).start().runRounds(rounds)
  const [ann, ben, cleo, dan] = ["ann", "ben", "cleo", "dan"].map((name) => cluster.machine(name))
  if (ann === undefined || ben === undefined || cleo === undefined || dan === undefined)
    throw new Error("four expected")
  return { cluster, ann, ben, cleo, dan }
}

/** Dan's last vertex has reached only Cleo, who is down; then Dan has lost its disk. */
const lostBesideOneDown = () => {
  const { cluster, ann, ben, cleo, dan } = started()
  cluster.passes = (from, to, { _tag }) => from !== dan || to === cleo || _tag !== "Vertices"
  const before = lastOf(dan)
  for (let steps = 0; lastOf(dan) === before; steps++) {
    if (steps > 100) throw new Error("Dan signs nothing")
    cluster.run(ROUND_MS / 4)
  }
  cluster.run(ROUND_MS / 2)
  expect(
    cleo.replica.core.epoch.dag.latestOf(cleo.replica.core.epoch.committee.seatOf(addressOf("dan")) ?? 0)?.round,
  ).toBe(lastOf(dan))
  cleo.stop()
  cluster.passes = () => true
  wipe(dan, cluster)
  return { cluster, ann, ben, cleo, dan, last: lastOf(dan) }
}

describe("a validator that has lost its disk, with its last vertex on a machine that is down", () => {
  it("does not sign, however long the others wait for it", () => {
    const { cluster, dan } = lostBesideOneDown()
    cluster.runRounds(3 * SILENT_INTERVALS)
    expectNoneTwice(dan)
    const { signing, following } = dan.replica.recovery(cluster.now)
    expect(following._tag).toBe("Standstill")
    expect(signing).toMatchObject({
      _tag: "Forgotten",
      epoch: 1,
      bound: null,
      lacks: [addressOf("cleo")],
      refused: null,
    })
  })

  it("signs again when that machine is back, and nothing twice", () => {
    const { cluster, ann, cleo, dan, last } = lostBesideOneDown()
    cluster.runRounds(2 * SILENT_INTERVALS)
    cleo.start()
    cluster.runRounds(2 * SILENT_INTERVALS)
    expectNoneTwice(dan)
    expect(lastOf(dan)).toBeGreaterThan(last)
    expect(dan.replica.core.signing).toEqual({ _tag: "Signing" })
    // From now on its disk remembers: a restart waits only for the committee's answers.
    dan.stop()
    dan.start()
    cluster.runRounds(2)
    expect(ann.replica.read.head.leaderRound).toBeGreaterThan(last)
    expect(dan.replica.core.signing._tag).not.toBe("Forgotten")
  })
})

describe("a validator that has lost its disk, while a quarter lies about its own round", () => {
  /** Cleo reports a round this much higher than its last, whenever it is asked. */
  const besideLiar = (ahead: number) => {
    const { cluster, ann, cleo, dan } = started()
    cleo.says = (_, message): ReadonlyArray<Message> => {
      if (message._tag !== "Highest" || message.author !== addressOf("cleo") || message.header === null)
        return [message]
      const { base, epoch, round, parents, timestamp, coinbase, bodyHash } = message.header
      const lie = { base, epoch, round: Natural.round(round + ahead), parents, timestamp, coinbase, bodyHash }
      return [{ ...message, header: Header.sign(lie, signerOf("cleo")) }]
    }
    wipe(dan, cluster)
    return { cluster, ann, cleo, dan, last: lastOf(dan) }
  }

  it.each([9_000_000, 200])("signs again, nothing twice, even if a liar names a round %i above the last", (ahead) => {
    const { cluster, dan, last } = besideLiar(ahead)
    cluster.runRounds(SILENT_INTERVALS + 40)
    expectNoneTwice(dan)
    expect(lastOf(dan)).toBeGreaterThan(last)
    expect(dan.replica.core.signing).toEqual({ _tag: "Signing" })
  })

  it("lists the liar as missing if it cannot sign, and waits for the operator", () => {
    const { cluster, cleo, dan, last } = besideLiar(9_000_000)
    cluster.passes = (from, _, { _tag }) => from !== cleo || (_tag !== "Vertices" && _tag !== "Rounds")
    cluster.runRounds(2 * SILENT_INTERVALS)
    expect(lastOf(dan)).toBe(last)
    expect(dan.replica.core.signing).toMatchObject({ _tag: "Forgotten", bound: null, lacks: [addressOf("cleo")] })
  })
})

describe("the operator's word", () => {
  /** All others have Dan's last vertex, and Cleo is down. */
  const forgotten = () => {
    const { cluster, ann, cleo, dan } = started()
    cluster.run(ROUND_MS / 2)
    cleo.stop()
    wipe(dan, cluster)
    cluster.runRounds(SILENT_INTERVALS + 20)
    const { signing } = dan.replica.core
    if (signing._tag !== "Forgotten") throw new Error(`${signing._tag}, where it should not know what it has signed`)
    return { cluster, ann, dan, signing, signed: signedBy(dan).length }
  }

  const restartWith = (dan: Machine, word: Machine["word"]): void => {
    dan.word = word
    dan.stop()
    dan.start()
  }

  it("lets a validator with a lost disk continue while another one is down", () => {
    const { cluster, ann, dan, signing } = forgotten()
    const before = ann.replica.read.head.leaderRound
    const { epoch, fromRound: round, base } = signing
    restartWith(dan, { epoch, round, base })
    cluster.runRounds(SILENT_INTERVALS + 40)
    expectNoneTwice(dan)
    expect(dan.replica.core.signing).toEqual({ _tag: "Signing" })
    expect(ann.replica.read.head.leaderRound).toBeGreaterThan(before + 10)
  })

  it("does not count in another epoch or network, nor for rounds that are known to be signed", () => {
    const { cluster, dan, signing, signed } = forgotten()
    const { epoch, fromRound, base } = signing
    for (const [word, refused] of [
      [{ epoch, round: fromRound, base: "0123456789abcdef" }, "elsewhere"],
      [{ epoch: Natural.epoch(epoch + 1), round: fromRound, base }, "elsewhere"],
      [{ epoch, round: Natural.round(fromRound - 1), base }, "too low"],
    ] as const) {
      restartWith(dan, word)
      cluster.runRounds(SILENT_INTERVALS + 20)
      expect(dan.replica.core.signing).toMatchObject({ _tag: "Forgotten", refused })
      expect(signedBy(dan)).toHaveLength(signed)
    }
  })
})

describe("a validator that was paused while the others waited for it", () => {
  it("signs nothing that a copy of its directory has signed meanwhile", () => {
    const { cluster, cleo, dan } = started()
    // Without Cleo and Dan the others cannot continue.
    cleo.stop()
    cluster.run(ROUND_MS / 2)
    dan.pause()
    cluster.runRounds(20)
    const copy = cluster.add("dan'", { keyOf: "dan" }, dan.disk.copy())
    copy.start()
    cluster.runRounds(20)
    expect(lastOf(copy)).toBeGreaterThan(lastOf(dan))
    dan.resume()
    cluster.runRounds(20)
    expectNoneTwice(dan, copy)
  })

  /** Dan's process was paused between signing a vertex and sending it. The others wait for it. */
  const stoppedBeforeSending = ({ heardAfterRounds = 0 } = {}) => {
    const { cluster, ann, ben, cleo, dan } = started()
    cleo.stop()
    cluster.run(ROUND_MS / 2)
    const before = lastOf(dan)
    for (let steps = 0; lastOf(dan) === before; steps++) {
      if (steps > 3 * ROUND_MS) throw new Error("Dan signs nothing")
      cluster.run(1)
    }
    dan.pause()
    const heardAt = cluster.now + heardAfterRounds * ROUND_MS
    const vertex = verticesOf(dan).at(-1)
    if (vertex === undefined) throw new Error("a vertex expected")
    /** The machines that have received the vertex. */
    const shown = new Set<string>()
    cluster.passes = (_, to, message) => {
      const vertices = message._tag === "Vertices" || message._tag === "Rounds" ? message.vertices : []
      if (vertices.some(({ header }) => header.hash === vertex.header.hash)) shown.add(to.name)
      return cluster.now > heardAt || to !== dan || message._tag !== "Highest"
    }
    return { cluster, ann, ben, cleo, dan, vertex, shown }
  }

  it("withholds its signed vertex until the committee has answered, and recognizes it as its own", () => {
    const { cluster, ann, dan, vertex, shown } = stoppedBeforeSending({ heardAfterRounds: 90 })
    cluster.runRounds(30)
    dan.resume()
    cluster.runRounds(60)
    expect([[...shown], dan.replica.core.signing._tag]).toEqual([[], "Asking"])
    cluster.runRounds(20)
    expect([shown.has("ann"), dan.replica.core.signing]).toEqual([true, { _tag: "Signing" }])
    expect(ann.replica.read.head.leaderRound).toBeGreaterThan(vertex.header.round)
    expectNoneTwice(dan)
  })

  it("never shows its signed vertex if a copy without it has signed, not after a restart either", () => {
    const { cluster, cleo, dan, vertex, shown } = stoppedBeforeSending()
    const disk = Stored.ofGenesis(cluster.genesis)
    for (const write of dan.writes) if (write._tag !== "OwnVertex" || write.vertex !== vertex) disk.apply(write)
    cluster.runRounds(20)
    const copy = cluster.add("dan'", { keyOf: "dan" }, disk)
    copy.start()
    cluster.runRounds(20)
    copy.stop()
    dan.resume()
    cluster.runRounds(20)
    expect(dan.replica.core.signing._tag).toBe("Silent")
    dan.stop()
    dan.start()
    cleo.start()
    cluster.runRounds(2 * SILENT_INTERVALS)
    expect([[...shown], dan.replica.core.signing]).toEqual([[], { _tag: "Signing" }])
  })
})
