/** The code against docs/vectors/, read as a client in another language would read them. */
import { createHash } from "node:crypto"
import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as JsonText from "../../src/protocol/encoding/JsonText.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Inclusion from "../../src/protocol/epoch/Inclusion.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import { addressPrefix } from "../../src/protocol/identity/Network.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as Operation from "../../src/protocol/transaction/Operation.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as TransactionJson from "../../src/protocol/transaction/TransactionJson.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as Vectors from "./VectorFiles.js"

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"))
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** H of the documentation, computed without our code. */
const H = (tag: string, input: string): string =>
  createHash("sha256").update(tag).update(Uint8Array.of(0)).update(bytes(input)).digest("hex")

const verified = (publicKey: string, message: string, signature: string): boolean =>
  Verification.isValid({ message: bytes(message), publicKey, signature } as Verification.Check)

it("hashes.json holds", () => {
  for (const { tag, input, hash } of Vectors.hashes()) {
    expect(Hash.of(tag, bytes(input))).toBe(hash)
    expect(H(tag, input)).toBe(hash)
  }
})

it("keys.json holds", () => {
  for (const vector of Vectors.keys()) {
    const key = Option.getOrThrow(SecretKey.fromHex(vector.secret_key))
    expect(key.publicKey).toBe(vector.pub_key)
    expect(Address.fromPublicKey(key.publicKey)).toBe(vector.address)
    expect(Address.toBech32(vector.address, "tudg")).toBe(vector.address_testnet)
    expect(Address.toBech32(vector.address, "udg")).toBe(vector.address_mainnet)
    for (const { message, signature } of vector.signatures) {
      expect(key.sign(bytes(message))).toBe(signature)
      expect(verified(vector.pub_key, message, signature)).toBe(true)
    }
  }
})

describe("addresses.json holds", () => {
  const { accepted, rejected, names } = Vectors.addresses()

  it("for every accepted form", () => {
    for (const { network, text, address, bech32m } of accepted) {
      const prefix = addressPrefix(network)
      expect(Address.parse(text, prefix)).toStrictEqual(Either.right(address))
      expect(Address.toBech32(address, prefix)).toBe(bech32m)
    }
  })

  const reasons = {
    "not-an-address": "expected",
    "other-network": "an address of the other network",
    checksum: "checksum or form",
    length: "does not hold 20 bytes",
  }
  it("for every rejected text and its reason", () => {
    for (const { network, text, reason } of rejected) {
      const error = Option.getOrThrow(Either.getLeft(Address.parse(text, addressPrefix(network))))
      expect(error.reason).toContain(reasons[reason])
    }
  })

  it("for names", () => {
    for (const name of names.accepted) expect(Either.isRight(Address.parseReference(`@${name}`, "udg"))).toBe(true)
    for (const name of names.rejected) expect(Either.isLeft(Address.parseReference(`@${name}`, "udg"))).toBe(true)
  })
})

it("amounts.json holds", () => {
  const { formatted, rejected_texts, multiplied } = Vectors.amounts()
  for (const { sats, coin, text } of formatted) {
    expect(Sats.toCoin(sats)).toBe(coin)
    expect(Sats.formatCoin(sats)).toBe(text)
    expect(Sats.parseCoin(text)).toStrictEqual(Option.some(sats))
  }
  for (const text of rejected_texts) expect(Sats.parseCoin(text)).toStrictEqual(Option.none())
  for (const { a, b, c, floor } of multiplied) expect(Sats.mulDivFloor(a, b, c)).toBe(floor)
})

describe("transactions.json holds", () => {
  const { network_id: networkId, single_key, policy } = Vectors.transactions()

  it("for every type, in both forms of authorization", () => {
    for (const form of [single_key, policy]) {
      const types = new Set(form.map(({ json }) => json.type))
      expect(types).toStrictEqual(new Set(Object.keys(Operation.TYPE_BYTE)))
    }
  })

  const vectors = [
    ...single_key.map((vector) => ({ ...vector, proofs: [vector.json] })),
    ...policy.map((vector) => ({ ...vector, proofs: vector.json.signatures })),
  ]
  it.each(vectors)("for $about", ({ json, signed_bytes, hash, encoded, proofs }) => {
    const decoded = Either.getOrThrow(Transaction.decode(networkId, bytes(encoded)))
    const submitted = Either.getOrThrow(
      Either.flatMap(TransactionJson.decode(json), (input) => JsonForm.fromJson(networkId, "tudg", input)),
    )
    expect(submitted).toStrictEqual(decoded)
    expect(JsonForm.toJson(decoded)).toStrictEqual(json)
    expect(decoded.id).toBe(hash)
    expect(H("udg/tx-id", signed_bytes)).toBe(hash)
    expect(hex(Transaction.signedBytes(networkId, decoded))).toBe(signed_bytes)
    for (const { pub_key, signature } of proofs) expect(verified(pub_key, signed_bytes, signature)).toBe(true)
    expect(Verification.checksOf(networkId, decoded).every(Verification.isStrictlyValid)).toBe(true)
  })
})

