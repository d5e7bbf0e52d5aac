/**
 * Clients that sent far more requests ahead than a client that waits for responses would. Node.js parses a whole piece
 * of a connection, with up to some thousands of requests, before it can be stopped, so these clients' next connections
 * are closed unread for a while. Attackers with many addresses can change them, so a network from which several clients
 * flooded is closed as a whole, unless it is as large as a provider's.
 */
import { Recent } from "../../collections/Recent.js"
import { networksOf } from "../../network/AddressGroup.js"

const KEPT_OUT_MS = 10_000
/** Beyond this many clients and networks, the oldest are forgotten. */
const REMEMBERED = 4_096
/** Flooding clients that close a network, each within the time of the one before. */
const FLOODING_CLIENTS = 4

/** A client or network after a flood. */
interface Source {
  readonly until: number
  readonly clients: number
}

/** The client and its networks, without the widest one. */
const sourcesOf = (client: string): ReadonlyArray<string> => {
  const [widest = client, ...narrower] = networksOf(client)
  return narrower.length === 0 ? [widest] : narrower.reverse()
}

export class Floods {
  readonly #now: () => number
  /** Ordered by the latest flood. */
  readonly #sources = new Recent<string, Source>(REMEMBERED)

  constructor(now: () => number) {
    this.#now = now
  }

  note(client: string): void {
    const [itself = client, ...networks] = sourcesOf(client)
    // A client with several connections can flood several times at once and still counts once.
    const isKnown = this.#current(itself) !== undefined
    for (const source of isKnown ? [itself] : [itself, ...networks]) this.#add(source)
  }

  keepsOut(client: string): boolean {
    return sourcesOf(client).some(
      (source, i) => (this.#current(source)?.clients ?? 0) >= (i === 0 ? 1 : FLOODING_CLIENTS),
    )
  }

  #current(source: string): Source | undefined {
    const known = this.#sources.get(source)
    return known === undefined || known.until > this.#now() ? known : undefined
  }

  #add(source: string): void {
    const clients = (this.#current(source)?.clients ?? 0) + 1
    this.#sources.set(source, { until: this.#now() + KEPT_OUT_MS, clients })
  }
}
