import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { BACK_AFTER_MS, STOCK } from "../../src/ledger/pending/Credit.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import { REMEMBERED, Relaying, SIGNATURES_AT_ONCE } from "../../src/replica/asking/Relaying.js"
import { COMMITS_AHEAD } from "../../src/replica/asking/SignedGossip.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as Rest from "../support/Rest.js"
import { addressOf, Cluster, coins, sign, signerOf, transfer } from "./Cluster.js"
import { equivocation } from "./FourReplicas.js"

const PEER = "stranger" as PeerId
const ELSEWHERE = Hash.of("udg/commit", Binary.utf8("elsewhere"))

const scene = (rounds = 10, epochRounds = 40) => {
  const cluster = new Cluster({
    validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 },
    accounts: { alice: 1_000, bob: 1_000, eve: 9_000, fay: 1_000 },
    epochRounds,
  })
  cluster.start()
  cluster.runRounds(rounds)
  const ann = cluster.machine("ann")
  return { cluster, ann, replica: ann.replica }
}

describe("transactions", () => {
  const told = (...transactions: ReadonlyArray<Transaction>) => ({ _tag: "Transactions", transactions }) as const
  const [first, second] = [transfer("alice", 0, "bob", 1), transfer("alice", 1, "bob", 1)]
  const tooDear = transfer("bob", 0, "alice", 2_000 * Sats.SATS_PER_COIN)

  it("are relayed when they are new, and not again", () => {
    const { ann } = scene()
    expect(ann.receive(PEER, told(first))).toBe(true)
    expect(ann.receive(PEER, told(first))).toBe(false)
    expect(ann.receive(PEER, told())).toBe(false)
  })

  it("are announced separately, a moment later, when known ones are among them", () => {
    const { cluster, ann } = scene()
    cluster.passes = (_from, _to, message) => message._tag !== "Vertices"
    expect(ann.receive(PEER, told(first))).toBe(true)
    expect(ann.receive(PEER, told(first, second))).toBe(false)
    // One message can hold thousands of copies of a known transaction.
    expect(ann.receive(PEER, told(transfer("bob", 0, "alice", 1), first, first))).toBe(false)
    cluster.run(600)
    expect(announced(ann).flat()).toEqual([second, transfer("bob", 0, "alice", 1)])
  })

  it("are not relayed unchanged when one of them is refused, although the others are accepted", () => {
    const { ann, replica } = scene()
    expect(ann.receive(PEER, told(tooDear))).toBe(false)
    expect(ann.receive(PEER, told(first, tooDear))).toBe(false)
    expect(replica.pool.get(first.id)).toBeDefined()
    expect(ann.receive(PEER, told(tooDear, first))).toBe(false)
  })

  it("are not relayed when a later one replaces an earlier one", () => {
    const { ann, replica } = scene()
    const better = transfer("alice", 0, "bob", 1, 5_000)
    expect(ann.receive(PEER, told(first, better))).toBe(false)
    expect(replica.pool.get(better.id)).toBeDefined()
    expect(ann.receive(PEER, told(transfer("alice", 0, "bob", 1, 10_000)))).toBe(true)
  })
})

const announced = ({ outputs }: ReturnType<Cluster["machine"]>) =>
  outputs.flatMap((output) =>
    output._tag === "Broadcast" && output.message._tag === "Transactions" ? [output.message.transactions] : [],
  )

