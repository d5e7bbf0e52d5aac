/** Everything a node has executed and knows of the running epoch. A fast sync replaces all of it. */

import * as Core from "../../consensus/Core.js"
import type * as RoundClock from "../../consensus/RoundClock.js"
import type { SigningGuard } from "../../consensus/SigningGuard.js"
import type { Ledger } from "../../ledger/Ledger.js"
import { PendingTransactions, type Received } from "../../ledger/pending/PendingTransactions.js"
import type { Trie } from "../../ledger/trie/Trie.js"
import { CheckpointBuilding } from "./CheckpointBuilding.js"
import type { StateViews } from "./StateViews.js"
import { UnorderedVertices } from "./UnorderedVertices.js"

export interface LiveState {
  readonly ledger: Ledger
  readonly core: Core.Core
  readonly pool: PendingTransactions
  readonly unordered: UnorderedVertices
  readonly building: CheckpointBuilding
  readonly views: StateViews
}

export interface Source {
  readonly ledger: Ledger
  /** The state as of the ledger's last commit. */
  readonly trie: Trie
  readonly views: StateViews
  readonly stored: Core.Stored
  readonly guard: SigningGuard | null
  readonly pending: Iterable<Received>
  readonly roundIntervalMs: number
  /** See `Core.Options`. */
  readonly pace?: RoundClock.Pace | undefined
}

const isAwaited = ({ pool, unordered }: Pick<LiveState, "pool" | "unordered">): boolean =>
  pool.hasExecutable || unordered.carryTransactions

export const begin = (source: Source): LiveState => {
  const { ledger, trie, views, stored, guard, pending, roundIntervalMs, pace = "budget" } = source
  const options = { roundIntervalMs, guard, pace, isAwaited: () => isAwaited({ pool, unordered }) }
  const core = new Core.Core(options, stored)
  const { dag } = core.epoch
  const pool = new PendingTransactions({
    admission: (transaction, reserved) => ledger.admission(transaction, reserved),
    hasEffect: (transaction) => ledger.hasEffect(transaction),
    spending: (transaction) => ledger.spending(transaction),
    account: (address) => ledger.read.account(address),
  })
  pool.restore(pending, dag.highestRound)
  const unordered = new UnorderedVertices(pool)
  for (const vertex of stored.current.vertices) {
    if (dag.get(vertex.header.hash)?.isOrdered === false) unordered.add(vertex)
  }
  return { ledger, core, pool, unordered, building: new CheckpointBuilding(trie), views }
}
