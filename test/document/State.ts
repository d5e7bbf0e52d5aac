/** The state: records of every kind, their trie, proofs and the changes of commits. */
import * as B from "./Bytes.js"
import { addressOf, isName } from "./Identity.js"
import { readProposalType } from "./Transactions.js"

export interface Leaving {
  readonly epoch: number
  readonly unlock_at_round: number
}

/** Shares are text, since they need more than 53 bits. */
export interface Pool {
  readonly amount: number
  readonly shares: string
  readonly generation: number
}

export interface Account {
  readonly balance: number
  readonly nonce: number
  readonly pub_key: string | null
  readonly stake: { readonly amount: number; readonly leaving: Leaving | null } | null
  readonly delegation: {
    readonly validator: string
    readonly generation: number
    readonly shares: string
    readonly leaving: Leaving | null
  } | null
  readonly policy: { readonly threshold: number; readonly keys: ReadonlyArray<string> } | null
  readonly name: string | null
  readonly council_seat: boolean
}

export const nothing: Account = {
  balance: 0,
  nonce: 0,
  pub_key: null,
  stake: null,
  delegation: null,
  policy: null,
  name: null,
  council_seat: false,
}

const partsOf = (account: Account): number =>
  (account.pub_key === null ? 0 : 1) +
  (account.stake === null ? 0 : 2) +
  (account.delegation === null ? 0 : 4) +
  (account.policy === null ? 0 : 8) +
  (account.name === null ? 0 : 16) +
  (account.council_seat ? 32 : 0)

export const holdsNothing = (account: Account): boolean =>
  account.balance === 0 && account.nonce === 0 && partsOf(account) === 0

const readLeaving = (reader: B.Reader): Leaving | null =>
  reader.bool() ? { epoch: reader.u64(), unlock_at_round: reader.u64() } : null

const writeLeaving = (leaving: Leaving | null): Uint8Array =>
  leaving === null ? B.bool(false) : B.join(B.bool(true), B.u64(leaving.epoch), B.u64(leaving.unlock_at_round))

const readAccount = (reader: B.Reader): Account => {
  const [balance, nonce] = [reader.amount(), reader.u64()]
  const parts = reader.atMost(reader.u8(), 63)
  const has = (bit: number): boolean => (parts & bit) !== 0
  const account = {
    balance,
    nonce,
    pub_key: has(1) ? reader.key() : null,
    stake: has(2) ? { amount: reader.amount(), leaving: readLeaving(reader) } : null,
    delegation: has(4)
      ? {
          validator: reader.address(),
          generation: reader.u32(),
          shares: String(reader.u128()),
          leaving: readLeaving(reader),
        }
      : null,
    policy: has(8) ? { threshold: reader.u8(), keys: reader.list8(16, reader.key) } : null,
    name: has(16) ? reader.text8(20) : null,
    council_seat: has(32),
  }
  if (holdsNothing(account) || (account.name !== null && !isName(account.name))) throw new B.Refused("rule")
  return account
}

export const writeAccount = (account: Account): Uint8Array => {
  const { pub_key, stake, delegation, policy, name } = account
  return B.join(
    ...[B.u64(account.balance), B.u64(account.nonce), B.u8(partsOf(account))],
    pub_key === null ? B.join() : B.bytes(pub_key),
    stake === null ? B.join() : B.join(B.u64(stake.amount), writeLeaving(stake.leaving)),
    delegation === null
      ? B.join()
      : B.join(
          B.bytes(delegation.validator),
          B.u32(delegation.generation),
          B.u128(BigInt(delegation.shares)),
          writeLeaving(delegation.leaving),
        ),
    policy === null ? B.join() : B.join(B.u8(policy.threshold), B.list8(policy.keys, B.bytes)),
    name === null ? B.join() : B.text8(name),
  )
}

const readPool = (reader: B.Reader): Pool => ({
  amount: reader.amount(),
  shares: String(reader.u128()),
  generation: reader.u32(),
})

export interface Validator {
  readonly commission_percent: number
  readonly commission_epoch: number
  readonly barred: boolean
  readonly working: Pool
  readonly departing: string
}

