/** Compares the claims of peers step by step. */
import { describe, expect, it } from "vitest"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Histories } from "../../src/replica/joining/Histories.js"
import { Inquiry } from "../../src/replica/joining/Inquiry.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { addressOf, Cluster, signerOf } from "./Cluster.js"

const FOUNDERS = ["ann", "ben", "cleo", "dan"]
const LATER = ["fay", "gil", "hal", "ivy"]
const STRANGERS = ["jan", "kim", "lou", "max"]
const [aaa, bbb, ccc] = ["aaa" as PeerId, "bbb" as PeerId, "ccc" as PeerId]

const cluster = new Cluster({ validators: Object.fromEntries(FOUNDERS.map((name) => [name, 10_000])) }).start()
const { record } = cluster.machine("ann").replica.core.epoch.opening

const recordOf = (epoch: number, names: ReadonlyArray<string>): EpochRecord => ({
  ...record,
  epoch: Natural.epoch(epoch),
  firstRound: Natural.round(40 * epoch),
  members: names.map((name) => ({
    publicKey: signerOf(name).publicKey,
    address: addressOf(name),
    weight: Sats.make(10),
  })),
})

/** Closes this many epochs after the first one, signed by `signers`, with another committee next. */
const closing = (epochs: number, signers: ReadonlyArray<string>, next = signers, previous = Hash.ZERO) => {
  const epoch = Natural.epoch(record.epoch + epochs)
  const checkpoint = Checkpoint.make({
    epoch,
    round: Natural.round(40 * epoch),
    commitIndex: Natural.commitIndex(9 * epoch),
    commitHash: Hash.ZERO,
    effectsDigest: Hash.ZERO,
    stateRoot: Hash.ZERO,
    totalSupply: Sats.ZERO,
    nextEpoch: recordOf(epoch + 1, next),
    previous,
  })
  const signatures = signers.map((name) => Checkpoint.sign(checkpoint, signerOf(name)))
  return { checkpoint, signatures: signatures.sort((a, b) => (a.validator < b.validator ? -1 : 1)) }
}

const histories = () => new Histories({ record, pin: null, isValid: FakeKeys.isValid })

const prove = (...inquiries: ReadonlyArray<Inquiry>) => {
  for (const inquiry of inquiries) while (inquiry.hasWork) inquiry.step()
}

/** No peer has an answer. */
const refuseAll = (all: Histories) => {
  for (let n = 0; n < 20; n++) {
    const { parting } = all.connect([aaa, bbb, ccc])
    if (parting !== null || all.isConnected) return parting
    prove(...all.open)
    for (const inquiry of all.open) if (inquiry.question !== null) inquiry.take([])
    prove(...all.open)
  }
  throw new Error("it does not end")
}

/** The peer answers its questions with these until none is left. */
const answerWith = (inquiry: Inquiry, ...signed: ReadonlyArray<Checkpoint.SignedCheckpoint>) => {
  prove(inquiry)
  for (let n = 0; inquiry.question !== null; n++) {
    if (n > 20) throw new Error("it does not end")
    inquiry.take(signed)
    prove(inquiry)
  }
}

