import { describe, expect, it } from "vitest"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Connection, PeerId } from "../../src/replica/messages/Peer.js"
import { Peers } from "../../src/replica/messages/Peers.js"
import { addressOf } from "./Cluster.js"

const EVERY_MS = 500
const peer = (name: string): PeerId => name as PeerId
const at = (ms: number): Natural.Timestamp => Natural.timestamp(ms)

const stranger = (name: string): Connection => ({ peer: peer(name), validator: null, isDialled: false })
const dialled = (name: string): Connection => ({ peer: peer(name), validator: null, isDialled: true })
const member = (name: string): Connection => ({ peer: peer(name), validator: addressOf(name), isDialled: false })
const many = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

/** Peers whose validators have these weights. */
const among = (weights: { readonly [name: string]: number }, others: ReadonlyArray<Connection>) => {
  const byAddress = new Map(Object.entries(weights).map(([name, weight]) => [addressOf(name), weight]))
  const peers = new Peers(EVERY_MS, (validator) => byAddress.get(validator) ?? 0)
  peers.connect([...others, ...Object.keys(weights).map(member)])
  return peers
}

/** The peers that get this many questions in a row, one per patience, each without an answer. */
const inVain = (peers: Peers, questions: number, since = 0): ReadonlyArray<PeerId> =>
  Array.from({ length: questions }, (_, i) => {
    const now = at(since + i * EVERY_MS)
    const asked = peers.next(now)
    if (asked === undefined) throw new Error("nobody is asked")
    peers.broughtNothing(asked, now)
    return asked
  })

/** The longest run of questions to other peers than these. */
const longestGap = (asked: ReadonlyArray<PeerId>, honest: ReadonlyArray<PeerId>): number => {
  let [longest, gap] = [0, 0]
  for (const each of asked) {
    gap = honest.includes(each) ? 0 : gap + 1
    longest = Math.max(longest, gap)
  }
  return longest
}