// An attacker that raised a fee at one node and submitted the old transaction at another used to spoil each message
// that contained it.
describe("transactions beside a worthless one", () => {
  const told = (...transactions: ReadonlyArray<Transaction>) => ({ _tag: "Transactions", transactions }) as const
  const good = transfer("alice", 0, "bob", 1)
  const [old, raised] = [transfer("eve", 0, "bob", 1, 1_000), transfer("eve", 0, "bob", 1, 5_000)]

  /** A node without a seat, so that a transaction becomes final only if it is announced to others. */
  const withRelay = () => {
    const { cluster } = scene()
    const relay = cluster.add("relay", { isValidator: false })
    relay.start()
    cluster.runRounds(10)
    relay.receive(PEER, told(raised))
    return { cluster, relay }
  }

  it("are announced a moment later, without it, and become final", () => {
    const { cluster, relay } = withRelay()
    expect(relay.receive(PEER, told(good, old))).toBe(false)
    cluster.run(490)
    expect(announced(relay)).toEqual([])
    cluster.run(20)
    expect(announced(relay)).toEqual([[good]])
    cluster.runRounds(10)
    expect(announced(relay)).toEqual([[good]])
    expect(relay.replica.read.account(addressOf("alice")).nonce).toBe(1)
  })

  it("are not announced where a vertex has them by then", () => {
    const { cluster, relay } = withRelay()
    const message = told(good, old)
    for (const machine of cluster.machines) machine.receive(PEER, message)
    cluster.runRounds(10)
    for (const machine of cluster.machines) expect(announced(machine)).toEqual([])
    expect(relay.replica.read.account(addressOf("alice")).nonce).toBe(1)
  })

  it("are announced as well where the worthless one was left out before", () => {
    const { cluster, relay } = withRelay()
    expect(relay.replica.receive(PEER, told(good), cluster.now, false).isRelayed).toBe(false)
    cluster.run(510)
    expect(announced(relay)).toEqual([[good]])
  })
})

// One payment, given only to the leader, emptied the account, after all others had received its pending transactions.
describe("transactions of accounts emptied by one payment", () => {
  it(Rest.of("a long attack", "are announced to few, beyond as many as fees were paid"), () => {
    const names = Array.from({ length: 120 }, (_, cycle) => `account ${cycle}`)
    const cluster = new Cluster({
      validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 },
      accounts: { ...Object.fromEntries(names.map((name) => [name, 10])), sink: 1 },
    })
    cluster.start()
    cluster.runRounds(10)
    const since = cluster.now
    const ann = cluster.machine("ann")
    let relayed = 0
    for (const name of names) {
      const { dag, committee } = ann.replica.core.epoch
      const { address } = committee.member(committee.leaderOf(Natural.round(dag.highestRound + 1)))
      const window = Array.from({ length: 64 }, (_, nonce) => transfer(name, nonce, "bob", 1))
      const emptying = transfer(name, 0, "sink", coins(10) - 1_000)
      for (const machine of cluster.machines) {
        if (machine.validator === address) {
          machine.receive(PEER, { _tag: "Transactions", transactions: [emptying] })
        } else {
          const wasRelayed = window.map((each) => machine.receive(PEER, { _tag: "Transactions", transactions: [each] }))
          if (machine === ann) relayed += wasRelayed.filter((isRelayed) => isRelayed).length
        }
      }
      cluster.runRounds(8)
    }
    const paid = names.map((name) => Number(ann.replica.read.account(addressOf(name)).nonce))
    const fees = paid.reduce((sum, nonce) => sum + nonce, 0)
    const back = (cluster.now - since) / BACK_AFTER_MS
    expect(paid.filter((nonce) => nonce === 1).length, "emptied by one payment").toBeGreaterThan(40)
    expect(relayed).toBeLessThanOrEqual(fees + STOCK + back)
  })
})

describe("transactions after a missing nonce", () => {
  const told = (...transactions: ReadonlyArray<Transaction>) => ({ _tag: "Transactions", transactions }) as const
  const [zero, one, two] = [0, 1, 2].map((nonce) => transfer("alice", nonce, "bob", 1))
  if (!zero || !one || !two) throw new Error("three expected")
  const other = transfer("bob", 0, "alice", 1)

  // Thirty accounts sent nonces from 1 on, never 0, and raised their fees: every node relayed all of it without any
  // payment.
  it("are not relayed, however often their fee is raised", () => {
    const { ann, replica } = scene()
    for (let fee = 1_000; fee < 2_000; fee = Math.ceil((fee * 11) / 10)) {
      const raised = transfer("alice", 1, "bob", 1, fee)
      expect(ann.receive(PEER, told(raised))).toBe(false)
      expect(replica.pool.get(raised.id)).toBeDefined()
    }
  })

  it("are not relayed together with others", () => {
    const { ann, replica } = scene()
    expect(ann.receive(PEER, told(one, other))).toBe(false)
    expect(replica.pool.get(one.id)).toBeDefined()
    expect(replica.pool.get(other.id)).toBeDefined()
  })

  it("are relayed with what closes the gap, in any order", () => {
    const { ann } = scene()
    expect(ann.receive(PEER, told(two, one, zero))).toBe(true)
  })

  it("are announced once the gap closes", () => {
    const { ann, cluster } = scene()
    ann.receive(PEER, told(two))
    ann.receive(PEER, told(one))
    cluster.run(1)
    expect(announced(ann)).toEqual([])
    expect(ann.receive(PEER, told(zero))).toBe(true)
    cluster.run(1)
    expect(announced(ann)).toEqual([[one, two]])
  })

  it("become final, in any order and through any node", () => {
    const { cluster } = scene()
    const payments = Array.from({ length: 12 }, (_, nonce) => transfer("alice", nonce, "bob", 1))
    const names = ["ann", "ben", "cleo", "dan"]
    // The highest nonce first, each at the next node.
    for (const [i, payment] of payments.toReversed().entries()) {
      const { replica } = cluster.machine(names[i % names.length] ?? "ann")
      expect(Either.isRight(replica.submit(payment, cluster.now))).toBe(true)
      cluster.run(7)
    }
    cluster.runRounds(12)
    for (const name of names) expect(cluster.machine(name).replica.read.account(addressOf("alice")).nonce).toBe(12)
  })
})

