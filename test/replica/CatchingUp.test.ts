/** Asking one peer after the other for whole rounds, without a replica around it. */
import { describe, expect, it, vi } from "vitest"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { CatchingUp } from "../../src/replica/asking/CatchingUp.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Peers } from "../../src/replica/messages/Peers.js"
import { draw } from "../consensus/Picture.js"

const PATIENCE_MS = 500

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
