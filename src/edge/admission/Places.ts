/**
 * A number of places that clients share. When all are taken, a newcomer gets the oldest place of the most crowded
 * client: it is found by descending from the largest network to its largest part and so on, as long as that part holds
 * more than the newcomer's would. No client or network can keep others out, a client alone in its network is never
 * displaced, and nobody is refused while a place is free.
 */
import { networksOf } from "../../network/AddressGroup.js"

export interface Options<A> {
  readonly total: number
  /** Places for one client. */
  readonly each: number
  /** Called for a holder that lost its place to another client. */
  readonly evict: (holder: A) => void
}

export type Entry = "taken" | "client is full" | "all are taken"

/** A network's places by its parts, or a client's places by holder, oldest first. */
class Crowd<A> {
  readonly parts = new Map<string, Crowd<A>>()
  readonly holders = new Set<A>()
  size = 0

  get all(): ReadonlyArray<A> {
    return [...this.holders, ...[...this.parts.values()].flatMap(({ all }) => all)]
  }

  /** The part that holds the most, if more than `than`. */
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

  /** Has no effect if the place is already lost. */
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
