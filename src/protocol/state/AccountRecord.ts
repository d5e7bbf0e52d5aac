/** Everything the state holds about one account. A light client decodes it from a proof. */

import type { Either } from "effect"
import * as Binary from "../encoding/Binary.js"
import * as Address from "../identity/Address.js"
import * as Keys from "../identity/Keys.js"
import * as Name from "../identity/Name.js"
import * as Element from "../numbers/Element.js"
import * as Limits from "../numbers/Limits.js"
import * as Natural from "../numbers/Natural.js"
import * as Sats from "../numbers/Sats.js"

/** A stake or delegation that is leaving: it works until `epoch` closes, then only waits. */
export interface Leaving {
  readonly epoch: Natural.Epoch
  readonly unlockAtRound: Natural.Round
}

export interface Stake {
  readonly amount: Sats.Sats
  readonly leaving: Leaving | null
}

/**
 * A share of a validator's working pool or, after the epoch in which it left, of the pool that left the validator in
 * that epoch. Worth nothing once the pool is gone or of another generation.
 */
export interface Delegation {
  readonly validator: Address.Address
  readonly generation: number
  readonly shares: bigint
  readonly leaving: Leaving | null
}

/** The keys of a smart account, and how many of them must sign. */
export interface Policy {
  readonly threshold: number
  readonly keys: ReadonlyArray<Keys.PublicKey>
}

/** Data that few accounts have. */
export interface Extras {
  /** The key whose hash is the address, kept for accounts that staked or became smart accounts. */
  readonly publicKey: Keys.PublicKey | null
  readonly stake: Stake | null
  readonly delegation: Delegation | null
  readonly policy: Policy | null
  readonly name: Name.Name | null
  readonly isCouncilMember: boolean
}

export interface AccountRecord extends Extras {
  readonly balance: Sats.Sats
  readonly nonce: Natural.Nonce
}

export const noExtras: Extras = {
  publicKey: null,
  stake: null,
  delegation: null,
  policy: null,
  name: null,
  isCouncilMember: false,
}

/** An account never seen. */
export const empty: AccountRecord = { ...noExtras, balance: Sats.ZERO, nonce: Natural.nonce(0) }

/** Without extras: balance, nonce, and a presence byte of 0. */
export const PLAIN_BYTES = 17
const BALANCE_BYTES = 8

const PUBLIC_KEY = 1
const STAKE = 2
const DELEGATION = 4
const POLICY = 8
const NAME = 16
const COUNCIL = 32
const ALL = 63

const presenceOf = (extras: Extras): number =>
  (extras.publicKey === null ? 0 : PUBLIC_KEY) +
  (extras.stake === null ? 0 : STAKE) +
  (extras.delegation === null ? 0 : DELEGATION) +
  (extras.policy === null ? 0 : POLICY) +
  (extras.name === null ? 0 : NAME) +
  (extras.isCouncilMember ? COUNCIL : 0)

export const hasExtras = (extras: Extras): boolean => presenceOf(extras) !== 0

/** An account that holds nothing, like one never seen, has no record. */
export const isEmpty = (record: AccountRecord): boolean =>
  record.balance === 0 && record.nonce === 0 && !hasExtras(record)

const writeLeaving = (writer: Binary.Writer, leaving: Leaving | null): void => {
  writer.boolean(leaving !== null)
  if (leaving !== null) writer.u64(leaving.epoch).u64(leaving.unlockAtRound)
}

const readLeaving = (reader: Binary.Reader): Leaving | null =>
  reader.boolean() ? { epoch: Natural.epoch(reader.u64()), unlockAtRound: Natural.round(reader.u64()) } : null

const writeDelegation = (writer: Binary.Writer, delegation: Delegation): void => {
  const { validator, generation, shares, leaving } = delegation
  writer.hex(validator).u32(generation).u128(shares)
  writeLeaving(writer, leaving)
}

const readDelegation = (reader: Binary.Reader): Delegation => ({
  validator: Address.read(reader),
  generation: reader.u32(),
  shares: reader.u128(),
  leaving: readLeaving(reader),
})

const readPolicy = (reader: Binary.Reader): Policy => ({
  threshold: reader.u8(),
  keys: reader.list8(Limits.POLICY_KEYS, () => Keys.readPublicKey(reader)),
})

/** The part after balance and nonce. */
const writeExtras = (writer: Binary.Writer, extras: Extras): void => {
  const { publicKey, stake, delegation, policy, name } = extras
  writer.u8(presenceOf(extras))
  if (publicKey !== null) writer.hex(publicKey)
  if (stake !== null) {
    writer.u64(stake.amount)
    writeLeaving(writer, stake.leaving)
  }
  if (delegation !== null) writeDelegation(writer, delegation)
  if (policy !== null) writer.u8(policy.threshold).list8(policy.keys, (key) => writer.hex(key))
  if (name !== null) writer.text8(name)
}

const readExtras = (reader: Binary.Reader): Extras => {
  const presence = reader.u8()
  reader.require(presence <= ALL, `presence byte ${presence}`)
  const has = (part: number): boolean => (presence & part) !== 0
  return {
    publicKey: has(PUBLIC_KEY) ? Keys.readPublicKey(reader) : null,
    stake: has(STAKE) ? { amount: reader.sats(), leaving: readLeaving(reader) } : null,
    delegation: has(DELEGATION) ? readDelegation(reader) : null,
    policy: has(POLICY) ? readPolicy(reader) : null,
    name: has(NAME) ? Name.read(reader) : null,
    isCouncilMember: has(COUNCIL),
  }
}

const write = (writer: Binary.Writer, record: AccountRecord): void => {
  writer.u64(record.balance).u64(record.nonce)
  writeExtras(writer, record)
}

const read = (reader: Binary.Reader): AccountRecord => {
  const record = { balance: reader.sats(), nonce: Natural.nonce(reader.u64()), ...readExtras(reader) }
  reader.require(!isEmpty(record), "an account that holds nothing has no record")
  return record
}

export const { encode, decode } = Binary.codec("account record", write, read)

/**
 * The balance of a record with no other money, as nearly all are; undefined for any other record, or if the balance is
 * impossible. The bytes after it are not checked.
 */
export const balanceAlone = (bytes: Uint8Array, start: number, end: number): Sats.Sats | undefined => {
  const presence = bytes[start + PLAIN_BYTES - 1] ?? ALL
  if (start + PLAIN_BYTES > end || (presence & (STAKE | DELEGATION)) !== 0) return undefined
  let balance = 0
  for (let i = BALANCE_BYTES - 1; i >= 0; i--) balance = balance * 256 + Element.byte(bytes, start + i)
  return Sats.isSats(balance) ? balance : undefined
}

export const encodeExtras = (extras: Extras): Uint8Array => Binary.encode((writer) => writeExtras(writer, extras))

export const decodeExtras = (bytes: Uint8Array): Either.Either<Extras, Binary.MalformedBytes> =>
  Binary.decode("account record", bytes, readExtras)
