/**
 * Everything that a decoder accepts is handled. Every kind of message, with edge values of figures, slots, keys and
 * hashes, goes to one member of four while the others continue: nothing throws, nothing halts, and its history equals
 * theirs.
 */
import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as WholeMessage from "../support/WholeMessage.js"
import { addressOf, Cluster, type Machine, sign, signerOf } from "./Cluster.js"

const MESSAGES = 3_000
const HIGHEST = Number.MAX_SAFE_INTEGER
const names = ["ann", "ben", "cleo", "dan", "eve"]
/** The target is ann; the attacker holds these keys. */
const forgers = ["dan", "eve"]

/** Draws values that are relevant at the target's current position. */
class Attacker {
  readonly #machine: Machine
  readonly #draws: (most: number) => number

  constructor(machine: Machine, draws: (most: number) => number) {
    this.#machine = machine
    this.#draws = draws
  }

  #one<A>(...of: ReadonlyArray<A>): A {
    const found = of[this.#draws(of.length)]
    if (found === undefined) throw new Error("nothing to draw from")
    return found
  }

  #several<A>(most: number, make: () => A): ReadonlyArray<A> {
    return Array.from({ length: this.#draws(most + 1) }, make)
  }

  get #epochNow() {
    return this.#machine.replica.core.epoch
  }

