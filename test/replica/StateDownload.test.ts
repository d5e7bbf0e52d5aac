import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import * as Position from "../../src/ledger/trie/Position.js"
import * as Subtree from "../../src/ledger/trie/Subtree.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { StateDownload } from "../../src/replica/joining/StateDownload.js"
import { StateViews } from "../../src/replica/live/StateViews.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { seedOf } from "../consensus/TestCommittee.js"

const PATIENCE_MS = 1_000
const START = Natural.timestamp(0)

/** More than fits into one piece. */
const trieOf = (records: number, salt = ""): Trie.Trie =>
  Trie.apply(
    Trie.empty,
    Array.from({ length: records }, (_, i) => ({ key: seedOf(`${salt}${i}`), value: new Uint8Array(4_000).fill(i) })),
  )

const whole = trieOf(400)
const other = trieOf(400, "other ")

const targetOf = (trie: Trie.Trie): Checkpoint.SignedCheckpoint => ({
  checkpoint: Checkpoint.make({
    epoch: Natural.epoch(3),
    round: Natural.round(120),
    commitIndex: Natural.commitIndex(100),
    commitHash: Hash.ZERO,
    effectsDigest: Hash.ZERO,
    stateRoot: trie.hash,
    totalSupply: Sats.ZERO,
    nextEpoch: null,
    previous: Hash.ZERO,
  }),
  signatures: [],
})

type Peer = "honest" | "silent" | "without" | "lying" | "garbage"

const serving = new StateViews([whole])
const lying = new StateViews([other])

const answerOf = (peer: Peer, position: Uint8Array): Uint8Array | null | undefined => {
  switch (peer) {
    case "honest":
      return serving.subtree(whole.hash, position)
    case "silent":
      return undefined
    case "without":
      return null
    case "lying":
      return lying.subtree(other.hash, position)
    case "garbage":
      return Uint8Array.of(1, 2, 3)
  }
}

/** Runs a download with these peers. Returns what it stored, and its complaints. */
const run = (download: StateDownload, kinds: ReadonlyArray<Peer>, pieces = Number.POSITIVE_INFINITY) => {
  const peers = kinds.map((_, i) => `p${i}` as PeerId)
  const kept: Array<Uint8Array> = []
  const refused = new Set<Peer>()
  let now = Natural.timestamp(0)
  for (let step = 0; step < 500 && download.trie === undefined && kept.length < pieces; step++) {
    const asking = download.next(peers, now)
    if (asking === null) {
      if (download.isHopeless(peers)) break
      now = Natural.timestamp(now + PATIENCE_MS)
      continue
    }
    if (asking.question._tag !== "AskState") throw new Error("a question for state expected")
    const { root, position } = asking.question
    const kind = kinds[peers.indexOf(asking.to)] ?? "silent"
    const subtree = answerOf(kind, position)
    if (subtree === undefined) continue
    const received = download.receive(asking.to, { _tag: "State", root, subtree }, now)
    if (received._tag === "Kept") kept.push(received.subtree)
    if (received._tag === "Refused") refused.add(kind)
  }
  return { kept, refused, peers }
}

const fresh = (kept: ReadonlyArray<Uint8Array> = []) => new StateDownload(targetOf(whole), PATIENCE_MS, kept)