describe("a claim", () => {
  it("is open until it is proven, and counts from then on, once for all that make it", () => {
    const all = histories()
    const [low, high] = [closing(1, FOUNDERS), closing(3, FOUNDERS)]
    const claims = [all.claim(aaa, high), all.claim(bbb, high), all.claim(ccc, low)]
    expect([all.size, [aaa, bbb, ccc].map((peer) => all.has(peer))]).toEqual([3, [true, true, true]])
    expect([all.open, all.newest, all.claimantsOf(high)]).toEqual([claims, [], []])
    expect(all.failed()).toEqual([])
    prove(...claims)
    expect([all.open, all.failed()]).toEqual([[], []])
    expect(all.newest).toEqual([low, high])
    expect([all.claimantsOf(high), all.claimantsOf(low), all.claimantsOf(closing(2, FOUNDERS))]).toEqual([
      [aaa, bbb],
      [ccc],
      [],
    ])
    all.drop(aaa)
    expect([all.size, all.has(aaa), all.claimantsOf(high)]).toEqual([2, false, [bbb]])
  })

  it("brings the closing checkpoints on the way to it", () => {
    const all = histories()
    const low = closing(1, FOUNDERS, LATER)
    const high = closing(2, LATER, LATER, low.checkpoint.hash)
    answerWith(all.claim(aaa, high), low)
    prove(all.claim(bbb, closing(1, FOUNDERS)))
    expect(all.wayTo(high)).toEqual([low, high])
    expect(all.wayTo(closing(1, FOUNDERS))).toEqual([closing(1, FOUNDERS)])
    expect(all.wayTo(low)).toEqual([])
  })

  it("is not proven by another checkpoint of its epoch that the trusted committee signed", () => {
    const all = histories()
    const claim = all.claim(aaa, closing(1, ["mallory"]))
    answerWith(claim, closing(1, FOUNDERS))
    expect([claim.chain.isProven, all.newest]).toEqual([false, []])
  })

  it("fails without proof, and is a lie if its peer shows a checkpoint that the trusted committee did not sign", () => {
    const all = histories()
    const forged = closing(1, ["mallory"])
    const [silent, lying] = [all.claim(aaa, forged), all.claim(bbb, forged)]
    all.claim(ccc, forged)
    answerWith(silent)
    answerWith(lying, closing(0, ["mallory"]))
    expect(all.failed()).toEqual([
      { peer: aaa, isLie: false },
      { peer: bbb, isLie: true },
    ])
  })
})

describe("claims of one history", () => {
  it("are connected only once the newer one follows from the committee that the older one names", () => {
    const all = histories()
    const [low, high] = [closing(1, FOUNDERS), closing(3, FOUNDERS)]
    prove(all.claim(aaa, low), all.claim(bbb, high))
    expect(all.newest).toEqual([low, high])
    expect(all.isConnected).toBe(false)
    expect(all.connect([aaa, bbb])).toEqual({ liars: [], parting: null })
    expect(all.isConnected).toBe(false)
    prove(...all.open)
    expect(all.connect([aaa, bbb])).toEqual({ liars: [], parting: null })
    expect(all.isConnected).toBe(true)
  })

  it("are connected by the peers that claim only the newer one", () => {
    const all = histories()
    prove(all.claim(aaa, closing(1, FOUNDERS)), all.claim(bbb, closing(3, FOUNDERS)))
    all.connect([ccc, aaa, bbb])
    expect(all.open.map(({ peer }) => peer)).toEqual([bbb])
  })
})

describe("more than two claims", () => {
  it("are connected each with the next one", () => {
    const all = histories()
    const claims = [closing(1, FOUNDERS), closing(3, FOUNDERS), closing(5, FOUNDERS)]
    prove(...[aaa, bbb, ccc].flatMap((peer, i) => claims.slice(i, i + 1).map((claim) => all.claim(peer, claim))))
    all.connect([aaa, bbb, ccc])
    expect(all.open.map(({ peer }) => peer)).toEqual([bbb, ccc])
    const [first, second] = all.open
    if (first !== undefined) prove(first)
    expect(all.connect([aaa, bbb, ccc])).toEqual({ liars: [], parting: null })
    expect(all.isConnected).toBe(false)
    if (second !== undefined) prove(second)
    expect(all.connect([aaa, bbb, ccc])).toEqual({ liars: [], parting: null })
    expect(all.isConnected).toBe(true)
  })
})