describe("rejected-transactions.json holds", () => {
  const { network_id: networkId, network, ...rejected } = Vectors.rejectedTransactions()
  const prefix = addressPrefix(network)

  const byteReasons: Readonly<Record<string, RegExp>> = {
    truncated: /expected \d+ bytes, \d+ left/,
    trailing: /trailing/,
    "unknown-type": /transaction type/,
    range: /above/,
    limit: /at most/,
    text: /not UTF-8/,
    rule: /must be|of one key/,
  }
  it.each(rejected.bytes)("for bytes: $about", ({ encoded, reason }) => {
    const error = Option.getOrThrow(Either.getLeft(Transaction.decode(networkId, bytes(encoded))))
    expect(error.reason).toMatch(byteReasons[reason] ?? /never/)
  })

  const jsonReasons: Readonly<Record<string, RegExp>> = {
    "unknown-type": /^expected one of "Transfer"/,
    "unknown-field": /^no such field/,
    "missing-field": /missing/,
    "json-type": /expected .*, got "/,
    number: /in digits alone/,
    twice: /appears twice/,
    depth: /nested objects and lists/,
    range: /an integer/,
    rule: /must be at least|not both/,
    text: /valid Unicode text of/,
    "other-network": /of the other network/,
    "not-an-address": /is not an address/,
    hex: /hex characters/,
  }
  it.each(rejected.json)("for JSON: $about", ({ text, field, reason }) => {
    const decoded = Either.flatMap(JsonText.parse(text, "transaction"), TransactionJson.decode)
    const parsed = Either.flatMap(decoded, (input) => JsonForm.fromJson(networkId, prefix, input))
    const error = Option.getOrThrow(Either.getLeft(parsed))
    expect(error.field).toBe(field)
    expect(error.reason).toMatch(jsonReasons[reason] ?? /never/)
  })
})

it("genesis.json holds", () => {
  for (const { file, written_out, encoded, hash } of Object.values(Vectors.geneses())) {
    for (const form of [file, written_out]) {
      const genesis = Either.getOrThrow(Genesis.fromFile(form))
      expect(hex(Genesis.encode(genesis))).toBe(encoded)
      expect(Genesis.hash(genesis)).toBe(hash)
    }
    expect(Genesis.toJson(Either.getOrThrow(Genesis.decode(bytes(encoded))))).toStrictEqual(written_out)
    expect(H("udg/genesis", encoded)).toBe(hash)
  }
})

describe("vertices.json holds", () => {
  const { network_id: networkId, empty, with_body, latest, rejected, evidence, heartbeat } = Vectors.vertices()

  it.each([
    ["an empty vertex", empty],
    ["a vertex with a body", with_body],
    ["a vertex of the last millisecond", latest],
  ])("for %s", (_, vector) => {
    const { header, body } = Either.getOrThrow(Vertex.decode(networkId, bytes(vector.encoded)))
    expect({
      base: header.base,
      epoch: header.epoch,
      round: header.round,
      pub_key: header.publicKey,
      author: header.author,
      parents: header.parents,
      timestamp: header.timestamp,
      coinbase: header.coinbase,
      body_hash: header.bodyHash,
      signature: header.signature,
    }).toStrictEqual(vector.header)
    expect(header.hash).toBe(vector.hash)
    expect(H("udg/vertex-id", vector.signed_bytes)).toBe(vector.hash)
    expect(H("udg/body", vector.encoded.slice(vector.encoded_header.length))).toBe(vector.header.body_hash)
    expect(hex(Header.encode(header))).toBe(vector.encoded_header)
    expect(hex(Header.signedBytes(header))).toBe(vector.signed_bytes)
    expect(verified(vector.header.pub_key, vector.signed_bytes, vector.header.signature)).toBe(true)
    expect(body.transactions.map(({ id }) => id)).toStrictEqual(vector.transactions)
    expect(hex(Vertex.make(header, body).encoded)).toBe(vector.encoded)
  })

  it.each(rejected)("for a vertex that is refused: $about", ({ encoded }) => {
    expect(Either.isLeft(Vertex.decode(networkId, bytes(encoded)))).toBe(true)
  })

  it("for evidence", () => {
    const { first, second } = Either.getOrThrow(Evidence.decode(bytes(evidence.encoded)))
    expect([first.hash, second.hash]).toStrictEqual([evidence.first, evidence.second])
    expect([first, second].map(Header.check).every(Verification.isValid)).toBe(true)
  })

  it("for a heartbeat", () => {
    const decoded = Either.getOrThrow(Heartbeat.decode(bytes(heartbeat.encoded)))
    expect(decoded).toMatchObject({
      publicKey: heartbeat.pub_key,
      commitIndex: heartbeat.commit_index,
      commitHash: heartbeat.commit_hash,
      signature: heartbeat.signature,
    })
    expect(hex(Heartbeat.signedBytes(decoded))).toBe(heartbeat.signed_bytes)
    expect(verified(heartbeat.pub_key, heartbeat.signed_bytes, heartbeat.signature)).toBe(true)
  })
})

