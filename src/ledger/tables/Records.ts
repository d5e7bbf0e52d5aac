/**
 * Every kind of record besides accounts: its value and the value's canonical bytes. Together with the accounts they are
 * all that execution reads, so a node that holds them can continue where another stopped.
 */
import type { Either } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import type { ProtocolVersion } from "../../protocol/epoch/ProtocolVersion.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import type * as Sats from "../../protocol/numbers/Sats.js"
import type { Kind } from "../../protocol/state/StateKey.js"
import * as ProposalPayload from "../../protocol/transaction/ProposalPayload.js"
import type { Pool } from "./Pool.js"

export interface Codec<V> {
  readonly kind: Kind
  readonly write: (writer: Binary.Writer, value: V) => void
  readonly read: (reader: Binary.Reader) => V
}

export const encode = <V>({ write }: Codec<V>, value: V): Uint8Array => Binary.encode((writer) => write(writer, value))

export const decode = <V>({ kind, read }: Codec<V>, bytes: Uint8Array): Either.Either<V, Binary.MalformedBytes> =>
  Binary.decode(`${kind} record`, bytes, read)

/** A staker's terms and its working delegations. Its own stake is in its account. */
export interface Validator {
  readonly commissionPercent: number
  /** The epoch in which the commission was last set, 0 for never. */
  readonly commissionEpoch: Natural.Epoch
  /** Slashed: excluded from committees until it has left and staked again. */
  readonly isBarred: boolean
  readonly working: Pool
  /** Shares of the working pool whose holders left in the running epoch. They keep working until it closes. */
  readonly departing: bigint
}

export type ProposalStatus = "Active" | "Passed" | "Rejected" | "Executed" | "Failed"

/** The state of a proposal's bond: held while it is Active, then returned or forfeited to the treasury. */
export type BondStatus = "held" | "returned" | "forfeited"

export interface Texts {
  readonly title: string
  readonly description: string
}

export interface Proposal {
  readonly proposer: Address.Address
  /** The hash of the transaction that made it, which also covers its texts. */
  readonly transaction: Hash.Hash
  /** Null once dropped. */
  readonly texts: Texts | null
  readonly payload: ProposalPayload.ProposalPayload
  readonly bond: Sats.Sats
  readonly bondStatus: BondStatus
  readonly createdAtRound: Natural.Round
  readonly votingEndsAtRound: Natural.Round
  readonly executesAtRound: Natural.Round
  readonly snapshotTotalStake: Sats.Sats
  readonly votesFor: Sats.Sats
  readonly votesAgainst: Sats.Sats
  readonly status: ProposalStatus
  /** Why it failed: a `ProposalFailure`, or the sentence of an earlier version. Null for any other status. */
  readonly failure: string | null
}

/** A validator in a proposal's snapshot; `vote` is null until it votes. */
export interface Ballot {
  readonly weight: Sats.Sats
  readonly vote: boolean | null
}

export interface Totals {
  readonly liquid: Sats.Sats
  readonly staked: Sats.Sats
  readonly delegated: Sats.Sats
  readonly treasury: Sats.Sats
  readonly total: Sats.Sats
}

export interface Head {
  readonly index: Natural.CommitIndex
  readonly hash: Hash.Hash
  readonly leaderRound: Natural.Round
  readonly time: Natural.Timestamp
  readonly nextProposalId: Natural.ProposalId
}

export interface Epoch {
  /**
   * The epoch at whose beginning the members' weights were last measured. That is an earlier epoch if members were kept
   * on because no other validator stayed. Delegations made in that epoch still count in their weight.
   */
  readonly weighedIn: Natural.Epoch
  /** The base of the epoch's vertices; Hash.ZERO until the first of them is executed. */
  readonly base: Hash.Hash
  readonly record: EpochRecord.EpochRecord
}

/** A key that a validator changed to. No other validator can have it, not even later. */
export interface SigningKey {
  readonly account: Address.Address
  /** The epoch in which the change was executed. The key signs from the next one on, or later if many keys change. */
  readonly since: Natural.Epoch
}

/** Bits 0 to 3: a heartbeat in that quarter of the epoch. Bit 4: a vertex in the epoch's second half. */
export type Presence = number

