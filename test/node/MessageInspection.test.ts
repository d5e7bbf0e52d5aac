/** What a peer's message costs this node, counted in signatures, beside a replica that is real. */
import { describe, expect, it, onTestFinished, vi } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { RelayDecision } from "../../src/network/Network.js"
import type { Standing } from "../../src/network/Standing.js"
import { Bulkhead } from "../../src/node/signatures/Bulkhead.js"
import type { Lane } from "../../src/node/signatures/Job.js"
import { type Inspected, MessageInspection, type Surroundings } from "../../src/node/signatures/MessageInspection.js"
import { OpenQuestions } from "../../src/node/signatures/OpenQuestions.js"
import { Turns } from "../../src/node/signatures/Turns.js"
import { SLOW_SIGNATURES } from "../../src/node/signatures/VertexInspection.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { PublicKey, Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { type Check, isValid, VerifiedTransactions } from "../../src/protocol/transaction/Verification.js"
import type * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { slowSigner } from "../network/attacks/Ammunition.js"
import { addressOf, Cluster, coins, signerOf, transfer } from "../replica/Cluster.js"
import { countersOf } from "./CountersOf.js"

const cluster = new Cluster({ validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } })
cluster.start()
cluster.runRounds(8)
const { replica, disk } = cluster.machine("ann")
const { networkId } = cluster.genesis
const { opening, dag } = replica.core.epoch
const { epoch } = opening.record
const stored = disk.verticesOf(epoch)

const heartbeats = (count: number, isGood = true): ReadonlyArray<Heartbeat.Heartbeat> =>
  Array.from({ length: count }, (_, i) => {
    const beat = Heartbeat.sign(Natural.commitIndex(i), Hash.ZERO, signerOf(`validator ${i}`))
    return isGood || i < count - 1 ? beat : { ...beat, commitHash: Hash.of("udg/commit", Uint8Array.of(1)) }
  })

/** A vertex that fits, but for what is changed; another one each time. */
let made = 0
const vertexOf = (author: string, changes: Partial<Header.Content> = {}, body: Partial<Vertex.Body> = {}) => {
  const round = Natural.round(dag.highestRound + 1)
  const parents = dag.at(dag.highestRound).map(({ vertex }) => vertex.header)
  const content = { base: opening.base, epoch, round, parents, timestamp: Natural.timestamp(cluster.now + made++) }
  const coinbase = replica.core.epoch.committee.coinbase(round, 0)
  return Vertex.sign({ ...content, coinbase, ...changes }, { ...Vertex.emptyBody, ...body }, signerOf(author))
}

const bad = "00".repeat(64) as Signature
const underBadSignature = (vertex: Vertex.Vertex) => Vertex.make({ ...vertex.header, signature: bad }, vertex.body)

const pushed = (...vertices: ReadonlyArray<Vertex.Vertex>): Message => ({ _tag: "Vertices", vertices })

interface Changes {
  readonly replica?: Partial<Surroundings["replica"]>
  readonly verify?: (check: Check) => boolean
  readonly verifiedTransactions?: VerifiedTransactions
  /** The slow rule. */
  readonly verifySlowly?: (check: Check) => boolean
  /** Takes the answer about signatures, to be given later. */
  readonly hold?: (answer: () => void) => void
  /** Takes the answer of the slow rule, to be given later. */
  readonly holdSlow?: (answer: () => void) => void
  /** Checks that are still waiting for their turn when the test ends. */
  readonly isStuck?: (check: Check & Lane) => boolean
}

