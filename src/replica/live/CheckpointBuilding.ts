/**
 * Builds checkpoints one after the other, in slices while commits continue: applies the changes since the last one to
 * the state trie and recounts the whole supply from its leaves. Rounds wait for the checkpoint that closes an epoch. So
 * many changes are applied before a checkpoint is due, and a checkpoint that closes no epoch is skipped if it still
 * waits when the next one is due.
 */
import { Either } from "effect"
import type { Execution } from "../../ledger/rules/Execution.js"
import type { Totals } from "../../ledger/tables/Records.js"
import { Recount } from "../../ledger/tables/Recount.js"
import type { SupplyInvariantViolated } from "../../ledger/tables/Supply.js"
import * as Trie from "../../ledger/trie/Trie.js"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"

export interface Built {
  readonly checkpoint: Checkpoint.Checkpoint
  readonly trie: Trie.Trie
}

interface Due {
  readonly execution: Execution
  readonly previous: Hash
}

/** Changes up to a commit, by freeze, and that commit's checkpoint if one is due. */
interface Waiting {
  readonly due: Due | null
  readonly changes: ReadonlyArray<Iterable<Trie.Change>>
}

interface Job {
  readonly due: Due | null
  readonly update: Trie.Update
  /** Set once all changes are applied. */
  trie: Trie.Trie | undefined
  recount: ReturnType<typeof recounted> | undefined
}

/** Leaves counted before yielding the thread. */
const LEAVES_PER_SLICE = 8

/** Counts the supply from the leaves, yielding now and then. This node wrote them itself, so decoding cannot fail. */
function* recounted(trie: Trie.Trie): Generator<undefined, Either.Either<Totals, SupplyInvariantViolated>, undefined> {
  const recount = new Recount()
  let taken = 0
  for (const leaf of Trie.leaves(trie)) {
    Either.getOrThrow(recount.leaf(leaf))
    if (++taken % LEAVES_PER_SLICE === 0) yield
  }
  return recount.finish()
}

function* inOrder(changes: Waiting["changes"]): Generator<Trie.Change, void, undefined> {
  for (const some of changes) yield* some
}

/** Whether a job can be skipped for the one due now: it is no checkpoint, or closes no epoch. */
const givesWay = (job: Waiting, due: Due | null): boolean =>
  job.due === null || (due !== null && job.due.execution.nextEpoch === null)

/** Invariant: `#trie` is the state after the last finished job. */
export class CheckpointBuilding {
  #trie: Trie.Trie
  #jobs: ReadonlyArray<Waiting> = []
  #running: Job | undefined
  #lastDue = -1

  /** `trie`: the state as of the ledger's last freeze. */
  constructor(trie: Trie.Trie) {
    this.#trie = trie
  }

  get hasWork(): boolean {
    return this.size > 0
  }

  /** The number of ledger freezes held. A running build holds one, however many it began with. */
  get size(): number {
    const waiting = this.#jobs.reduce((count, { changes }) => count + changes.length, 0)
    return waiting + (this.#running === undefined ? 0 : 1)
  }

  /** Queues the checkpoint of this commit. `changes` is the ledger's freeze right after it. */
  add(execution: Execution, previous: Hash, changes: Iterable<Trie.Change>): void {
    const { index } = execution.commit
    if (index <= this.#lastDue)
      throw new Error(`the checkpoint of commit ${index} comes after that of ${this.#lastDue}`)
    this.#lastDue = index
    this.#enqueue({ execution, previous }, changes)
  }

  /** Queues changes for the trie without a checkpoint. */
  prepare(changes: Iterable<Trie.Change>): void {
    this.#enqueue(null, changes)
  }

  #enqueue(due: Due | null, changes: Iterable<Trie.Change>): void {
    const giveWay = this.#jobs.slice(1 + this.#jobs.findLastIndex((job) => !givesWay(job, due)))
    const kept = this.#jobs.slice(0, this.#jobs.length - giveWay.length)
    this.#jobs = [...kept, { due, changes: [...giveWay.flatMap((job) => job.changes), changes] }]
  }

  /** Works while `mayContinue` and returns the next checkpoint once it is built. */
  work(mayContinue: () => boolean): Either.Either<Built | undefined, SupplyInvariantViolated> {
    const job = this.#running ?? this.#begin()
    if (job === undefined) return Either.right(undefined)
    job.trie ??= job.update.step(mayContinue)
    if (job.trie === undefined) return Either.right(undefined)
    const { due, trie } = job
    if (due === null) {
      this.#end(trie)
      return Either.right(undefined)
    }
    job.recount ??= recounted(trie)
    for (;;) {
      const { done, value } = job.recount.next()
      if (done === true) {
        this.#end(trie)
        return Either.map(value, () => ({ checkpoint: checkpointOf(due, trie), trie }))
      }
      if (!mayContinue()) return Either.right(undefined)
    }
  }

  #begin(): Job | undefined {
    const [first, ...others] = this.#jobs
    if (first === undefined) return undefined
    const { due, changes } = first
    this.#jobs = others
    this.#running = { due, update: Trie.update(this.#trie, inOrder(changes)), trie: undefined, recount: undefined }
    return this.#running
  }

  #end(trie: Trie.Trie): void {
    this.#running = undefined
    this.#trie = trie
  }
}

const checkpointOf = ({ execution, previous }: Due, trie: Trie.Trie): Checkpoint.Checkpoint => {
  const { commit, effectsDigest, totals, nextEpoch } = execution
  return Checkpoint.make({
    epoch: commit.epoch,
    round: commit.leaderRound,
    commitIndex: commit.index,
    commitHash: commit.hash,
    effectsDigest,
    stateRoot: trie.hash,
    totalSupply: totals.total,
    nextEpoch,
    previous,
  })
}
