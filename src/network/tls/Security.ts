/**
 * TLS 1.3 without certificates: an ephemeral key exchange (X25519) with a publicly known pre-shared key. TLS identifies
 * nobody here; `NodeProof` does, bound to the connection. So nodes parse no stranger's certificate, and a listener
 * signs nothing before its dialler has proven its key.
 */
import { constants } from "node:crypto"
import type { Duplex } from "node:stream"
import * as tls from "node:tls"
import { sha256 } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"

/** The version of the transport. Nodes with different message versions still greet each other. */
const PROTOCOL = "udg/1"
const IDENTITY = "udg"
const psk = sha256(Binary.utf8("udg/wire\0"))

/** One cipher and one group, with nothing to negotiate: OpenSSL accepts a pre-shared key only with SHA-256. */
const SECURE = {
  minVersion: "TLSv1.3",
  maxVersion: "TLSv1.3",
  ciphers: "TLS_AES_128_GCM_SHA256",
  ecdhCurve: "X25519",
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
} as const

const context = tls.createSecureContext(SECURE)

/** A connection that dialled in. Sessions never resume: there is no session store, so tickets are disabled. */
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

/** Whether both ends agreed on this protocol. OpenSSL accepts connections without one. */
export const isOurs = (socket: tls.TLSSocket): boolean =>
  socket.getProtocol() === "TLSv1.3" && socket.alpnProtocol === PROTOCOL