  #number(): number {
    return this.#one(0, 1, 2, this.#draws(100), 2 ** 31, 2 ** 32, HIGHEST - 1, HIGHEST)
  }

  #round(): Natural.Round {
    const { dag } = this.#epochNow
    const near = Math.max(0, dag.highestRound + this.#draws(8) - 4)
    return Natural.round(this.#one(near, near, near, dag.collectedRound, dag.collectedRound + 1, this.#number()))
  }

  #epoch(): Natural.Epoch {
    const { epoch } = this.#epochNow.opening.record
    return Natural.epoch(this.#one(epoch, epoch, epoch, epoch - 1, epoch + 1, this.#number()))
  }

  #hash(): Hash.Hash {
    const known = this.#epochNow.dag.at(this.#round()).map(({ hash }) => hash)
    const { base } = this.#epochNow.opening
    return this.#one(base, Hash.ZERO, Hash.of("udg/seed", Binary.utf8(`${this.#draws(5)}`)), ...known)
  }

  #forger() {
    return signerOf(this.#one(...forgers))
  }

  #sats(): Sats.Sats {
    return Sats.make(this.#one(0, 1, 1_000, Sats.MAX_SUPPLY - 1, Sats.MAX_SUPPLY))
  }

  #parents(round: number): ReadonlyArray<Header.Parent> {
    const before = round > 0 && round < HIGHEST ? this.#epochNow.dag.at(Natural.round(round - 1)) : []
    const genuine = before.map(({ vertex: { header } }) => header)
    const invented = this.#several(4, () => ({
      round: this.#round(),
      author: addressOf(this.#one(...names)),
      hash: this.#hash(),
    }))
    const chosen = [...(this.#draws(4) === 0 ? [] : genuine), ...(this.#draws(2) === 0 ? [] : invented)]
    const parents = chosen.map(({ round: at, author, hash }) => ({ round: at, author, hash }))
    return [...new Map(parents.map((parent) => [JSON.stringify(parent), parent])).values()]
  }

  #header(given: Partial<Header.Content> = {}, key = this.#forger()): Header.Header {
    const round = this.#round()
    const { committee } = this.#epochNow
    const seat = committee.seatOf(addressOf("dan")) ?? 0
    const content = {
      base: this.#one(this.#epochNow.opening.base, this.#epochNow.opening.base, this.#hash()),
      epoch: this.#epoch(),
      round,
      parents: this.#parents(round),
      timestamp: Natural.nearestTimestamp(this.#one(1, 0, HIGHEST, this.#number())),
      coinbase: this.#one(committee.coinbase(round, seat), committee.coinbase(round, seat), this.#sats()),
      bodyHash: this.#hash(),
      ...given,
    }
    return Header.sign(content, key)
  }

  #evidence(): Evidence.Evidence {
    const key = this.#forger()
    const slot = { round: this.#round(), epoch: this.#epoch(), base: this.#hash(), parents: [] }
    const [a, b] = [1, 2].map((mark) => this.#header({ ...slot, timestamp: Natural.timestamp(mark) }, key))
    const evidence = a && b && Evidence.of(a, b)
    if (evidence === undefined) throw new Error("two headers of one slot expected")
    return evidence
  }

  #heartbeat(): Heartbeat.Heartbeat {
    return Heartbeat.sign(Natural.commitIndex(this.#number()), this.#hash(), this.#forger())
  }

  #transaction(): Transaction {
    const from = this.#one("alice", "eve", "dan")
    const amount = this.#sats()
    const operation = this.#one(
      {
        _tag: "Transfer",
        to: addressOf(this.#one(...names)),
        amount: Sats.make(Math.max(1, amount)),
        memo: "",
      } as const,
      {
        _tag: "DelegateTx",
        validator: addressOf(this.#one(...names)),
        amount: Sats.make(Math.max(1, amount)),
      } as const,
      { _tag: "UnstakeTx" } as const,
    )
    return sign(from, this.#number(), operation, this.#sats())
  }

  #vertex(): Vertex.Vertex {
    const body = {
      transactions: this.#several(2, () => this.#transaction()),
      evidence: this.#several(1, () => this.#evidence()),
      heartbeats: this.#several(1, () => this.#heartbeat()),
    }
    return Vertex.make(this.#header({ bodyHash: Vertex.bodyHash(body) }), body)
  }

  #record(): EpochRecord {
    const { record } = this.#epochNow.opening
    const firstRound = Natural.round(this.#one(record.firstRound, 1, 2 ** 40))
    return { ...record, epoch: this.#epoch(), firstRound }
  }

  #checkpoint(): Checkpoint.Checkpoint {
    return Checkpoint.make({
      epoch: this.#epoch(),
      round: this.#round(),
      commitIndex: Natural.commitIndex(this.#number()),
      commitHash: this.#hash(),
      effectsDigest: this.#hash(),
      stateRoot: this.#hash(),
      totalSupply: this.#sats(),
      nextEpoch: this.#one(null, this.#record()),
      previous: this.#hash(),
    })
  }

  #signed(): Checkpoint.SignedCheckpoint {
    const checkpoint = this.#checkpoint()
    return { checkpoint, signatures: this.#several(1, () => Checkpoint.sign(checkpoint, this.#forger())) }
  }

  message(): Message {
    const checkpoint = this.#checkpoint()
    const author = addressOf(this.#one(...names))
    const position = new Uint8Array(33)
    position[0] = this.#draws(256)
    const makers: ReadonlyArray<() => Message> = [
      () => ({ _tag: "Vertices", vertices: this.#several(3, () => this.#vertex()) }),
      () => ({ _tag: "Vertices", vertices: [this.#vertex()] }),
      () => ({
        _tag: "Rounds",
        epoch: this.#epoch(),
        vertices: this.#several(3, () => this.#vertex()),
        isLast: this.#draws(2) === 0,
      }),
      () => ({ _tag: "Transactions", transactions: [this.#transaction()] }),
      () => ({ _tag: "Heartbeat", heartbeat: this.#heartbeat() }),
      () => ({ _tag: "Evidence", evidence: this.#evidence() }),
      () => ({ _tag: "CheckpointSignature", checkpoint, signature: Checkpoint.sign(checkpoint, this.#forger()) }),
      () => ({
        _tag: "Closing",
        signed: this.#several(2, () => this.#signed()),
        newest: this.#one(null, this.#signed()),
      }),
      () => ({ _tag: "Highest", author, epoch: this.#epoch(), header: this.#one(null, this.#header()) }),
      () => ({ _tag: "State", root: this.#hash(), subtree: this.#one(null, new Uint8Array(this.#draws(40))) }),
      () => ({ _tag: "AskVertices", hashes: this.#several(3, () => this.#hash()) }),
      () => ({
        _tag: "AskRounds",
        epoch: this.#epoch(),
        fromRound: this.#round(),
        toRound: this.#round(),
        after: this.#one(null, this.#hash()),
      }),
      () => ({ _tag: "AskClosing", from: this.#epoch() }),
      () => ({ _tag: "AskHighest", author }),
      () => ({ _tag: "AskState", root: this.#hash(), position }),
    ]
    return this.#one(...makers)()
  }
}

describe("a replica", () => {
  it("handles every message that a decoder accepts", () => {
    const cluster = new Cluster({
      validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 },
      accounts: { alice: 1_000, eve: 1_000 },
      epochRounds: 40,
    }).start()
    const ann = cluster.machine("ann")
    const seen = new Map<string, number>()
    const [seeds] = FastCheck.sample(FastCheck.infiniteStream(FastCheck.nat(2 ** 30)), { numRuns: 1, seed: 7 })
    const draws = (most: number): number => Number(seeds?.next().value ?? 0) % most
    for (let sent = 0; sent < MESSAGES; sent++) {
      const bytes = MessageCodec.encode(new Attacker(ann, draws).message())
      const decoded = WholeMessage.decode(cluster.genesis.networkId, bytes)
      if (Either.isLeft(decoded)) continue
      seen.set(decoded.right._tag, (seen.get(decoded.right._tag) ?? 0) + 1)
      const from = sent % 2 === 0 ? "dan" : "nobody"
      ann.receive(from as PeerId, decoded.right)
      if (sent % 20 === 0) cluster.runRounds(1)
    }
    cluster.runRounds(10)
    expect(seen.size).toBe(14)
    for (const count of seen.values()) expect(count).toBeGreaterThan(MESSAGES / 40)
    const round = ann.replica.read.head.leaderRound
    expect(round).toBeGreaterThan(100)
    const [mine, theirs] = [ann, cluster.machine("ben")].map(({ replica }) => replica.read.head)
    expect(Math.abs((mine?.leaderRound ?? 0) - (theirs?.leaderRound ?? 0))).toBeLessThan(10)
    const digests = cluster.machines.map(({ executed }) => executed.map(({ execution }) => execution.effectsDigest))
    const shortest = Math.min(...digests.map(({ length }) => length))
    for (const each of digests) expect(each.slice(0, shortest)).toEqual(digests[0]?.slice(0, shortest))
  })
})