describe("the download of a state", () => {
  it("comes in several pieces that form exactly the signed root", () => {
    const download = fresh()
    const { kept } = run(download, ["honest"])
    expect(kept.length).toBeGreaterThan(3)
    expect(download.trie?.hash).toBe(whole.hash)
    expect(kept.every((bytes) => Either.isRight(Subtree.decode(bytes)))).toBe(true)
    expect(download.next(["p0" as PeerId], Natural.timestamp(1_000_000))).toBeNull()
  })

  it("succeeds with one honest peer, and blames only liars", () => {
    const kind = FastCheck.constantFrom<Peer>("silent", "without", "lying", "garbage")
    FastCheck.assert(
      FastCheck.property(FastCheck.array(kind, { maxLength: 4 }), FastCheck.nat(4), (others, at) => {
        const kinds: Array<Peer> = [...others]
        kinds.splice(at, 0, "honest")
        const download = fresh()
        const { refused } = run(download, kinds)
        expect(download.trie?.hash).toBe(whole.hash)
        for (const blamed of refused) expect(["lying", "garbage"]).toContain(blamed)
      }),
      { numRuns: 30 },
    )
  })

  it("fails when no peer has the state, after all were asked", () => {
    const download = fresh()
    expect(download.isHopeless(["p0" as PeerId])).toBe(false)
    const { peers } = run(download, ["without", "lying", "silent"])
    expect(download.isHopeless(peers)).toBe(true)
    expect(download.isHopeless([...peers, "new" as PeerId])).toBe(false)
  })

  it("continues after a restart from the kept pieces", () => {
    const { kept } = run(fresh(), ["honest"], 2)
    expect(kept).toHaveLength(2)
    const again = fresh(kept)
    again.restore(() => true)
    expect(again.heldRecords).toBeGreaterThan(0)
    const rest = run(again, ["honest"])
    expect(again.trie?.hash).toBe(whole.hash)
    expect(rest.kept.length).toBe(run(fresh(), ["honest"]).kept.length - 2)
  })

  it("ignores pieces from peers it did not ask", () => {
    const download = fresh()
    const asking = download.next(["p0" as PeerId], Natural.timestamp(0))
    if (asking?.question._tag !== "AskState") throw new Error("a question for state expected")
    const { root, position } = asking.question
    const subtree = serving.subtree(root, position)
    expect(download.receive("p1" as PeerId, { _tag: "State", root, subtree }, START)._tag).toBe("Nothing")
    expect(download.receive("p0" as PeerId, { _tag: "State", root, subtree }, START)._tag).toBe("Kept")
  })

  it("accepts a late piece, and only once per question", () => {
    const download = fresh()
    const [slow, other] = ["p0" as PeerId, "p1" as PeerId]
    const asking = download.next([slow, other], Natural.timestamp(0))
    if (asking?.question._tag !== "AskState") throw new Error("a question for state expected")
    const { root, position } = asking.question
    expect(download.next([slow, other], Natural.timestamp(PATIENCE_MS))?.to).toBe(other)
    expect(download.takeSilent()).toEqual([slow])
    const answer = { _tag: "State", root, subtree: serving.subtree(root, position) } as const
    expect(download.receive(slow, answer, START)).toMatchObject({ _tag: "Kept", isMeagre: false })
    // The other one is still asked.
    expect(download.next([slow, other], Natural.timestamp(PATIENCE_MS + 1))).toBeNull()
    expect(download.receive(slow, answer, START)._tag).toBe("Nothing")
  })

  it("accepts any answer to an open question, once", () => {
    const download = fresh()
    const [one, two] = ["p0" as PeerId, "p1" as PeerId]
    const ask = (ms: number) => {
      const asking = download.next([one, two], Natural.timestamp(ms))
      if (asking?.question._tag !== "AskState") throw new Error("a question for state expected")
      return { to: asking.to, ...asking.question }
    }
    const first = ask(0)
    const of = (trie: Trie.Trie, views: StateViews) => views.subtree(trie.hash, first.position)
    // An answer about another state does not count, and the question stays open.
    expect(download.receive(one, { _tag: "State", root: other.hash, subtree: of(other, lying) }, START)._tag).toBe(
      "Nothing",
    )
    expect(download.next([one, two], Natural.timestamp(1))).toBeNull()
    // "Not available" is an answer too.
    expect(download.receive(one, { _tag: "State", root: first.root, subtree: null }, START)._tag).toBe("Nothing")
    const good = { _tag: "State", root: first.root, subtree: of(whole, serving) } as const
    expect(download.receive(one, good, START)._tag).toBe("Nothing")
    expect(ask(2).to).toBe(two)
    expect(download.receive(two, good, START)._tag).toBe("Kept")
    // After a piece, peers that had none are asked again.
    expect(ask(3).to).toBe(one)
  })

  it("asks the next peer at once when the one asked has left, and blames no peer for a repeated piece", () => {
    const download = fresh()
    const [one, two] = ["p0" as PeerId, "p1" as PeerId]
    const first = download.next([one, two], Natural.timestamp(0))
    const second = download.next([two], Natural.timestamp(1))
    expect([first?.to, second?.to]).toEqual([one, two])
    if (second?.question._tag !== "AskState") throw new Error("a question for state expected")
    const { root, position } = second.question
    const answer = { _tag: "State", root, subtree: serving.subtree(root, position) } as const
    expect(download.receive(two, answer, START)._tag).toBe("Kept")
    expect(download.receive(one, answer, START)._tag).toBe("Nothing")
  })

  it("restores kept pieces one at a time within its turn, in the order in which they were kept", () => {
    const { kept } = run(fresh(), ["honest"])
    const held = kept.map((bytes) => Either.getOrThrow(Subtree.decode(bytes)).records.length)
    const again = fresh(kept)
    expect([again.hasKept, again.heldRecords, again.records]).toEqual([true, 0, undefined])
    again.restore(() => false)
    expect([again.hasKept, again.heldRecords, again.records]).toEqual([true, held[0], 400])
    let left = 2
    again.restore(() => --left > 0)
    expect(again.heldRecords).toBe(held.slice(0, 3).reduce((sum, records) => sum + records, 0))
    again.restore(() => true)
    expect([again.hasKept, again.trie?.hash]).toEqual([false, whole.hash])
    again.restore(() => true)
    expect(again.isHopeless([])).toBe(false)
  })

  it("asks failed peers again when it is resumed, and asks another peer when an answer is late", () => {
    const download = fresh()
    const one = "p0" as PeerId
    const ask = (ms: number) => download.next([one], Natural.timestamp(ms))?.to
    expect(download.wakeAt).toBeNull()
    expect([ask(7_000), ask(7_001), download.wakeAt]).toEqual([one, undefined, 7_000 + PATIENCE_MS])
    expect(download.isHopeless([])).toBe(false)
    download.resume()
    expect([download.wakeAt, ask(9), download.wakeAt]).toEqual([null, one, 9 + PATIENCE_MS])
    download.receive(one, { _tag: "State", root: whole.hash, subtree: null }, START)
    expect([download.wakeAt, ask(10), download.isHopeless([one])]).toEqual([null, undefined, true])
    download.resume()
    expect([download.isHopeless([one]), ask(11), download.isHopeless([one])]).toEqual([false, one, false])
    // Too late: the question has failed, which is reported once.
    expect(ask(11 + PATIENCE_MS)).toBeUndefined()
    expect([download.takeSilent(), download.takeSilent(), download.isHopeless([one])]).toEqual([[one], [], true])
  })

  it("gives the next peer more time after silence, and as much as pieces take", () => {
    const download = fresh()
    const peers = [0, 1, 2, 3].map((n) => `p${n}` as PeerId)
    let asking = download.next(peers, START)
    const [slow] = peers
    const waits: Array<number> = []
    let at = 0
    for (let ms = 1; waits.length < 3; ms++) {
      const next = download.next(peers, Natural.timestamp(ms))
      if (next === null) continue
      waits.push(ms - at)
      at = ms
      asking = next
    }
    expect(waits).toEqual([PATIENCE_MS, 2 * PATIENCE_MS, 4 * PATIENCE_MS])
    if (asking?.question._tag !== "AskState" || slow === undefined) throw new Error("a question for state expected")
    const { root, position } = asking.question
    const late = { _tag: "State", root, subtree: serving.subtree(root, position) } as const
    expect(download.receive(slow, late, Natural.timestamp(3_500))._tag).toBe("Kept")
    expect(download.wakeAt).toBe(at + 7_000)
  })

  it("reports the fault of a piece, and asks another peer", () => {
    const download = fresh()
    const [one, two] = ["p0" as PeerId, "p1" as PeerId]
    download.next([one, two], Natural.timestamp(0))
    const subtree = lying.subtree(
      other.hash,
      Binary.encode((writer) => Position.write(writer, Position.ROOT)),
    )
    expect(download.receive(one, { _tag: "State", root: whole.hash, subtree }, START)).toEqual({
      _tag: "Refused",
      reason: expect.stringMatching(/^the subtree at .* does not belong under .*: it leads to the root/),
    })
    expect(download.next([one, two], Natural.timestamp(1))?.to).toBe(two)
  })

  it("does not call a piece small that omits only sides without records", () => {
    const records = Array.from({ length: 40 }, (_, i) => ({
      key: `0${seedOf(`${i}`).slice(1)}` as Hash.Hash,
      value: new Uint8Array(1),
    }))
    const trie = Trie.apply(Trie.empty, records)
    const download = new StateDownload(targetOf(trie), PATIENCE_MS, [])
    download.next(["p0" as PeerId], Natural.timestamp(0))
    const left = Subtree.at(trie, Position.left(Position.ROOT), Subtree.MAX_BYTES)
    const subtree = left === undefined ? null : Subtree.encode(left)
    const received = download.receive("p0" as PeerId, { _tag: "State", root: trie.hash, subtree }, START)
    expect(received).toMatchObject({ _tag: "Kept", isMeagre: false })
  })

  it("does not call the last piece of a part small, regardless of its neighbours", () => {
    const record = (digit: string, i: number, bytes: number) => ({
      key: `${digit}${seedOf(`${i}`).slice(1)}` as Hash.Hash,
      value: new Uint8Array(bytes),
    })
    const large = Array.from({ length: 100 }, (_, i) => record("0", i, 8_000))
    const trie = Trie.apply(Trie.empty, [...large, ...[1, 2].map((i) => record("f", i, 1))])
    const views = new StateViews([trie])
    const download = new StateDownload(targetOf(trie), PATIENCE_MS, [])
    const pieces: Array<readonly [boolean, boolean]> = []
    for (let ms = 0; download.trie === undefined && ms < 20; ms++) {
      const asking = download.next(["p0" as PeerId], Natural.timestamp(ms))
      if (asking?.question._tag !== "AskState") throw new Error("a question for state expected")
      const { root, position } = asking.question
      const subtree = views.subtree(root, position)
      const received = download.receive("p0" as PeerId, { _tag: "State", root, subtree }, START)
      if (received._tag === "Kept") pieces.push([received.subtree.length > 131_072, received.isMeagre])
    }
    expect(pieces.at(-1)).toEqual([false, false])
    expect(pieces.map(([, isMeagre]) => isMeagre)).not.toContain(true)
  })

  it("does not give up or ask peers while kept pieces are left to examine", () => {
    const { kept } = run(fresh(), ["honest"])
    const again = fresh(kept)
    expect(again.isHopeless([])).toBe(false)
    expect(again.next(["p0" as PeerId], Natural.timestamp(0))).toBeNull()
  })

  it("accepts a small piece as a whole answer where nothing is omitted", () => {
    const small = trieOf(3)
    const download = new StateDownload(targetOf(small), PATIENCE_MS, [])
    const asking = download.next(["p0" as PeerId], Natural.timestamp(0))
    if (asking?.question._tag !== "AskState") throw new Error("a question for state expected")
    const { root, position } = asking.question
    const subtree = new StateViews([small]).subtree(root, position)
    const received = download.receive("p0" as PeerId, { _tag: "State", root, subtree }, START)
    expect(received).toMatchObject({ _tag: "Kept", isMeagre: false })
  })

  it("calls a piece small below 128 KiB", () => {
    const records = (digit: string, sizes: ReadonlyArray<number>) =>
      sizes.map((bytes, i) => ({
        key: `${digit}${seedOf(`${i}`).slice(1)}` as Hash.Hash,
        value: new Uint8Array(bytes),
      }))
    const answered = (bytes: number): readonly [length: number, isMeagre: boolean] => {
      const left = records("0", [bytes, ...new Array<number>(21).fill(6_000)])
      const trie = Trie.apply(Trie.empty, [...left, ...records("f", new Array<number>(40).fill(1))])
      const piece = Subtree.at(trie, Position.left(Position.ROOT), Subtree.MAX_BYTES)
      if (piece === undefined) throw new Error("a left side expected")
      const subtree = Subtree.encode(piece)
      const download = new StateDownload(targetOf(trie), PATIENCE_MS, [])
      download.next(["p0" as PeerId], Natural.timestamp(0))
      const received = download.receive("p0" as PeerId, { _tag: "State", root: trie.hash, subtree }, START)
      return [subtree.length, received._tag === "Kept" && received.isMeagre]
    }
    const [others] = answered(0)
    expect([131_071, 131_072].map((length) => answered(length - others))).toEqual([
      [131_071, true],
      [131_072, false],
    ])
  })

  it("detects a piece that is far smaller than an answer", () => {
    const download = fresh()
    const asking = download.next(["p0" as PeerId], Natural.timestamp(0))
    if (asking?.question._tag !== "AskState") throw new Error("a question for state expected")
    const { root } = asking.question
    const [tiny] = Subtree.all(whole, 10_000)
    if (tiny === undefined) throw new Error("a piece expected")
    const received = download.receive("p0" as PeerId, { _tag: "State", root, subtree: Subtree.encode(tiny) }, START)
    expect(received).toMatchObject({ _tag: "Kept", isMeagre: true })
  })
})
