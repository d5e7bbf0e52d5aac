/**
 * The first messages between two nodes: the network, the protocol version, and the validator. The connection proves a
 * peer's id; a peer proves its validator by signing the other side's challenge.
 */
import { Either } from "effect"
import { randomBytes, toHex } from "#crypto"
import * as Binary from "../protocol/encoding/Binary.js"
import * as Address from "../protocol/identity/Address.js"
import * as Hash from "../protocol/identity/Hash.js"
import * as Keys from "../protocol/identity/Keys.js"
import * as Network from "../protocol/identity/Network.js"
import * as Verification from "../protocol/transaction/Verification.js"

/** The version of everything on the wire between nodes; two nodes of different versions do not talk. */
export const PROTOCOL_VERSION = 3

export interface Hello {
  readonly version: number
  readonly networkId: Network.NetworkId
  readonly genesisHash: Hash.Hash
  readonly agent: string
  /** The port it listens on, at the address it connects from; 0 if it does not listen. */
  readonly port: number
  /** Random, drawn for this connection; the other side signs it. */
  readonly challenge: Hash.Hash
}

export interface Proof {
  readonly publicKey: Keys.PublicKey
  readonly signature: Keys.Signature
}

/** Both peer ids as text, so that a proof made for one connection is worthless on another. */
export interface Ends {
  readonly prover: string
  readonly verifier: string
}

const AGENT_BYTES = 64
const PEER_ID_BYTES = 128
const SIGNATURE_DOMAIN = Binary.utf8("udg/peer\0")

/** The limit of a hello and of a proof. */
export const MAX_BYTES = 512

export const drawChallenge = (): Hash.Hash => toHex(randomBytes(Hash.BYTES)) as Hash.Hash

export const agentOf = (version: string): string => `udg/${version}`.slice(0, AGENT_BYTES)

export const encode = (hello: Hello): Uint8Array =>
  Binary.encode((writer) =>
    writer
      .u16(hello.version)
      .text8(hello.networkId)
      .hex(hello.genesisHash)
      .text8(hello.agent)
      .u16(hello.port)
      .hex(hello.challenge),
  )

const readNetworkId = (reader: Binary.Reader): Network.NetworkId => {
  const text = reader.text8(Network.NETWORK_ID_BYTES)
  if (Network.isNetworkId(text)) return text
  reader.fail("not a network id")
  return "" as Network.NetworkId
}

export const decode = (bytes: Uint8Array): Either.Either<Hello, Binary.MalformedBytes> =>
  Binary.decode("hello", bytes, (reader) => ({
    version: reader.u16(),
    networkId: readNetworkId(reader),
    genesisHash: Hash.read(reader),
    agent: reader.text8(AGENT_BYTES),
    port: reader.u16(),
    challenge: Hash.read(reader),
  }))

export const encodeProof = (proof: Proof | null): Uint8Array =>
  Binary.encode((writer) => {
    writer.boolean(proof !== null)
    if (proof !== null) writer.hex(proof.publicKey).hex(proof.signature)
  })

export const decodeProof = (bytes: Uint8Array): Either.Either<Proof | null, Binary.MalformedBytes> =>
  Binary.decode("proof of a validator key", bytes, (reader) =>
    reader.boolean() ? { publicKey: Keys.readPublicKey(reader), signature: Keys.readSignature(reader) } : null,
  )

const signedBytes = ({ genesisHash, challenge }: Hello, { prover, verifier }: Ends): Uint8Array =>
  Hash.tagged(SIGNATURE_DOMAIN, [
    Binary.encode((writer) => writer.hex(genesisHash).hex(challenge).text8(prover).text8(verifier)),
  ])

/** Decodes the signed bytes of a proof. */
export const signedContent = (
  signed: Uint8Array,
): Either.Either<Pick<Hello, "genesisHash" | "challenge"> & Ends, Binary.MalformedBytes> =>
  Binary.decode("signed greeting", signed, (reader) => {
    reader.literal(SIGNATURE_DOMAIN)
    return {
      genesisHash: Hash.read(reader),
      challenge: Hash.read(reader),
      prover: reader.text8(PEER_ID_BYTES),
      verifier: reader.text8(PEER_ID_BYTES),
    }
  })

const isSayable = ({ prover, verifier }: Ends): boolean =>
  [prover, verifier].every((id) => id.length > 0 && id.length <= PEER_ID_BYTES)

/** Proves a validator: its key, or a remote signer, which may not sign in time. */
export interface Prover {
  readonly publicKey: Keys.PublicKey
  readonly sign: (bytes: Uint8Array) => Keys.Signature | Promise<Keys.Signature | null>
  /** Whether a remote signer does not answer at present. */
  readonly isAway?: () => boolean
}

export const proven = async (theirs: Hello, ends: Ends, prover: Prover): Promise<Proof | null> => {
  const signature = await prover.sign(signedBytes(theirs, ends))
  return signature === null ? null : { publicKey: prover.publicKey, signature }
}

export const prove = (theirs: Hello, ends: Ends, key: Keys.Signer): Proof => ({
  publicKey: key.publicKey,
  signature: key.sign(signedBytes(theirs, ends)),
})

/** The validator that the other side proves by signing our challenge; null if the proof is invalid. */
export const validatorOf = (own: Hello, ends: Ends, { publicKey, signature }: Proof): Address.Address | null => {
  if (!isSayable(ends)) return null
  // The native verifier's rejection is final here: only this node judges the proof, and strangers can send it.
  const holds = Verification.isStrictlyValid({ message: signedBytes(own, ends), publicKey, signature })
  return holds ? Address.fromPublicKey(publicKey) : null
}

/** The version alone, which every protocol version writes first. */
const versionOf = (bytes: Uint8Array): number =>
  bytes.length < 2 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint16(0, true)

/** The hello of a compatible node, or the reason for the log why the two cannot talk. */
export const judge = (own: Hello, bytes: Uint8Array): Either.Either<Hello, string> => {
  const version = versionOf(bytes)
  if (version !== own.version) {
    return Either.left(`it speaks version ${version} of the protocol, this node speaks version ${own.version}`)
  }
  const theirs = decode(bytes)
  if (Either.isLeft(theirs)) return Either.left(`its hello is malformed: ${theirs.left.message}`)
  const { networkId, genesisHash } = theirs.right
  if (genesisHash === own.genesisHash) return Either.right(theirs.right)
  return Either.left(
    `it is on network ${networkId} (genesis ${genesisHash}), this node is on ${own.networkId} (genesis ${own.genesisHash})`,
  )
}