describe("a heartbeat", () => {
  const withCandidate = (epochRounds = 40) => {
    const { cluster, ann, replica } = scene(2, epochRounds)
    const stake = sign("eve", 0, { _tag: "StakeTx", amount: coins(8_000) }, 0)
    expect(Either.isRight(replica.submit(stake, cluster.now))).toBe(true)
    // Eve makes no heartbeat herself: no node runs with her key.
    cluster.runRounds(10)
    expect(replica.read.stake(addressOf("eve")).stakedAmount).toBe(coins(8_000))
    const head = replica.read.head.index
    const naming = (index: number, hash?: Hash.Hash, by = "eve") => {
      const commit = Natural.commitIndex(index)
      const named = hash ?? replica.read.recentCommit(commit)?.hash
      if (named === undefined) throw new Error("an executed commit expected")
      return { _tag: "Heartbeat", heartbeat: Heartbeat.sign(commit, named, signerOf(by)) } as const
    }
    return { cluster, ann, replica, head, naming }
  }

  it("is relayed when it names a later commit than the previous one", () => {
    const { ann, head, naming } = withCandidate()
    expect(ann.receive(PEER, naming(head - 4))).toBe(true)
    expect(ann.receive(PEER, naming(head - 4))).toBe(false)
    expect(ann.receive(PEER, naming(head - 5))).toBe(false)
    expect(ann.receive(PEER, naming(head))).toBe(true)
  })

  it("is relayed twice in the rounds between two of an honest validator, and no more", () => {
    // Epochs of 160 rounds: an honest one names a commit of every tenth round.
    const { cluster, ann, replica, naming } = withCandidate(160)
    let relayed = 0
    const since = replica.read.head.leaderRound
    for (let round = 0; round < 30; round++) {
      cluster.runRounds(1)
      if (ann.receive(PEER, naming(replica.read.head.index))) relayed++
    }
    const rounds = replica.read.head.leaderRound - since
    expect(rounds).toBeGreaterThan(20)
    expect(relayed).toBeGreaterThan(1)
    expect(relayed).toBeLessThanOrEqual(1 + rounds / 5)
  })

  it("of a future commit is not relayed, however many are invented, and keeps no other one back", () => {
    const { ann, head, naming } = withCandidate()
    for (let ahead = 1; ahead <= COMMITS_AHEAD; ahead++) {
      for (const hash of [ELSEWHERE, Hash.ZERO]) expect(ann.receive(PEER, naming(head + ahead, hash))).toBe(false)
    }
    expect(ann.replica.held.relayed).toBe(0)
    expect(ann.receive(PEER, naming(head))).toBe(true)
  })

  it("is not relayed when it names another commit, or one too far ahead", () => {
    const { ann, head, naming } = withCandidate()
    expect(ann.receive(PEER, naming(head, ELSEWHERE))).toBe(false)
    expect(ann.receive(PEER, naming(head + COMMITS_AHEAD + 1, ELSEWHERE))).toBe(false)
  })

  it("is not relayed for a validator that stakes nothing", () => {
    const { ann, head, naming } = withCandidate()
    expect(ann.receive(PEER, naming(head, undefined, "fay"))).toBe(false)
    expect(ann.receive(PEER, naming(head + 1, ELSEWHERE, "fay"))).toBe(false)
  })

  it("is wanted before its signature is verified exactly while it would be relayed, and asking changes nothing", () => {
    const { ann, replica, head, naming } = withCandidate()
    const messages = [
      naming(head),
      naming(head + 1, ELSEWHERE),
      naming(head, ELSEWHERE),
      naming(head, undefined, "fay"),
    ]
    const uses = () => messages.map((message) => replica.useOf(PEER, message)._tag)
    expect(uses()).toEqual(["Wanted", "Ahead", "Wrong", "Known"])
    expect(uses()).toEqual(["Wanted", "Ahead", "Wrong", "Known"])
    expect(messages.map((message) => ann.receive(PEER, message))).toEqual([true, false, false, false])
    expect(uses()).toEqual(["Known", "Ahead", "Wrong", "Known"])
  })
})

