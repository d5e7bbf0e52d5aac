/**
 * Founds a separate network that begins with another network's state at the close of an epoch. Every record is the same
 * except the starting epoch's committee, which is one new validator. The fork has its own name, so signatures for one
 * network are invalid on the other. The state is checked as in an import, by the signatures of the other network's
 * committee.
 */
import { Effect, Either, Layer } from "effect"
import { randomBytes } from "#crypto"
import { openingOf } from "../../consensus/output/Opening.js"
import type { Ledger } from "../../ledger/Ledger.js"
import * as HalfSipHash from "../../ledger/tables/HalfSipHash.js"
import * as Records from "../../ledger/tables/Records.js"
import * as Subtree from "../../ledger/trie/Subtree.js"
import * as Trie from "../../ledger/trie/Trie.js"
import type { SignedClosing } from "../../protocol/epoch/Checkpoint.js"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Address from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Signer } from "../../protocol/identity/Keys.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import { DataDirectory } from "../../storage/files/DataDirectory.js"
import * as StateFile from "../../storage/files/StateFile.js"
import * as Storage from "../../storage/Storage.js"
import * as Founding from "../start/Founding.js"
import * as StateImport from "./StateImport.js"

export interface Founder {
  readonly validator: Signer
  /** Defaults to the other network's. */
  readonly roundIntervalMs?: number
}

/** Another network's checked state, and the rules in that network's genesis. */
export interface Original extends Pick<Genesis.Genesis, "networkId" | "mode" | "protocol"> {
  readonly genesisHash: Hash
  readonly target: SignedClosing
  readonly trie: Trie.Trie
  readonly ledger: Ledger
  /** Whether the genesis proves it; otherwise the checkpoint itself was trusted. */
  readonly isFromGenesis: boolean
}

/** The parts that the state does not have: the name, and the values fixed for the life of the network. */
const genesisOf = ({ ledger: { read }, ...other }: Original, { validator, roundIntervalMs }: Founder) =>
  Genesis.make({
    networkId: Founding.drawnNetworkId(Network.OWN_NAMES.fork),
    mode: other.mode,
    time: read.head.time,
    allocations: [],
    validators: [{ publicKey: validator.publicKey, stake: Sats.MIN_STAKE_SATS, commissionPercent: 0 }],
    council: [],
    names: [],
    treasury: Sats.ZERO,
    faucet: null,
    parameters: read.parameters,
    protocol: { ...other.protocol, roundIntervalMs: roundIntervalMs ?? other.protocol.roundIntervalMs },
  })

/**
 * The same epoch with one member holding all the weight. The member needs no stake to keep its seat, since there is no
 * other candidate.
 */
const alone = (record: EpochRecord.EpochRecord, { publicKey }: Signer): EpochRecord.EpochRecord =>
  EpochRecord.made({
    ...record,
    members: [{ address: Address.fromPublicKey(publicKey), publicKey, weight: EpochRecord.totalWeight(record) }],
  })

/** The state with this record of the starting epoch. */
const taken = (trie: Trie.Trie, record: EpochRecord.EpochRecord) =>
  Effect.gen(function* () {
    const place = StateKey.hash("Epoch", Buffer.from(StateKey.counter(record.epoch), "hex"))
    const found = yield* StateRecord.decode(Trie.get(trie, place) ?? new Uint8Array(0))
    const epoch = yield* Records.decode(Records.epoch, found.value)
    const value = Records.encode(Records.epoch, { ...epoch, record })
    return Trie.apply(trie, [{ key: place, value: StateRecord.encode({ ...found, value }) }])
  })

const richestOf = (ledger: Ledger): Address.Address | null => {
  let richest: Address.Address | null = null
  let most = 0
  for (const { kind, key, value } of ledger.records()) {
    const account = kind === "Account" ? Either.getOrUndefined(AccountRecord.decode(value)) : undefined
    if (account === undefined || account.balance <= most) continue
    most = account.balance
    richest = Buffer.from(key).toString("hex") as Address.Address
  }
  return richest
}

/** The state in a file of `udg db export`. */
export const read = (path: string) =>
  Effect.gen(function* () {
    const file = yield* StateFile.open(path)
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const { target } = yield* StateImport.provenTarget(path, tableKey, file)
    const state = yield* StateImport.assembled(path, file, tableKey, target, () => Effect.void)
    return {
      ...file.genesis,
      genesisHash: Genesis.hash(file.genesis),
      target,
      ...state,
      isFromGenesis: true,
    } satisfies Original
  }).pipe(Effect.scoped)

export const fork = (original: Original, into: string, founder: Founder) =>
  Effect.gen(function* () {
    const { target, trie, ledger } = original
    const record = alone(target.checkpoint.nextEpoch, founder.validator)
    const genesis = yield* genesisOf(original, founder)
    const state = yield* taken(trie, record)
    const checkpoint = Checkpoint.make({ ...target.checkpoint, stateRoot: state.hash, nextEpoch: record })
    const signed = { checkpoint, signatures: [Checkpoint.sign(checkpoint, founder.validator)] }
    const directory = yield* DataDirectory.open(into)
    yield* Effect.gen(function* () {
      const storage = yield* Storage.Storage
      yield* storage.joins.begin(signed)
      for (const piece of Subtree.all(state, Subtree.MAX_BYTES)) yield* storage.joins.add(Subtree.encode(piece))
      yield* storage.replaceState({ target: signed, proven: [], opening: openingOf(checkpoint, ledger.read.head.time) })
      yield* storage.compact
    }).pipe(
      Effect.provide(
        Storage.layer({ location: { _tag: "Directory", directory, isTemporary: true }, genesis }).pipe(Layer.orDie),
      ),
    )
    return { genesis, time: ledger.read.head.time, richest: richestOf(ledger) }
  })