export const writeValidator = (validator: Validator): Uint8Array => {
  const { commission_percent, commission_epoch, barred, working, departing } = validator
  return B.join(
    ...[B.u8(commission_percent), B.u64(commission_epoch), B.bool(barred)],
    ...[B.u64(working.amount), B.u128(BigInt(working.shares)), B.u32(working.generation)],
    B.u128(BigInt(departing)),
  )
}

const readValidator = (reader: B.Reader): Validator => ({
  commission_percent: reader.atMost(reader.u8(), 100),
  commission_epoch: reader.u64(),
  barred: reader.bool(),
  working: readPool(reader),
  departing: String(reader.u128()),
})

const STATUSES = ["Active", "Passed", "Rejected", "Executed", "Failed"]
const BOND = ["held", "returned", "forfeited"]

const oneOf = (words: ReadonlyArray<string>, place: number): string => {
  const word = words[place]
  if (word === undefined) throw new B.Refused("range")
  return word
}

const readProposal = (reader: B.Reader) => {
  const [proposer, tx_hash] = [reader.address(), reader.hash()]
  const [title, description] = reader.bool() ? [reader.text16(128), reader.text16(4096)] : [null, null]
  const [[type, fields] = []] = Object.entries(readProposalType(reader))
  const proposal = {
    ...{ proposer, tx_hash, title, description },
    payload: { type, ...(typeof fields === "object" ? fields : {}) },
    bond: reader.amount(),
    bond_status: oneOf(BOND, reader.u8()),
    created_at_round: reader.u64(),
    voting_ends_at_round: reader.u64(),
    executes_at_round: reader.u64(),
    snapshot_total_stake: reader.amount(),
    votes_for: reader.amount(),
    votes_against: reader.amount(),
    status: oneOf(STATUSES, reader.u8()),
  }
  return { ...proposal, failure: proposal.status === "Failed" ? reader.text16(512) : null }
}

/** An epoch record has its own module, which needs this one. */
export type ReadEpoch = (reader: B.Reader) => unknown

interface Kind {
  readonly name: string
  readonly keyBytes: number
  readonly read: (reader: B.Reader, readEpoch: ReadEpoch, parameterNames: ReadonlyArray<string>) => object
}

/** By the kind byte, from 1. */
const KINDS: ReadonlyArray<Kind> = [
  { name: "Account", keyBytes: 20, read: readAccount },
  { name: "Validator", keyBytes: 20, read: readValidator },
  { name: "Proposal", keyBytes: 8, read: readProposal },
  {
    name: "Ballot",
    keyBytes: 28,
    read: (reader) => ({ weight: reader.amount(), vote: [null, "no", "yes"][reader.atMost(reader.u8(), 2)] }),
  },
  {
    name: "Parameters",
    keyBytes: 0,
    read: (reader, _, names) => Object.fromEntries(names.map((name) => [name, reader.u64()])),
  },
  {
    name: "Totals",
    keyBytes: 0,
    read: (reader) => ({
      liquid: reader.amount(),
      staked: reader.amount(),
      delegated: reader.amount(),
      treasury: reader.amount(),
      total: reader.amount(),
    }),
  },
  {
    name: "Head",
    keyBytes: 0,
    read: (reader) => ({
      commit_index: reader.u64(),
      commit_hash: reader.hash(),
      leader_round: reader.u64(),
      time: reader.u64(),
      next_proposal_id: reader.u64(),
    }),
  },
  {
    name: "Epoch",
    keyBytes: 8,
    read: (reader, readEpoch) => ({ weighed_in: reader.u64(), base: reader.hash(), record: readEpoch(reader) }),
  },
  {
    name: "Presence",
    keyBytes: 20,
    read: (reader) => {
      const bits = reader.atMost(reader.u8(), 31)
      return { quarters: [1, 2, 4, 8].map((bit) => (bits & bit) !== 0), second_half: (bits & 16) !== 0 }
    },
  },
  {
    name: "Minted",
    keyBytes: 8,
    read: (reader) => {
      const positions = reader.list8(100, reader.u8)
      B.requireAscending(positions)
      return { positions }
    },
  },
  {
    name: "RecentCommit",
    keyBytes: 8,
    read: (reader) => ({ commit_hash: reader.hash(), leader_round: reader.u64() }),
  },
  { name: "Slashed", keyBytes: 28, read: () => ({}) },
  { name: "LeavingPool", keyBytes: 28, read: readPool },
  { name: "Upgrade", keyBytes: 0, read: (reader) => ({ protocol_version: reader.u64() }) },
  {
    name: "SigningKey",
    keyBytes: 20,
    read: (reader) => ({ account: reader.address(), changed_in_epoch: reader.u64() }),
  },
]

