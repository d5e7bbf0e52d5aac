/** A map that holds no more than `most` keys, and forgets the one that was set longest ago. */
export class Recent<K, V> {
  readonly #most: number
  /** A map iterates in the order of insertion. */
  readonly #all = new Map<K, V>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#all.size
  }

  get(key: K): V | undefined {
    return this.#all.get(key)
  }

  set(key: K, value: V): void {
    this.#all.delete(key)
    // Only then: to find the first key, V8 skips the places of all keys deleted before it.
    if (this.#all.size >= this.#most) this.#forgetOldest()
    this.#all.set(key, value)
  }

  /** Like `set`, but the key stays as old as it was. */
  change(key: K, value: V): void {
    if (this.#all.has(key)) this.#all.set(key, value)
  }

  delete(key: K): void {
    this.#all.delete(key)
  }

  #forgetOldest(): void {
    const [oldest] = this.#all.keys()
    if (oldest !== undefined) this.#all.delete(oldest)
  }
}