const scene = ({
  replica: other = {},
  verify = FakeKeys.isValid,
  verifySlowly = isValid,
  verifiedTransactions = new VerifiedTransactions(1_000),
  hold = setImmediate,
  holdSlow = setImmediate,
  isStuck = () => false,
}: Changes = {}) => {
  const verified: Array<Check & Lane> = []
  /** For each that was judged by the slow rule, in whose turn. */
  const slow: Array<string> = []
  const said: Array<string> = []
  const refused: Array<string> = []
  const passed: Array<Inspected> = []
  const asked = new OpenQuestions()
  const counters = countersOf()
  // The methods of a class are not its own.
  const view: Surroundings["replica"] = {
    checksOf: (message, isVerified) => replica.checksOf(message, isVerified),
    useOf: (from, message) => replica.useOf(from, message),
    validatorOf: (from) => replica.validatorOf(from),
    isAwaited: () => true,
    core: replica.core,
    pool: replica.pool,
    read: replica.read,
    ...other,
  }
  const inspection = new MessageInspection({
    replica: view,
    networkId,
    signatures: {
      verified: verifiedTransactions,
      check: (checks, complete, lane) => {
        if (lane === undefined) throw new Error("no lane")
        const waiting = checks.map((check) => ({ ...check, ...lane }))
        verified.push(...waiting)
        if (waiting.some(isStuck)) return
        hold(() => {
          const results = Uint8Array.from(checks, (check) => (verify(check) ? 1 : 0))
          for (const [i, { transaction }] of checks.entries()) {
            if (transaction !== undefined && results[i] === 1) verifiedTransactions.add(transaction)
          }
          complete(results)
        })
      },
      checkByZip215: (checks, complete, owner) => {
        slow.push(...checks.map(() => owner.peer))
        holdSlow(() => complete(checks.every(verifySlowly)))
      },
    },
    asked,
    bulkhead: new Bulkhead(counters, (place) => said.push(place)),
    ask: (_, question) => passed.push({ _tag: "HeardOf", from: question._tag as PeerId, epoch }),
    refused: (_, what) => refused.push(what),
    pass: (judged) => passed.push(judged),
  })
  const take = (
    from: string,
    standing: Standing,
    message: Message,
    settled: (verdict: RelayDecision) => void = () => {},
  ) =>
    inspection.take({
      from: from as PeerId,
      standing,
      network: `the network of ${from}`,
      tag: message._tag,
      bytes: MessageCodec.encode(message),
      release: settled,
    })
  const settle = async () => {
    for (let turn = 0; turn < 30; turn++) await new Promise(setImmediate)
  }
  const vertices = () =>
    passed.flatMap((judged) =>
      judged._tag === "Message" && (judged.message._tag === "Vertices" || judged.message._tag === "Rounds")
        ? judged.message.vertices.map(({ header }) => header.hash)
        : [],
    )
  return { take, settle, verified, slow, said, refused, passed, vertices, asked, counters }
}

/** On a busy machine the moment for which a copy waits may be over before the next one is looked at. */
const clockAtRest = () => {
  let now = performance.now()
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return (milliseconds: number) => {
    now += milliseconds
  }
}

