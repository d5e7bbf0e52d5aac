import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { type Announcement, Announcements } from "../../../src/consensus/replica/Announcements.js"
import { assignment } from "../../../src/consensus/replica/Assignment.js"
import type { PeerId } from "../../../src/consensus/replica/Peer.js"
import { Peers } from "../../../src/consensus/replica/Peers.js"
import { PendingTransactions } from "../../../src/ledger/PendingTransactions.js"
import type { Address } from "../../../src/protocol/Address.js"
import * as Counter from "../../../src/protocol/Counter.js"
import * as Sats from "../../../src/protocol/Sats.js"
import type { Transaction } from "../../../src/protocol/Transaction.js"
import { equalWeights, recordOf } from "../TestCommittee.js"
import { addressOf, transfer } from "./Cluster.js"

const record = recordOf(equalWeights(4))
const memberAt = assignment(record)
const round = Counter.round(20)
const EVERY_MS = 1_000

const peerOf = (member: Address): PeerId => `node of ${member}` as PeerId

const connectedTo = (members: ReadonlyArray<Address>): Peers => {
  const peers = new Peers(EVERY_MS)
  peers.connect(members.map((member) => ({ peer: peerOf(member), validator: member })))
  return peers
}

const everybody = record.members.map(({ address }) => address)

/** A door that has just taken these in, and its pool. */
const doorWith = (transactions: ReadonlyArray<Transaction>) => {
  const announcements = new Announcements(EVERY_MS)
  const pool = new PendingTransactions({
    admission: () => undefined,
    account: () => ({ nonce: Counter.nonce(0), balance: Sats.MAX_SUPPLY }),
  })
  for (const transaction of transactions) {
    Either.getOrThrow(pool.submit(transaction, Counter.timestamp(1), round))
    announcements.add(transaction)
  }
  return { announcements, pool }
}

const toldOf = (announcements: ReadonlyArray<Announcement>): ReadonlyArray<readonly [string, number]> =>
  announcements.map(({ to, transactions }) => [to, transactions.length])

const [first, second] = [memberAt(addressOf("alice")), memberAt(addressOf("alice"), 1)]
const soon = Counter.timestamp(2)

describe("what came to the door of a node", () => {
  it("is told to the member that is to propose it, by a node that can step in for that one itself", () => {
    const { announcements, pool } = doorWith([transfer("alice", 0, "bob", 1), transfer("alice", 1, "bob", 1)])
    const audience = { record, seated: second, peers: connectedTo(everybody) }
    expect(toldOf(announcements.take(pool, audience, soon))).toEqual([[peerOf(first), 2]])
    expect(announcements.take(pool, audience, soon)).toEqual([])
  })

  it("is told to nobody by the member that is to propose it", () => {
    const { announcements, pool } = doorWith([transfer("alice", 0, "bob", 1)])
    expect(announcements.take(pool, { record, seated: first, peers: connectedTo(everybody) }, soon)).toEqual([])
  })

  it("is told to two members by a node without a seat, and to all where it is connected to neither", () => {
    const near = doorWith([transfer("alice", 0, "bob", 1)])
    expect(
      toldOf(near.announcements.take(near.pool, { record, seated: null, peers: connectedTo(everybody) }, soon)),
    ).toEqual([
      [peerOf(first), 1],
      [peerOf(second), 1],
    ])
    const far = doorWith([transfer("alice", 0, "bob", 1)])
    const others = everybody.filter((member) => member !== first && member !== second)
    expect(
      toldOf(far.announcements.take(far.pool, { record, seated: null, peers: connectedTo(others) }, soon)),
    ).toEqual([["everybody", 1]])
  })

  it("is told to everybody when it stands in no vertex for long", () => {
    const [lost, included] = [transfer("alice", 0, "bob", 1), transfer("alice", 1, "bob", 1)]
    const { announcements, pool } = doorWith([lost, included])
    const audience = { record, seated: null, peers: connectedTo(everybody) }
    announcements.take(pool, audience, soon)
    pool.included([included], round)
    const later = Counter.timestamp(soon + EVERY_MS)
    expect(announcements.take(pool, audience, later)).toEqual([{ to: "everybody", transactions: [lost] }])
  })
})
