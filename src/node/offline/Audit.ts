/**
 * Verifies that the stored data is the finalized data, without changing a byte. After everything that a start checks,
 * it reconstructs the state at the last close from the present one, compares it with the checkpoint that the epoch's
 * vertices name, and executes every commit since then again. The result must be the stored state, so a changed value is
 * found even if all sums still agree.
 */
import { Effect, Either } from "effect"
import { randomBytes } from "#crypto"
import * as Core from "../../consensus/Core.js"
import { Ledger } from "../../ledger/Ledger.js"
import * as HalfSipHash from "../../ledger/tables/HalfSipHash.js"
import * as Trie from "../../ledger/trie/Trie.js"
import type { Checkpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Genesis } from "../../protocol/epoch/Genesis.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as GenesisState from "../../replica/disk/GenesisState.js"
import * as LoadedState from "../../replica/disk/LoadedState.js"
import type { StoredState } from "../../replica/disk/StoredState.js"
import { Storage } from "../../storage/Storage.js"
import type { CommitRecord } from "../../storage/tables/Commits.js"
import * as EventLoop from "../../turns/EventLoop.js"
import { FinalityRollback, fromDamage, InternalFault, type StateDamaged, SupplyViolation } from "../lifecycle/Ending.js"
import * as Lookup from "../reads/Lookup.js"
import * as Loading from "../start/Loading.js"

interface Base {
  readonly ledger: Ledger
  readonly trie: Trie.Trie
}

const damaged = (finding: string): Effect.Effect<never, StateDamaged> => Effect.fail(fromDamage({ message: finding }))

/** The running epoch's stored vertices must decide the stored commits, as at every start. */
const decideAnew = ({ protocol }: Genesis, contents: StoredState): Effect.Effect<void, FinalityRollback> => {
  const core = new Core.Core({ roundIntervalMs: protocol.roundIntervalMs, guard: null }, { ...contents, signed: [] })
  const rollback = core.start(Natural.timestamp(0)).find(({ _tag }) => _tag === "FinalityRollback")
  return rollback?._tag === "FinalityRollback"
    ? Effect.fail(new FinalityRollback({ rollback: rollback.rollback }))
    : Effect.void
}

/** A genesis state is unsigned: the first epoch's vertices name its checkpoint's hash. */
const genesisBase = (genesis: Genesis, tableKey: HalfSipHash.Key, { current }: StoredState) =>
  Effect.gen(function* () {
    const ledger = Ledger.fromGenesis(genesis, tableKey)
    const { hash } = GenesisState.checkpointOf(genesis, ledger)
    const { base } = current.opening
    if (hash !== base) return yield* damaged(`epoch 1 continues from ${base}, but the genesis is ${hash}`)
    return { ledger, trie: yield* Loading.updated(Trie.empty, ledger.entries()) } satisfies Base
  })

const closingOf = ({ current, previous, closings }: StoredState): Checkpoint | undefined =>
  [...closings.map(({ checkpoint }) => checkpoint), ...(previous?.checkpoints ?? [])].find(
    ({ hash }) => hash === current.opening.base,
  )

const closeBase = (
  { protocol }: Genesis,
  tableKey: HalfSipHash.Key,
  contents: StoredState,
  closed: ReadonlyArray<LoadedState.ClosedState>,
) =>
  Effect.gen(function* () {
    const { base, record } = contents.current.opening
    const epoch = record.epoch - 1
    const checkpoint = closingOf(contents)
    if (checkpoint === undefined)
      return yield* damaged(`the checkpoint ${base}, which closed epoch ${epoch}, is missing`)
    const trie = closed.find((each) => each.epoch === epoch)?.trie ?? Trie.empty
    if (trie.hash !== checkpoint.stateRoot) {
      return yield* damaged(
        `the reconstructed state at the close of epoch ${epoch} has the root ${trie.hash}, but its checkpoint has ${checkpoint.stateRoot}`,
      )
    }
    const made = yield* Loading.ledgerOf(protocol, tableKey, { target: { checkpoint, signatures: [] }, trie })
    const ledger = yield* Either.match(made, {
      onLeft: (reason) => damaged(`the closing state of epoch ${epoch}: ${reason}`),
      onRight: Effect.succeed,
    })
    return { ledger, trie } satisfies Base
  })

const executeAgain = (networkId: Genesis["networkId"], ledger: Ledger, record: CommitRecord) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const stored = yield* storage.vertices.ofCommit(record.index)
    const vertices = yield* Effect.forEach(stored, ({ bytes }) => Lookup.vertex(networkId, bytes))
    const execution = yield* Effect.mapError(
      Effect.suspend(() => ledger.execute({ commit: record, time: record.time, vertices })),
      (failure) =>
        failure._tag === "ExecutionFault"
          ? new InternalFault({ fault: failure })
          : new SupplyViolation({ violation: failure }),
    )
    if (execution.effectsDigest !== record.effectsDigest) {
      return yield* damaged(
        `executing commit ${record.index} again has the effects ${execution.effectsDigest}, but ${record.effectsDigest} is recorded`,
      )
    }
    return execution
  })

/** Executes every commit of the epoch, comparing the state's root at each checkpoint. */
const replay = ({ networkId }: Genesis, { current }: StoredState, { ledger, trie: before }: Base) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const expected = new Map(
      [...current.checkpoints, ...current.signed.map(({ checkpoint }) => checkpoint)].map((checkpoint) => [
        checkpoint.commitIndex,
        checkpoint,
      ]),
    )
    const records = yield* storage.commits.ofEpoch(current.opening.record.epoch)
    let trie = before
    let checkpoints = 0
    for (const record of records) {
      const { changes } = yield* executeAgain(networkId, ledger, record)
      trie = yield* Loading.updated(trie, [...changes].map(LoadedState.placed))
      const checkpoint = expected.get(record.index)
      if (checkpoint !== undefined) {
        if (checkpoint.stateRoot !== trie.hash) {
          return yield* damaged(
            `executing up to round ${checkpoint.round} again leads to the root ${trie.hash}, but its checkpoint has ${checkpoint.stateRoot}`,
          )
        }
        checkpoints++
      }
      yield* EventLoop.turn
    }
    return { trie, commits: records.length, checkpoints }
  })

/** Checks everything; fails with the errors of a start and with those that only an audit finds. */
export const audit = (genesis: Genesis) =>
  Effect.gen(function* () {
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const { contents, opened, closed } = yield* Loading.read(genesis, tableKey)
    yield* decideAnew(genesis, contents)
    const { epoch } = contents.current.opening.record
    const base =
      epoch === 1
        ? yield* genesisBase(genesis, tableKey, contents)
        : yield* closeBase(genesis, tableKey, contents, closed)
    const { trie, commits, checkpoints } = yield* replay(genesis, contents, base)
    if (trie.hash !== opened.trie.hash) {
      return yield* damaged(
        `executing epoch ${epoch} again leads to the root ${trie.hash}, but the stored state has ${opened.trie.hash}`,
      )
    }
    const { head, accountCount, totals } = opened.ledger.read
    return {
      head,
      accounts: accountCount,
      totals,
      stateRoot: trie.hash,
      /** Execution started from the close of this epoch; 0 is the genesis. */
      closedEpoch: Natural.epoch(epoch - 1),
      commits,
      checkpoints,
    }
  }).pipe(Effect.withSpan("audit"))
