/**
 * TLS 1.3 without certificates: an ephemeral key exchange (X25519) under a shared key that everybody knows. Nothing in it
 * says who is at the other end; `NodeProof` does, bound to the connection. So nobody parses a stranger's certificate, and
 * a connection costs the listener no signature before its dialler has proven its key.
 */
import { constants } from "node:crypto"
import type { Duplex } from "node:stream"
import * as tls from "node:tls"
import { sha256 } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"

/** The version of everything below the messages. Nodes of different versions of the messages still greet each other. */
const PROTOCOL = "udg/1"
const IDENTITY = "udg"
const psk = sha256(Binary.utf8("udg/wire\0"))

/** One cipher and one group: OpenSSL takes a shared key only with SHA-256, and there is nothing to negotiate. */
const SECURE = {
  minVersion: "TLSv1.3",
  maxVersion: "TLSv1.3",
  ciphers: "TLS_AES_128_GCM_SHA256",
  ecdhCurve: "X25519",
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
} as const

const context = tls.createSecureContext(SECURE)

/** A connection that dialled in. Nothing resumes: without a store of sessions, a ticket is worth nothing. */
export const listening = (socket: Duplex): tls.TLSSocket =>
  new tls.TLSSocket(socket, {
    isServer: true,
    secureContext: context,
    ALPNProtocols: [PROTOCOL],
    pskCallback: (_: tls.TLSSocket, identity: string) => (identity === IDENTITY ? psk : null),
  } as tls.TLSSocketOptions)

export const dialling = (socket: Duplex): tls.TLSSocket =>
  tls.connect({
    socket,
    secureContext: context,
    ALPNProtocols: [PROTOCOL],
    pskCallback: () => ({ psk, identity: IDENTITY }),
    checkServerIdentity: () => undefined,
  })

/** Whether both ends agreed on what this program speaks. OpenSSL itself goes on without a protocol. */
export const isOurs = (socket: tls.TLSSocket): boolean =>
  socket.getProtocol() === "TLSv1.3" && socket.alpnProtocol === PROTOCOL