/** Positions in the epoch's member list, ascending. */
export type Minted = ReadonlyArray<number>

export interface RecentCommit {
  readonly hash: Hash.Hash
  readonly leaderRound: Natural.Round
}

const writePool = (writer: Binary.Writer, pool: Pool): void => {
  writer.u64(pool.amount).u128(pool.shares).u32(pool.generation)
}

const readPool = (reader: Binary.Reader): Pool => {
  const pool = { amount: reader.sats(), shares: reader.u128(), generation: reader.u32() }
  reader.require(pool.amount > 0 === pool.shares > 0n, "a pool without shares holds money, or the reverse")
  return pool
}

export const validator: Codec<Validator> = {
  kind: "Validator",
  write: (writer, value) => {
    writer.u8(value.commissionPercent).u64(value.commissionEpoch).boolean(value.isBarred)
    writePool(writer, value.working)
    writer.u128(value.departing)
  },
  read: (reader) => {
    const commissionPercent = reader.u8()
    reader.require(commissionPercent <= 100, `commission of ${commissionPercent} percent`)
    const value = {
      commissionPercent,
      commissionEpoch: Natural.epoch(reader.u64()),
      isBarred: reader.boolean(),
      working: readPool(reader),
      departing: reader.u128(),
    }
    reader.require(value.departing <= value.working.shares, "more shares are departing than exist")
    return value
  },
}

/** Encodes each of these words as a byte, its position in the list. */
const oneOf = <A extends string>(what: string, words: readonly [A, ...ReadonlyArray<A>]) => ({
  write: (writer: Binary.Writer, word: A): void => void writer.u8(words.indexOf(word)),
  read: (reader: Binary.Reader): A => {
    const byte = reader.u8()
    const word = words[byte]
    if (word === undefined) reader.fail(`${what} ${byte}`)
    return word ?? words[0]
  },
})

const statuses = oneOf<ProposalStatus>("proposal status", ["Active", "Passed", "Rejected", "Executed", "Failed"])
const bondStatuses = oneOf<BondStatus>("bond status", ["held", "returned", "forfeited"])

const writeTexts = (writer: Binary.Writer, texts: Texts | null): void => {
  writer.boolean(texts !== null)
  if (texts !== null) writer.text16(texts.title).text16(texts.description)
}

const readTexts = (reader: Binary.Reader): Texts | null =>
  reader.boolean()
    ? { title: reader.text16(Limits.TITLE_BYTES), description: reader.text16(Limits.DESCRIPTION_BYTES) }
    : null

const FAILURE_BYTES = 512

export const proposal: Codec<Proposal> = {
  kind: "Proposal",
  write: (writer, value) => {
    writer.hex(value.proposer).hex(value.transaction)
    writeTexts(writer, value.texts)
    ProposalPayload.write(writer, value.payload)
    writer.u64(value.bond)
    bondStatuses.write(writer, value.bondStatus)
    writer
      .u64(value.createdAtRound)
      .u64(value.votingEndsAtRound)
      .u64(value.executesAtRound)
      .u64(value.snapshotTotalStake)
      .u64(value.votesFor)
      .u64(value.votesAgainst)
    statuses.write(writer, value.status)
    if (value.status === "Failed") writer.text16(value.failure ?? "")
  },
  read: (reader) => {
    // A single literal, because every vote reads it and spreading a half into it would take longer than reading.
    const value = {
      proposer: Address.read(reader),
      transaction: Hash.read(reader),
      texts: readTexts(reader),
      payload: ProposalPayload.read(reader),
      bond: reader.sats(),
      bondStatus: bondStatuses.read(reader),
      createdAtRound: Natural.round(reader.u64()),
      votingEndsAtRound: Natural.round(reader.u64()),
      executesAtRound: Natural.round(reader.u64()),
      snapshotTotalStake: reader.sats(),
      votesFor: reader.sats(),
      votesAgainst: reader.sats(),
      status: statuses.read(reader),
      failure: null as string | null,
    }
    reader.require((value.bondStatus === "held") === (value.status === "Active"), "a bond is held while voting is open")
    if (value.status === "Failed") value.failure = reader.text16(FAILURE_BYTES)
    return value
  },
}

