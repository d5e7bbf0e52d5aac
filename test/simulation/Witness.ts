/**
 * Compares all honest machines: they finalize the same commits in the same order with the same effects, and never take
 * one back. It sees only the outputs of a replica, not its code.
 */
import { Committee } from "../../src/consensus/dag/Committee.js"
import type { Execution } from "../../src/ledger/rules/Execution.js"
import type { Totals } from "../../src/ledger/tables/Records.js"
import type { Checkpoint } from "../../src/protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { PublicKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Header } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { ReferenceCommitter } from "../consensus/ReferenceCommitter.js"

/** A broken invariant. The message is for people; `machine` is the one that broke it. */
export class Violation extends Error {
  override readonly name = "Violation"
  readonly machine: string

  constructor(machine: string, message: string) {
    super(`${machine}: ${message}`)
    this.machine = machine
  }
}

/** Evidence is proposed by the maker of the next vertex, so these rounds are plenty. */
const ROUNDS_TO_JUSTICE = 20
const ACCUSERS = 3

/** Two vertices of one slot in the DAG of a machine. */
export interface Proof {
  readonly accused: string
  readonly hashes: readonly [Hash.Hash, Hash.Hash]
}

interface Finalized {
  readonly hash: string
  readonly effectsDigest: string
  readonly order: string
  readonly by: string
}

/** The history that all machines must agree on. */
export class Witness {
  readonly #commits = new Map<number, Finalized>()
  readonly #checkpoints = new Map<number, { readonly checkpoint: Checkpoint; readonly by: string }>()
  /** Machine → the last commit it published as final. */
  readonly #published = new Map<string, number>()
  /** Machine → the commit at which its epoch began. */
  readonly #began = new Map<string, number>()
  /** Slot of an honest validator → what it signed there. */
  readonly #signed = new Map<string, string>()
  readonly #slotNames = new WeakMap<Header, string>()
  /** The slot of every vertex that any machine inserted. */
  readonly #slots = new Map<string, string>()
  /** Vertices that name a parent under a wrong slot, with the highest such round. */
  readonly #misnaming = new Map<string, number>()
  /** Machine → slot → the vertex that it last inserted there. */
  readonly #inserted = new Map<string, Map<string, Hash.Hash>>()
  /** Epoch and validator → each machine's proof, and the round since which enough machines have one. */
  readonly #accused = new Map<string, { readonly by: Map<string, Proof>; round: number }>()
  readonly #slashed = new Set<string>()
  /** For an open epoch: every inserted vertex, and the committed leaders. */
  readonly #known = new Map<number, Map<string, Vertex>>()
  #leaders: Array<{ readonly round: number; readonly hash: string }> = []
  readonly #records = new Map<number, EpochRecord.EpochRecord>()
  #highestCommit = 0
  #highestRound = 0

  /** Whether the timestamps of this validator can be wrong. */
  readonly #isTimeless: (author: Address) => boolean
  #highestTime = 0

  /** The account of a validator's key, whichever of its keys that is. */
  readonly #accountOf: (key: Address) => Address
  /** The key that each account has announced last. */
  readonly #announced = new Map<Address, { readonly publicKey: PublicKey; readonly since: number }>()

  constructor(
    genesis: EpochRecord.EpochRecord,
    isTimeless: (author: Address) => boolean,
    accountOf: (key: Address) => Address = (key) => key,
  ) {
    this.#records.set(genesis.epoch, genesis)
    this.#isTimeless = isTimeless
    this.#accountOf = accountOf
  }

  /** How often a member's key was replaced at a close. */
  rotations = 0

  get highestCommit(): number {
    return this.#highestCommit
  }

  /** Leader round of the highest commit. */
  get highestRound(): number {
    return this.#highestRound
  }

  get commits(): number {
    return this.#commits.size
  }

  get epochs(): number {
    return this.#records.size
  }

  get checkpoints(): number {
    return this.#checkpoints.size
  }

  recordOf(epoch: number): EpochRecord.EpochRecord | undefined {
    return this.#records.get(epoch)
  }

  get latestRecord(): EpochRecord.EpochRecord | undefined {
    return this.#records.get(Math.max(...this.#records.keys()))
  }

