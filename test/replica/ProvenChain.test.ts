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

/** The committee of an epoch: in every epoch one member goes and another comes. */
const membersOf = (epoch: number) =>
  Array.from({ length: SIZE }, (_, i) => signerOf(`m${epoch + i}`))
    .map(({ publicKey }) => ({ publicKey, address: Address.fromPublicKey(publicKey), weight: Sats.make(10) }))
    .sort((a, b) => (a.address < b.address ? -1 : 1))

const committeeOf = (epoch: number): EpochRecord =>
  recordOf([1], { epoch: Natural.epoch(epoch), firstRound: Natural.round(epoch * 40), members: membersOf(epoch) })

/** Closing checkpoints of epochs 1 to `last`, each signed by its committee; `story` makes it another history. */
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

/** Talks to a peer with this history until there is nothing to ask; how often it asked. */
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

describe("a chain of closing checkpoints", () => {
  it("is proven at once while enough of the committee one knows still signs", () => {
    expect(talk(historyOf(2))).toMatchObject({ questions: 0, chain: { isProven: true } })
  })

  it("is proven in steps, as long as the committees overlap, whatever its length", () => {
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

  it("is not proven when one step is missing in the signatures", () => {
    const history = historyOf(12)
    const forged = history.map((signed, i) =>
      i >= 5 ? { ...signed, signatures: signed.signatures.slice(0, 4) } : signed,
    )
    const { chain } = talk(forged)
    expect(chain.isProven).toBe(false)
    expect(chain.isBroken).toBe(true)
    expect(Math.max(...chain.proven.map(({ checkpoint }) => checkpoint.epoch))).toBeLessThanOrEqual(5)
  })

  it("is not proven by signatures that do not hold, or by others' names", () => {
    const history = historyOf(1).map(({ checkpoint, signatures }) => ({
      checkpoint,
      signatures: signatures.map(({ validator }, i) => ({
        validator,
        signature: Checkpoint.sign(checkpoint, signerOf(`m${i + 2}`)).signature,
      })),
    }))
    expect(talk(history).chain.isProven).toBe(false)
  })

  it("gives up on a peer that has only the newest, and does not call it a liar", () => {
    const { chain } = talk(historyOf(30).slice(-1))
    expect(chain.isProven).toBe(false)
    expect(chain.isBroken).toBe(false)
  })

  it("conflicts with another proven one from the epoch in which they part", () => {
    const [ours, theirs] = [talk(historyOf(8), trustOf(), 8).chain, talk(historyOf(9, "theirs", 4), trustOf(), 8).chain]
    const conflict = ours.conflictWith(theirs)
    expect(conflict?.map(({ checkpoint }) => checkpoint.epoch)).toEqual([4, 4])
    expect(ours.conflictWith(talk(historyOf(9), trustOf(), 8).chain)).toBeUndefined()
  })

  it("must pass through a pinned checkpoint, whoever signed", () => {
    const [ours, theirs] = [historyOf(8), historyOf(8, "theirs", 4)]
    const pinned = ours[5]
    if (pinned === undefined) throw new Error("six expected")
    const pin = { epoch: 6, hash: pinned.checkpoint.hash }
    expect(talk(ours, trustOf(pin)).chain.isProven).toBe(true)
    expect(talk(theirs, trustOf(pin)).chain.isProven).toBe(false)
    expect(talk(ours.slice(0, 4), trustOf(pin)).chain.isProven).toBe(false)
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
