/**
 * A number of places that clients share. While all are taken, a newcomer gets the oldest place of the client that holds
 * the most, if that is more than the newcomer would hold. So no client can keep all others out, and nobody is refused while
 * a place is free.
 */
export interface Options<A> {
  readonly total: number
  /** The places that one client may hold. */
  readonly each: number
  /** Called for an entry that lost its place to another client. */
  readonly evict: (holder: A) => void
}

export type Entry = "taken" | "client is full" | "all are taken"

export class Places<A> {
  readonly #options: Options<A>
  /** Each client's holders, oldest first. */
  readonly #holders = new Map<string, Set<A>>()
  #taken = 0

  constructor(options: Options<A>) {
    this.#options = options
  }

  get taken(): number {
    return this.#taken
  }

  get all(): ReadonlyArray<A> {
    return [...this.#holders.values()].flatMap((holders) => [...holders])
  }

  enter(client: string, holder: A): Entry {
    const { total, each } = this.#options
    const own = this.#holders.get(client)?.size ?? 0
    if (own >= each) return "client is full"
    if (this.#taken >= total && !this.#makeRoom(own)) return "all are taken"
    this.#holders.set(client, (this.#holders.get(client) ?? new Set<A>()).add(holder))
    this.#taken++
    return "taken"
  }

  /** Nothing happens where the place was lost already. */
  leave(client: string, holder: A): void {
    const holders = this.#holders.get(client)
    if (holders === undefined || !holders.delete(holder)) return
    this.#taken--
    if (holders.size === 0) this.#holders.delete(client)
  }

  #makeRoom(newcomers: number): boolean {
    let most: readonly [client: string, holders: Set<A>] | undefined
    for (const each of this.#holders) if (each[1].size > (most?.[1].size ?? newcomers + 1)) most = each
    if (most === undefined) return false
    const [oldest] = most[1]
    if (oldest === undefined) return false
    this.leave(most[0], oldest)
    this.#options.evict(oldest)
    return true
  }
}
