import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { type Pin, ProvenChain, type Trust } from "../../src/replica/joining/ProvenChain.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { recordOf, seedOf } from "../consensus/TestCommittee.js"
import { signerOf } from "./Cluster.js"

const SIZE = 6

const never = (): never => {
  throw new Error("a history expected")
}

/** The committee of an epoch: in every epoch one member is replaced. */
const membersOf = (epoch: number) =>
  Array.from({ length: SIZE }, (_, i) => signerOf(`m${epoch + i}`))
    .map(({ publicKey }) => ({ publicKey, address: Address.fromPublicKey(publicKey), weight: Sats.make(10) }))
    .sort((a, b) => (a.address < b.address ? -1 : 1))

const committeeOf = (epoch: number): EpochRecord =>
  recordOf([1], { epoch: Natural.epoch(epoch), firstRound: Natural.round(epoch * 40), members: membersOf(epoch) })

/** Closing checkpoints of epochs 1 to `last`, each signed by its committee; `story` makes a different history. */
const historyOf = (last: number, story = "ours", from = 1): ReadonlyArray<Checkpoint.SignedCheckpoint> => {
  const history: Array<Checkpoint.SignedCheckpoint> = []
  let previous = Hash.ZERO
  for (let epoch = 1; epoch <= last; epoch++) {
    const checkpoint = Checkpoint.make({
      epoch: Natural.epoch(epoch),
      round: Natural.round(epoch * 40 + 39),
      commitIndex: Natural.commitIndex(epoch * 30),
      commitHash: seedOf(`${epoch >= from ? story : "ours"} ${epoch}`),
      effectsDigest: Hash.ZERO,
      stateRoot: Hash.ZERO,
      totalSupply: Sats.make(1),
      nextEpoch: committeeOf(epoch + 1),
      previous,
    })
    const signatures = Array.from({ length: SIZE }, (_, i) => Checkpoint.sign(checkpoint, signerOf(`m${epoch + i}`)))
    history.push({ checkpoint, signatures })
    previous = checkpoint.hash
  }
  return history
}

const trustOf = (pin: Pin | null = null): Trust => ({ record: committeeOf(1), pin, isValid: FakeKeys.isValid })

/** Questions a peer with this history until nothing is left. Returns the number of questions. */
const talk = (
  history: ReadonlyArray<Checkpoint.SignedCheckpoint>,
  trust: Trust = trustOf(),
  perAnswer = 1,
): { readonly chain: ProvenChain; readonly questions: number } => {
  const newest = history.at(-1)
  if (newest === undefined) throw new Error("a history expected")
  const chain = new ProvenChain(trust, newest)
  chain.takeAtOnce([])
  let questions = 0
  for (let from = chain.toAsk(); from !== null; from = chain.toAsk()) {
    questions++
    if (questions > 1_000) throw new Error("it asks for ever")
    const start = from
    chain.takeAtOnce(history.filter(({ checkpoint }) => checkpoint.epoch >= start).slice(0, perAnswer))
  }
  return { chain, questions }
}

/** A peer with this newest checkpoint that shows everything in its first answer. */
const shown = (history: ReadonlyArray<Checkpoint.SignedCheckpoint>, trust: Trust = trustOf()): ProvenChain => {
  const chain = new ProvenChain(trust, history.at(-1) ?? never())
  chain.takeAtOnce(history)
  return chain
}