describe("a vertex from a peer", () => {
  it("of another epoch by nobody costs no signature, however many are in it", async () => {
    const old = vertexOf("nobody", { epoch: Natural.epoch(0) }, { heartbeats: heartbeats(100) })
    // What every one of them used to cost, in the lane that rounds wait for.
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

  it("that is known, in the DAG or being verified right now, costs no signature", async () => {
    clockAtRest()
    const { take, settle, verified, vertices } = scene()
    for (const vertex of stored) take("ben", "member", pushed(vertex))
    await settle()
    expect(verified).toHaveLength(0)
    const fresh = vertexOf("ben", {}, { heartbeats: heartbeats(10) })
    for (const peer of ["ben", "cleo", "dan"]) take(peer, "member", pushed(fresh))
    await settle()
    // Each copy may have shown its header before the first one held; the body is looked at once.
    expect(verified.filter(({ publicKey }) => publicKey === signerOf("ben").publicKey).length).toBeLessThanOrEqual(3)
    expect(verified.filter(({ publicKey }) => publicKey !== signerOf("ben").publicKey)).toHaveLength(10)
    expect(vertices()).toEqual([fresh.header.hash])
  })

  describe("that is held up in the lane of a member with slow work of its own", () => {
    const held = () => {
      const isOfDan = ({ publicKey }: Check) => publicKey === signerOf("dan").publicKey
      const around = scene({ isStuck: (check) => check.owner.peer === "dan" && !isOfDan(check) })
      const [slow, fresh] = [vertexOf("dan", {}, { heartbeats: heartbeats(10) }), vertexOf("dan")]
      around.take("dan", "member", pushed(slow))
      around.take("dan", "member", pushed(fresh))
      return { ...around, fresh }
    }

    it("is taken from a peer that was asked for it", async () => {
      const { take, settle, vertices, asked, fresh } = held()
      await settle()
      expect(vertices()).toEqual([])
      asked.asks("cleo" as PeerId, { _tag: "AskVertices", hashes: [fresh.header.hash] })
      take("cleo", "member", pushed(fresh))
      await settle()
      expect(vertices()).toEqual([fresh.header.hash])
    })

    it("is taken from a peer that was asked for it and pushes a vertex of its own first", async () => {
      const { take, settle, vertices, asked, fresh } = held()
      await settle()
      asked.asks("cleo" as PeerId, { _tag: "AskVertices", hashes: [fresh.header.hash] })
      const own = vertexOf("cleo")
      take("cleo", "member", pushed(own))
      take("cleo", "member", pushed(fresh))
      await settle()
      expect(vertices()).toEqual([own.header.hash, fresh.header.hash])
    })

    it("is taken in an answer of whole rounds", async () => {
      const { take, settle, vertices, asked, fresh } = held()
      await settle()
      const all = Natural.round(1)
      asked.asks("cleo" as PeerId, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
      take("cleo", "member", { _tag: "Rounds", epoch, vertices: [fresh], isLast: true })
      await settle()
      expect(vertices()).toEqual([fresh.header.hash])
    })

    it("is taken from anybody after a moment", async () => {
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
    /** As the native verifier sees it, real keys beside those of this test. */
    const verify = (check: Check) => check.publicKey !== slowKey.publicKey && FakeKeys.isValid(check)
    const around = (changes: Changes = {}) => {
      const all = scene({ verify, ...changes })
      const answer = (peer: string, vertex: Vertex.Vertex) => {
        all.asked.asks(peer as PeerId, { _tag: "AskVertices", hashes: [vertex.header.hash] })
        all.take(peer, "member", pushed(vertex))
      }
      return { ...all, answer }
    }

    it("holds up nothing else that its sender says, and is judged once, in its author's turn", async () => {
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

    it("beyond what anybody's door lets pass is left aside, unless the network builds on it", async () => {
      let isBuiltOn = false
      const core = { ...replica.core, epoch: replica.core.epoch, useOf: replica.core.useOf.bind(replica.core) }
      const { take, settle, vertices, slow, verified, refused, asked, answer } = around({
        replica: { core: { ...core, isBuiltOn: () => isBuiltOn } as Surroundings["replica"]["core"] },
      })
      const [many, plain] = [slowVertex(SLOW_SIGNATURES + 1), vertexOf("ben")]
      take("dan", "member", pushed(many))
      await settle()
      const { length } = verified
      // Nor when it was asked for because its author names it, nor in whole rounds; but what else is in them counts.
      answer("dan", many)
      const all = Natural.round(1)
      asked.asks("cleo" as PeerId, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
      take("cleo", "member", { _tag: "Rounds", epoch, vertices: [many, plain], isLast: true })
      await settle()
      expect(vertices()).toEqual([plain.header.hash])
      // Its body was looked at once; the other one is a header.
      expect([slow.length, verified.length, refused.length]).toEqual([0, length + 1, 0])
      isBuiltOn = true
      answer("cleo", many)
      await settle()
      expect(slow).toHaveLength(SLOW_SIGNATURES + 1)
      expect(vertices()).toEqual([plain.header.hash, many.header.hash])
    })
  })

  it("that is of use for its header alone costs one signature, and counts in a page all the same", async () => {
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

  it("of another base, or by an author without a seat, is refused before any signature", async () => {
    const { take, settle, verified, refused, passed } = scene()
    take("ben", "member", pushed(vertexOf("ben", { base: Hash.ZERO }, { heartbeats: heartbeats(10) })))
    take("ben", "member", pushed(vertexOf("nobody", {}, { heartbeats: heartbeats(10) })))
    await settle()
    expect(verified).toHaveLength(0)
    expect(refused).toEqual(["WrongBase", "NotAMember"])
    expect(passed).toEqual([])
  })

  it("under a bad header's signature costs that one, and its sender points", async () => {
    const { take, settle, verified, refused, passed } = scene()
    take("ben", "member", pushed(underBadSignature(vertexOf("ben", {}, { heartbeats: heartbeats(100) }))))
    await settle()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(verified).toHaveLength(1)
    expect(refused).toHaveLength(1)
    expect(passed).toEqual([])
  })

  it("of somebody else is not judged for a stranger that nobody asked", async () => {
    const { take, settle, verified, refused, vertices, asked } = scene()
    const other = vertexOf("ben", {}, { heartbeats: heartbeats(5) })
    take("mallory", "stranger", pushed(other))
    await settle()
    expect([verified.length, refused.length]).toEqual([0, 0])
    asked.asks("mallory" as PeerId, { _tag: "AskVertices", hashes: [other.header.hash] })
    take("mallory", "stranger", pushed(other))
    await settle()
    expect(vertices()).toEqual([other.header.hash])
    // Its own, from a member that this node does not know for one yet.
    const own = vertexOf("ben")
    take("ben", "stranger", pushed(own))
    await settle()
    expect(vertices()).toEqual([other.header.hash, own.header.hash])
  })

  it("with another body than its header names costs the sender points, and nobody else the vertex", async () => {
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

  it("with a bad signature in its body is verified once, and after that refused by its hash", async () => {
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

  it("with a bad signature in its body is forgotten after a thousand others, and then judged like any other", async () => {
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

  it("is opened one body a turn, and does not keep the message in memory that it came in", async () => {
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

  it("is this node's own work where a stranger was asked for it, and the stranger's where it was not", async () => {
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

  it("is verified in the urgent lane, its sender's turn, once its header has held", async () => {
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

describe("an answer", () => {
  const header = vertexOf("ann").header
  const answers: ReadonlyArray<Message> = [
    { _tag: "Rounds", epoch, vertices: [vertexOf("ben")], isLast: true },
    { _tag: "Highest", author: addressOf("ann"), epoch, header },
    { _tag: "State", root: Hash.ZERO, subtree: null },
  ]

  it("that nobody asked for costs nothing, and says nothing", async () => {
    const { take, settle, verified, passed, refused } = scene()
    for (const answer of answers) for (let i = 0; i < 50; i++) take("ben", "member", answer)
    await settle()
    expect([verified.length, passed.length, refused.length]).toEqual([0, 0, 0])
  })

  it("is judged as often as it was asked for", async () => {
    const { take, settle, verified, passed, asked } = scene()
    const ben = "ben" as PeerId
    const all = Natural.round(1)
    asked.asks(ben, { _tag: "AskRounds", epoch, fromRound: all, toRound: all, after: null })
    asked.asks(ben, { _tag: "AskHighest", author: addressOf("ann") })
    asked.asks(ben, { _tag: "AskState", root: Hash.ZERO, position: new Uint8Array() })
    for (const answer of answers) for (let i = 0; i < 3; i++) take("ben", "member", answer)
    await settle()
    expect(passed.map((judged) => judged._tag === "Message" && judged.message._tag)).toEqual([
      "Rounds",
      "Highest",
      "State",
    ])
    expect(verified).toHaveLength(2)
    asked.asks(ben, { _tag: "AskState", root: Hash.ZERO, position: new Uint8Array() })
    asked.keepOnly(new Set())
    expect(asked.isAwaited(ben, "State")).toBe(false)
  })

  it("of closing checkpoints that nobody asked for says that its sender may be ahead", async () => {
    const { take, settle, passed } = scene()
    take("mallory", "stranger", { _tag: "Closing", signed: [], newest: null })
    await settle()
    expect(passed).toEqual([{ _tag: "HeardOf", from: "mallory", epoch: epoch + 1 }])
  })

  it("of whole rounds of another epoch, or that the replica does not await, costs no signature", async () => {
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

  it("of whole rounds keeps what is known in it, which is not verified again", async () => {
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

  it("that a member passes on have turns of their own, and its vertices do not wait for them", async () => {
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

  it("that are wrong cost their sender points, and no signature", async () => {
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

  it("for commits ahead have few places for each peer, and keep none of another peer out", async () => {
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

describe("news", () => {
  it("of no use cost no signature", async () => {
    const { take, settle, verified, passed, refused } = scene()
    // Who stakes nothing.
    const { head } = replica.read
    const beat = Heartbeat.sign(head.index, head.hash, signerOf("nobody"))
    take("mallory", "stranger", { _tag: "Heartbeat", heartbeat: beat })
    // Whom this node cannot pay.
    take("mallory", "stranger", { _tag: "Transactions", transactions: [transfer("nobody", 0, "bob", 5)] })
    const [first, second] = [vertexOf("nobody").header, vertexOf("nobody").header].sort((a, b) =>
      a.hash < b.hash ? -1 : 1,
    )
    if (first === undefined || second === undefined) throw new Error("none")
    take("mallory", "stranger", { _tag: "Evidence", evidence: { first, second } })
    await settle()
    expect([verified.length, passed.length, refused.length]).toEqual([0, 0, 0])
  })

  it("that may be of use are verified outside of this thread, in their sender's turn", async () => {
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

  it("of transactions are verified where the pool would take them, and passed on only whole", async () => {
    const { take, settle, verified, passed } = scene()
    const good = transfer("alice", replica.pool.nextNonce(addressOf("alice")), "bob", 5)
    take("mallory", "stranger", { _tag: "Transactions", transactions: [good, transfer("nobody", 0, "bob", 5)] })
    await settle()
    take("mallory", "stranger", { _tag: "Transactions", transactions: [good] })
    await settle()
    expect(verified).toHaveLength(1)
    expect(passed.map((judged) => judged._tag === "Message" && judged.isWhole)).toEqual([false, true])
  })

  // Ids do not cover signatures. What was known here was relayed unseen, and cost this node points wherever it was not known.
  it("of transactions beside one that is known are not passed on whole: nobody has looked at its signature", async () => {
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

  it("of transactions under a signature that does not hold costs its sender points, and none of them is taken", async () => {
    const { take, settle, passed, refused } = scene({ verify: () => false })
    const nonce = replica.pool.nextNonce(addressOf("alice"))
    take("mallory", "stranger", { _tag: "Transactions", transactions: [transfer("alice", nonce, "bob", 9)] })
    await settle()
    expect(refused).toEqual(["a transaction under a signature that does not hold"])
    expect(passed).toEqual([])
  })
})

describe("the order of what peers say", () => {
  it("is each peer's own, whatever takes longer to judge; transactions and questions go by themselves", async () => {
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

describe("a bug that a message brings to light", () => {
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
      { replica: { pool: { ...replica.pool, judge: broken } as unknown as Surroundings["replica"]["pool"] } },
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
    "ends it, is counted, said once, and costs its sender points (%s)",
    async (place, changes, message) => {
      const { take, settle, said, refused, passed, counters } = scene(changes)
      const verdicts: Array<RelayDecision> = []
      for (let i = 0; i < 3; i++) {
        take("ben", "member", message, (verdict) => verdicts.push(verdict))
        await settle()
      }
      expect(counters.counts.judgingFailures).toBeGreaterThan(0)
      expect(said).toEqual([place])
      expect(refused[0]).toBe("a message that cannot be judged")
      expect(verdicts.filter((verdict) => verdict === "refused").length).toBe(refused.length)
      // And the peer's next message is judged as if nothing had been.
      take("ben", "member", { _tag: "Closing", signed: [], newest: null })
      await settle()
      expect(passed.at(-1)).toMatchObject({ _tag: "HeardOf", from: "ben" })
    },
  )

  it("in the slow rule keeps no vertex from being taken from the same peer", async () => {
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

  it("keeps no vertex from being taken from somebody else", async () => {
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
