/** The messages of attackers, made before the attack begins. The decoders accept all of them. */
import { createHash, randomBytes } from "node:crypto"
import * as ed25519 from "@noble/ed25519"
import { Option } from "effect"
import * as MessageCodec from "../../../src/network/MessageCodec.js"
import * as Checkpoint from "../../../src/protocol/epoch/Checkpoint.js"
import type * as Genesis from "../../../src/protocol/epoch/Genesis.js"
import * as Address from "../../../src/protocol/identity/Address.js"
import * as Hash from "../../../src/protocol/identity/Hash.js"
import * as Keys from "../../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../../src/protocol/identity/Network.js"
import * as Limits from "../../../src/protocol/numbers/Limits.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import type { Operation } from "../../../src/protocol/transaction/Operation.js"
import * as Transaction from "../../../src/protocol/transaction/Transaction.js"
import * as Evidence from "../../../src/protocol/vertex/Evidence.js"
import * as Header from "../../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../../src/protocol/vertex/Vertex.js"

const L = 2n ** 252n + 27742317777372353535851937790883648493n
/** A point of order eight. */
const TORSION = ed25519.Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", true)

const littleEndian = (value: bigint): Uint8Array =>
  Uint8Array.from(Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse())

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`)

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/**
 * A key whose signatures hold by the rule for vertices and not for the native verifier: each has to be judged twice.
 * Its R carries a point of small order.
 */
export const slowSigner = (): Keys.Signer => {
  const a = numberOf(randomBytes(64)) % L
  const key = ed25519.Point.BASE.multiply(a).toBytes()
  return {
    publicKey: hex(key) as Keys.PublicKey,
    sign: (message) => {
      const r = numberOf(randomBytes(64)) % L
      const nonce = ed25519.Point.BASE.multiply(r).add(TORSION).toBytes()
      const challenge = numberOf(createHash("sha512").update(nonce).update(key).update(message).digest()) % L
      return hex(Uint8Array.of(...nonce, ...littleEndian((r + challenge * a) % L))) as Keys.Signature
    },
  }
}

const randomHash = (): Hash.Hash => hex(randomBytes(Hash.BYTES)) as Hash.Hash

const content = (epoch: number, round: number): Omit<Header.Content, "publicKey"> => ({
  base: randomHash(),
  epoch: Natural.epoch(epoch),
  round: Natural.round(round),
  parents: [],
  timestamp: Natural.timestamp(1_700_000_000_000),
  coinbase: Sats.ZERO,
  bodyHash: randomHash(),
})

/** Transactions under as many valid signatures as fit into a vertex. */
const crowded = (networkId: NetworkId): Vertex.Body => {
  const keys = Array.from({ length: Limits.POLICY_KEYS }, () => Keys.SecretKey.generate())
  const transactions: Array<Transaction.Transaction> = []
  let room = Limits.VERTEX_BYTES - 1_024
  for (let nonce = 0; ; nonce++) {
    const unsigned: Transaction.Unsigned = {
      from: Address.fromPublicKey(keys[0]?.publicKey ?? ("" as Keys.PublicKey)),
      nonce: Natural.nonce(nonce),
      fee: Sats.ZERO,
      operation: { _tag: "UnstakeTx" },
    }
    const bytes = Transaction.signedBytes(networkId, unsigned)
    const signatures = keys.map((key) => ({ publicKey: key.publicKey, signature: key.sign(bytes) }))
    const transaction = Transaction.make(networkId, unsigned, { _tag: "Policy", signatures })
    room -= transaction.encoded.length
    if (room < 0 || transactions.length === Limits.VERTEX_TRANSACTIONS) break
    transactions.push(transaction)
  }
  return { transactions, evidence: [], heartbeats: [] }
}

/** Vertices of a long-past epoch by unknown validators, with thousands of valid signatures. */
export const foreignVertices = (networkId: NetworkId, epoch: number): ReadonlyArray<Uint8Array> => {
  const body = crowded(networkId)
  return [0, 1, 2, 3].map((round) => {
    const { bodyHash: _, ...rest } = content(epoch, round + 1)
    const vertex = Vertex.sign(rest, body, Keys.SecretKey.generate())
    return MessageCodec.encode({ _tag: "Vertices", vertices: [vertex] })
  })
}

/** Unasked answers, each with a header that is slow to judge. */
export const slowHighest = (count: number): ReadonlyArray<Uint8Array> => {
  const signer = slowSigner()
  return Array.from({ length: count }, (_, i) => {
    const header = Header.sign(content(1, i + 1), signer)
    return MessageCodec.encode({ _tag: "Highest", author: header.author, epoch: header.epoch, header })
  })
}

const slowEvidence = (signer: Keys.Signer, round: number): Evidence.Evidence => {
  const slot = content(1, round)
  const [a, b] = [Sats.ZERO, Sats.make(1)].map((coinbase) => Header.sign({ ...slot, coinbase }, signer))
  const evidence = a === undefined || b === undefined ? undefined : Evidence.of(a, b)
  if (evidence === undefined) throw new Error("two headers of one slot")
  return evidence
}

/** The same for all nodes: evidence and heartbeats of unknown validators. */
export const slowVotes = (count: number): ReadonlyArray<Uint8Array> => {
  const signer = slowSigner()
  return Array.from({ length: count }, (_, i) =>
    MessageCodec.encode(
      i % 2 === 0
        ? { _tag: "Evidence", evidence: slowEvidence(signer, i + 1) }
        : { _tag: "Heartbeat", heartbeat: Heartbeat.sign(Natural.commitIndex(i), randomHash(), signer) },
    ),
  )
}

const keyOf = (name: string): Keys.SecretKey =>
  Option.getOrThrow(Keys.SecretKey.fromSeed(createHash("sha256").update(name).digest()))

const staker = keyOf("staker")

/** Enough stake for a seat without having one. */
export const stakers: ReadonlyArray<Genesis.Allocation> = [
  {
    address: Address.fromPublicKey(staker.publicKey),
    amount: Sats.make(Sats.MIN_STAKE_SATS + 20 * Sats.SATS_PER_COIN),
  },
]

export const stake = (networkId: NetworkId): Uint8Array => {
  const operation: Operation = { _tag: "StakeTx", amount: Sats.MIN_STAKE_SATS }
  const unsigned = {
    from: Address.fromPublicKey(staker.publicKey),
    nonce: Natural.nonce(0),
    fee: Sats.make(Sats.SATS_PER_COIN),
    operation,
  }
  return MessageCodec.encode({ _tag: "Transactions", transactions: [Transaction.sign(networkId, unsigned, staker)] })
}

/** For an invented commit, different each time. */
export const inventedHeartbeat = (commitIndex: number, isStaker: boolean): Uint8Array => {
  const key = isStaker ? staker : keyOf("nobody")
  const heartbeat = Heartbeat.sign(Natural.commitIndex(commitIndex), randomHash(), key)
  return MessageCodec.encode({ _tag: "Heartbeat", heartbeat })
}

/** Under an invented checkpoint of the first epoch, far ahead. */
export const inventedSignature = (commitIndex: number, key: Keys.Signer): Uint8Array => {
  const checkpoint = Checkpoint.make({
    epoch: Natural.epoch(1),
    round: Natural.round(commitIndex),
    commitIndex: Natural.commitIndex(commitIndex),
    commitHash: randomHash(),
    effectsDigest: randomHash(),
    stateRoot: randomHash(),
    totalSupply: Sats.ZERO,
    nextEpoch: null,
    previous: randomHash(),
  })
  return MessageCodec.encode({
    _tag: "CheckpointSignature",
    checkpoint,
    signature: Checkpoint.sign(checkpoint, key),
  })
}

const PAYERS = 30
/** All but the first of a window. */
const NONCES = 63
const RAISES = 40
/** Fees rise by a tenth, and a little more since the ten per cent are rounded up. */
const raised = (fee: number): number => Math.ceil((fee * 112) / 100)

/** `rich`: the accounts that `payers` funds. All others have no record. */
const payersOf = (isRich: boolean): ReadonlyArray<Keys.SecretKey> =>
  Array.from({ length: PAYERS }, (_, i) => keyOf(`${isRich ? "payer" : "nobody"} ${i}`))

/** Twenty coins for each account that sends what it never pays for. */
export const payers: ReadonlyArray<Genesis.Allocation> = payersOf(true).map(({ publicKey }) => ({
  address: Address.fromPublicKey(publicKey),
  amount: Sats.make(20 * Sats.SATS_PER_COIN),
}))

/** Transactions of all nonces but the first, whose fees keep rising. */
export const unpaid = (networkId: NetworkId, isRich: boolean): ReadonlyArray<Uint8Array> => {
  const keys = payersOf(isRich).map((key) => ({ key, from: Address.fromPublicKey(key.publicKey) }))
  const messages: Array<Uint8Array> = []
  for (let raise = 0, fee = 1_000; raise < RAISES; raise++, fee = raised(fee)) {
    for (let nonce = 1; nonce <= NONCES; nonce++) {
      for (const { key, from } of keys) {
        const operation: Operation = { _tag: "Transfer", to: from, amount: Sats.make(1), memo: "" }
        const unsigned = { from, nonce: Natural.nonce(nonce), fee: Sats.make(fee), operation }
        messages.push(
          MessageCodec.encode({ _tag: "Transactions", transactions: [Transaction.sign(networkId, unsigned, key)] }),
        )
      }
    }
  }
  return messages
}

/** A well-formed, unrequested answer of the given size that costs no points. */
export const unaskedState = (bytes: number): Uint8Array =>
  MessageCodec.encode({ _tag: "State", root: randomHash(), subtree: randomBytes(bytes) })

export const askRounds = (epoch: number): Uint8Array =>
  MessageCodec.encode({
    _tag: "AskRounds",
    epoch: Natural.epoch(epoch),
    fromRound: Natural.round(0),
    toRound: Natural.round(Number.MAX_SAFE_INTEGER),
    after: null,
  })
