/** State tries: roots, valid and invalid proofs, and subtrees for a joining node. */
import { createHash } from "node:crypto"
import { toHex } from "#crypto"
import * as Subtree from "../../src/ledger/trie/Subtree.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as StateProof from "../../src/protocol/state/StateProof.js"

type Entries = ReadonlyArray<{ readonly key: Hash; readonly value: Uint8Array }>

/** Key and value of `generated` tries for each number below their count. */
const generatedKey = (n: number): Hash => createHash("sha256").update(`${n}`).digest("hex") as Hash
const generatedValue = (n: number): Uint8Array => Buffer.from(`value ${n}`)

const generated = (count: number): Entries =>
  Array.from({ length: count }, (_, n) => ({ key: generatedKey(n), value: generatedValue(n) }))

/** Keys that differ only in their last bits. */
const close = (count: number): Entries =>
  Array.from({ length: count }, (_, n) => ({
    key: n.toString(16).padStart(64, "0") as Hash,
    value: Uint8Array.of(n),
  }))

const listed: ReadonlyArray<readonly [string, Entries]> = [
  ["empty", []],
  ["one record", generated(1)],
  ["one record without bytes", [{ key: generatedKey(0), value: new Uint8Array(0) }]],
  ["32 records: one leaf", generated(32)],
  ["33 records: one branch", generated(33)],
  ["33 keys with 250 bits in common: the deepest trie there is", close(33)],
]

const trieOf = (entries: Entries): Trie.Trie => Trie.apply(Trie.empty, entries)

const tries = listed.map(([name, entries]) => {
  const trie = trieOf(entries)
  return {
    name,
    entries: entries.map(({ key, value }) => ({ key, value: toHex(value) })),
    records: trie.records,
    bytes: trie.bytes,
    root: trie.hash,
  }
})

const shown = trieOf(generated(1_000))
const member = generatedKey(17)
const stranger = generatedKey(1_000)

const proofOf = (trie: Trie.Trie, key: Hash) => {
  const value = Trie.get(trie, key)
  return {
    root: trie.hash,
    key,
    value: value === undefined ? null : toHex(value),
    encoded: toHex(StateProof.encode(Trie.prove(trie, key))),
  }
}

const proof = Trie.prove(shown, member)
const { siblings, leaf } = proof

const forgeries: ReadonlyArray<readonly [string, Hash, Uint8Array]> = [
  ["asked of a key beside its path", generatedKey(2), StateProof.encode(proof)],
  ["records not in the order of their keys", member, StateProof.encode({ siblings, leaf: leaf.toReversed() })],
  ["a record left out", member, StateProof.encode({ siblings, leaf: leaf.slice(1) })],
  ["a sibling left out", member, StateProof.encode({ siblings: siblings.slice(1), leaf })],
  ["siblings swapped", member, StateProof.encode({ siblings: siblings.toReversed(), leaf })],
  [
    "a record count changed",
    member,
    StateProof.encode({ siblings: siblings.map(({ hash, records }) => ({ hash, records: records + 1 })), leaf }),
  ],
  ["a byte too few", member, StateProof.encode(proof).slice(0, -1)],
  ["a byte too many", member, Uint8Array.from([...StateProof.encode(proof), 0])],
]

const exported = trieOf(generated(40))

export const stateTrie = {
  tries,
  generated_by:
    "record n, from 0 on: the key hash is SHA-256 of n in decimal digits, the value is the text `value n`, both in ASCII",
  generated: [1_000, 20_000].map((records) => ({ records, root: trieOf(generated(records)).hash })),
  proofs: [proofOf(Trie.empty, member), proofOf(shown, member), proofOf(shown, stranger)],
  refused_proofs: forgeries.map(([reason, key, encoded]) => ({
    reason,
    root: shown.hash,
    key,
    encoded: toHex(encoded),
  })),
  subtrees: {
    root: exported.hash,
    max_bytes: 1_500,
    encoded: [...Subtree.all(exported, 1_500)].map((subtree) => toHex(Subtree.encode(subtree))),
  },
}
