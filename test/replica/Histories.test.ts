/** Claims of peers, compared step by step. */
import { describe, expect, it } from "vitest"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Histories } from "../../src/replica/joining/Histories.js"
import type { Inquiry } from "../../src/replica/joining/Inquiry.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { addressOf, Cluster, signerOf } from "./Cluster.js"

const FOUNDERS = ["ann", "ben", "cleo", "dan"]
const LATER = ["fay", "gil", "hal", "ivy"]
const [aaa, bbb, ccc] = ["aaa" as PeerId, "bbb" as PeerId, "ccc" as PeerId]

const cluster = new Cluster({ validators: Object.fromEntries(FOUNDERS.map((name) => [name, 10_000])) })
cluster.start()
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

/** Closes that many epochs after the first one, signed by some, for a committee of others. */
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

/** Nobody who is asked shows anything. */
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

describe("claims of one history", () => {
  it("are connected once the newer one follows from the committee that the older one names, and not before", () => {
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

  it("are connected by those that claim the newer one only", () => {
    const all = histories()
    prove(all.claim(aaa, closing(1, FOUNDERS)), all.claim(bbb, closing(3, FOUNDERS)))
    all.connect([ccc, aaa, bbb])
    expect(all.open.map(({ peer }) => peer)).toEqual([bbb])
  })
})

describe("claims of two histories", () => {
  it("part, and are never connected, where the older one's committee has not signed the newer one", () => {
    const all = histories()
    const [low, high] = [closing(1, FOUNDERS, LATER), closing(3, FOUNDERS)]
    prove(all.claim(aaa, low), all.claim(bbb, high), all.claim(ccc, high))
    expect(refuseAll(all)).toEqual({ first: low, second: high, firstClaimants: [aaa], secondClaimants: [bbb, ccc] })
    expect(all.isConnected).toBe(false)
  })

  it("part at once where both are of one epoch", () => {
    const all = histories()
    const [one, two] = [closing(2, FOUNDERS), closing(2, FOUNDERS, LATER)]
    prove(all.claim(aaa, one), all.claim(bbb, two))
    const { parting } = all.connect([aaa, bbb])
    expect(new Set([parting?.first, parting?.second])).toEqual(new Set([one, two]))
    expect(all.isConnected).toBe(false)
  })

  it("do not part over one that is not proven, nor over one that counts no more", () => {
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

  it("one of which shows what the older one's committee did not sign make its peer a liar, and not a parting", () => {
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
})
