/**
 * A number of places that clients share. While all are taken, a newcomer gets the oldest place of the most crowded client: of
 * the network that holds the most, in it of its part that holds the most, and so on, if that is more than the
 * newcomer's would hold at the same point. So neither one client nor one network can keep all others out, nobody alone in
 * a network is ever displaced, and nobody is refused while a place is free.
 */
import { networksOf } from "../../network/AddressGroup.js"

export interface Options<A> {
  readonly total: number
  /** The places that one client may hold. */
  readonly each: number
  /** Called for an entry that lost its place to another client. */
  readonly evict: (holder: A) => void
}

export type Entry = "taken" | "client is full" | "all are taken"

/** The places of a network, by its parts; or of a client, by its holders, oldest first. */
class Crowd<A> {
  readonly parts = new Map<string, Crowd<A>>()
  readonly holders = new Set<A>()
  size = 0

  get all(): ReadonlyArray<A> {
    return [...this.holders, ...[...this.parts.values()].flatMap(({ all }) => all)]
  }

  /** The part that holds more than any other one, and than so many. */
  largest(than: number): readonly [name: string, part: Crowd<A>] | undefined {
    let most: readonly [string, Crowd<A>] | undefined
    for (const each of this.parts) if (each[1].size > (most?.[1].size ?? than)) most = each
    return most
  }
}

export class Places<A> {
  readonly #options: Options<A>
  readonly #all = new Crowd<A>()

  constructor(options: Options<A>) {
    this.#options = options
  }

  get taken(): number {
    return this.#all.size
  }

  get all(): ReadonlyArray<A> {
    return this.#all.all
  }

  /** Oldest first. */
  of(client: string): ReadonlyArray<A> {
    return [...(this.#find(networksOf(client))?.holders ?? [])]
  }

  enter(client: string, holder: A): Entry {
    const { total, each } = this.#options
    const path = networksOf(client)
    if ((this.#find(path)?.size ?? 0) >= each) return "client is full"
    if (this.taken >= total && !this.#makeRoom(path)) return "all are taken"
    let crowd = this.#all
    crowd.size++
    for (const name of path) {
      const part = crowd.parts.get(name) ?? new Crowd<A>()
      crowd.parts.set(name, part)
      part.size++
      crowd = part
    }
    crowd.holders.add(holder)
    return "taken"
  }

  /** Nothing happens where the place was lost already. */
  leave(client: string, holder: A): void {
    const path = networksOf(client)
    if (this.#find(path)?.holders.delete(holder) === true) this.#shrink(path)
  }

  #find(path: ReadonlyArray<string>): Crowd<A> | undefined {
    let crowd: Crowd<A> | undefined = this.#all
    for (const name of path) crowd = crowd?.parts.get(name)
    return crowd
  }

  #shrink(path: ReadonlyArray<string>): void {
    let crowd: Crowd<A> | undefined = this.#all
    crowd.size--
    for (const name of path) {
      const part: Crowd<A> | undefined = crowd?.parts.get(name)
      if (part === undefined) return
      part.size--
      if (part.size === 0) crowd?.parts.delete(name)
      crowd = part
    }
  }

  #makeRoom(newcomers: ReadonlyArray<string>): boolean {
    const path: Array<string> = []
    let crowd: Crowd<A> = this.#all
    let isOwn = true
    while (crowd.parts.size > 0) {
      const own = isOwn ? newcomers[path.length] : undefined
      const held = own === undefined ? 0 : (crowd.parts.get(own)?.size ?? 0) + 1
      const largest = crowd.largest(held)
      const next = largest?.[1] ?? (own === undefined ? undefined : crowd.parts.get(own))
      if (next === undefined) return false
      path.push(largest?.[0] ?? own ?? "")
      isOwn = isOwn && largest === undefined
      crowd = next
    }
    const [oldest] = crowd.holders
    if (isOwn || oldest === undefined) return false
    crowd.holders.delete(oldest)
    this.#shrink(path)
    this.#options.evict(oldest)
    return true
  }
}