describe("a chain of closing checkpoints", () => {
  it("is proven at once while enough of the known committee still signs", () => {
    expect(talk(historyOf(2))).toMatchObject({ questions: 0, chain: { isProven: true } })
  })

  it("is proven in steps at any length, while the committees overlap", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 1, max: 60 }),
        FastCheck.integer({ min: 1, max: 16 }),
        (last, page) => {
          const { chain, questions } = talk(historyOf(last), trustOf(), page)
          expect(chain.isProven).toBe(true)
          expect(chain.isBroken).toBe(false)
          expect(questions).toBeLessThanOrEqual(last * 7)
          const epochs = chain.proven.map(({ checkpoint }) => checkpoint.epoch)
          expect(epochs.at(-1)).toBe(last)
        },
      ),
      { numRuns: 40 },
    )
  })

  it("is not proven when one step lacks signatures", () => {
    const history = historyOf(12)
    const forged = history.map((signed, i) =>
      i >= 5 ? { ...signed, signatures: signed.signatures.slice(0, 4) } : signed,
    )
    for (const perAnswer of [1, 4]) {
      const { chain } = talk(forged, trustOf(), perAnswer)
      expect(chain.isProven).toBe(false)
      expect(chain.isBroken).toBe(true)
      expect(Math.max(...chain.proven.map(({ checkpoint }) => checkpoint.epoch))).toBeLessThanOrEqual(5)
    }
  })

  it("is not proven by invalid signatures, or by others' names", () => {
    const history = historyOf(1).map(({ checkpoint, signatures }) => ({
      checkpoint,
      signatures: signatures.map(({ validator }, i) => ({
        validator,
        signature: Checkpoint.sign(checkpoint, signerOf(`m${i + 2}`)).signature,
      })),
    }))
    const { chain } = talk(history)
    expect([chain.isProven, chain.isBroken]).toEqual([false, true])
  })

  it("gives up on a peer that has only the newest or nothing, without calling it a liar", () => {
    const { chain } = talk(historyOf(30).slice(-1))
    expect([chain.isProven, chain.isBroken]).toEqual([false, false])
    const silent = new ProvenChain(trustOf(), historyOf(30).at(-1) ?? never())
    for (let n = 0; n < 10; n++) {
      silent.takeAtOnce([])
      silent.toAsk()
    }
    expect([silent.toAsk(), silent.isProven, silent.isBroken]).toEqual([null, false, false])
  })

  it("conflicts with another proven one from the epoch in which they diverge", () => {
    const [ours, theirs] = [talk(historyOf(8), trustOf(), 8).chain, talk(historyOf(9, "theirs", 4), trustOf(), 8).chain]
    const conflict = ours.conflictWith(theirs)
    expect(conflict?.map(({ checkpoint }) => checkpoint.epoch)).toEqual([4, 4])
    expect(ours.conflictWith(talk(historyOf(9), trustOf(), 8).chain)).toBeUndefined()
    expect(ours.conflictWith(talk(historyOf(2)).chain)).toBeUndefined()
    // Epoch 3 is proven only by being named, after epochs 4, 6 and 8.
    const parted = shown(historyOf(8)).conflictWith(shown(historyOf(8, "theirs", 3)))
    expect(parted?.map(({ checkpoint }) => checkpoint.epoch)).toEqual([3, 3])
  })

  it("must pass through a pinned checkpoint, even if a quorum signed others", () => {
    const [ours, theirs] = [historyOf(8), historyOf(8, "theirs", 4)]
    const pinned = ours[5]
    if (pinned === undefined) throw new Error("six expected")
    const pin = { epoch: 6, hash: pinned.checkpoint.hash }
    expect(talk(ours, trustOf(pin)).chain.isProven).toBe(true)
    expect(talk(theirs, trustOf(pin)).chain.isProven).toBe(false)
    expect(talk(ours.slice(0, 4), trustOf(pin)).chain.isProven).toBe(false)
  })

  it("must pass through a checkpoint pinned in the trusted epoch itself, and asks for that first", () => {
    const [ours, theirs] = [historyOf(3), historyOf(3, "theirs")]
    const [first] = ours
    if (first === undefined) throw new Error("three expected")
    const pin = { epoch: 1, hash: first.checkpoint.hash }
    expect(talk(ours, trustOf(pin)).chain.isProven).toBe(true)
    expect(talk(theirs, trustOf(pin)).chain.isProven).toBe(false)
    // For an epoch before the trusted one, no step is left.
    expect(talk(theirs, trustOf({ epoch: 0, hash: Hash.ZERO })).chain.isProven).toBe(true)
    const far = new ProvenChain(trustOf({ epoch: 7, hash: Hash.ZERO }), historyOf(20).at(-1) ?? first)
    far.takeAtOnce([])
    expect(far.toAsk()).toBe(7)
  })

  it("ignores a pinned checkpoint shown for another epoch", () => {
    const history = historyOf(8)
    const hash = history[4]?.checkpoint.hash ?? Hash.ZERO
    const isProvenWith = (epoch: number): boolean => shown(history, trustOf({ epoch, hash })).isProven
    expect([4, 5, 6].map(isProvenWith)).toEqual([false, true, false])
  })

  it("consists of checkpoints that close their epoch for the next one", () => {
    const [first] = historyOf(1)
    if (first === undefined) throw new Error("one expected")
    const signedBy = (content: Checkpoint.Content): Checkpoint.SignedCheckpoint => {
      const checkpoint = Checkpoint.make(content)
      const signatures = Array.from({ length: SIZE }, (_, i) => Checkpoint.sign(checkpoint, signerOf(`m${1 + i}`)))
      return { checkpoint, signatures }
    }
    expect(talk([signedBy(first.checkpoint)]).chain.isProven).toBe(true)
    for (const nextEpoch of [null, committeeOf(1), committeeOf(3)]) {
      expect(talk([signedBy({ ...first.checkpoint, nextEpoch })]).chain.isProven).toBe(false)
    }
  })

  it("proves nothing about epochs before the trusted one, even if a quorum signed", () => {
    const [first] = historyOf(1)
    if (first === undefined) throw new Error("one expected")
    const trust = { ...trustOf(), record: { ...committeeOf(1), epoch: Natural.epoch(2) } }
    const chain = new ProvenChain(trust, first)
    chain.takeAtOnce([])
    expect([chain.isProven, chain.isBroken, chain.toAsk()]).toEqual([false, false, null])
  })

  it("contains what signatures prove, and the predecessor that each names", () => {
    const history = historyOf(8)
    const chain = shown(history)
    const hashes = (of: (epoch: number) => Checkpoint.SignedCheckpoint | undefined) =>
      [1, 2, 3, 4, 5, 6, 7, 8].map((epoch) => of(epoch)?.checkpoint.hash)
    expect(hashes((epoch) => chain.at(Natural.epoch(epoch)))).toEqual(hashes((epoch) => history[epoch - 1]))
    expect(chain.at(Natural.epoch(9))).toBeUndefined()
    // Five of a committee's six still sign in the next epoch; the four of the one after are no quorum.
    expect(chain.proven.map(({ checkpoint }) => checkpoint.epoch)).toEqual([2, 4, 6, 8])
  })

  it("asks in the middle, then ever nearer to the trusted checkpoint, and from there again in the middle", () => {
    const history = historyOf(17)
    const chain = new ProvenChain(trustOf(), history.at(-1) ?? never())
    const asked = (answer: ReadonlyArray<Checkpoint.SignedCheckpoint>) => {
      chain.takeAtOnce(answer)
      return chain.toAsk()
    }
    expect([asked([]), asked([]), asked([]), asked([])]).toEqual([9, 5, 3, 2])
    // Epoch 2 can be proven: the next one to trust is that of epoch 3.
    expect(asked(history.slice(1, 2))).toBe(10)
    expect(asked([])).toBe(6)
  })

  it("continues from a checkpoint shown below the requested one", () => {
    const history = historyOf(17)
    const chain = new ProvenChain(trustOf(), history.at(-1) ?? never())
    for (const expected of [9, 5, 3, 2]) {
      chain.takeAtOnce([])
      expect(chain.toAsk()).toBe(expected)
    }
    chain.takeAtOnce(history.slice(0, 1))
    expect([chain.isBroken, chain.toAsk()]).toEqual([false, 9])
  })

  it("does nothing in a step before an answer arrives", () => {
    const chain = new ProvenChain(trustOf(), historyOf(2).at(-1) ?? never())
    chain.step()
    expect([chain.hasWork, chain.isProven, chain.isBroken]).toEqual([false, false, false])
  })

  it("asks for nothing while it works, nor once it is proven", () => {
    const history = historyOf(12)
    const chain = new ProvenChain(trustOf(), history.at(-1) ?? never())
    chain.take([])
    expect([chain.hasWork, chain.toAsk()]).toEqual([true, null])
    while (chain.hasWork) chain.step()
    expect(chain.toAsk()).toBe(6)
    chain.takeAtOnce(history)
    expect([chain.isProven, chain.toAsk()]).toEqual([true, null])
  })

  it("verifies no signature if there are too few for a quorum, and stops after too many false ones", () => {
    const [first] = historyOf(1)
    if (first === undefined) throw new Error("one expected")
    const verifiedOf = (signatures: Checkpoint.SignedCheckpoint["signatures"]): number => {
      let verified = 0
      const isValid: Trust["isValid"] = (check) => {
        verified++
        return FakeKeys.isValid(check)
      }
      new ProvenChain({ ...trustOf(), isValid }, { ...first, signatures }).takeAtOnce([])
      return verified
    }
    const [one, two, ...others] = first.signatures
    if (one === undefined || two === undefined) throw new Error("six expected")
    expect(verifiedOf(first.signatures)).toBe(6)
    expect(verifiedOf(first.signatures.slice(0, 4))).toBe(0)
    // Five are a quorum of six; with two invalid signatures, four are left.
    const swapped = [{ ...one, signature: two.signature }, { ...two, signature: one.signature }, ...others]
    expect(verifiedOf(swapped)).toBeLessThan(6)
  })

  it("of a peer that shows more than 64 false signatures proves nothing any more", () => {
    const history = historyOf(2)
    const [first, second] = history
    if (first === undefined || second === undefined) throw new Error("two expected")
    const forged = (count: number) =>
      Array.from({ length: count }, (_, i) => {
        const nextEpoch = { ...committeeOf(2), epoch: Natural.epoch(i + 11) }
        const checkpoint = Checkpoint.make({ ...first.checkpoint, epoch: Natural.epoch(i + 10), nextEpoch })
        return { checkpoint, signatures: first.signatures }
      })
    // Two of each are checked, which leaves no quorum.
    for (const [count, isProven] of [
      [32, true],
      [33, false],
    ] as const) {
      const chain = new ProvenChain(trustOf(), first)
      chain.takeAtOnce(forged(count))
      expect([chain.isProven, chain.isBroken]).toEqual([isProven, !isProven])
      expect(chain.proven).toEqual(isProven ? [first] : [])
    }
  })

  it("verifies a bounded number of false signatures, and one committee's in a step", () => {
    let verified = 0
    const trust: Trust = {
      ...trustOf(),
      isValid: (check) => {
        verified++
        return FakeKeys.isValid(check)
      },
    }
    const members = Array.from({ length: SIZE }, (_, i) => signerOf(`m${1 + i}`))
    const [first] = historyOf(1)
    if (first === undefined) throw new Error("a history expected")
    const forged = Array.from({ length: 1_000 }, (_each, i) => {
      const nextEpoch = { ...committeeOf(2), epoch: Natural.epoch(i + 2) }
      const checkpoint = Checkpoint.make({ ...first.checkpoint, epoch: Natural.epoch(i + 1), nextEpoch })
      const other = Checkpoint.make({ ...checkpoint, round: Natural.round(7) })
      return { checkpoint, signatures: members.map((member) => Checkpoint.sign(other, member)) }
    })
    const { chain } = talk(forged, trust, 16)
    expect(chain.isBroken).toBe(true)
    expect(verified).toBeLessThanOrEqual(65)

    const honest = new ProvenChain(trust, historyOf(40).at(-1) ?? first)
    honest.take(historyOf(16))
    let steps = 0
    while (honest.hasWork) {
      verified = 0
      honest.step()
      steps++
      expect(verified).toBeLessThanOrEqual(SIZE)
    }
    expect(steps).toBeGreaterThan(5)
  })
})
