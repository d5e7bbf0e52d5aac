/**
 * Checkpoints being built, one after the other, in slices: what changed since the one before is put into the state trie,
 * and the whole supply is counted again from its leaves, while commits go on. One that closes no epoch is skipped if it
 * still waits when the next is due: the close, for which rounds wait, must not come behind ever more of them.
 */
import { Either } from "effect"
import type { Execution } from "../../ledger/Execution.js"
import type { Totals } from "../../ledger/Records.js"
import { Recount } from "../../ledger/Recount.js"
import type { SupplyInvariantViolated } from "../../ledger/Supply.js"
import * as Trie from "../../ledger/trie/Trie.js"
import * as Checkpoint from "../../protocol/Checkpoint.js"
import type { Hash } from "../../protocol/Hash.js"

export interface Built {
  readonly checkpoint: Checkpoint.Checkpoint
  readonly trie: Trie.Trie
}

interface Due {
  readonly execution: Execution
  /** Content hash of the closing checkpoint before. */
  readonly previous: Hash
}

interface Waiting extends Due {
  /** Since the checkpoint before, one freeze after the other. */
  readonly changes: ReadonlyArray<Iterable<Trie.Change>>
}

interface Job extends Due {
  readonly update: Trie.Update
}

/** Leaves counted before others may have the thread. */
const SLICE = 32

/** Counts the supply from the leaves, resting now and then. They are what this node itself put there. */
function* recounted(trie: Trie.Trie): Generator<undefined, Either.Either<Totals, SupplyInvariantViolated>, undefined> {
  const recount = new Recount()
  let taken = 0
  for (const leaf of Trie.leaves(trie)) {
    Either.getOrThrow(recount.leaf(leaf))
    if (++taken % SLICE === 0) yield
  }
  return recount.finish()
}

function* inOrder(changes: Waiting["changes"]): Generator<Trie.Change, void, undefined> {
  for (const some of changes) yield* some
}

/** Invariant: `#trie` is the state after the last job that was taken from the queue. */
export class CheckpointBuilding {
  #trie: Trie.Trie
  #jobs: ReadonlyArray<Waiting> = []
  #running: (Job & { trie: Trie.Trie | undefined; recount: ReturnType<typeof recounted> | undefined }) | undefined

  /** `trie` is the state as of the ledger's last freeze. */
  constructor(trie: Trie.Trie) {
    this.#trie = trie
  }

  get hasWork(): boolean {
    return this.size > 0
  }

  /** How many checkpoints are being built or wait for it. */
  get size(): number {
    return this.#jobs.length + (this.#running === undefined ? 0 : 1)
  }

  /** The state after this commit is a checkpoint; `changes` are what the ledger froze right after it. */
  add(execution: Execution, previous: Hash, changes: Iterable<Trie.Change>): void {
    const last = this.#jobs.at(-1)
    const isSkipped = last !== undefined && last.execution.nextEpoch === null
    const before = isSkipped ? last.changes : []
    const others = isSkipped ? this.#jobs.slice(0, -1) : this.#jobs
    this.#jobs = [...others, { execution, previous, changes: [...before, changes] }]
  }

  /** Works while it may; gives the next checkpoint once it is built. */
  work(mayContinue: () => boolean): Either.Either<Built | undefined, SupplyInvariantViolated> {
    const job = this.#running ?? this.#begin()
    if (job === undefined) return Either.right(undefined)
    job.trie ??= job.update.step(mayContinue)
    if (job.trie === undefined) return Either.right(undefined)
    job.recount ??= recounted(job.trie)
    for (;;) {
      const { done, value } = job.recount.next()
      if (done === true) {
        this.#running = undefined
        this.#trie = job.trie
        const trie = job.trie
        return Either.map(value, () => ({ checkpoint: checkpointOf(job, trie), trie }))
      }
      if (!mayContinue()) return Either.right(undefined)
    }
  }

  #begin() {
    const [first, ...others] = this.#jobs
    if (first === undefined) return undefined
    const { execution, previous, changes } = first
    this.#jobs = others
    this.#running = {
      execution,
      previous,
      update: Trie.update(this.#trie, inOrder(changes)),
      trie: undefined,
      recount: undefined,
    }
    return this.#running
  }
}

const checkpointOf = ({ execution, previous }: Job, trie: Trie.Trie): Checkpoint.Checkpoint => {
  const { commit, effectsDigest, totalSupply, nextEpoch } = execution
  return Checkpoint.make({
    epoch: commit.epoch,
    round: commit.leaderRound,
    commitIndex: commit.index,
    commitHash: commit.hash,
    effectsDigest,
    stateRoot: trie.hash,
    totalSupply,
    nextEpoch,
    previous,
  })
}
