/** Vertices with their evidence and heartbeats, and commits. */
import * as B from "./Bytes.js"
import { addressOf, domain, isValid } from "./Identity.js"
import * as Transactions from "./Transactions.js"

export interface Header {
  readonly base: string
  readonly epoch: number
  readonly round: number
  readonly pub_key: string
  readonly author: string
  readonly parents: ReadonlyArray<{ readonly round: number; readonly author: string; readonly hash: string }>
  readonly timestamp: number
  readonly coinbase: number
  readonly body_hash: string
  readonly signature: string
}

export interface SignedHeader {
  readonly header: Header
  readonly signed: Uint8Array
  readonly hash: string
}

export const readHeader = (reader: B.Reader): SignedHeader => {
  const start = reader.offset
  const [base, epoch, round, pub_key] = [reader.hash(), reader.u64(), reader.u64(), reader.key()]
  const parents = reader.list16(300, () => ({ round: reader.u64(), author: reader.address(), hash: reader.hash() }))
  B.requireAscending(parents.map(({ round, author, hash }) => `${String(round).padStart(16, "0")}${author}${hash}`))
  const rest = { parents, timestamp: reader.time(), coinbase: reader.amount(), body_hash: reader.hash() }
  const signed = B.join(domain("udg/vertex"), reader.since(start))
  return {
    header: { base, epoch, round, pub_key, author: addressOf(pub_key), ...rest, signature: reader.signature() },
    signed,
    hash: B.H("udg/vertex-id", signed),
  }
}

export const isSigned = ({ header, signed }: SignedHeader): boolean => isValid(header.pub_key, signed, header.signature)

export interface Evidence {
  readonly first: SignedHeader
  readonly second: SignedHeader
}

export const readEvidence = (reader: B.Reader): Evidence => {
  const [first, second] = [readHeader(reader), readHeader(reader)]
  const slotOf = ({ header: { base, epoch, round, pub_key } }: SignedHeader): string =>
    [base, epoch, round, pub_key].join()
  if (slotOf(first) !== slotOf(second) || !(first.hash < second.hash)) throw new B.Refused("rule")
  return { first, second }
}

export interface Heartbeat {
  readonly pub_key: string
  readonly commit_index: number
  readonly commit_hash: string
  readonly signature: string
  readonly signed: Uint8Array
}

export const readHeartbeat = (reader: B.Reader): Heartbeat => {
  const start = reader.offset
  const fields = { pub_key: reader.key(), commit_index: reader.u64(), commit_hash: reader.hash() }
  const signed = B.join(domain("udg/heartbeat"), reader.since(start))
  return { ...fields, signature: reader.signature(), signed }
}

export interface Vertex extends SignedHeader {
  readonly transactions: ReadonlyArray<Transactions.Transaction>
  readonly evidence: ReadonlyArray<Evidence>
  readonly heartbeats: ReadonlyArray<Heartbeat>
}

/** Rejects violations of rules that need no epoch record. */
export const read = (networkId: string, encoded: Uint8Array): Vertex => {
  if (encoded.length > 1_048_576) throw new B.Refused("limit")
  return B.whole(encoded, (reader) => {
    const head = readHeader(reader)
    const start = reader.offset
    const transactions = reader.list16(5_000, () => Transactions.read(reader))
    const evidence = reader.list8(16, () => readEvidence(reader))
    const heartbeats = reader.list8(100, () => readHeartbeat(reader))
    if (B.H("udg/body", reader.since(start)) !== head.header.body_hash) throw new B.Refused("rule")
    const signatures = [
      isSigned(head),
      ...transactions.map((transaction) => Transactions.signaturesHold(networkId, transaction)),
      ...evidence.flatMap(({ first, second }) => [isSigned(first), isSigned(second)]),
      ...heartbeats.map(({ pub_key, signed, signature }) => isValid(pub_key, signed, signature)),
    ]
    if (signatures.includes(false)) throw new B.Refused("rule")
    return { ...head, transactions, evidence, heartbeats }
  })
}

export interface Commit {
  readonly index: number
  readonly epoch: number
  readonly leader_round: number
  readonly leader_hash: string
  readonly previous: string
}

export const commitHash = ({ index, epoch, leader_round, leader_hash, previous }: Commit): string =>
  B.H("udg/commit", B.bytes(previous), B.u64(index), B.u64(epoch), B.u64(leader_round), B.bytes(leader_hash))

export interface Inclusion {
  readonly hash: string
  readonly vertex: string
  readonly headers: ReadonlyArray<string>
  readonly previous: string
  readonly commits: ReadonlyArray<Omit<Commit, "previous">>
}

interface Under {
  readonly epoch: number
  readonly commit_index: number
  readonly commit_hash: string
}

/** The transaction, if the proof is valid for a checkpoint of an epoch with this collection depth. */
export const prove = (
  networkId: string,
  depth: number,
  under: Under,
  { hash, vertex, headers, previous, commits }: Inclusion,
): Transactions.Transaction => {
  const [first] = commits
  const last = commits.at(-1)
  if (first === undefined || last === undefined || commits.length > 10_001 || headers.length > 64) {
    throw new B.Refused("limit")
  }
  let before = previous
  for (const [i, commit] of commits.entries()) {
    if (commit.index !== first.index + i) throw new B.Refused("rule")
    before = commitHash({ ...commit, previous: before })
  }
  if (before !== under.commit_hash || last.index !== under.commit_index || first.epoch !== under.epoch) {
    throw new B.Refused("rule")
  }
  const found = read(networkId, B.bytes(vertex))
  const path = [...headers.map((encoded) => B.whole(B.bytes(encoded), readHeader)), found]
  for (const [i, { hash: expected }] of path.entries()) {
    const above = path[i - 1]
    const isNamed =
      above === undefined ? expected === first.leader_hash : above.header.parents.some((one) => one.hash === expected)
    if (!isNamed) throw new B.Refused("rule")
  }
  const { epoch, round } = found.header
  if (epoch !== under.epoch || round <= first.leader_round - depth) throw new B.Refused("rule")
  const transaction = found.transactions.find((one) => Transactions.hashOf(networkId, one) === hash)
  if (transaction === undefined) throw new B.Refused("rule")
  return transaction
}