const kindOf = (byte: number): Kind => {
  const kind = KINDS[byte - 1]
  if (kind === undefined) throw new B.Refused("range")
  return kind
}

/** Decodes a value of the trie. */
export const readValue = (value: Uint8Array, readEpoch: ReadEpoch, parameterNames: ReadonlyArray<string>) =>
  B.whole(value, (reader) => {
    const kind = kindOf(reader.u8())
    const key = reader.hex(kind.keyBytes)
    return { kind: kind.name, key, fields: kind.read(reader, readEpoch, parameterNames) }
  })

export const keyHash = (kind: number, key: Uint8Array): string => B.H("udg/key", B.u8(kind), key)

export const accountKeyHash = (key: string): string => keyHash(1, B.bytes(addressOf(key)))

export interface Entry {
  readonly key: string
  readonly value: Uint8Array
}

const writeEntry = ({ key, value }: Entry): Uint8Array => B.join(B.bytes(key), B.u16(value.length), value)

const LEAF = 32
const EMPTY = B.H("udg/leaf", B.u8(0))

const bitOf = (key: string, depth: number): 0 | 1 =>
  (Number.parseInt(key.charAt(depth >> 2), 16) >> (3 - (depth & 3))) & 1 ? 1 : 0

const leafHash = (entries: ReadonlyArray<Entry>): string =>
  B.H("udg/leaf", B.u8(entries.length), ...entries.map(writeEntry))

const branchHash = (records: number, left: string, right: string): string =>
  B.H("udg/node", B.u64(records), B.bytes(left), B.bytes(right))

/** The hash of the subtree of these entries, which are sorted by key and share `depth` bits. */
export const rootOf = (entries: ReadonlyArray<Entry>, depth = 0): string => {
  if (entries.length <= LEAF) return leafHash(entries)
  const middle = entries.findIndex(({ key }) => bitOf(key, depth) === 1)
  const at = middle < 0 ? entries.length : middle
  return branchHash(entries.length, rootOf(entries.slice(0, at), depth + 1), rootOf(entries.slice(at), depth + 1))
}

export const inOrder = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> =>
  [...entries].sort((a, b) => (a.key < b.key ? -1 : 1))

export interface Sibling {
  readonly hash: string
  readonly records: number
}

export interface Proof {
  readonly siblings: ReadonlyArray<Sibling>
  readonly leaf: ReadonlyArray<Entry>
}

const readEntry = (reader: B.Reader): Entry => {
  const [key, length] = [reader.hash(), reader.u16()]
  if (length > 8_192) throw new B.Refused("limit")
  return { key, value: reader.raw(length) }
}

const readSiblings = (reader: B.Reader, count: number): ReadonlyArray<Sibling> => {
  if (count > 251) throw new B.Refused("limit")
  return Array.from({ length: count }, () => ({ hash: reader.hash(), records: reader.u64() }))
}

export const readProof = (reader: B.Reader): Proof => ({
  siblings: readSiblings(reader, reader.u8()),
  leaf: reader.list8(LEAF, () => readEntry(reader)),
})

const requirePath = (entries: ReadonlyArray<Entry>, path: string, depth: number): void => {
  B.requireAscending(entries.map(({ key }) => key))
  for (const { key } of entries) {
    for (let i = 0; i < depth; i++) if (bitOf(key, i) !== bitOf(path, i)) throw new B.Refused("rule")
  }
}

