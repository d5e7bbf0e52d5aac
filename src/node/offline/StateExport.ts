/** Writes the state of the newest closing checkpoint to a file. Only reads the database. */
import { Data, Effect } from "effect"
import { randomBytes } from "#crypto"
import { Ledger } from "../../ledger/Ledger.js"
import * as HalfSipHash from "../../ledger/tables/HalfSipHash.js"
import * as Subtree from "../../ledger/trie/Subtree.js"
import type * as Trie from "../../ledger/trie/Trie.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import type { Genesis } from "../../protocol/epoch/Genesis.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import { ProvenChain } from "../../replica/joining/ProvenChain.js"
import * as StateFile from "../../storage/files/StateFile.js"
import { Storage } from "../../storage/Storage.js"
import { fromDamage } from "../lifecycle/Ending.js"
import * as Loading from "../start/Loading.js"

/** The database has no checkpoint with both a quorum of signatures and its state. */
export class NothingToExport extends Data.TaggedError("NothingToExport")<{ readonly message: string }> {}

const PAGE = 1_000

/** The chain of checkpoints from the genesis to this one, proven by signatures. */
export const provenFrom = (genesis: Genesis, tableKey: HalfSipHash.Key, newest: SignedCheckpoint): ProvenChain =>
  new ProvenChain(
    { record: Ledger.fromGenesis(genesis, tableKey).read.epoch, pin: null, isValid: Verification.isValid },
    newest,
  )

const chainTo = (genesis: Genesis, tableKey: HalfSipHash.Key, target: SignedCheckpoint) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const chain = provenFrom(genesis, tableKey, target)
    for (let from = 1; !chain.isProven; from += PAGE) {
      const page = yield* storage.checkpoints.closing(Natural.epoch(from), PAGE)
      const signed = page.filter(
        ({ hasQuorum, checkpoint }) => hasQuorum && checkpoint.epoch <= target.checkpoint.epoch,
      )
      chain.takeAtOnce(signed)
      if (!chain.isProven && page.length < PAGE) {
        const { epoch, hash } = target.checkpoint
        return yield* new NothingToExport({
          message: `the stored checkpoints do not lead from the genesis to ${hash}, which closed epoch ${epoch}; export from a node that has run from the beginning`,
        })
      }
    }
    return chain.proven
  })

const newestOf = ({ contents, closed }: Loading.Read) =>
  Effect.gen(function* () {
    for (const { epoch, trie } of closed.toReversed()) {
      const signed = contents.closings.find(({ checkpoint }) => checkpoint.epoch === epoch)
      if (signed === undefined) continue
      const { stateRoot } = signed.checkpoint
      if (stateRoot === trie.hash) return { target: signed, trie }
      return yield* Effect.fail(
        fromDamage({
          message: `the state at the close of epoch ${epoch} has the root ${trie.hash}, but its checkpoint has ${stateRoot}`,
        }),
      )
    }
    const { record } = contents.current.opening
    return yield* new NothingToExport({
      message: `no epoch has closed here with the signatures of a quorum; epoch ${record.epoch} ends with round ${EpochRecord.lastRound(record)}, try again after that`,
    })
  })

function* piecesOf(trie: Trie.Trie): Generator<Uint8Array> {
  for (const subtree of Subtree.all(trie, Subtree.MAX_BYTES)) yield Subtree.encode(subtree)
}

export const exportTo = (path: string, genesis: Genesis) =>
  Effect.gen(function* () {
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const { target, trie } = yield* newestOf(yield* Loading.read(genesis, tableKey))
    const chain = yield* chainTo(genesis, tableKey, target)
    yield* StateFile.write(path, { genesis, chain, pieces: piecesOf(trie) })
    return { target, records: trie.records }
  }).pipe(Effect.withSpan("export", { attributes: { path } }))