describe("evidence", () => {
  it("is relayed once per member, and only for members and this base", () => {
    const { ann, replica, cluster } = scene()
    const { record, base: ours } = replica.core.epoch.opening
    const told = (author: string, round: number, base = ours) =>
      ({ _tag: "Evidence", evidence: equivocation(author, base, record.epoch, round) }) as const
    expect(ann.receive(PEER, told("dan", 9, Hash.ZERO))).toBe(false)
    expect(ann.receive(PEER, told("eve", 9))).toBe(false)
    expect(ann.receive(PEER, told("dan", 9))).toBe(true)
    expect(ann.receive(PEER, told("dan", 9))).toBe(false)
    expect(ann.receive(PEER, told("dan", 8))).toBe(false)
    expect(ann.receive(PEER, told("cleo", 9))).toBe(true)
    // Once it is ordered, the pool drops it and accepts it again.
    cluster.runRounds(10)
    expect(replica.held.evidence).toBe(0)
    expect(ann.receive(PEER, told("dan", 7))).toBe(false)
  })
})

describe("a signature under a checkpoint", () => {
  const told = (checkpoint: Checkpoint.Checkpoint, name: string) =>
    ({ _tag: "CheckpointSignature", checkpoint, signature: Checkpoint.sign(checkpoint, signerOf(name)) }) as const

  const withCheckpoint = () => {
    const { cluster, ann } = scene(55)
    const closing = ann.disk.closing(Natural.epoch(1))
    if (closing === undefined) throw new Error("a closed epoch expected")
    const { checkpoint } = closing
    // A commit ahead of all that are signed here.
    const commitIndex = Natural.commitIndex(ann.replica.read.head.index + 100)
    const epoch = ann.replica.core.epoch.opening.record.epoch
    return { cluster, ann, known: checkpoint, ahead: Checkpoint.make({ ...checkpoint, commitIndex, epoch }) }
  }

  it("is relayed once per member and content", () => {
    const { ann, ahead } = withCheckpoint()
    expect(ann.receive(PEER, told(ahead, "dan"))).toBe(true)
    expect(ann.receive(PEER, told(ahead, "dan"))).toBe(false)
    expect(ann.receive(PEER, told(Checkpoint.make({ ...ahead, stateRoot: ELSEWHERE }), "dan"))).toBe(true)
    expect(ann.receive(PEER, told(ahead, "cleo"))).toBe(true)
  })

  it("is relayed as often as a member signs and an honest one may catch up on; other members lose nothing", () => {
    const { cluster, ann, ahead } = withCheckpoint()
    let made = 0
    const flood = () => {
      const before = ann.replica.core.checkpoints.pending
      let relayed = 0
      for (let i = 0; i < 100; i++) {
        const commitIndex = Natural.commitIndex(ahead.commitIndex + ++made)
        const message = told(Checkpoint.make({ ...ahead, commitIndex }), "dan")
        const isWanted = ann.replica.useOf(PEER, message)._tag === "Wanted"
        const isRelayed = ann.receive(PEER, message)
        expect(isRelayed).toBe(isWanted)
        if (isRelayed) relayed++
      }
      expect(ann.replica.core.checkpoints.pending - before).toBeLessThanOrEqual(relayed)
      return relayed
    }
    expect(flood()).toBe(SIGNATURES_AT_ONCE)
    expect(flood()).toBe(0)
    expect(ann.receive(PEER, told(ahead, "cleo"))).toBe(true)
    const since = ann.replica.core.epoch.dag.highestRound
    cluster.runRounds(20)
    const rounds = ann.replica.core.epoch.dag.highestRound - since
    // A checkpoint every ten rounds, and twice as many pass.
    expect(flood()).toBeLessThanOrEqual(Math.ceil(rounds / 5))
  })

  it("is not relayed when no member signed it, the committee is unknown, or a quorum signed before", () => {
    const { ann, ahead, known } = withCheckpoint()
    expect(ann.receive(PEER, told(ahead, "eve"))).toBe(false)
    expect(ann.receive(PEER, told(Checkpoint.make({ ...ahead, epoch: Natural.epoch(9) }), "dan"))).toBe(false)
    // After a quorum, the signature is no longer verified, so this one is forged.
    const { checkpoint, signature, ...message } = told(known, "dan")
    const forged = {
      ...message,
      checkpoint,
      signature: { ...signature, signature: told(ahead, "dan").signature.signature },
    }
    expect(ann.replica.checksOf(forged)).toEqual([])
    expect(ann.receive(PEER, forged)).toBe(false)
  })
})