describe("the next peer to ask", () => {
  it("is a member first, regardless of the ids that strangers chose", () => {
    const peers = among({ ann: 1 }, ["aaa", "aab", "aac"].map(stranger))
    expect([0, 1, 2].map((ms) => peers.next(at(ms)))).toEqual(["ann", "ann", "ann"])
  })

  it("is of each class in every third question, despite many strangers and failures", () => {
    const peers = among({ ann: 1 }, [...many(200, "a").map(stranger), dialled("friend")])
    const asked = inVain(peers, 300)
    expect(asked.slice(0, 3)).toEqual(["ann", "friend", "a0"])
    for (const only of ["ann", "friend"]) expect(longestGap(asked, [peer(only)])).toBe(2)
  })

  it("is a member again after one question to another class", () => {
    const peers = among({ ann: 1, ben: 1 }, ["aaa", "aab"].map(stranger))
    peers.broughtNothing(peer("ann"), at(0))
    expect(peers.next(at(1))).toBe("aaa")
    peers.brought(peer("aaa"))
    expect([peers.next(at(2)), peers.next(at(3))]).not.toContain("aaa")
  })

  it("is a member by weight, so many small liars cannot crowd out three honest ones", () => {
    const honest = ["ann", "ben", "cleo"]
    const liars = many(96, "liar")
    const weights = Object.fromEntries([...honest.map((name) => [name, 2_200]), ...liars.map((name) => [name, 34])])
    const peers = among(weights, many(100, "a").map(stranger))
    // The network has stopped for long: honest peers have failed as often as others.
    inVain(peers, 600)
    const begun = 600 * EVERY_MS
    const asked: Array<PeerId> = []
    for (let i = 0; i < 600; i++) {
      const now = at(begun + i * EVERY_MS)
      // Liars that bring something in another way, such as single vertices, get no turn before the honest.
      for (const liar of liars) peers.brought(peer(liar))
      const next = peers.next(now)
      if (next === undefined) throw new Error("nobody is asked")
      peers.broughtNothing(next, now)
      asked.push(next)
    }
    const toHonest = asked.filter((each) => honest.includes(each)).length
    const toMembers = asked.filter((each) => !each.startsWith("a") || each === "ann").length
    expect(3 * toHonest).toBeGreaterThan(2 * toMembers - 9)
    expect(longestGap(asked, honest.map(peer))).toBeLessThanOrEqual(9)
  })

  it("is not sooner a member that comes and goes", () => {
    const peers = among({ ann: 3, ben: 3, liar: 4 }, [])
    const asked: Array<PeerId | undefined> = []
    for (let i = 0; i < 90; i++) {
      const next = peers.next(at(i))
      asked.push(next)
      if (next !== "liar") continue
      peers.broughtNothing(next, at(i))
      peers.connect([member("ann"), member("ben")])
      peers.connect([member("ann"), member("ben"), member("liar")])
    }
    expect(asked.filter((each) => each === "liar").length).toBeLessThanOrEqual(37)
  })

  it("is first a member that has not failed, but not for long", () => {
    const peers = among({ ann: 1, ben: 1 }, [])
    peers.broughtNothing(peer("ann"), at(0))
    // Only turns count at first, as always after an unanswered question.
    peers.next(at(1))
    expect([2, 3, 4].map((ms) => peers.next(at(ms)))).toEqual(["ben", "ben", "ben"])
    peers.broughtNothing(peer("ben"), at(5))
    expect(peers.next(at(6))).toBe("ann")
  })

  it("is later a peer each time it brings nothing", () => {
    const peers = among({}, ["aaa", "aab"].map(stranger))
    const isSkipped = (ms: number): boolean => {
      // The first turn after a failure skips the peer that failed.
      peers.next(at(ms))
      return [peers.next(at(ms)), peers.next(at(ms))].every((each) => each === "aab")
    }
    peers.broughtNothing(peer("aaa"), at(0))
    expect([isSkipped(1), isSkipped(16 * EVERY_MS)]).toEqual([true, false])
    peers.broughtNothing(peer("aaa"), at(16 * EVERY_MS))
    expect([isSkipped(32 * EVERY_MS), isSkipped(48 * EVERY_MS)]).toEqual([true, false])
  })

  it("is a stranger that brought something before another", () => {
    const peers = among({}, ["aaa", "aab", "aac"].map(stranger))
    peers.next(at(0))
    peers.brought(peer("aac"))
    expect(peers.ranked(at(1))).toEqual(["aac", "aab", "aaa"])
    expect(peers.next(at(1))).toBe("aac")
    peers.brought(peer("aac"))
    expect(peers.next(at(2))).toBe("aac")
    // It was asked and has not brought anything since.
    expect(peers.next(at(3))).not.toBe("aac")
  })

  it("is not a stranger sooner because it once brought something, when failures count again", () => {
    const peers = among({}, ["aaa", "aab", "aac"].map(stranger))
    expect(peers.next(at(0))).toBe("aaa")
    peers.brought(peer("aaa"))
    peers.broughtNothing(peer("aaa"), at(0))
    expect([peers.next(at(1)), peers.next(at(16 * EVERY_MS))]).toEqual(["aab", "aac"])
  })

  it("is also one that stays, however often others return under new names", () => {
    const peers = among({}, [stranger("honest"), ...many(20, "a").map(stranger)])
    inVain(peers, 200)
    const asked: Array<PeerId> = []
    let names = many(20, "b")
    for (let i = 0; i < 400; i++) {
      peers.connect([stranger("honest"), ...names.map(stranger)])
      asked.push(...inVain(peers, 1, (200 + i) * EVERY_MS))
      const [last] = asked.slice(-1)
      names = names.map((name, n) => (name === last ? `c${i}-${n}` : name))
    }
    expect(longestGap(asked, [peer("honest")])).toBeLessThanOrEqual(2 * 21)
  })

  it("rotates through all classes and peers for single vertices", () => {
    const peers = among({ ann: 1, ben: 1 }, [...many(3, "a").map(stranger), dialled("friend")])
    const asked = Array.from({ length: 9 }, () => peers.next(at(0), "Rotation"))
    expect(new Set(asked).size).toBe(6)
    expect(asked.filter((each) => each === "friend")).toHaveLength(3)
    expect(new Set([0, 1].map((ms) => peers.next(at(ms), "Members")))).toEqual(new Set(["ann", "ben"]))
  })

  it("is a member as often as its weight says, however heavy it is", () => {
    const peers = among({ liar: 4, ann: 3, ben: 3 }, [])
    const asked = Array.from({ length: 100 }, (_, i) => peers.next(at(i)))
    expect(["liar", "ann", "ben"].map((name) => asked.filter((each) => each === name).length)).toEqual([40, 30, 30])
  })

  it("is a member by weight alone, regardless of what others bring or are asked", () => {
    const peers = among({ ann: 3, ben: 1 }, [stranger("aaa"), member("eve")])
    for (let i = 0; i < 10; i++) for (const other of ["aaa", "eve"]) peers.asked(peer(other), "Rotation")
    const asked = [1, 2, 3, 4].map((ms) => {
      const next = peers.next(at(ms))
      peers.brought(peer("ann"))
      return next
    })
    expect(asked).toEqual(["ann", "ben", "ann", "ann"])
  })

  it("is a member for single vertices, whether it has failed or not", () => {
    const peers = among({ ann: 1, ben: 1 }, [])
    peers.broughtNothing(peer("ann"), at(0))
    expect(peers.next(at(1))).toBe("ann")
    expect([2, 3].map((ms) => peers.next(at(ms), "Members"))).toEqual(["ben", "ann"])
  })

  it("does not accumulate turns for a member that is passed over for long", () => {
    const peers = among({ ann: 1, ben: 1 }, [])
    peers.broughtNothing(peer("ann"), at(0))
    for (let i = 0; i < 1_000; i++) peers.next(at(1))
    const asked = Array.from({ length: 100 }, () => peers.next(at(16 * EVERY_MS))).map((each) => each ?? peer(""))
    expect(longestGap(asked, [peer("ben")])).toBeLessThanOrEqual(4)
  })

  it("starts from zero for a validator that has left the committee and returns", () => {
    let isMember = true
    const weightOf = (validator: Address) => (validator !== addressOf("cleo") ? 3 : isMember ? 1 : 0)
    const peers = new Peers(EVERY_MS, weightOf)
    const all = ["ann", "ben", "cleo"].map(member)
    const asked = () => Array.from({ length: 7 }, () => peers.next(at(0)))
    const owes = () => {
      for (let i = 0; i < 3; i++) peers.asked(peer("cleo"))
    }
    peers.connect(all)
    owes()
    expect(asked()).not.toContain("cleo")
    owes()
    isMember = false
    peers.connect(all)
    isMember = true
    peers.connect(all)
    expect(asked()).toContain("cleo")
  })

  it("is not a validator sooner because it was owed turns when it lost its seat", () => {
    let isSeated = true
    const peers = new Peers(EVERY_MS, () => (isSeated ? 1 : 0))
    peers.connect(["ann", "ben"].map(member))
    for (const name of ["ben", "ben", "ann"]) peers.asked(peer(name))
    isSeated = false
    expect(peers.ranked(at(0))).toEqual(["ben", "ann"])
  })

  it("is a member again after one of another class was asked, by its turn or without", () => {
    const peers = among({ ann: 1 }, [dialled("friend")])
    peers.broughtNothing(peer("ann"), at(0))
    peers.asked(peer("friend"))
    expect(peers.next(at(1))).toBe("ann")
  })

  it("is not chosen among members for a validator without a seat, which is of its other class", () => {
    const peers = among({ ann: 1 }, [{ ...member("eve"), isDialled: true }, stranger("aaa"), member("fay")])
    expect(inVain(peers, 8)).toEqual(["ann", "eve", "aaa", "ann", "eve", "fay", "ann", "eve"])
  })

  it("is of the next class when that is due, regardless of requests for single vertices in between", () => {
    const peers = among({ ann: 1 }, [dialled("friend"), stranger("aaa")])
    expect([peers.next(at(0)), peers.next(at(0), "Rotation")]).toEqual(["ann", "ann"])
    peers.broughtNothing(peer("ann"), at(1))
    expect([peers.next(at(1), "Rotation"), peers.next(at(1), "Members"), peers.next(at(1))]).toEqual([
      "friend",
      "ann",
      "friend",
    ])
    expect([peers.next(at(1), "Rotation"), peers.next(at(1))]).toEqual(["aaa", "ann"])
  })

  it("is chosen without a trace of peers that have left", () => {
    const peers = among({}, [stranger("aaa")])
    const isTold = (ms: number) => peers.isDue("Offer", peer("aaa"), at(ms))
    expect([isTold(0), isTold(1)]).toEqual([true, false])
    peers.connect([])
    peers.connect([stranger("aaa")])
    expect(isTold(2)).toBe(true)
  })
})