/** Computes the root from a subtree and its siblings. */
const climb = (bottom: Sibling, path: string, siblings: ReadonlyArray<Sibling>): string => {
  let { hash, records } = bottom
  for (let i = siblings.length - 1; i >= 0; i--) {
    const sibling = siblings[i]
    if (sibling === undefined) throw new Error("a list has its items")
    if (sibling.records === 0 && sibling.hash !== EMPTY) throw new B.Refused("rule")
    records += sibling.records
    if (records <= LEAF || BigInt(records) > B.MAX_SAFE) throw new B.Refused("rule")
    hash = bitOf(path, i) === 1 ? branchHash(records, sibling.hash, hash) : branchHash(records, hash, sibling.hash)
  }
  return hash
}

/** The value at the key in the state with this root; null if the proof shows its absence. */
export const prove = (root: string, key: string, { siblings, leaf }: Proof): Uint8Array | null => {
  requirePath(leaf, key, siblings.length)
  if (climb({ hash: leafHash(leaf), records: leaf.length }, key, siblings) !== root) throw new B.Refused("rule")
  return leaf.find((entry) => entry.key === key)?.value ?? null
}

/** The entries of a subtree of this root. */
export const readSubtree = (root: string, encoded: Uint8Array): ReadonlyArray<Entry> => {
  if (encoded.length > 524_288) throw new B.Refused("limit")
  return B.whole(encoded, (reader) => {
    const [depth, path] = [reader.u8(), reader.hash()]
    const siblings = readSiblings(reader, depth)
    const entries = Array.from({ length: reader.u32() }, () => readEntry(reader))
    requirePath(entries, path, depth)
    const bottom = { hash: rootOf(entries, depth), records: entries.length }
    if (climb(bottom, path, siblings) !== root) throw new B.Refused("rule")
    return entries
  })
}

export const digestAfter = (previous: string, changes: Uint8Array): string =>
  B.H("udg/effects", B.bytes(previous), changes)

/** From version 3 on. */
export const digestWithOutcomes = (
  previous: string,
  changes: Uint8Array,
  outcomes: ReadonlyArray<{ readonly hash: string; readonly outcome: number }>,
): string =>
  B.H(
    "udg/effects",
    B.bytes(previous),
    B.bytes(B.H("udg/changes", changes)),
    B.bytes(B.H("udg/outcomes", ...outcomes.map(({ hash, outcome }) => B.join(B.bytes(hash), B.u8(outcome))))),
  )

/** All records, by kind and key. */
export class State {
  readonly #contents = new Map<string, Uint8Array>()

  put(kind: number, key: Uint8Array, content: Uint8Array): void {
    this.#contents.set(B.hex(B.join(B.u8(kind), key)), content)
  }

  /** Applies the changes of a commit. */
  apply(changes: Uint8Array): void {
    const reader = new B.Reader(changes)
    let before = ""
    while (reader.remaining > 0) {
      const byte = reader.u8()
      const place = B.hex(B.join(B.u8(byte), reader.raw(kindOf(byte).keyBytes)))
      B.requireAscending([before, place])
      before = place
      if (reader.bool()) this.#contents.set(place, reader.raw(reader.u32()))
      else if (!this.#contents.delete(place)) throw new B.Refused("rule")
    }
  }

  /** The values of the trie, by kind and key. */
  get values(): ReadonlyArray<string> {
    return [...this.#contents].sort(([a], [b]) => (a < b ? -1 : 1)).map(([place, content]) => place + B.hex(content))
  }

  /** All records, encoded like the changes of a commit. */
  asChanges(): Uint8Array {
    const places = [...this.#contents].sort(([a], [b]) => (a < b ? -1 : 1))
    return B.join(
      ...places.map(([place, content]) => B.join(B.bytes(place), B.bool(true), B.u32(content.length), content)),
    )
  }

  root(): string {
    const entries = [...this.#contents].map(([place, content]) => ({
      key: B.H("udg/key", B.bytes(place)),
      value: B.join(B.bytes(place), content),
    }))
    return rootOf(inOrder(entries))
  }
}