describe("other messages", () => {
  it("are not relayed", () => {
    const { ann, replica, cluster } = scene()
    const { dag, committee, opening } = replica.core.epoch
    const round = Natural.round(dag.quorumRound + 1)
    const parents = [...dag.at(dag.quorumRound)]
      .map(({ vertex }) => vertex.header)
      .sort((a, b) => (a.author < b.author ? -1 : 1))
    const coinbase = committee.coinbase(round, 0)
    const { base, record } = opening
    const content = { base, epoch: record.epoch, round, parents, timestamp: cluster.now, coinbase }
    const vertex = Vertex.sign(content, Vertex.emptyBody, signerOf("dan"))
    expect(ann.receive(PEER, { _tag: "Vertices", vertices: [vertex] })).toBe(false)
    expect(ann.receive(PEER, { _tag: "Closing", signed: [], newest: null })).toBe(false)
    expect(ann.receive(PEER, { _tag: "AskHighest", author: addressOf("dan") })).toBe(false)
  })
})

describe("the memory of relayed messages", () => {
  const rules = { ...scene(1).replica.core.epoch.opening.record.rules, epochRounds: 320, checkpointIntervalRounds: 100 }
  const beat = (validator: number, index: number) => {
    const heartbeat = Heartbeat.sign(Natural.commitIndex(index), Hash.ZERO, signerOf("eve"))
    return { ...heartbeat, validator: validator.toString(16).padStart(40, "0") as Address }
  }
  const round = Natural.round

  it("is bounded, and forgets the stalest heartbeat first: recent ones are not relayed again", () => {
    const relaying = new Relaying()
    for (let n = 0; n < REMEMBERED; n++) relaying.heartbeat(beat(n, 1), round(1))
    relaying.heartbeat(beat(0, 20), round(20))
    relaying.heartbeat(beat(REMEMBERED, 1), round(1))
    expect(relaying.size).toBe(REMEMBERED)
    const isWanted = (validator: number) => relaying.wantsHeartbeat(beat(validator, 20), round(20), rules)
    expect([isWanted(0), relaying.wantsHeartbeat(beat(1, 1), round(1), rules), isWanted(2)]).toEqual([
      false,
      true,
      true,
    ])
    expect(relaying.wantsHeartbeat(beat(2, 1), round(1), rules)).toBe(false)
  })

  it("keeps of signatures only the round that they are credited to", () => {
    const relaying = new Relaying()
    const { validator } = beat(1, 1)
    const takenAt = (at: number) => {
      let taken = 0
      for (; relaying.wantsSignature(validator, round(at), rules); taken++)
        relaying.signature(validator, round(at), rules)
      return taken
    }
    expect([takenAt(1_000), takenAt(1_049), takenAt(1_050), takenAt(1_100), takenAt(9_000)]).toEqual([4, 0, 1, 1, 4])
    relaying.forgetBefore(Natural.epoch(2), round(9_199))
    expect(relaying.size).toBe(1)
    relaying.forgetBefore(Natural.epoch(2), round(9_200))
    expect(relaying.size).toBe(0)
  })
})
