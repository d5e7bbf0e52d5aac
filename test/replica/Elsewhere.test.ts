/** Validators whose key is held by a signer. It uses the real rule; its connections are slow, cut or shared. */
import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { sha256Hex } from "#crypto"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Judge from "../../src/signer/Judge.js"
import * as Statement from "../../src/signer/Statement.js"
import { Cluster, type Elsewhere, type Machine, signerOf, type World } from "./Cluster.js"
import { expectAgreement, four, ownRounds } from "./FourReplicas.js"

/** The memory of one key. */
class SharedSigner implements Elsewhere {
  isAway = false
  /** Runs between the signer's write and its answer. */
  beforeAnswer: (by: Machine, statement: Statement.Statement | null) => void = () => {}
  /** Runs before a vertex is judged. */
  beforeVertex: () => void = () => {}
  /** The signed vertex of each slot. */
  readonly slots = new Map<string, Hash>()
  refusals = 0
  readonly #name: string
  #memory = Judge.vouched(null, { epoch: Natural.epoch(1), round: Natural.round(0) })

  constructor(name: string) {
    this.#name = name
  }

  get taken(): Statement.Place {
    return this.#memory.taken
  }

  /** A snapshot of the signer's disk from before its first signature is put back. */
  setBack(): void {
    this.#memory = Judge.vouched(null, { epoch: Natural.epoch(1), round: Natural.round(0) })
  }

