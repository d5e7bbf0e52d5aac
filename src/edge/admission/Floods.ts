/**
 * Clients that sent more requests ahead than a client that waits for answers would. Node parses each piece of a connection
 * to its end and makes objects of all requests in it, some thousands, before it can be stopped. So for a while, the next
 * connections of these clients are closed before anything is read from them. Whoever has many addresses can come from
 * another one each time; a network from which several clients flooded is closed as a whole, unless it is a provider's.
 */
import { networksOf } from "../../network/AddressGroup.js"

const KEPT_OUT_MS = 10_000
/** If there are more clients and networks than this, those that flooded first are admitted again. */
const REMEMBERED = 4_096
/** How many clients of a network have to flood, each within the time of the one before. */
const FLOODING_CLIENTS = 4

/** A client, or a network, for some time after a flood. */
interface Source {
  readonly until: number
  readonly clients: number
}

/** The client, then its networks but for the widest one. */
const sourcesOf = (client: string): ReadonlyArray<string> => {
  const [widest = client, ...narrower] = networksOf(client)
  return narrower.length === 0 ? [widest] : narrower.reverse()
}

export class Floods {
  readonly #now: () => number
  /** Those that flooded last are at the end. */
  readonly #sources = new Map<string, Source>()

  constructor(now: () => number) {
    this.#now = now
  }

  note(client: string): void {
    const [itself = client, ...networks] = sourcesOf(client)
    // With several connections at a time it can flood more than once, and is still one client.
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
    this.#sources.delete(source)
    this.#sources.set(source, { until: this.#now() + KEPT_OUT_MS, clients })
    const [oldest] = this.#sources.keys()
    if (this.#sources.size > REMEMBERED && oldest !== undefined) this.#sources.delete(oldest)
  }
}