describe("claims of two histories", () => {
  it("are shown by the peers that claim the newer one, each asked once and in the given order", () => {
    const all = histories()
    const [low, high] = [closing(1, FOUNDERS, LATER), closing(3, FOUNDERS)]
    prove(all.claim(aaa, low), all.claim(bbb, high), all.claim(ccc, high))
    const asked: Array<PeerId> = []
    for (let n = 0; n < 20 && all.connect([ccc, aaa, bbb]).parting === null; n++) {
      for (const inquiry of all.open) {
        if (asked.at(-1) !== inquiry.peer) asked.push(inquiry.peer)
        answerWith(inquiry)
      }
    }
    expect(asked).toEqual([ccc, bbb])
  })

  it("diverge where the newer one's peer shows another checkpoint for the older one's epoch", () => {
    const all = histories()
    const [low, other] = [closing(1, FOUNDERS, LATER), closing(1, FOUNDERS)]
    const high = closing(3, FOUNDERS)
    prove(all.claim(aaa, low), all.claim(bbb, high))
    expect(all.connect([bbb]).parting).toBeNull()
    for (const inquiry of all.open) answerWith(inquiry, other, closing(2, FOUNDERS, FOUNDERS, other.checkpoint.hash))
    expect(all.connect([bbb])).toEqual({
      liars: [],
      parting: { first: low, second: other, firstClaimants: [aaa], secondClaimants: [bbb] },
    })
    expect(all.isConnected).toBe(false)
  })

  it("diverge at the first differing checkpoints on the ways to them, where both ways were shown", () => {
    const all = histories()
    const [one, other] = [closing(1, FOUNDERS, LATER), closing(1, FOUNDERS, STRANGERS)]
    const low = closing(2, LATER, LATER, one.checkpoint.hash)
    const high = closing(3, STRANGERS)
    answerWith(all.claim(aaa, low), one)
    answerWith(all.claim(bbb, high), other)
    expect(all.newest).toEqual([low, high])
    expect(refuseAll(all)).toEqual({ first: one, second: other, firstClaimants: [aaa], secondClaimants: [bbb] })
  })

  it("diverge at the first differing checkpoint that a peer shows for the older one's epoch", () => {
    const all = histories()
    const low = closing(1, FOUNDERS, LATER)
    const high = closing(3, FOUNDERS)
    const others = [closing(1, FOUNDERS), closing(1, FOUNDERS, STRANGERS)]
    prove(all.claim(aaa, low), all.claim(bbb, high), all.claim(ccc, high))
    for (const other of others) {
      expect(all.connect([bbb, ccc]).parting).toBeNull()
      for (const inquiry of all.open) answerWith(inquiry, other, closing(2, FOUNDERS, FOUNDERS, other.checkpoint.hash))
    }
    expect(all.connect([bbb, ccc])).toEqual({
      liars: [],
      parting: { first: low, second: others[0], firstClaimants: [aaa], secondClaimants: [bbb, ccc] },
    })
  })

  it("diverge without a connection where the older one's committee has not signed the newer one", () => {
    const all = histories()
    const [low, high] = [closing(1, FOUNDERS, LATER), closing(3, FOUNDERS)]
    prove(all.claim(aaa, low), all.claim(bbb, high), all.claim(ccc, high))
    expect(refuseAll(all)).toEqual({ first: low, second: high, firstClaimants: [aaa], secondClaimants: [bbb, ccc] })
    expect(all.isConnected).toBe(false)
  })

  it("diverge at once where both are of one epoch", () => {
    const all = histories()
    const [one, two] = [closing(2, FOUNDERS), closing(2, FOUNDERS, LATER)]
    prove(all.claim(aaa, one), all.claim(bbb, two))
    const { parting } = all.connect([aaa, bbb])
    expect(new Set([parting?.first, parting?.second])).toEqual(new Set([one, two]))
    expect(all.isConnected).toBe(false)
  })

  it("do not diverge over an unproven or outdated claim", () => {
    const all = histories()
    const [low, high] = [closing(1, FOUNDERS, LATER), closing(3, FOUNDERS)]
    prove(all.claim(aaa, low), all.claim(ccc, closing(5, ["mallory"])))
    expect(all.newest).toEqual([low])
    expect(all.isConnected).toBe(true)
    prove(all.claim(bbb, high))
    expect(all.isConnected).toBe(false)
    all.drop(bbb)
    expect([all.isConnected, all.newest, all.claimantsOf(high)]).toEqual([true, [low], []])
  })

  it("expose a peer that shows a checkpoint unsigned by the older claim's committee as a liar, without diverging", () => {
    const all = histories()
    const low = closing(1, FOUNDERS, LATER)
    const next = closing(2, FOUNDERS, FOUNDERS, low.checkpoint.hash)
    prove(all.claim(aaa, low), all.claim(bbb, next))
    const liars: Array<PeerId> = []
    for (let n = 0; n < 10 && liars.length === 0; n++) {
      const found = all.connect([aaa, bbb])
      expect(found.parting).toBeNull()
      liars.push(...found.liars)
      prove(...all.open)
      for (const inquiry of all.open) if (inquiry.question !== null) inquiry.take([low, next])
      prove(...all.open)
    }
    expect(liars).toEqual([bbb])
  })

  it("make no liar of a peer that agrees with the older one and shows nothing more, or only newer ones", () => {
    const low = closing(1, FOUNDERS, LATER)
    const next = closing(2, FOUNDERS, FOUNDERS, low.checkpoint.hash)
    for (const shown of [low, next]) {
      const all = histories()
      prove(all.claim(aaa, low), all.claim(bbb, next))
      expect(all.connect([bbb])).toEqual({ liars: [], parting: null })
      for (const inquiry of all.open) answerWith(inquiry, shown)
      expect(all.connect([bbb])).toEqual({
        liars: [],
        parting: { first: low, second: next, firstClaimants: [aaa], secondClaimants: [bbb] },
      })
    }
  })
})