  sign(by: Machine, bytes: Uint8Array, signedAt: Statement.Place | null): Signature | null | undefined {
    if (this.isAway) return undefined
    if (signedAt !== null) this.#memory = Judge.told(this.#memory, signedAt)
    const { publicKey, sign } = signerOf(this.#name)
    const [statement, digest] = [Statement.read(bytes), sha256Hex(bytes) as Hash]
    if (statement?._tag === "Vertex") this.beforeVertex()
    const asked = { memory: this.#memory, publicKey, genesisHash: digest, node: "", statement, digest }
    const verdict = Judge.judge(asked)
    if (verdict._tag === "Refuse") {
      this.refusals++
      return null
    }
    if (verdict._tag === "Remember") this.#memory = Judge.remember(this.#memory, verdict.change)
    if (statement?._tag === "Vertex") {
      const slot = `${statement.epoch}/${statement.round}`
      expect(this.slots.get(slot) ?? digest).toBe(digest)
      this.slots.set(slot, digest)
    }
    this.beforeAnswer(by, statement)
    return sign(bytes)
  }
}

const roundOf = ({ replica }: Machine): number => replica.core.epoch.dag.highestRound

const network = (world: World = four) => {
  const signers = new Map(Object.keys(world.validators).map((name) => [name, new SharedSigner(name)]))
  const signerNamed = (name: string) => Option.getOrThrow(Option.fromNullable(signers.get(name)))
  const cluster = new Cluster(world, (name) => ({ signedBy: signerNamed(name) })).start()
  return { cluster, signerNamed }
}

describe("validators with remote keys", () => {
  it("make rounds, sign checkpoints and close epochs together", () => {
    const { cluster } = network({ ...four, epochRounds: 60 })
    cluster.runRounds(150)
    for (const machine of cluster.machines) {
      const written = machine.writes.map(({ _tag }) => _tag)
      expect(machine.replica.core.epoch.opening.record.epoch).toBeGreaterThan(1)
      expect(written.filter((tag) => tag === "OwnVertex").length).toBeGreaterThan(30)
      expect(written).toContain("CheckpointFinal")
      expect(machine.replica.held.ownHeaders).toBeLessThan(200)
    }
    expectAgreement(cluster.machines)
  })

  it("send no vertex without a signature", () => {
    const { cluster } = network()
    cluster.runRounds(20)
    for (const { outputs } of cluster.machines) {
      for (const output of outputs) {
        if (output._tag !== "Broadcast" || output.message._tag !== "Vertices") continue
        for (const { header } of output.message.vertices) expect(header.signature).not.toMatch(/^0+$/)
      }
    }
  })

  it("follow while their signer is away, hold one vertex meanwhile, and sign when it is back", () => {
    const { cluster, signerNamed } = network()
    const dan = cluster.machine("dan")
    cluster.runRounds(10)
    signerNamed("dan").isAway = true
    const [before, signed] = [roundOf(dan), ownRounds(dan).length]
    cluster.runRounds(40)
    expect(roundOf(dan)).toBeGreaterThan(before + 10)
    expect(ownRounds(dan).length).toBeLessThanOrEqual(signed + 1)
    signerNamed("dan").isAway = false
    cluster.runRounds(20)
    expect(ownRounds(dan).length).toBeGreaterThan(signed + 5)
    expectAgreement(cluster.machines)
  })

  // No other validator can fill its slot: without the intent, its rounds would stop for ever.
  it("ask again for the vertex that was signed when the power was cut, even alone", () => {
    const world = { ...four, validators: { ann: 2_000 } }
    const { cluster, signerNamed } = network(world)
    const ann = cluster.machine("ann")
    const signer = signerNamed("ann")
    for (let cut = 0; cut < 20; cut++) {
      cluster.runRounds(1 + (cut % 4))
      let isCut = false
      signer.beforeAnswer = (by, statement) => {
        if (isCut || statement?._tag !== "Vertex") return
        isCut = true
        cluster.soon(by, () => by.cutPower())
      }
      cluster.runRounds(4)
      expect(isCut).toBe(true)
      signer.beforeAnswer = () => {}
      const before = signer.slots.size
      ann.start()
      cluster.runRounds(6)
      expect(signer.slots.size).toBeGreaterThan(before)
    }
    expect(signer.refusals).toBe(0)
  })

  it("never fill a slot twice with two nodes and one signer, whichever forgets what", () => {
    const { cluster, signerNamed } = network()
    cluster.runRounds(10)
    const dan = cluster.machine("dan")
    const backup = dan.disk.copy()
    cluster.runRounds(20)
    const copy = cluster.add("dora", { keyOf: "dan", signedBy: signerNamed("dan") }, backup.copy())
    copy.start()
    cluster.runRounds(20)
    dan.replaceDisk(backup)
    dan.start()
    cluster.runRounds(300)
    const slots = (machine: Machine) => ownRounds(machine).length
    expect(slots(dan) + slots(copy)).toBeGreaterThan(20)
    for (const { outputs } of cluster.machines) {
      const isEvidence = (output: (typeof outputs)[number]) =>
        output._tag === "Broadcast" && output.message._tag === "Evidence"
      expect(outputs.some(isEvidence)).toBe(false)
    }
    expectAgreement(cluster.machines.filter(({ name }) => name !== "dora"))
  })

  it("tell a signer that was set back where the key has signed, also from a restored disk", () => {
    const { cluster, signerNamed } = network()
    const [dan, signer] = [cluster.machine("dan"), signerNamed("dan")]
    cluster.runRounds(20)
    const backup = dan.disk.copy()
    cluster.runRounds(20)
    for (const disk of [dan.disk, backup]) {
      dan.stop()
      const { taken } = signer
      signer.setBack()
      dan.replaceDisk(disk)
      dan.start()
      let atFirstVertex: Statement.Place | null = null
      signer.beforeVertex = () => {
        atFirstVertex ??= signer.taken
      }
      cluster.runRounds(300)
      expect(atFirstVertex).toEqual(taken)
    }
  })

  it("fail over to another node when the first one falls silent", () => {
    const { cluster, signerNamed } = network()
    cluster.runRounds(20)
    const dan = cluster.machine("dan")
    const before = signerNamed("dan").slots.size
    dan.stop()
    const copy = cluster.add("dora", { keyOf: "dan", signedBy: signerNamed("dan") })
    copy.start()
    cluster.runRounds(300)
    expect(ownRounds(copy).length).toBeGreaterThan(20)
    expect(signerNamed("dan").slots.size).toBeGreaterThan(before + 20)
  })
})
