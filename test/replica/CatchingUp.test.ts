/** Requests whole rounds from one peer after the other, without a replica around it. */
import { describe, expect, it, vi } from "vitest"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { CatchingUp } from "../../src/replica/asking/CatchingUp.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Peers } from "../../src/replica/messages/Peers.js"
import { draw } from "../consensus/Picture.js"

const PATIENCE_MS = 500
/** So slow that every peer is fast enough. */
const SLOW_ROUND_MS = 10_000

/** A node that catches up, with two strangers to ask. */
const askingTwo = (roundIntervalMs = PATIENCE_MS / 4) => {
  const picture = draw(`
        A    B    C    D
    1   .    .    .    .
    2  ABC  ABC  ABC  BCD
    3  BCD  BCD  BCD  BCD
    4   =    =    =    =
    5   =    =    =    =
    6   =    =    =    =
    7   =    =    =    =
    8   =    =    =    =
    9   =    =    =    =
  `)
  const [first, second] = [stranger("first"), stranger("second")]
  const peers = new Peers(PATIENCE_MS, () => 0)
  peers.connect([first, second])
  const catchingUp = new CatchingUp(peers, PATIENCE_MS, roundIntervalMs)
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
    /** The names of this many vertices. */
    long: (count: number) => picture.vertices.slice(0, count).map(picture.nameOf).join(" "),
    ask: (ms: number) => catchingUp.wanted(wanted, Natural.timestamp(ms))?.to,
    /** What `first` answers. */
    take: (
      ms: number,
      names: string,
      isLast = false,
      { at = epoch, collectedRound = 0, isRefused = false, isOver = false } = {},
    ) => {
      const vertices = names.split(" ").flatMap((name) => (name === "" ? [] : [picture.vertex(name)]))
      const answer = { _tag: "Rounds", epoch: at, vertices, isLast } as const
      const receive = ({ header }: Vertex): void => void (isRefused || here.add(header.hash))
      return catchingUp.take(
        first.peer,
        answer,
        { shelf: { ...shelf, collectedRound }, receive, isOver },
        Natural.timestamp(ms),
      )
    },
  }
}

const stranger = (name: string) => ({ peer: name as PeerId, validator: null, isDialled: false })

