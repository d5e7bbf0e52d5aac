/** How a node examines a peer's vertex before it accepts it. */
import { describe, expect, it, onTestFinished, vi } from "vitest"
import type { Surroundings } from "../../src/node/signatures/MessageInspection.js"
import { Turns } from "../../src/node/signatures/Turns.js"
import { SLOW_SIGNATURES } from "../../src/node/signatures/VertexInspection.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Check } from "../../src/protocol/transaction/Verification.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { slowSigner } from "../network/attacks/Ammunition.js"
import { addressOf, signerOf } from "../replica/Cluster.js"
import { bad, type Changes, epoch, heartbeats, pushed, replica, scene, stored, vertexOf } from "./InspectionScene.js"

const underBadSignature = (vertex: Vertex.Vertex) => Vertex.make({ ...vertex.header, signature: bad }, vertex.body)

/** On a busy machine, the time for which a copy waits may end before the next one is examined. */
const clockAtRest = () => {
  let now = performance.now()
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return (milliseconds: number) => {
    now += milliseconds
  }
}

describe("a vertex from a peer", () => {
  it("of another epoch by an unknown author costs no signature check, however many it holds", async () => {
    const old = vertexOf("nobody", { epoch: Natural.epoch(0) }, { heartbeats: heartbeats(100) })
    // Each of them used to cost a check in the lane that rounds wait for.
    expect(replica.checksOf(pushed(old))).toHaveLength(101)
    const { take, settle, verified, passed, refused } = scene()
    for (let i = 0; i < 20; i++) take("mallory", "stranger", pushed(old))
    take("ben", "member", pushed(old))
    await settle()
    expect(verified).toHaveLength(0)
    expect(refused).toEqual([])
    // A member that is behind is told how the epoch ended.
    expect(passed).toEqual([{ _tag: "HeardOf", from: "ben", epoch: 0 }])
  })

  it("that is known, in the DAG or being verified, costs no signature check", async () => {
    clockAtRest()
    const { take, settle, verified, vertices } = scene()
    for (const vertex of stored) take("ben", "member", pushed(vertex))
    await settle()
    expect(verified).toHaveLength(0)
    const fresh = vertexOf("ben", {}, { heartbeats: heartbeats(10) })
    for (const peer of ["ben", "cleo", "dan"]) take(peer, "member", pushed(fresh))
    await settle()
    // Each copy may have shown its header before the first was valid; the body is examined once.
    expect(verified.filter(({ publicKey }) => publicKey === signerOf("ben").publicKey).length).toBeLessThanOrEqual(3)
    expect(verified.filter(({ publicKey }) => publicKey !== signerOf("ben").publicKey)).toHaveLength(10)
    expect(vertices()).toEqual([fresh.header.hash])
  })

  describe("delayed in the lane of a member with slow work of its own", () => {
    const held = () => {
      const isOfDan = ({ publicKey }: Check) => publicKey === signerOf("dan").publicKey
      const around = scene({ isStuck: (check) => check.owner.peer === "dan" && !isOfDan(check) })
      const [slow, fresh] = [vertexOf("dan", {}, { heartbeats: heartbeats(10) }), vertexOf("dan")]
      around.take("dan", "member", pushed(slow))
      around.take("dan", "member", pushed(fresh))
      return { ...around, fresh }
    }

    it("is accepted from a peer that was asked for it", async () => {
      const { take, settle, vertices, asked, fresh } = held()
      await settle()
      expect(vertices()).toEqual([])
      asked.asks("cleo" as PeerId, { _tag: "AskVertices", hashes: [fresh.header.hash] })
      take("cleo", "member", pushed(fresh))
      await settle()
      expect(vertices()).toEqual([fresh.header.hash])
    })

    it("is accepted from a peer that was asked for it and pushes an own vertex first", async () => {
      const { take, settle, vertices, asked, fresh } = held()
      await settle()
      asked.asks("cleo" as PeerId, { _tag: "AskVertices", hashes: [fresh.header.hash] })
      const own = vertexOf("cleo")
      take("cleo", "member", pushed(own))
      take("cleo", "member", pushed(fresh))
      await settle()
      expect(vertices()).toEqual([own.header.hash, fresh.header.hash])
    })

    it("is accepted in an answer of whole rounds", async () => {
      const { take, settle, vertices, asked, fresh } = held()
      await settle()
      const all = Natural.round(1)
      asked.asks("cleo" as PeerId, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
      take("cleo", "member", { _tag: "Rounds", epoch, vertices: [fresh], isLast: true })
      await settle()
      expect(vertices()).toEqual([fresh.header.hash])
    })

    it("is accepted from any peer after a moment", async () => {
      const pass = clockAtRest()
      const { take, settle, vertices, fresh } = held()
      await settle()
      pass(249)
      take("cleo", "member", pushed(fresh))
      await settle()
      expect(vertices()).toEqual([])
      pass(1)
      take("dan", "member", pushed(fresh))
      take("cleo", "member", pushed(fresh))
      await settle()
      expect(vertices()).toEqual([fresh.header.hash])
    })
  })

  describe("of an author with slow signatures", () => {
    const slowKey = slowSigner()
    const slowVertex = (count: number) =>
      vertexOf(
        "dan",
        {},
        {
          heartbeats: Array.from({ length: count }, (_, i) =>
            Heartbeat.sign(Natural.commitIndex(i), Hash.ZERO, slowKey),
          ),
        },
      )
    /** Simulates a native verifier that rejects one key. */
    const verify = (check: Check) => check.publicKey !== slowKey.publicKey && FakeKeys.isValid(check)
    const around = (changes: Changes = {}) => {
      const all = scene({ verify, ...changes })
      const answer = (peer: string, vertex: Vertex.Vertex) => {
        all.asked.asks(peer as PeerId, { _tag: "AskVertices", hashes: [vertex.header.hash] })
        all.take(peer, "member", pushed(vertex))
      }
      return { ...all, answer }
    }

    it("delays nothing else from its sender, and is judged once, in its author's turn", async () => {
      const held: Array<() => void> = []
      const { take, settle, vertices, slow, answer } = around({ holdSlow: (go) => held.push(go) })
      const named = slowVertex(SLOW_SIGNATURES)
      answer("cleo", named)
      const next = [vertexOf("cleo"), vertexOf("cleo")]
      for (const vertex of next) take("cleo", "member", pushed(vertex))
      await settle()
      const hashes = next.map(({ header }) => header.hash)
      expect(vertices()).toEqual(hashes)
      answer("ben", named)
      await settle()
      for (const go of held) go()
      await settle()
      expect(vertices()).toEqual([...hashes, named.header.hash])
      expect(slow).toEqual(named.body.heartbeats.map(() => addressOf("dan")))
    })

    it("with signatures that no node admits are set aside unless the network builds on it", async () => {
      let isBuiltOn = false
      const core = { ...replica.core, epoch: replica.core.epoch, useOf: replica.core.useOf.bind(replica.core) }
      const { take, settle, vertices, slow, verified, refused, asked, answer } = around({
        replica: { core: { ...core, isBuiltOn: () => isBuiltOn } as Surroundings["replica"]["core"] },
      })
      const [many, plain] = [slowVertex(SLOW_SIGNATURES + 1), vertexOf("ben")]
      take("dan", "member", pushed(many))
      await settle()
      const { length } = verified
      // Asking for it because its author names it, or in whole rounds, changes nothing; the other vertices there count.
      answer("dan", many)
      const all = Natural.round(1)
      asked.asks("cleo" as PeerId, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
      take("cleo", "member", { _tag: "Rounds", epoch, vertices: [many, plain], isLast: true })
      await settle()
      expect(vertices()).toEqual([plain.header.hash])
      // Its body was examined once; the other one is a header.
      expect([slow.length, verified.length, refused.length]).toEqual([0, length + 1, 0])
      isBuiltOn = true
      answer("cleo", many)
      await settle()
      expect(slow).toHaveLength(SLOW_SIGNATURES + 1)
      expect(vertices()).toEqual([plain.header.hash, many.header.hash])
    })
  })

  it("that is useful only for its header costs one signature check, and still counts in a page", async () => {
    const core = { ...replica.core, epoch: replica.core.epoch, useOf: () => ({ _tag: "HeaderOnly" }) }
    const { take, settle, verified, passed, vertices, asked } = scene({
      replica: { core: core as Surroundings["replica"]["core"] },
    })
    const late = vertexOf("ben", {}, { heartbeats: heartbeats(10) })
    take("ben", "member", pushed(late))
    await settle()
    expect(verified).toHaveLength(1)
    expect(passed).toMatchObject([{ _tag: "HeaderOnly", from: "ben", header: { hash: late.header.hash } }])
    const all = Natural.round(1)
    asked.asks("cleo" as PeerId, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
    take("cleo", "member", { _tag: "Rounds", epoch, vertices: [...stored, late], isLast: true })
    await settle()
    expect(verified).toHaveLength(1 + stored.length + 1)
    expect(vertices()).toEqual(stored.map(({ header }) => header.hash))
  })

  it("of another base, or by an author without a seat, is refused before any signature check", async () => {
    const { take, settle, verified, refused, passed } = scene()
    take("ben", "member", pushed(vertexOf("ben", { base: Hash.ZERO }, { heartbeats: heartbeats(10) })))
    take("ben", "member", pushed(vertexOf("nobody", {}, { heartbeats: heartbeats(10) })))
    await settle()
    expect(verified).toHaveLength(0)
    expect(refused).toEqual(["WrongBase", "NotAMember"])
    expect(passed).toEqual([])
  })

  it("with an invalid header signature costs that one check, and its sender points", async () => {
    const { take, settle, verified, refused, passed } = scene()
    take("ben", "member", pushed(underBadSignature(vertexOf("ben", {}, { heartbeats: heartbeats(100) }))))
    await settle()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(verified).toHaveLength(1)
    expect(refused).toHaveLength(1)
    expect(passed).toEqual([])
  })

  it("of another author is not judged when a stranger pushes it unasked", async () => {
    const { take, settle, verified, refused, vertices, asked } = scene()
    const other = vertexOf("ben", {}, { heartbeats: heartbeats(5) })
    take("mallory", "stranger", pushed(other))
    await settle()
    expect([verified.length, refused.length]).toEqual([0, 0])
    asked.asks("mallory" as PeerId, { _tag: "AskVertices", hashes: [other.header.hash] })
    take("mallory", "stranger", pushed(other))
    await settle()
    expect(vertices()).toEqual([other.header.hash])
    // The stranger's own vertex: it may be a member that this node does not know yet.
    const own = vertexOf("ben")
    take("ben", "stranger", pushed(own))
    await settle()
    expect(vertices()).toEqual([other.header.hash, own.header.hash])
  })

  it("with a body that differs from its header costs the sender points, and the vertex is still accepted from others", async () => {
    const { take, settle, verified, refused, vertices } = scene()
    const good = vertexOf("ben", {}, { heartbeats: heartbeats(3) })
    const swapped = Vertex.make(good.header, { ...Vertex.emptyBody, heartbeats: heartbeats(90) })
    take("cleo", "member", pushed(swapped))
    await settle()
    expect(refused).toHaveLength(1)
    expect(verified).toHaveLength(1)
    take("ben", "member", pushed(good))
    await settle()
    expect(vertices()).toEqual([good.header.hash])
  })

  it("with an invalid signature in its body is verified once, then refused by its hash", async () => {
    const { take, settle, verified, refused, passed } = scene()
    const vertex = vertexOf("ben", {}, { heartbeats: heartbeats(10, false) })
    for (let i = 0; i < 3; i++) {
      take("ben", "member", pushed(vertex))
      await settle()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(verified).toHaveLength(11)
    expect(refused).toHaveLength(3)
    expect(passed).toEqual([])
  })

  it("with an invalid signature in its body is forgotten after a thousand others, then judged like any other", async () => {
    let isBenHeldUp = false
    const { take, settle, verified, slow, refused, asked } = scene({
      verifySlowly: FakeKeys.isValid,
      isStuck: ({ owner, publicKey }) => isBenHeldUp && owner.peer === "ben" && publicKey !== signerOf("ben").publicKey,
    })
    const all = Array.from({ length: 1_025 }, () => vertexOf("ben", {}, { heartbeats: heartbeats(1, false) }))
    const [first, last] = [all[0], all.at(-1)]
    if (first === undefined || last === undefined) throw new Error("none")
    for (const vertex of all) {
      take("ben", "member", pushed(vertex))
      if (vertex === first) await settle()
    }
    for (let turn = 0; turn < 500 && refused.length < all.length; turn++) await settle()
    expect([refused.length, slow.length, verified.length]).toEqual([1_025, 1_025, 2_050])
    take("ben", "member", pushed(last))
    await settle()
    expect([refused.length, slow.length, verified.length]).toEqual([1_026, 1_025, 2_050])
    isBenHeldUp = true
    take("ben", "member", pushed(first))
    await settle()
    expect([refused.length, slow.length, verified.length]).toEqual([1_026, 1_025, 2_052])
    asked.asks("cleo" as PeerId, { _tag: "AskVertices", hashes: [first.header.hash] })
    take("cleo", "member", pushed(first))
    await settle()
    expect([refused.length, slow.length, verified.length]).toEqual([1_027, 1_026, 2_054])
  })

  it("is opened one body per turn, and does not keep its message in memory", async () => {
    const goOn = vi.spyOn(Turns.prototype, "goOn")
    const { take, settle, passed } = scene()
    take("ben", "member", pushed(vertexOf("ben"), vertexOf("ben"), vertexOf("ben")))
    await settle()
    expect(goOn.mock.calls.length).toBeGreaterThanOrEqual(3)
    goOn.mockRestore()
    const messages = passed.flatMap((judged) => (judged._tag === "Message" ? [judged.message] : []))
    const vertices = messages.flatMap((message) => (message._tag === "Vertices" ? message.vertices : []))
    expect(vertices).toHaveLength(3)
    for (const { encoded } of vertices) expect(encoded.buffer.byteLength).toBe(encoded.byteLength)
  })

  it("counts as this node's own work if it was requested from a stranger, and otherwise as the stranger's", async () => {
    const { take, settle, verified, asked } = scene()
    const vertex = vertexOf("ben")
    asked.asks("mallory" as PeerId, { _tag: "AskVertices", hashes: [vertex.header.hash] })
    take("mallory", "stranger", pushed(vertex))
    await settle()
    take("ben", "stranger", pushed(vertexOf("ben")))
    await settle()
    expect(verified.map(({ owner, isUrgent }) => [owner, isUrgent])).toEqual([
      [{ peer: "mallory", standing: "member" }, true],
      [{ peer: "ben", standing: "stranger", network: "the network of ben" }, false],
    ])
  })

  it("is verified in the urgent lane, its sender's turn, once its header is valid", async () => {
    const { take, settle, verified } = scene()
    take("ben", "stranger", pushed(vertexOf("ben", {}, { heartbeats: heartbeats(2) })))
    await settle()
    expect(verified.map(({ owner, isUrgent }) => [owner.standing, isUrgent])).toEqual([
      ["stranger", false],
      ["stranger", true],
      ["stranger", true],
    ])
  })
})