export const ballot: Codec<Ballot> = {
  kind: "Ballot",
  write: (writer, { weight, vote }) => writer.u64(weight).u8(vote === null ? 0 : vote ? 2 : 1),
  read: (reader) => {
    const weight = reader.sats()
    const vote = reader.u8()
    reader.require(vote <= 2, `vote ${vote}`)
    return { weight, vote: vote === 0 ? null : vote === 2 }
  },
}

export const parameters: Codec<Parameters.Parameters> = {
  kind: "Parameters",
  write: (writer, value) => {
    for (const entry of Parameters.table) writer.u64(value[entry.key])
  },
  read: (reader) => Parameters.make(() => reader.u64()),
}

export const totals: Codec<Totals> = {
  kind: "Totals",
  write: (writer, { liquid, staked, delegated, treasury, total }) =>
    writer.u64(liquid).u64(staked).u64(delegated).u64(treasury).u64(total),
  read: (reader) => ({
    liquid: reader.sats(),
    staked: reader.sats(),
    delegated: reader.sats(),
    treasury: reader.sats(),
    total: reader.sats(),
  }),
}

export const head: Codec<Head> = {
  kind: "Head",
  write: (writer, { index, hash, leaderRound, time, nextProposalId }) =>
    writer.u64(index).hex(hash).u64(leaderRound).u64(time).u64(nextProposalId),
  read: (reader) => ({
    index: Natural.commitIndex(reader.u64()),
    hash: Hash.read(reader),
    leaderRound: Natural.round(reader.u64()),
    time: reader.time(),
    nextProposalId: Natural.proposalId(reader.u64()),
  }),
}

export const epoch: Codec<Epoch> = {
  kind: "Epoch",
  write: (writer, { weighedIn, base, record }) => {
    writer.u64(weighedIn).hex(base)
    EpochRecord.write(writer, record)
  },
  read: (reader) => {
    const value = { weighedIn: Natural.epoch(reader.u64()), base: Hash.read(reader), record: EpochRecord.read(reader) }
    reader.require(value.weighedIn <= value.record.epoch, "weights measured in a later epoch")
    return value
  },
}

/** The protocol version that takes effect when the running epoch closes. */
export const upgrade: Codec<ProtocolVersion> = {
  kind: "Upgrade",
  write: (writer, version) => writer.u64(version),
  read: (reader) => reader.u64(),
}

export const signingKey: Codec<SigningKey> = {
  kind: "SigningKey",
  write: (writer, { account, since }) => writer.hex(account).u64(since),
  read: (reader) => ({ account: Address.read(reader), since: Natural.epoch(reader.u64()) }),
}

export const presence: Codec<Presence> = {
  kind: "Presence",
  write: (writer, value) => writer.u8(value),
  read: (reader) => {
    const value = reader.u8()
    reader.require(value > 0 && value < 32, `presence ${value}`)
    return value
  },
}

export const minted: Codec<Minted> = {
  kind: "Minted",
  write: (writer, value) => writer.list8(value, (position) => writer.u8(position)),
  read: (reader) => {
    const value = reader.list8(Limits.COMMITTEE_MEMBERS, () => reader.u8())
    let above = -1
    for (const position of value) {
      reader.require(position > above, "positions not ascending")
      above = position
    }
    return value
  },
}

export const recentCommit: Codec<RecentCommit> = {
  kind: "RecentCommit",
  write: (writer, { hash, leaderRound }) => writer.hex(hash).u64(leaderRound),
  read: (reader) => ({ hash: Hash.read(reader), leaderRound: Natural.round(reader.u64()) }),
}

/** The key is the whole record. */
export const slashed: Codec<true> = { kind: "Slashed", write: () => {}, read: () => true }

/** The delegations that left a validator in one epoch. */
export const leavingPool: Codec<Pool> = {
  kind: "LeavingPool",
  write: writePool,
  read: (reader) => {
    const pool = readPool(reader)
    reader.require(pool.shares > 0n, "a leaving pool that holds nothing has no record")
    return pool
  },
}
