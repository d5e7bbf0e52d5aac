/** The cost of a peer's message to this node, counted in signature checks, beside a real replica. */
import { describe, expect, it, onTestFinished, vi } from "vitest"
import type { RelayDecision } from "../../src/network/Network.js"
import type { Lane } from "../../src/node/signatures/Job.js"
import type { Surroundings } from "../../src/node/signatures/MessageInspection.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { PublicKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { VerifiedTransactions } from "../../src/protocol/transaction/Verification.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { addressOf, coins, signerOf, transfer } from "../replica/Cluster.js"
import {
  bad,
  type Changes,
  cluster,
  epoch,
  heartbeats,
  networkId,
  pushed,
  replica,
  scene,
  stored,
  vertexOf,
} from "./InspectionScene.js"

describe("an answer", () => {
  const header = vertexOf("ann").header
  const answers: ReadonlyArray<Message> = [
    { _tag: "Rounds", epoch, vertices: [vertexOf("ben")], isLast: true },
    { _tag: "Highest", author: addressOf("ann"), epoch, header },
    { _tag: "State", root: Hash.ZERO, subtree: null },
  ]

  it("that was not requested costs nothing and changes nothing", async () => {
    const { take, settle, verified, passed, refused } = scene()
    for (const answer of answers) for (let i = 0; i < 50; i++) take("ben", "member", answer)
    await settle()
    expect([verified.length, passed.length, refused.length]).toEqual([0, 0, 0])
  })

  it("is judged as often as it was requested", async () => {
    const { take, settle, verified, passed, asked } = scene()
    const ben = "ben" as PeerId
    const all = Natural.round(1)
    asked.asks(ben, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
    asked.asks(ben, { _tag: "AskHighest", author: addressOf("ann") })
    asked.asks(ben, { _tag: "AskState", root: Hash.ZERO, position: new Uint8Array() })
    for (const answer of answers) for (let i = 0; i < 3; i++) take("ben", "member", answer)
    await settle()
    expect(passed.map((judged) => (judged._tag === "Message" ? judged.message._tag : judged._tag))).toEqual([
      "PageArrived",
      "Rounds",
      "Highest",
      "State",
    ])
    expect(verified).toHaveLength(2)
    asked.asks(ben, { _tag: "AskState", root: Hash.ZERO, position: new Uint8Array() })
    asked.keepOnly(new Set())
    expect(asked.isAwaited(ben, "State")).toBe(false)
  })

  it("of rounds is reported before its signatures are checked, and again if one is invalid", async () => {
    const all = Natural.round(1)
    const ben = "ben" as PeerId
    const ask = { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null } as const
    const answer: Message = { _tag: "Rounds", epoch, vertices: [vertexOf("ben")], isLast: true }
    const checks: Array<() => void> = []
    const { take, settle, passed, asked, refused } = scene({ verify: () => false, hold: (check) => checks.push(check) })
    take("ben", "stranger", answer)
    await settle()
    expect(passed).toEqual([])
    asked.asks(ben, ask)
    take("ben", "stranger", answer)
    await settle()
    expect(passed).toEqual([{ _tag: "PageArrived", from: "ben" }])
    for (const check of checks) check()
    await settle()
    expect(refused).toHaveLength(1)
    expect(passed.slice(1)).toEqual([{ _tag: "PageRefused", from: "ben" }])
  })

  it("of unrequested closing checkpoints suggests that its sender is ahead", async () => {
    const { take, settle, passed } = scene()
    take("mallory", "stranger", { _tag: "Closing", signed: [], newest: null })
    await settle()
    expect(passed).toEqual([{ _tag: "HeardOf", from: "mallory", epoch: epoch + 1 }])
  })

  it("of whole rounds of another epoch, or that the replica does not await, costs no signature check", async () => {
    const all = Natural.round(1)
    for (const [changes, said] of [
      [{}, Natural.epoch(epoch + 1)],
      [{ replica: { isAwaited: () => false } }, epoch],
    ] as const) {
      const { take, settle, verified, passed, refused, asked } = scene(changes)
      asked.asks("cleo" as PeerId, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
      take("cleo", "member", { _tag: "Rounds", epoch: said, vertices: [vertexOf("ben")], isLast: true })
      await settle()
      expect([verified.length, passed.length, refused.length]).toEqual([0, 0, 0])
    }
  })

  it("of whole rounds keeps its known vertices, which are not verified again", async () => {
    const { take, settle, verified, vertices, asked } = scene()
    const others = stored.filter(({ header: { author } }) => author !== addressOf("ann"))
    const all = Natural.round(1)
    asked.asks("mallory" as PeerId, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
    const fresh = vertexOf("dan")
    take("mallory", "stranger", { _tag: "Rounds", epoch, vertices: [...others, fresh], isLast: false })
    await settle()
    expect(vertices()).toEqual([...others, fresh].map((vertex) => vertex.header.hash))
    expect(verified).toHaveLength(1)
  })
})

const ofUse: Surroundings["replica"]["useOf"] = () => ({ _tag: "Wanted" })

describe("votes", () => {
  const beat = (index: number) =>
    ({ _tag: "Heartbeat", heartbeat: Heartbeat.sign(Natural.commitIndex(index), Hash.ZERO, signerOf("eve")) }) as const

  it("relayed by a member have their own turns and do not delay its vertices", async () => {
    const isStuck = ({ owner }: Lane) => owner.standing === "relayed"
    const { take, settle, verified, vertices } = scene({ replica: { useOf: ofUse }, isStuck })
    for (let i = 0; i < 1_000; i++) take("ben", "member", beat(i))
    take("ben", "member", { _tag: "Highest", author: addressOf("ann"), epoch, header: null })
    const vertex = vertexOf("ben")
    take("ben", "member", pushed(vertex))
    await settle()
    expect(vertices()).toEqual([vertex.header.hash])
    const votes = verified.filter(({ owner }) => owner.standing === "relayed")
    expect(votes.length).toBeGreaterThan(0)
    expect(votes.every(({ isUrgent }) => !isUrgent)).toBe(true)
  })

  it("that are invalid cost their sender points but no signature check", async () => {
    const { take, settle, verified, refused } = scene({ replica: { useOf: () => ({ _tag: "Wrong" }) } })
    const decisions: Array<RelayDecision> = []
    take("ben", "member", beat(1), (decision) => decisions.push(decision))
    await settle()
    expect([verified.length, refused.length, decisions]).toEqual([0, 1, ["refused"]])
  })

  it.each([
    { is: "Wanted", verdict: "passed on", checks: 1, decisions: [] },
    { is: "Wrong", verdict: "refused", checks: 0, decisions: ["refused"] },
    { is: "Known", verdict: "dropped", checks: 0, decisions: ["known"] },
  ] as const)("for a commit ahead wait until it is executed, and are $verdict if $is", async (each) => {
    vi.useFakeTimers({ toFake: ["setTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    let index = 7
    const useOf: Surroundings["replica"]["useOf"] = () => ({ _tag: index < 9 ? "Ahead" : each.is })
    const read = new Proxy(replica.read, {
      get: (target, key) => (key === "head" ? { index } : Reflect.get(target, key)),
    })
    const { take, settle, verified, refused, passed } = scene({ replica: { useOf, read } })
    const decisions: Array<RelayDecision> = []
    take("ben", "member", beat(9), (decision) => decisions.push(decision))
    for (; index < 9; index++) {
      await settle()
      vi.advanceTimersByTime(100)
      await settle()
      expect([verified.length, passed.length, decisions]).toEqual([0, 0, []])
    }
    vi.advanceTimersByTime(100)
    await settle()
    expect([verified.length, decisions]).toEqual([each.checks, each.decisions])
    expect([passed.length, refused.length]).toEqual([each.is === "Wanted" ? 1 : 0, each.is === "Wrong" ? 1 : 0])
  })

  it("for future commits have few places per peer, and displace only votes of the same peer", async () => {
    const { take, settle, verified } = scene({ replica: { useOf: () => ({ _tag: "Ahead" }) } })
    const decisions: Array<string> = []
    for (let i = 0; i < 20; i++)
      take("mallory", "stranger", beat(100_000 + i), (said) => decisions.push(`mallory ${said}`))
    take("ben", "member", beat(100_000), (said) => decisions.push(`ben ${said}`))
    await settle()
    expect(decisions).toEqual(Array.from({ length: 4 }, () => "mallory known"))
    expect(verified).toHaveLength(0)
  })
})

describe("gossip", () => {
  it("of no use costs no signature check", async () => {
    const { take, settle, verified, passed, refused } = scene()
    // An account that stakes nothing.
    const { head } = replica.read
    const beat = Heartbeat.sign(head.index, head.hash, signerOf("nobody"))
    take("mallory", "stranger", { _tag: "Heartbeat", heartbeat: beat })
    // An account that this node cannot pay.
    take("mallory", "stranger", { _tag: "Transactions", transactions: [transfer("nobody", 0, "bob", 5)] })
    const [first, second] = [vertexOf("nobody").header, vertexOf("nobody").header].sort((a, b) =>
      a.hash < b.hash ? -1 : 1,
    )
    if (first === undefined || second === undefined) throw new Error("none")
    take("mallory", "stranger", { _tag: "Evidence", evidence: { first, second } })
    await settle()
    expect([verified.length, passed.length, refused.length]).toEqual([0, 0, 0])
  })

  it("that may be of use is verified outside this thread, in its sender's turn", async () => {
    const { take, settle, verified, passed, refused } = scene({ replica: { useOf: ofUse } })
    const [first, second] = [vertexOf("ben").header, vertexOf("ben").header].sort((a, b) => (a.hash < b.hash ? -1 : 1))
    if (first === undefined || second === undefined) throw new Error("none")
    take("mallory", "stranger", { _tag: "Evidence", evidence: { first, second } })
    take("mallory", "stranger", { _tag: "Evidence", evidence: { first: { ...first, signature: bad }, second } })
    const beat = Heartbeat.sign(Natural.commitIndex(3), Hash.ZERO, signerOf("ben"))
    take("mallory", "stranger", { _tag: "Heartbeat", heartbeat: beat })
    await settle()
    expect(passed.map((judged) => judged._tag === "Message" && judged.message._tag)).toEqual(["Evidence", "Heartbeat"])
    expect(refused).toHaveLength(1)
    expect(verified.every(({ owner, isUrgent }) => owner.standing === "stranger" && !isUrgent)).toBe(true)
  })

  it("of transactions is verified where the pool would accept them, and relayed only as a whole", async () => {
    const { take, settle, verified, passed } = scene()
    const good = transfer("alice", replica.pool.nextNonce(addressOf("alice")), "bob", 5)
    take("mallory", "stranger", { _tag: "Transactions", transactions: [good, transfer("nobody", 0, "bob", 5)] })
    await settle()
    take("mallory", "stranger", { _tag: "Transactions", transactions: [good] })
    await settle()
    expect(verified).toHaveLength(1)
    expect(passed.map((judged) => judged._tag === "Message" && judged.isWhole)).toEqual([false, true])
  })

  // Ids do not cover signatures. A known transaction used to be relayed unchecked, and cost this node points elsewhere.
  // A message of 136 copies used up what all peers may bring early.
  it("of the same transaction many times is charged and verified once", async () => {
    const charged: Array<string> = []
    const reserve: typeof replica.pool.reserve = (transaction, origin) => {
      charged.push(transaction.id)
      return replica.pool.reserve(transaction, origin)
    }
    const pool = { ...replica.pool, reserve } as unknown as Surroundings["replica"]["pool"]
    const { take, settle, verified } = scene({ replica: { pool } })
    const payment = transfer("alice", replica.pool.nextNonce(addressOf("alice")), "bob", 7)
    take("ben", "stranger", { _tag: "Transactions", transactions: Array.from({ length: 136 }, () => payment) })
    await settle()
    expect([charged.length, verified.length]).toEqual([1, 1])
  })

  it("of transactions beside a known one is not relayed whole, since the known one's signature is unchecked", async () => {
    const { take, settle, verified, passed, refused } = scene()
    const nonce = replica.pool.nextNonce(addressOf("alice"))
    const known = transfer("alice", nonce + 9, "bob", 5)
    replica.receive("mallory" as PeerId, { _tag: "Transactions", transactions: [known] }, cluster.now)
    const { authorization } = known
    if (authorization._tag !== "SingleKey") throw new Error("one key expected")
    const spoiled = Transaction.make(networkId, known, { ...authorization, signature: bad })
    expect(spoiled.id).toBe(known.id)
    const good = transfer("alice", nonce, "bob", 6)
    take("mallory", "stranger", { _tag: "Transactions", transactions: [good, spoiled] })
    await settle()
    expect([verified.length, refused.length]).toEqual([1, 0])
    expect(passed.map((judged) => judged._tag === "Message" && judged.isWhole)).toEqual([false])
  })

  it("of transactions with an invalid signature costs its sender points, and none of them is accepted", async () => {
    const { take, settle, passed, refused } = scene({ verify: () => false })
    const nonce = replica.pool.nextNonce(addressOf("alice"))
    take("mallory", "stranger", { _tag: "Transactions", transactions: [transfer("alice", nonce, "bob", 9)] })
    await settle()
    expect(refused).toEqual(["a transaction with an invalid signature"])
    expect(passed).toEqual([])
  })
})

describe("the order of a peer's messages", () => {
  it("is kept per peer during slow judgements, except for transactions and questions", async () => {
    const answers: Array<() => void> = []
    const { take, settle, passed } = scene({ hold: (answer) => answers.push(answer) })
    const slow = vertexOf("ben", {}, { heartbeats: heartbeats(100) })
    const quick = vertexOf("ben")
    take("ben", "member", pushed(slow))
    take("ben", "member", pushed(quick))
    take("ben", "member", { _tag: "Transactions", transactions: [transfer("alice", 0, "bob", 5)] })
    take("ben", "member", { _tag: "AskVertices", hashes: [] })
    take("cleo", "member", { _tag: "Closing", signed: [], newest: null })
    const names = () =>
      passed.map((judged) => {
        if (judged._tag !== "Message") return judged.from
        return judged.message._tag === "Vertices" ? judged.message.vertices[0]?.header.hash : judged.message._tag
      })
    await settle()
    expect(new Set(names())).toEqual(new Set(["AskVertices", "cleo"]))
    // The latest first, until no signature is left to judge.
    for (let answer = answers.pop(); answer !== undefined; answer = answers.pop()) {
      answer()
      await settle()
    }
    expect(names().slice(2)).toEqual(["Transactions", slow.header.hash, quick.header.hash])
  })
})

describe("a bug triggered by a message", () => {
  const broken = () => {
    throw new Error("planted")
  }
  const places: ReadonlyArray<readonly [string, Changes, Message]> = [
    [
      "judging",
      { replica: { core: { ...replica.core, epoch: replica.core.epoch, useOf: broken } } },
      pushed(vertexOf("ben")),
    ],
    ["judging", { replica: { useOf: broken } }, { _tag: "Evidence", evidence: evidenceOfBen() }],
    [
      "judging",
      { replica: { pool: { ...replica.pool, reserve: broken } as unknown as Surroundings["replica"]["pool"] } },
      { _tag: "Transactions", transactions: [transfer("alice", 1, "bob", 5)] },
    ],
    [
      "judging",
      { replica: { checksOf: broken } },
      { _tag: "Transactions", transactions: [transfer("alice", 1, "bob", coins(1))] },
    ],
    [
      "checking signatures",
      { verifiedTransactions: Object.assign(new VerifiedTransactions(9), { has: broken }) },
      pushed(vertexOf("ben", {}, { transactions: [transfer("alice", 1, "bob", 7)] })),
    ],
  ]

  it.each(places)(
    "drops it, is counted, logged once, and costs its sender points (%s)",
    async (place, changes, message) => {
      const { take, settle, said, refused, passed, counters } = scene(changes)
      const verdicts: Array<RelayDecision> = []
      for (let i = 0; i < 3; i++) {
        take("ben", "member", message, (verdict) => verdicts.push(verdict))
        await settle()
      }
      expect(counters.counts.judgingFailures).toBeGreaterThan(0)
      expect(said).toEqual([place])
      expect(refused[0]).toBe("a message that caused a fault")
      expect(verdicts.filter((verdict) => verdict === "refused").length).toBe(refused.length)
      // The peer's next message is judged normally.
      take("ben", "member", { _tag: "Closing", signed: [], newest: null })
      await settle()
      expect(passed.at(-1)).toMatchObject({ _tag: "HeardOf", from: "ben" })
    },
  )

  it("in the slow rule does not keep the same peer's vertices out", async () => {
    let isBroken = true
    const vertex = vertexOf("ben", {}, { heartbeats: heartbeats(4) })
    const { take, settle, vertices, said } = scene({
      verify: (check) => !isBroken || check.publicKey === signerOf("ben").publicKey,
      holdSlow: broken,
    })
    take("ben", "member", pushed(vertex))
    await settle()
    expect([said, vertices()]).toEqual([["checking signatures"], []])
    isBroken = false
    take("ben", "member", pushed(vertex))
    await settle()
    expect(vertices()).toEqual([vertex.header.hash])
  })

  it("does not keep other peers' vertices out", async () => {
    let isBroken = true
    const vertex = vertexOf("ben", {}, { heartbeats: heartbeats(4) })
    const { take, settle, vertices } = scene({
      verify: (check) => {
        if (isBroken && check.publicKey !== (signerOf("ben").publicKey as PublicKey)) return false
        return FakeKeys.isValid(check)
      },
    })
    take("cleo", "member", pushed(Vertex.make(vertex.header, { ...vertex.body, heartbeats: [] })))
    await settle()
    isBroken = false
    take("ben", "member", pushed(vertex))
    await settle()
    expect(vertices()).toEqual([vertex.header.hash])
  })
})

function evidenceOfBen() {
  const [first, second] = [vertexOf("ben").header, vertexOf("ben").header].sort((a, b) => (a.hash < b.hash ? -1 : 1))
  if (first === undefined || second === undefined) throw new Error("none")
  return { first, second }
}