  /** A machine has executed a commit that is not on its disk yet. */
  executed(machine: string, execution: Execution, vertices: ReadonlyArray<Vertex>): void {
    const { commit, effectsDigest, nextEpoch } = execution
    this.#agree(machine, commit.index, {
      hash: commit.hash,
      effectsDigest,
      order: vertices.map(({ header }) => header.hash).join(),
      by: machine,
    })
    this.#keepToTheRecord(machine, execution)
    if (nextEpoch !== null) this.#records.set(nextEpoch.epoch, nextEpoch)
    for (const event of execution.events) {
      if (event._tag === "Slashed") this.#slashed.add(`${event.epoch} ${event.validator}`)
    }
    if (commit.index <= this.#highestCommit) return
    this.#expectHonestTime(machine, execution)
    this.#expectTheVersion(machine, execution, vertices)
    this.#expectTheKeys(machine, execution, vertices)
    this.#highestCommit = commit.index
    this.#highestRound = commit.leaderRound
    this.#leaders.push({ round: commit.leaderRound, hash: commit.leaderHash })
    if (nextEpoch !== null) this.#expectTheRule(machine, commit.epoch)
  }

  /**
   * The effects digest, computed from its definition for the protocol version of the commit's own epoch. If all
   * machines changed the rules for a commit too early or too late, comparing them would not show it.
   */
  #expectTheVersion(machine: string, execution: Execution, vertices: ReadonlyArray<Vertex>): void {
    const { commit, changes, effectsDigest, vertices: executed } = execution
    const previous = this.#commits.get(commit.index - 1)?.effectsDigest
    const version = this.#records.get(commit.epoch)?.rules.protocolVersion
    if (previous === undefined || version === undefined) return
    const outcomes = vertices.flatMap(({ body }, v) =>
      body.transactions.map(({ id }, t) => {
        const outcome = ["NoEffect", "Applied", "Failed"].indexOf(executed[v]?.transactions[t]?._tag ?? "")
        return Buffer.from(`${id}0${outcome}`, "hex")
      }),
    )
    const parts =
      version < 3
        ? [changes.encoded]
        : [Hash.of("udg/changes", changes.encoded), Hash.of("udg/outcomes", ...outcomes)].map((hash) =>
            Buffer.from(hash, "hex"),
          )
    if (Hash.of("udg/effects", Buffer.from(previous, "hex"), ...parts) === effectsDigest) return
    throw new Violation(machine, `commit ${commit.index} is not executed by the rules of protocol version ${version}`)
  }

  /**
   * The next committee has the announced keys, except for members that wait for a later close. The oldest change never
   * waits.
   */
  #expectTheKeys(
    machine: string,
    { commit, nextEpoch, vertices: executed }: Execution,
    vertices: ReadonlyArray<Vertex>,
  ): void {
    for (const [v, { body }] of vertices.entries()) {
      for (const [t, { from, operation }] of body.transactions.entries()) {
        const isApplied = executed[v]?.transactions[t]?._tag === "Applied"
        if (!isApplied || operation._tag !== "RotateKeyTx") continue
        this.#announced.set(from, { publicKey: operation.validatorKey, since: commit.epoch })
      }
    }
    const before = new Map(
      this.#records.get(commit.epoch)?.members.map(({ address, publicKey }) => [this.#accountOf(address), publicKey]),
    )
    const changing = (nextEpoch?.members ?? [])
      .map(({ address, publicKey }) => ({ account: this.#accountOf(address), publicKey }))
      .flatMap(({ account, publicKey }) => {
        const announced = this.#announced.get(account)
        return announced === undefined || announced.publicKey === before.get(account)
          ? []
          : [{ account, publicKey, announced }]
      })
      .sort((a, b) => a.announced.since - b.announced.since || (a.account < b.account ? -1 : 1))
    const [oldest] = changing.filter(({ account }) => before.has(account))
    for (const each of changing) {
      const { account, publicKey, announced } = each
      if (announced.publicKey === publicKey) this.rotations++
      else if (each === oldest || publicKey !== before.get(account)) {
        throw new Violation(machine, `epoch ${nextEpoch?.epoch} has the key ${publicKey}, not ${announced.publicKey}`)
      }
    }
  }

  /**
   * The time of a commit lies between timestamps of correct clocks. If wrong clocks have half of the weight, it may be
   * the time of the previous commit.
   */
  #expectHonestTime(machine: string, { commit, time }: Execution): void {
    const record = this.#records.get(commit.epoch)
    const known = this.#known.get(commit.epoch)
    const before = this.#highestTime
    this.#highestTime = time
    let [wrong, total, least, most] = [0, 0, Number.POSITIVE_INFINITY, 0]
    for (const parent of known?.get(commit.leaderHash)?.header.parents ?? []) {
      const header = known?.get(parent.hash)?.header
      if (record === undefined || header === undefined || parent.round !== commit.leaderRound - 1) continue
      const weight = EpochRecord.memberOf(record, parent.author)?.weight ?? 0
      total += weight
      if (this.#isTimeless(parent.author)) wrong += weight
      else {
        least = Math.min(least, header.timestamp)
        most = Math.max(most, header.timestamp)
      }
    }
    if (total === 0 || 2 * wrong >= total || time === before || (time >= least && time <= most)) return
    throw new Violation(machine, `commit ${commit.index} has the time ${time}, not from ${least} to ${most}`)
  }

  /** A vertex has entered a DAG. */
  knows(vertex: Vertex): void {
    const { epoch, hash } = vertex.header
    const known = this.#known.get(epoch)
    if (known === undefined) this.#known.set(epoch, new Map([[hash, vertex]]))
    else if (!known.has(hash)) known.set(hash, vertex)
  }

  /**
   * Commits also follow the rule's definition, computed over all inserted vertices. If all machines used the same wrong
   * rule, comparing them would show it only where their views differ.
   */
  #expectTheRule(machine: string, epoch: number): void {
    const record = this.#records.get(epoch)
    if (record === undefined) return
    const committee = new Committee(record)
    const vertices = [...(this.#known.get(epoch)?.values() ?? [])]
    const released = new ReferenceCommitter(committee, committee, vertices).released()
    const committed = released.flatMap((verdict) => (verdict._tag === "Commit" ? [verdict.leader.header.hash] : []))
    const wrong = this.#leaders.find(({ hash }, i) => committed[i] !== hash)
    if (wrong !== undefined) throw new Violation(machine, `commits round ${wrong.round} against the rule`)
    this.#known.delete(epoch)
    this.#leaders = []
  }

  #agree(machine: string, index: number, found: Finalized): void {
    const known = this.#commits.get(index)
    if (known === undefined) {
      const before = this.#commits.get(index - 1)
      if (index !== 1 && before === undefined) throw new Violation(machine, `commit ${index} comes after a gap`)
      this.#commits.set(index, found)
      return
    }
    for (const field of ["hash", "order", "effectsDigest"] as const) {
      if (known[field] === found[field]) continue
      throw new Violation(machine, `commit ${index} has another ${field} than on ${known.by}`)
    }
  }

  /** The running totals of a machine at any commit. */
  counted(machine: string, { liquid, staked, delegated, treasury, total }: Totals): void {
    const sum = liquid + staked + delegated + treasury
    if (sum === total && total <= Sats.MAX_SUPPLY) return
    throw new Violation(machine, `a supply of ${total} sats, but ${sum} are there`)
  }

  /** Checkpoints are due as the epoch record says, whatever was voted since the epoch began. */
  #keepToTheRecord(machine: string, { commit, isCheckpointDue, nextEpoch }: Execution): void {
    const record = this.#records.get(commit.epoch)
    if (record === undefined) throw new Violation(machine, `commit ${commit.index} of an unknown epoch ${commit.epoch}`)
    const closes = commit.leaderRound >= EpochRecord.lastRound(record)
    if (closes !== (nextEpoch !== null)) {
      throw new Violation(machine, `epoch ${commit.epoch} ${closes ? "stays open" : "closes"} at ${commit.leaderRound}`)
    }
    const before = this.#roundBefore.get(commit.index) ?? 0
    const { firstRound, rules } = record
    const passed = (round: number): number =>
      round < firstRound ? 0 : Math.floor((round - firstRound) / rules.checkpointIntervalRounds)
    const isDue = closes || passed(commit.leaderRound) > passed(before)
    if (isDue !== isCheckpointDue) {
      throw new Violation(machine, `commit ${commit.index} ${isDue ? "lacks" : "has"} a checkpoint against its record`)
    }
    this.#roundBefore.set(commit.index + 1, commit.leaderRound)
  }
  readonly #roundBefore = new Map<number, number>()

  /** A published commit survives every crash. */
  published(machine: string, index: number): void {
    this.#published.set(machine, Math.max(index, this.#published.get(machine) ?? 0))
  }

  started(machine: string, head: number): void {
    const published = this.#published.get(machine) ?? 0
    if (head < published)
      throw new Violation(machine, `commit ${published} was published, after a crash ${head} is the last`)
  }

  /** The disk holds the opening of an epoch that continues from this commit. */
  began(machine: string, index: number): void {
    this.#began.set(machine, index)
  }

  /** A power cut loses only the latest commits, and none of a finished epoch. */
  cut(machine: string, head: number): void {
    const began = this.#began.get(machine) ?? 0
    if (head < began) {
      throw new Violation(machine, `its epoch began behind commit ${began}, after a power cut ${head} is the last`)
    }
    this.setBack(machine, head)
  }

  /** The test set the disk back. */
  setBack(machine: string, head: number): void {
    this.#published.set(machine, Math.min(head, this.#published.get(machine) ?? 0))
    this.#began.set(machine, Math.min(head, this.#began.get(machine) ?? 0))
  }

  checkpointBuilt(machine: string, checkpoint: Checkpoint): void {
    const known = this.#checkpoints.get(checkpoint.commitIndex)
    if (known === undefined) this.#checkpoints.set(checkpoint.commitIndex, { checkpoint, by: machine })
    else if (known.checkpoint.hash !== checkpoint.hash) {
      const what = known.checkpoint.stateRoot === checkpoint.stateRoot ? "content" : "state root"
      throw new Violation(
        machine,
        `the checkpoint of commit ${checkpoint.commitIndex} has another ${what} than on ${known.by}`,
      )
    }
  }

  /** An honest machine with both vertices of a slot in its DAG holds the proof, until a crash takes one of the two. */
  inserted(machine: string, header: Header, collectedRound: number): void {
    const { epoch, author, hash } = header
    const slot = this.#slotOf(header)
    this.#expectTrueNames(machine, header, collectedRound)
    const slots = this.#inserted.get(machine) ?? new Map<string, Hash.Hash>()
    this.#inserted.set(machine, slots)
    const known = slots.get(slot)
    slots.set(slot, hash)
    if (known === undefined || known === hash) return
    const key = `${epoch} ${this.#accountOf(author)}`
    const accusation = this.#accused.get(key) ?? { by: new Map<string, Proof>(), round: 0 }
    this.#accused.set(key, accusation)
    if (accusation.by.has(machine)) return
    accusation.by.set(machine, { accused: key, hashes: [known, hash] })
    if (accusation.by.size <= ACCUSERS) accusation.round = this.#highestRound
  }

  proofsOf(machine: string): ReadonlyArray<Proof> {
    return [...this.#accused.values()].flatMap(({ by }) => by.get(machine) ?? [])
  }

  /** A crash took these proofs from the disk. The machine can prove them again from what it receives. */
  lost(machine: string, proofs: ReadonlyArray<Proof>, isThere: (hash: Hash.Hash) => boolean): void {
    const slots = this.#inserted.get(machine)
    // Of a vertex that only the lost disk held, nothing is left to compare with the next one of its slot.
    for (const [slot, hash] of slots ?? []) if (!isThere(hash)) slots?.delete(slot)
    for (const { accused } of proofs) this.#accused.get(accused)?.by.delete(machine)
  }

  /** Computed once for all machines that insert the vertex. */
  #slotOf(header: Header): string {
    const { epoch, round, author } = header
    const slot = this.#slotNames.get(header) ?? `${epoch} ${round} ${author}`
    this.#slotNames.set(header, slot)
    return slot
  }

  /** No inserted vertex names a parent under a wrong slot, unless that slot is collected. */
  #expectTrueNames(machine: string, header: Header, collectedRound: number): void {
    const { hash, parents, round, epoch } = header
    if (!this.#slots.has(hash)) {
      this.#slots.set(hash, this.#slotOf(header))
      for (const parent of parents) {
        const known = this.#slots.get(parent.hash)
        if (known !== undefined && known !== `${epoch} ${parent.round} ${parent.author}`) {
          this.#misnaming.set(hash, parent.round)
        }
      }
    }
    const misnamed = this.#misnaming.get(hash)
    if (misnamed === undefined || misnamed <= collectedRound) return
    throw new Violation(machine, `took in a vertex of round ${round} that names a parent under a false slot`)
  }

  /** A validator that was proven guilty in time, before the epoch after next began, was slashed. */
  expectJustice(): void {
    for (const [key, { by, round }] of this.#accused) {
      const epoch = Number.parseInt(key, 10)
      const deadline = this.#records.get(epoch + 2)?.firstRound ?? this.#highestRound
      if (by.size < ACCUSERS || deadline - round < ROUNDS_TO_JUSTICE || this.#slashed.has(key)) continue
      throw new Violation("everybody", `${key.slice(-40)} was proven to equivocate in round ${round} and never slashed`)
    }
  }

  /** An honest validator has released this header. */
  signed(machine: string, { base, epoch, round, author, hash }: Header): void {
    const slot = `${base} ${epoch} ${round} ${author}`
    const known = this.#signed.get(slot)
    if (known === undefined) this.#signed.set(slot, hash)
    else if (known !== hash) throw new Violation(machine, `signed two vertices of round ${round} in epoch ${epoch}`)
  }
}
