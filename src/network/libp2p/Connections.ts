/** Connections of libp2p as the policy sees them: one object for each. */
import type { Connection as Libp2pConnection } from "@libp2p/interface"
import type { PeerId } from "../../replica/messages/Peer.js"
import type * as Wire from "../peers/Wire.js"

const known = new WeakMap<Libp2pConnection, Wire.Connection>()

export const connectionOf = (inner: Libp2pConnection): Wire.Connection => {
  const connection = known.get(inner) ?? new Connection(inner)
  known.set(inner, connection)
  return connection
}

/** libp2p itself fails only with errors, but its types do not say so. */
export const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

export const hostOf = (address: { readonly nodeAddress: () => { readonly address: string } }): string | null => {
  try {
    return address.nodeAddress().address
  } catch {
    // A name that is not resolved, or a transport without hosts.
    return null
  }
}

class Connection implements Wire.Connection {
  readonly peer: PeerId
  readonly direction: Wire.Connection["direction"]
  readonly address: string
  readonly host: string | null
  readonly #inner: Libp2pConnection

  constructor(inner: Libp2pConnection) {
    this.#inner = inner
    this.peer = inner.remotePeer.toString() as PeerId
    this.direction = inner.direction
    this.address = inner.remoteAddr.toString().replace(/\/p2p\/[^/]+$/, "")
    this.host = hostOf(inner.remoteAddr)
  }

  get isOpen(): boolean {
    return this.#inner.status === "open"
  }

  get latencyMs(): number | null {
    return this.#inner.rtt ?? null
  }

  open(protocol: string): Promise<Wire.Stream> {
    return this.#inner.newStream(protocol)
  }

  close(): void {
    this.#inner.close().catch((error: unknown) => this.abort(errorOf(error)))
  }

  abort(reason: Error): void {
    this.#inner.abort(reason)
  }
}