const fieldsOf = ({ epoch, firstRound, seed, rules, members }: EpochRecord.EpochRecord) => ({
  epoch,
  first_round: firstRound,
  seed,
  rules: {
    epoch_rounds: rules.epochRounds,
    protocol_version: rules.protocolVersion,
    collection_depth_rounds: rules.collectionDepthRounds,
    checkpoint_interval_rounds: rules.checkpointIntervalRounds,
    round_reward: rules.roundReward,
    halving_rounds: rules.halvingRounds,
    treasury_percent: rules.treasuryPercent,
    council_percent: rules.councilPercent,
  },
  members: members.map(({ address, publicKey, weight }) => ({ address, pub_key: publicKey, weight })),
})

describe("inclusion.json holds", () => {
  const { network_id, epoch_record, proofs, refused } = Vectors.inclusion()
  const record = Either.getOrThrow(EpochRecord.decode(bytes(epoch_record)))

  const holds = (proof: (typeof proofs)[number] | (typeof refused)[number]): boolean => {
    const { hash, vertex, headers, previous, commits, checkpoint } = proof
    const inclusion = {
      vertex: bytes(vertex),
      headers: headers.map(bytes),
      previous,
      commits: commits.map(({ index, epoch, leader_round, leader_hash }) => ({
        index,
        epoch,
        leaderRound: leader_round,
        leaderHash: leader_hash,
      })),
    }
    const under = {
      epoch: checkpoint.epoch,
      commitIndex: checkpoint.commit_index,
      commitHash: checkpoint.commit_hash,
    }
    return Either.match(Inclusion.verify(network_id, hash, under, inclusion), {
      onLeft: () => false,
      onRight: (included) => Inclusion.isOrdered(included, record),
    })
  }

  it.each(proofs)("for $about", (proof) => expect(holds(proof)).toBe(true))
  it.each(refused)("and refuses: $reason", (proof) => expect(holds(proof)).toBe(false))
})

describe("epochs.json holds", () => {
  const { epoch_record, rewards, quorums, commit, checkpoints } = Vectors.epochs()
  const record = Either.getOrThrow(EpochRecord.decode(bytes(epoch_record.encoded)))

  it("for the epoch record", () => {
    expect({
      ...fieldsOf(record),
      last_round: EpochRecord.lastRound(record),
      encoded: hex(EpochRecord.encode(record)),
    }).toStrictEqual(epoch_record)
  })

  it("for rewards, coinbases and quorums", () => {
    const total = EpochRecord.totalWeight(record)
    for (const { round, round_reward, coinbase } of rewards) {
      expect(EpochRecord.roundReward(record.rules, round)).toBe(round_reward)
      const shares = record.members.map(({ weight }) => EpochRecord.coinbase(record.rules, round, weight, total))
      expect(shares).toStrictEqual(coinbase)
    }
    for (const { weight, total, is_quorum } of quorums) expect(EpochRecord.isQuorum(weight, total)).toBe(is_quorum)
  })

  it("for the hash of a commit", () => {
    const { index, epoch, leader_round, leader_hash, previous, hash } = commit
    const made = Commit.make({ index, epoch, leaderRound: leader_round, leaderHash: leader_hash, previous })
    expect(made.hash).toBe(hash)
  })

  it.each([
    ["an interval", checkpoints.of_an_interval],
    ["an epoch's close", checkpoints.closing],
  ])("for the checkpoint of %s", (_, vector) => {
    const { checkpoint, signatures } = Either.getOrThrow(Checkpoint.decodeSigned(bytes(vector.encoded_signed)))
    expect(Either.getOrThrow(Checkpoint.decode(bytes(vector.encoded)))).toStrictEqual(checkpoint)
    expect({
      epoch: checkpoint.epoch,
      round: checkpoint.round,
      commit_index: checkpoint.commitIndex,
      commit_hash: checkpoint.commitHash,
      effects_digest: checkpoint.effectsDigest,
      state_root: checkpoint.stateRoot,
      total_supply: checkpoint.totalSupply,
      next_epoch: checkpoint.nextEpoch && fieldsOf(checkpoint.nextEpoch),
      previous: checkpoint.previous,
      signed_bytes: hex(Checkpoint.signedBytes(checkpoint)),
      hash: checkpoint.hash,
      encoded: hex(Checkpoint.encode(checkpoint)),
      signatures,
      encoded_signed: hex(Checkpoint.encodeSigned({ checkpoint, signatures })),
    }).toStrictEqual(vector)
    expect(H("udg/checkpoint-id", vector.signed_bytes)).toBe(vector.hash)
    for (const { validator, signature } of signatures) {
      const member = EpochRecord.memberOf(record, validator)
      if (member === undefined) throw new Error("not a member")
      expect(Verification.isValid(Checkpoint.check(checkpoint, member, signature))).toBe(true)
    }
  })
})