describe("an inquiry that compares a checkpoint", () => {
  const low = closing(1, FOUNDERS, LATER)
  const high = closing(3, FOUNDERS)
  const { epoch, nextEpoch } = low.checkpoint
  if (nextEpoch === null) throw new Error("a close expected")
  const inquiring = () => new Inquiry(aaa, { record: nextEpoch, pin: null, isValid: FakeKeys.isValid }, high, epoch)
  const questions = (
    inquiry: Inquiry,
    ...answers: ReadonlyArray<Checkpoint.SignedCheckpoint>
  ): ReadonlyArray<number> => {
    const asked: Array<number> = []
    prove(inquiry)
    for (let question = inquiry.question; question !== null; question = inquiry.question) {
      asked.push(question - epoch)
      expect(inquiry.isOpen).toBe(true)
      inquiry.take(answers)
      prove(inquiry)
    }
    expect(inquiry.isOpen).toBe(false)
    return asked
  }

  it("asks for it once, after everything else, unless it was shown before", () => {
    const [silent, showing] = [inquiring(), inquiring()]
    expect(questions(silent)).toEqual([1, 0])
    expect(silent.shown).toBeNull()
    expect(questions(showing, high, low)).toEqual([1])
    expect(showing.shown).toEqual(low)
  })

  it("asks for nothing while it has work", () => {
    const inquiry = inquiring()
    prove(inquiry)
    expect(inquiry.question).toBe(epoch + 1)
    inquiry.take([closing(2, LATER, FOUNDERS)])
    inquiry.step()
    expect([inquiry.hasWork, inquiry.question]).toEqual([true, null])
    prove(inquiry)
    expect([inquiry.chain.isProven, inquiry.question]).toEqual([true, null])
  })

  it("asks nothing more and has no work when it is ended", () => {
    const inquiry = inquiring()
    expect(inquiry.hasWork).toBe(true)
    inquiry.end()
    expect([inquiry.hasWork, inquiry.isOpen]).toEqual([false, false])
    const asking = inquiring()
    prove(asking)
    asking.end()
    expect([asking.question, asking.isOpen]).toEqual([null, false])
  })
})
