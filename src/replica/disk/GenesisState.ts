/** The stored state of a new network: its genesis state and the first epoch. */

import { type Opening, openingOf } from "../../consensus/output/Opening.js"
import type { Ledger } from "../../ledger/Ledger.js"
import * as Trie from "../../ledger/trie/Trie.js"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Natural from "../../protocol/numbers/Natural.js"

/** The unsigned closing checkpoint of epoch 0, whose hash is the base of the first epoch. */
export const checkpointOf = (genesis: Genesis.Genesis, ledger: Ledger): Checkpoint.Closing => {
  const hash = Genesis.hash(genesis)
  return Checkpoint.make({
    epoch: Natural.epoch(0),
    round: Natural.round(0),
    commitIndex: Natural.commitIndex(0),
    commitHash: hash,
    effectsDigest: ledger.effectsDigest,
    stateRoot: Trie.apply(Trie.empty, ledger.entries()).hash,
    totalSupply: ledger.read.totals.total,
    nextEpoch: ledger.read.epoch,
    previous: hash,
  })
}

export const firstOpening = (genesis: Genesis.Genesis, ledger: Ledger): Opening =>
  openingOf(checkpointOf(genesis, ledger), genesis.time)
