/** Which questions go to which peers, and which answers are accepted. */
import { describe, expect, it, vi } from "vitest"
import { Core } from "../../src/consensus/Core.js"
import { freshEpoch } from "../../src/consensus/output/StoredEpoch.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { Questions } from "../../src/replica/asking/Questions.js"
import type { LiveState } from "../../src/replica/live/LiveState.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { Connection, PeerId } from "../../src/replica/messages/Peer.js"
import { Peers } from "../../src/replica/messages/Peers.js"
import { Outbox } from "../../src/replica/output/Outbox.js"
import { draw } from "../consensus/Picture.js"
import { addressOf } from "./Cluster.js"

const PATIENCE_MS = 500
const at = (ms: number): Natural.Timestamp => Natural.timestamp(ms)

const picture = draw(`
      A    B    C    D
  1   .    .    .    .
  2  ABC  ABC  ABC  BCD
`)
const { epoch } = picture.opening.record

const stranger = (name: string): Connection => ({ peer: name as PeerId, validator: null, isDialled: false })
const member = (name: string): Connection => ({ peer: name as PeerId, validator: addressOf(name), isDialled: false })
const [ann, aaa] = [member("ann"), stranger("aaa")]

const among = (...connections: ReadonlyArray<Connection>) => {
  const outbox = new Outbox()
  const members = new Set(["ann", "ben"].map(addressOf))
  const peers = new Peers(PATIENCE_MS, (validator) => (members.has(validator) ? 1 : 0))
  peers.connect(connections)
  const questions = new Questions(peers, outbox, PATIENCE_MS, PATIENCE_MS / 4)
  const sent = (): ReadonlyArray<readonly [PeerId, Message]> =>
    outbox.drain().flatMap((output) => (output._tag === "Send" ? [[output.to, output.message] as const] : []))
  return { peers, questions, outbox, sent }
}

const rounds = { _tag: "Rounds", epoch, vertices: [], isLast: true } as const
const wanted = { _tag: "CatchUp", epoch, fromRound: Natural.round(0), toRound: Natural.round(9) } as const
const highest = { _tag: "Highest", author: addressOf("eve"), epoch, header: null } as const

