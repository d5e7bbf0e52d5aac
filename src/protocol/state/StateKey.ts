/**
 * The place of a record in the state. Every record has a kind and a key; its place in the state trie is H("udg/key",
 * kind ‖ key). Integers inside keys are big-endian, so the order of keys is the order of numbers.
 */
import { fromHex, sha256Hex } from "#crypto"
import * as Binary from "../encoding/Binary.js"
import type { Address } from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import * as Natural from "../numbers/Natural.js"

/** For every kind of record: its byte, the length of its keys, and the position of the counter in a key, if any. */
export const KINDS = {
  /** address: AccountRecord */
  Account: { byte: 1, keyBytes: 20, counterAt: null },
  /** address: commission and working pool of a staker */
  Validator: { byte: 2, keyBytes: 20, counterAt: null },
  /** proposal id */
  Proposal: { byte: 3, keyBytes: 8, counterAt: 0 },
  /** proposal id ‖ address: a voter of the snapshot, its weight and its vote */
  Ballot: { byte: 4, keyBytes: 28, counterAt: 0 },
  /** one record: the governable parameters */
  Parameters: { byte: 5, keyBytes: 0, counterAt: null },
  /** one record: the running totals of the supply */
  Totals: { byte: 6, keyBytes: 0, counterAt: null },
  /** one record: the last commit */
  Head: { byte: 7, keyBytes: 0, counterAt: null },
  /** epoch: epoch record and base, of the running and the previous epoch */
  Epoch: { byte: 8, keyBytes: 8, counterAt: 0 },
  /** address: a validator's presence in the running epoch */
  Presence: { byte: 9, keyBytes: 20, counterAt: null },
  /** round: whose coinbase of the round is minted */
  Minted: { byte: 10, keyBytes: 8, counterAt: 0 },
  /** commit index: a commit that heartbeats can still name */
  RecentCommit: { byte: 11, keyBytes: 8, counterAt: 0 },
  /** epoch ‖ address: slashed for that epoch */
  Slashed: { byte: 12, keyBytes: 28, counterAt: 0 },
  /** address ‖ epoch: the delegations that left this validator in that epoch */
  LeavingPool: { byte: 13, keyBytes: 28, counterAt: 20 },
  /** one record: the protocol version that a vote put in place for the next epoch */
  Upgrade: { byte: 14, keyBytes: 0, counterAt: null },
  /** address of a key that a validator changed to: its account, and when; kept forever */
  SigningKey: { byte: 15, keyBytes: 20, counterAt: null },
} as const

export type Kind = keyof typeof KINDS

const kindOfByte = new Map<number, Kind>([
  [1, "Account"],
  [2, "Validator"],
  [3, "Proposal"],
  [4, "Ballot"],
  [5, "Parameters"],
  [6, "Totals"],
  [7, "Head"],
  [8, "Epoch"],
  [9, "Presence"],
  [10, "Minted"],
  [11, "RecentCommit"],
  [12, "Slashed"],
  [13, "LeavingPool"],
  [14, "Upgrade"],
  [15, "SigningKey"],
])

export const kindOf = (byte: number): Kind | undefined => kindOfByte.get(byte)

/** Whether a key of the right length can be one of this kind: counters are below 2^53. */
export const isKeyOf = (kind: Kind, key: Uint8Array): boolean => {
  const at = KINDS[kind].counterAt
  return at === null || (key[at] === 0 && (key[at + 1] ?? 0) <= 0x1f)
}

const PREFIX = Binary.utf8("udg/key\0")
const KEY_AT = PREFIX.length + 1

/** The hash input, shared by all calls: a start computes millions of places. */
const preimages = new Map(
  [...kindOfByte].map(([byte, kind]) => [
    kind,
    Hash.tagged(PREFIX, [Uint8Array.of(byte), new Uint8Array(KINDS[kind].keyBytes)]),
  ]),
)

/** H("udg/key", kind ‖ key): the record's place in the trie. */
export const hash = (kind: Kind, key: Uint8Array): Hash.Hash => {
  const preimage = preimages.get(kind)
  if (preimage === undefined || key.length !== KINDS[kind].keyBytes) {
    throw new RangeError(`a key of kind ${kind} has ${KINDS[kind].keyBytes} bytes, not ${key.length}`)
  }
  preimage.set(key, KEY_AT)
  return sha256Hex(preimage) as Hash.Hash
}

export const ofAccount = (address: Address): Hash.Hash => hash("Account", fromHex(address))

/** A counter as encoded in keys: eight bytes, big-endian, in hex. */
export const counter = (value: number): string => value.toString(16).padStart(16, "0")

export const ballot = (id: Natural.ProposalId, voter: Address): string => `${counter(id)}${voter}`

const COUNTER_DIGITS = 16

export const partsOfBallot = (key: string): readonly [Natural.ProposalId, Address] => [
  Natural.proposalId(Number.parseInt(key.slice(0, COUNTER_DIGITS), 16)),
  key.slice(COUNTER_DIGITS) as Address,
]