describe("a connected peer", () => {
  it("is new once, in order of arrival, and again after it was gone", () => {
    const peers = among({}, [])
    expect(peers.connect(["aaa", "aab"].map(stranger))).toEqual(["aaa", "aab"])
    expect(peers.connect(["aac", "aab", "aaa"].map(stranger))).toEqual(["aac"])
    expect(peers.all).toEqual(["aaa", "aab", "aac"])
    expect([peers.connect([stranger("aab")]), peers.all]).toEqual([[], ["aab"]])
    expect(peers.connect(["aaa", "aab"].map(stranger))).toEqual(["aaa"])
  })

  it("is a validator once it has proven its key, possibly one of several, and has its class from then on", () => {
    const peers = among({ ann: 1 }, [stranger("eve"), { ...member("ann"), peer: peer("ann again") }])
    expect([peers.validatorOf(peer("eve")), peers.validatorOf(peer("gone"))]).toEqual([null, null])
    expect(peers.peersOf(addressOf("ann"))).toEqual(["ann again", "ann"])
    expect(peers.validators).toEqual([addressOf("ann"), addressOf("ann")])
    peers.asked(peer("eve"))
    peers.connect([{ ...member("ann"), peer: peer("eve") }, stranger("ann")])
    expect(peers.peersOf(addressOf("ann"))).toEqual(["eve"])
    expect(peers.ranked(at(0))).toEqual(["eve", "ann"])
  })

  it("gets messages of each kind at intervals, even when a peer with a longer name leaves", () => {
    const peers = among({}, ["aab", "b"].map(stranger))
    const isDue = (kind: string, name: string, ms: number) => peers.isDue(kind, peer(name), at(ms))
    expect([isDue("Ask", "b", 0), isDue("Offer", "b", 0), isDue("Ask", "aab", 0)]).toEqual([true, true, true])
    peers.connect([stranger("b")])
    expect([isDue("Ask", "b", EVERY_MS - 1), isDue("Ask", "b", EVERY_MS), isDue("Ask", "b", EVERY_MS)]).toEqual([
      false,
      true,
      false,
    ])
    peers.connect(["aab", "b"].map(stranger))
    peers.connect([stranger("aab")])
    expect(isDue("Ask", "aab", EVERY_MS)).toBe(true)
    expect(isDue("Ask", "aab", EVERY_MS + 1)).toBe(false)
    peers.connect(["aab", "b"].map(stranger))
    expect([isDue("Ask", "b", EVERY_MS + 1), isDue("Ask", "aab", EVERY_MS + 2)]).toEqual([true, false])
  })
})

describe("a disconnected peer", () => {
  it("takes no turn, regardless of later reports about it", () => {
    const peers = among({ ann: 1 }, [stranger("eve")])
    const before = peers.ranked(at(0))
    peers.asked(peer("gone"))
    peers.brought(peer("gone"))
    peers.broughtNothing(peer("gone"), at(0))
    expect(peers.has(peer("gone"))).toBe(false)
    expect(peers.ranked(at(0))).toEqual(before)
  })
})