describe("questions", () => {
  it("accept answers only from peers that were asked and are still connected", () => {
    const { peers, questions } = among(ann, aaa)
    expect(questions.isAwaited(ann.peer, rounds)).toBe(false)
    questions.catchUp(wanted, at(0))
    expect(questions.isAwaited(ann.peer, rounds)).toBe(true)
    expect(questions.isAwaited(aaa.peer, rounds)).toBe(false)
    peers.connect([aaa])
    questions.connected()
    peers.connect([ann, aaa])
    expect(questions.isAwaited(ann.peer, rounds)).toBe(false)
  })

  it("about the own highest header have one answer per member", () => {
    const { peers, questions } = among(ann, aaa)
    expect(questions.isAwaited(ann.peer, highest)).toBe(false)
    questions.askOwnHighest({ _tag: "AskOwnHighest", members: [addressOf("ann")] }, addressOf("eve"))
    expect([ann, aaa].map(({ peer }) => questions.isAwaited(peer, highest))).toEqual([true, false])
    expect(questions.takeHighest(ann.peer, addressOf("ann"))).toBe(false)
    expect([1, 2].map(() => questions.takeHighest(ann.peer, addressOf("eve")))).toEqual([true, false])
    questions.askOwnHighest({ _tag: "AskOwnHighest", members: [addressOf("ann")] }, addressOf("eve"))
    peers.connect([])
    questions.connected()
    expect(questions.takeHighest(ann.peer, addressOf("eve"))).toBe(false)
  })

  it("about a member's own progress go to that member beside those about the own highest header", () => {
    const { questions, sent } = among(ann, aaa)
    const [member, self] = [addressOf("ann"), addressOf("eve")]
    questions.askProgress({ _tag: "AskProgress", members: [member] })
    questions.askOwnHighest({ _tag: "AskOwnHighest", members: [member] }, self)
    expect(sent()).toEqual([member, self].map((author) => ["ann", { _tag: "AskHighest", author }]))
    expect(questions.isAwaited(ann.peer, { ...highest, author: member })).toBe(true)
    expect([member, member, self].map((author) => questions.takeHighest(ann.peer, author))).toEqual([true, false, true])
    questions.askProgress({ _tag: "AskProgress", members: [member] })
    questions.forgetHighest()
    expect(questions.takeHighest(ann.peer, member)).toBe(false)
  })

  it("about closed epochs have one answer, and are not repeated at every message from a peer ahead", () => {
    const { questions, sent } = among(ann)
    const ask = { _tag: "AskClosing", from: epoch } as const
    for (const ms of [0, 1, PATIENCE_MS - 1]) questions.tellOfClosing(ask, ann.peer, at(ms))
    expect(sent()).toHaveLength(1)
    questions.tellOfClosing(ask, ann.peer, at(PATIENCE_MS))
    expect(sent()).toHaveLength(1)
    expect([1, 2].map(() => questions.takeClosing(ann.peer))).toEqual([true, false])
  })

  it("for a vertex go to its namer, then alternately to members and to everybody", () => {
    const { questions, sent } = among(ann, member("ben"), aaa, stranger("aab"))
    const parent = picture.vertex("B2").header.parents[0]
    if (parent === undefined) throw new Error("it has parents")
    const asked = Array.from({ length: 13 }, (_, attempt) => {
      questions.fetch({ _tag: "Fetch", wanted: [{ parent, namedBy: addressOf("ben"), attempt }] }, at(attempt))
      return sent().map(([to]) => to)
    }).flat()
    expect(asked[0]).toBe("ben")
    for (const to of asked.filter((_, attempt) => attempt % 2 === 1)) expect(["ann", "ben"]).toContain(to)
    expect(new Set(asked.filter((_, attempt) => attempt % 2 === 1)).size).toBe(2)
    expect(new Set(asked)).toEqual(new Set(["ann", "ben", "aaa", "aab"]))
  })

  it("for vertices name them in one message per peer, and use at most one turn of each kind", () => {
    const { peers, questions, sent } = among(ann)
    const next = vi.spyOn(peers, "next")
    const { parents } = picture.vertex("B2").header
    const hashes = parents.map(({ hash }) => hash)
    const fetch = (named: ReadonlyArray<readonly [by: string, attempt: number]>) => {
      next.mockClear()
      const wanted = parents.map((parent, i) => {
        const [by = "", attempt = 0] = named[i] ?? []
        return { parent, namedBy: addressOf(by), attempt }
      })
      questions.fetch({ _tag: "Fetch", wanted }, at(0))
      return next.mock.calls.map(([, order]) => order)
    }
    expect(parents).toHaveLength(3)
    const first = ["ann", 0] as const
    expect(fetch([first, first, first])).toEqual([])
    expect(fetch([first, ["eve", 0], ["eve", 2]])).toEqual(["Rotation"])
    expect(fetch([["ann", 1], ["eve", 3], first])).toEqual(["Members"])
    expect(sent()).toEqual([1, 2, 3].map(() => ["ann", { _tag: "AskVertices", hashes }]))
  })

  it("stay open when other peers leave, and are answered without blame", () => {
    const { peers, questions, outbox } = among(ann, aaa)
    questions.catchUp(wanted, at(0))
    questions.askOwnHighest({ _tag: "AskOwnHighest", members: [addressOf("ann")] }, addressOf("eve"))
    peers.connect([ann])
    questions.connected()
    const open = [rounds, highest].map((answer) => questions.isAwaited(ann.peer, answer))
    expect(open).toEqual([true, true])
    expect(questions.isAwaited(aaa.peer, { _tag: "AskHighest", author: addressOf("eve") })).toBe(true)
    outbox.drain()
    const shelf = { has: () => false, collectedRound: 0, committee: { size: 4 } }
    questions.takeRounds(ann.peer, rounds, { shelf, receive: () => undefined, isOver: false }, at(1))
    expect(outbox.drain()).toEqual([])
  })

  it("for vertices earn their peer nothing when it sends others", () => {
    const { peers, questions } = among(ann)
    const brought = vi.spyOn(peers, "brought")
    const [parent] = picture.vertex("B2").header.parents
    if (parent === undefined) throw new Error("it has parents")
    questions.fetch({ _tag: "Fetch", wanted: [{ parent, namedBy: addressOf("ann"), attempt: 0 }] }, at(0))
    questions.fetched(ann.peer, [picture.vertex("D2")])
    expect(brought).not.toHaveBeenCalled()
    questions.fetched(ann.peer, [picture.vertex("A1"), picture.vertex("B1"), picture.vertex("C1")])
    expect(brought).toHaveBeenCalledTimes(1)
  })

  it("about rounds and closed epochs go out after two patiences of silence, and again after two more", () => {
    const { peers, questions, sent } = among(ann)
    // The progress of the DAG counts as a sign of life.
    const current = freshEpoch(picture.opening)
    const core = new Core(
      { roundIntervalMs: PATIENCE_MS, guard: null },
      { current, previous: null, signed: [], companions: [] },
    )
    const life = { core } as LiveState
    const asked = (ms: number) => {
      questions.askWhenSilent(life, at(ms))
      return sent().map(([to, { _tag }]) => `${to} ${_tag}`)
    }
    const both = [`${ann.peer} AskRounds`, `${ann.peer} AskClosing`]
    questions.heard(at(10_000))
    expect(asked(10_000 + 2 * PATIENCE_MS - 1)).toEqual([])
    expect(asked(10_000 + 2 * PATIENCE_MS)).toEqual(both)
    expect(asked(10_000 + 4 * PATIENCE_MS - 1)).toEqual([])
    expect(asked(10_000 + 4 * PATIENCE_MS)).toEqual(both)
    questions.heard(at(10_000 + 5 * PATIENCE_MS))
    expect(asked(10_000 + 6 * PATIENCE_MS)).toEqual([])
    peers.connect([])
    expect(asked(20_000)).toEqual([])
  })

  it("go no further into an epoch that a join leaves behind", () => {
    const { questions, sent } = among(ann)
    const shelf = { has: () => true, collectedRound: 0, committee: { size: 4 } }
    const page = { ...rounds, vertices: [picture.vertex("A1")], isLast: false } as const
    const goOn = (isOver: boolean, ms: number) => {
      questions.catchUp(wanted, at(ms))
      sent()
      questions.takeRounds(ann.peer, page, { shelf, receive: () => undefined, isOver }, at(ms))
      return sent().length
    }
    expect([goOn(true, 0), goOn(false, PATIENCE_MS)]).toEqual([0, 1])
  })

  it("that are answered falsely cost the peer its score", () => {
    const { questions, outbox } = among(ann)
    const shelf = { has: () => false, collectedRound: 0, committee: { size: 4 } }
    questions.catchUp(wanted, at(0))
    outbox.drain()
    const twice = { ...rounds, vertices: [picture.vertex("A1"), picture.vertex("A1")] } as const
    questions.takeRounds(ann.peer, twice, { shelf, receive: () => undefined, isOver: false }, at(1))
    expect(outbox.drain()).toEqual([
      {
        _tag: "Misbehaved",
        peer: ann.peer,
        error: { _tag: "WrongAnswer", reason: "it contains a vertex twice" },
      },
    ])
  })

  it("are not asked without a connection, or without a key", () => {
    const { questions, sent } = among()
    questions.catchUp(wanted, at(0))
    const [parent] = picture.vertex("B2").header.parents
    if (parent === undefined) throw new Error("it has parents")
    questions.fetch({ _tag: "Fetch", wanted: [{ parent, namedBy: addressOf("ann"), attempt: 0 }] }, at(0))
    questions.tellOfClosing({ _tag: "AskClosing", from: epoch }, null, at(0))
    expect(sent()).toEqual([])
    const asked = among(ann)
    asked.questions.askOwnHighest({ _tag: "AskOwnHighest", members: [addressOf("ann")] }, null)
    expect(asked.sent()).toEqual([])
  })

  it("of laggards are answered from the disk, at the allowed rate", () => {
    const { questions, outbox } = among(ann)
    const offer = { _tag: "OfferClosing", from: epoch } as const
    for (const ms of [0, 1, PATIENCE_MS]) questions.tellOfClosing(offer, ann.peer, at(ms))
    const served = { _tag: "Serve", to: ann.peer, question: { _tag: "AskClosing", from: epoch } }
    expect(outbox.drain()).toEqual([served, served])
    expect(questions.takeClosing(ann.peer)).toBe(false)
  })
})

describe("resent data", () => {
  it("goes to everybody: the vertices in one message, and the close beside them", () => {
    const { questions, outbox } = among(ann)
    const closing = { checkpoint: {}, signature: {} } as never
    questions.resend({ _tag: "Resend", vertices: [], closing: null })
    expect(outbox.drain()).toEqual([])
    questions.resend({ _tag: "Resend", vertices: [picture.vertex("A1")], closing })
    expect(outbox.drain()).toEqual([
      { _tag: "Broadcast", message: { _tag: "Vertices", vertices: [picture.vertex("A1")] } },
      { _tag: "Broadcast", message: { _tag: "CheckpointSignature", checkpoint: {}, signature: {} } },
    ])
  })
})