describe("catching up with one peer", () => {
  it("ignores an answer about an epoch that was not requested", () => {
    const { ask, take, here, epoch } = askingTwo()
    expect(ask(0)).toBe("first")
    expect(take(1, "A1", false, { at: Natural.epoch(epoch + 1) })).toEqual({ next: null, lie: null })
    expect(here.size).toBe(0)
  })

  it("asks nobody else while an answer is being checked, for half a minute at most", () => {
    const { catchingUp, first, ask } = askingTwo()
    expect(ask(0)).toBe("first")
    catchingUp.arrived("second" as PeerId, Natural.timestamp(5))
    catchingUp.arrived(first, Natural.timestamp(10))
    catchingUp.arrived(first, Natural.timestamp(20))
    expect(ask(30_009)).toBeUndefined()
    expect(ask(30_010)).toBe("second")
    catchingUp.arrived(first, Natural.timestamp(30_011))
    expect(ask(40_000)).toBe("first")
  })

  it("asks the next peer at once after a refused answer", () => {
    const { catchingUp, first, ask } = askingTwo()
    ask(0)
    catchingUp.arrived(first, Natural.timestamp(10))
    catchingUp.refused("second" as PeerId, Natural.timestamp(11))
    expect(ask(12)).toBeUndefined()
    catchingUp.refused(first, Natural.timestamp(13))
    expect(ask(14)).toBe("second")
  })

  it("is as patient as before with the next page, and after a late copy", () => {
    const { catchingUp, first, ask, take } = askingTwo(SLOW_ROUND_MS)
    ask(0)
    expect(ask(PATIENCE_MS)).toBe("second")
    expect(ask(4 * PATIENCE_MS)).toBe("first")
    catchingUp.arrived(first, Natural.timestamp(4 * PATIENCE_MS + 1))
    // The answer to the first question, without news.
    expect(take(4 * PATIENCE_MS + 2, "")).toEqual({ next: null, lie: null })
    expect(ask(40 * PATIENCE_MS)).toBe("second")
  })

  it("blames a peer for a vertex of another epoch, keeps nothing of the answer and asks the next peer at once", () => {
    const { picture, catchingUp, ask, first, here, epoch } = askingTwo()
    ask(0)
    const { header, ...rest } = picture.vertex("B1")
    const foreign = { ...rest, header: { ...header, epoch: Natural.epoch(epoch + 1) } }
    const answer = { _tag: "Rounds", epoch, vertices: [picture.vertex("A1"), foreign], isLast: false } as const
    const shelf = { has: () => false, collectedRound: 0, committee: { size: 4 } }
    const receive = (vertex: Vertex): void => void here.add(vertex.header.hash)
    const { lie } = catchingUp.take(first, answer, { shelf, receive, isOver: false }, Natural.timestamp(1))
    expect(lie).toMatch(/not of epoch/)
    expect([here.size, ask(2)]).toEqual([0, "second"])
  })

  it("asks the next peer when a page brings nothing new", () => {
    const { ask, take } = askingTwo()
    ask(0)
    expect(take(1, "A1 B1").next?.question.after).toBeDefined()
    expect(take(2, "A1").next).toBeNull()
    expect(ask(4)).toBe("second")
  })

  it("does not count vertices of collected rounds", () => {
    const { ask, take } = askingTwo()
    ask(0)
    expect(take(1, "A1 B1 C1", false, { collectedRound: 1 }).next).toBeNull()
    expect(ask(2)).toBe("second")
  })

  it("counts a vertex that was inserted and collected at once, with its round", () => {
    const { picture, catchingUp, ask, first, epoch } = askingTwo()
    ask(0)
    const shelf = { has: () => false, collectedRound: 0, committee: { size: 4 } }
    const receive = ({ header }: Vertex): void => {
      shelf.collectedRound = header.round
    }
    const answer = { _tag: "Rounds", epoch, vertices: [picture.vertex("A1")], isLast: false } as const
    expect(catchingUp.take(first, answer, { shelf, receive, isOver: false }, Natural.timestamp(1)).next?.to).toBe(
      "first",
    )
  })

  it("neither counts refused vertices nor rewards their sender", () => {
    const { ask, take, peers } = askingTwo()
    const brought = vi.spyOn(peers, "brought")
    ask(0)
    expect(take(1, "A1 B1 C1", false, { isRefused: true }).next).toBeNull()
    expect(brought).not.toHaveBeenCalled()
    expect(ask(2)).toBe("second")
  })

  it("counts a last page as empty when all of it was already here", () => {
    const { ask, take, here, picture, peers } = askingTwo()
    const failed = vi.spyOn(peers, "broughtNothing")
    for (const name of ["A1", "B1"]) here.add(picture.vertex(name).header.hash)
    ask(0)
    take(1, "A1 B1", true)
    expect(failed.mock.calls.map(([peer]) => peer)).toEqual(["first"])
  })

  it("awaits at most four late answers of a peer, and none of one that has left", () => {
    const { catchingUp, peers, first, ask, take, epoch } = askingTwo()
    peers.connect([stranger("first")])
    for (let i = 0; i < 9; i++) expect(ask(16 * i * PATIENCE_MS)).toBe("first")
    const isAwaited = () => catchingUp.isAwaited(first, { epoch })
    for (let i = 0; i < 4; i++) {
      expect(isAwaited()).toBe(true)
      take(16 * 9 * PATIENCE_MS, "")
    }
    expect(isAwaited()).toBe(false)
    ask(16 * 20 * PATIENCE_MS)
    expect(isAwaited()).toBe(true)
    peers.connect([])
    catchingUp.connected()
    expect(isAwaited()).toBe(false)
  })

  it("requests missing rounds from one peer only, for the time given to it", () => {
    const { catchingUp, epoch } = askingTwo()
    const wanted = { epoch, fromRound: Natural.round(3), toRound: Natural.round(9) }
    const question = { _tag: "AskRounds", epoch, fromRound: 3, toRound: 9, after: null }
    expect(catchingUp.wanted(wanted, Natural.timestamp(0))).toEqual({ to: "first", question })
    expect(catchingUp.wanted(wanted, Natural.timestamp(PATIENCE_MS - 1))).toBeNull()
    expect(catchingUp.wanted(wanted, Natural.timestamp(PATIENCE_MS))).toEqual({ to: "second", question })
    // Another epoch does not wait for the answers of this one.
    const later = { ...wanted, epoch: Natural.epoch(epoch + 1) }
    expect(catchingUp.wanted(later, Natural.timestamp(PATIENCE_MS + 1))?.question.epoch).toBe(epoch + 1)
  })

  it("asks no peer if none is connected", () => {
    const { ask, peers } = askingTwo()
    peers.connect([])
    expect(ask(0)).toBeUndefined()
  })

  it("gives a peer another turn after a failure, and counts that as a failure", () => {
    const { ask, peers } = askingTwo()
    const failed = vi.spyOn(peers, "broughtNothing")
    ask(0)
    ask(PATIENCE_MS)
    expect(failed.mock.calls).toEqual([["first", PATIENCE_MS]])
  })

  it("continues after the last vertex of a page, and ends with the last page", () => {
    const { ask, take, picture, epoch } = askingTwo()
    ask(0)
    const after = picture.vertex("B1").header.hash
    const question = { _tag: "AskRounds", epoch, fromRound: 0, toRound: 9, after }
    expect(take(1, "A1 B1")).toEqual({ next: { to: "first", question }, lie: null })
    expect(take(2, "C1", true)).toEqual({ next: null, lie: null })
    // It has brought something, so it is the first to be asked again.
    expect(ask(3)).toBe("first")
  })

  it("accepts late answers after another peer was asked, without a further question", () => {
    const { ask, take, here, peers } = askingTwo()
    const brought = vi.spyOn(peers, "brought")
    ask(0)
    expect(ask(PATIENCE_MS)).toBe("second")
    expect(take(PATIENCE_MS + 1, "A1 B1")).toEqual({ next: null, lie: null })
    expect(here.size).toBe(2)
    expect(brought.mock.calls).toEqual([["first"]])
  })

  it("ignores unrequested answers", () => {
    const { take, here } = askingTwo()
    expect(take(0, "A1 A1")).toEqual({ next: null, lie: null })
    expect(here.size).toBe(0)
  })

  it("blames a false late answer, and continues with the current peer", () => {
    const { ask, take } = askingTwo()
    ask(0)
    expect(ask(PATIENCE_MS)).toBe("second")
    expect(take(PATIENCE_MS + 1, "A1 A1").lie).not.toBeNull()
    expect(ask(PATIENCE_MS + 2)).toBeUndefined()
  })

  it("blames a false answer that arrives when no question is open", () => {
    const { peers, ask, take } = askingTwo()
    peers.connect([stranger("first")])
    for (const ms of [0, PATIENCE_MS]) expect(ask(ms)).toBe("first")
    take(PATIENCE_MS + 1, "A1", true)
    expect(take(PATIENCE_MS + 2, "B1 B1").lie).not.toBeNull()
  })

  it("does not reward a peer for known vertices", () => {
    const { ask, take, here, picture, peers } = askingTwo()
    const brought = vi.spyOn(peers, "brought")
    here.add(picture.vertex("A1").header.hash)
    ask(0)
    take(1, "A1")
    expect(brought).not.toHaveBeenCalled()
  })

  it("stays with a peer whose pages bring rounds at twice the network's pace, and leaves a slower one", () => {
    // Eight rounds of four members in each patience, counted by the first answer after one.
    for (const [names, at, isKept] of [
      ["A1 B1 C1 D1 A2 B2 C2 D2", PATIENCE_MS - 1, true],
      ["A1 B1 C1 D1 A2 B2 C2 D2", PATIENCE_MS, false],
    ] as const) {
      const { ask, take } = askingTwo()
      ask(0)
      expect(take(at, names).next !== null).toBe(isKept)
      expect(ask(at)).toBe(isKept ? undefined : "second")
    }
    const { ask, take, long } = askingTwo()
    ask(PATIENCE_MS)
    expect(take(2 * PATIENCE_MS, long(32)).next?.to).toBe("first")
    // The count starts again from there.
    expect(take(3 * PATIENCE_MS - 1, "A9").next?.to).toBe("first")
    expect(take(3 * PATIENCE_MS, "B9").next).toBeNull()
    const slower = askingTwo()
    slower.ask(PATIENCE_MS)
    expect(slower.take(2 * PATIENCE_MS, slower.long(31)).next).toBeNull()
    // The patience has a minimum: with shorter rounds, more of them fit into it.
    const quick = askingTwo(PATIENCE_MS / 5)
    quick.ask(PATIENCE_MS)
    expect(quick.take(2 * PATIENCE_MS, quick.long(32)).next).toBeNull()
  })

  it("awaits an answer for each question of an epoch, and of another epoch only the last", () => {
    const { catchingUp, first, ask, take, peers, epoch } = askingTwo()
    peers.connect([stranger("first")])
    ask(0)
    ask(PATIENCE_MS)
    const later = { epoch: Natural.epoch(epoch + 1), fromRound: Natural.round(0), toRound: Natural.round(9) }
    catchingUp.wanted(later, Natural.timestamp(2 * PATIENCE_MS))
    expect([epoch, epoch + 1].map((at) => catchingUp.isAwaited(first, { epoch: Natural.epoch(at) }))).toEqual([
      false,
      true,
    ])
    expect(take(2 * PATIENCE_MS + 1, "", true, { at: later.epoch })).toEqual({ next: null, lie: null })
    expect(catchingUp.isAwaited(first, later)).toBe(false)
  })

  /** How long the last of these questions waits for its answer, in patiences. */
  const patienceOf = (asking: ReturnType<typeof askingTwo>, askedAt: number): number => {
    for (let ms = askedAt + 1; ; ms++) if (asking.ask(ms) !== undefined) return (ms - askedAt) / PATIENCE_MS
  }

  it("waits up to four patiences after silence", () => {
    const asking = askingTwo()
    asking.ask(0)
    const waits: Array<number> = []
    for (let at = 0; waits.length < 5; at += (waits.at(-1) ?? 0) * PATIENCE_MS) waits.push(patienceOf(asking, at))
    expect(waits).toEqual([1, 2, 4, 4, 4])
  })

  it("waits twice as long as a page of at least a round took, also if it was late, and at most eight seconds", () => {
    for (const [names, tookMs, patiences] of [
      ["A1 B1 C1 D1", PATIENCE_MS - 1, 2],
      ["A1 B1 C1 D1", 3 * PATIENCE_MS, 6],
      ["A1 B1 C1 D1", 12 * PATIENCE_MS, 16],
      // Less than a round shows nothing.
      ["A1 B1 C1", 3 * PATIENCE_MS, 4],
    ] as const) {
      const asking = askingTwo(SLOW_ROUND_MS)
      expect(asking.ask(0)).toBe("first")
      let at = 0
      for (let ms = 1; ms <= tookMs; ms++) if (asking.ask(ms) !== undefined) at = ms
      const { next } = asking.take(tookMs, names)
      expect(Math.round(patienceOf(asking, next === null ? at : tookMs))).toBe(patiences)
    }
  })

  it("waits half as long at most after a quick page", () => {
    const asking = askingTwo(SLOW_ROUND_MS)
    asking.ask(0)
    asking.take(6 * PATIENCE_MS, "A1 B1 C1 D1")
    asking.take(6 * PATIENCE_MS + 1, "A2 B2 C2 D2")
    expect(patienceOf(asking, 6 * PATIENCE_MS + 1)).toBe(6)
  })

  it("does not take a late copy for the page that the peer was asked for since", () => {
    const { peers, ask, take } = askingTwo(SLOW_ROUND_MS)
    const failed = vi.spyOn(peers, "broughtNothing")
    peers.connect([stranger("first")])
    for (const ms of [0, PATIENCE_MS]) expect(ask(ms)).toBe("first")
    expect(take(3 * PATIENCE_MS, "A1 B1 C1 D1").next?.to).toBe("first")
    failed.mockClear()
    expect(take(3 * PATIENCE_MS + 1, "A1 B1 C1 D1").next).toBeNull()
    expect(take(3 * PATIENCE_MS + 2, "A2 B2 C2 D2").next?.to).toBe("first")
    expect(failed).not.toHaveBeenCalled()
  })

  it("asks for nothing more once no more rounds are wanted", () => {
    const { catchingUp, first, epoch, ask, take } = askingTwo()
    ask(0)
    expect(take(1, "A1 B1", false, { isOver: true })).toEqual({ next: null, lie: null })
    expect(catchingUp.isAwaited(first, { epoch })).toBe(false)
    expect(ask(2)).toBe("first")
  })

  it("closes its question once no more rounds are wanted, also when a late copy says so", () => {
    const { peers, ask, take } = askingTwo(SLOW_ROUND_MS)
    peers.connect([stranger("first")])
    for (const ms of [0, PATIENCE_MS]) expect(ask(ms)).toBe("first")
    expect(take(PATIENCE_MS + 1, "A1 B1 C1 D1").next?.to).toBe("first")
    expect(take(PATIENCE_MS + 2, "A1 B1 C1 D1", false, { isOver: true }).next).toBeNull()
    expect(ask(PATIENCE_MS + 3)).toBe("first")
  })

  it("does not wait for a peer that has left", () => {
    const { catchingUp, peers, ask } = askingTwo()
    expect(ask(0)).toBe("first")
    peers.connect([stranger("second")])
    catchingUp.connected()
    expect(ask(1)).toBe("second")
    peers.connect([])
    catchingUp.connected()
    const failed = vi.spyOn(peers, "broughtNothing")
    peers.connect([stranger("second")])
    // Coming back at once does not spare it the failure.
    expect([ask(2), failed.mock.calls]).toEqual(["second", [["second", 2]]])
  })

  it.each([100, 900, 3_000])(
    "gets all rounds in little more than their own time if each page takes %i ms",
    (pageMs) => {
      const { picture, catchingUp, here, epoch } = askingTwo(SLOW_ROUND_MS)
      const shelf = { has: (hash: Hash) => here.has(hash), collectedRound: 0, committee: { size: 4 } }
      /** Pages on their way, which arrive one after the other. */
      const coming: Array<{ readonly from: PeerId; readonly vertices: ReadonlyArray<Vertex> }> = []
      let busyUntil = 0
      let pages = 0
      let ms = 0
      const send = (asking: ReturnType<typeof catchingUp.wanted>): void => {
        if (asking === null) return
        const { fromRound, after } = asking.question
        const rest = picture.vertices.slice(picture.vertices.findIndex(({ header }) => header.hash === after) + 1)
        const vertices = rest.filter(({ header }) => header.round >= fromRound).slice(0, 4)
        if (coming.length === 0) busyUntil = ms + pageMs
        coming.push({ from: asking.to, vertices })
        pages += 1
      }
      for (; here.size < picture.vertices.length && ms < 1_000_000; ms += 10) {
        const [next] = coming
        if (next !== undefined && ms >= busyUntil) {
          coming.shift()
          busyUntil = ms + pageMs
          const receive = ({ header }: Vertex): void => void here.add(header.hash)
          const isLast = next.vertices.at(-1) === picture.vertices.at(-1)
          const answer = { _tag: "Rounds", epoch, vertices: next.vertices, isLast } as const
          send(catchingUp.take(next.from, answer, { shelf, receive, isOver: false }, Natural.timestamp(ms)).next)
        }
        const lowest = picture.vertices.find(({ header }) => !here.has(header.hash))
        const fromRound = lowest?.header.round ?? Natural.round(9)
        send(catchingUp.wanted({ epoch, fromRound, toRound: Natural.round(9) }, Natural.timestamp(ms)))
      }
      expect(here.size).toBe(picture.vertices.length)
      expect(pages).toBeLessThan(20)
      expect(ms).toBeLessThan(20 * pageMs)
    },
  )

  it("blames an answer that holds a vertex twice", () => {
    const { ask, take } = askingTwo()
    ask(0)
    expect(take(1, "A1 A1").lie).toBe("it contains a vertex twice")
  })
})
