/** The handshake of two nodes: proofs of their own keys, then hellos and proofs of a validator. */
import { toHex } from "#crypto"
import * as Hello from "../../src/network/Hello.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Testing from "../../src/testing/Testing.js"

const [dialler, listener, validator] = [Testing.keyOf(1), Testing.keyOf(2), Testing.keyOf(3)]
const binding = Uint8Array.from({ length: NodeProof.BINDING_BYTES }, (_, i) => i)

const proofOf = (role: NodeProof.Role) => {
  const key = role === "dialler" ? dialler : listener
  return {
    role,
    secret_key: key.toSecretHex(),
    binding: toHex(binding),
    signed_bytes: toHex(NodeProof.signedBytes(key.publicKey, role, binding)),
    proof: toHex(NodeProof.make(key, role, binding)),
  }
}

const hello: Hello.Hello = {
  version: Hello.PROTOCOL_VERSION,
  networkId: "udg-vectors" as NetworkId,
  genesisHash: "11".repeat(32) as Hash,
  agent: "udg/1.0.0",
  port: 9_333,
  challenge: "22".repeat(32) as Hash,
}
const ends = { prover: dialler.publicKey, verifier: listener.publicKey }

export const greeting = () => ({
  exporter_label: NodeProof.LABEL,
  node_proofs: [proofOf("dialler"), proofOf("listener")],
  hello: {
    version: hello.version,
    network_id: hello.networkId,
    genesis_hash: hello.genesisHash,
    agent: hello.agent,
    port: hello.port,
    challenge: hello.challenge,
    encoded: toHex(Hello.encode(hello)),
  },
  validator_proof: {
    secret_key: validator.toSecretHex(),
    ...ends,
    answers: "the hello above",
    encoded: toHex(Hello.encodeProof(Hello.prove(hello, ends, validator))),
  },
  no_validator: toHex(Hello.encodeProof(null)),
})
