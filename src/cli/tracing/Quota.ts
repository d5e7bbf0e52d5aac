/** What strangers may cause in each second: in all, and each of them. Remembers only those of the current second. */
export class Quota {
  readonly #total: number
  readonly #each: number
  readonly #taken = new Map<string, number>()
  #second = Number.NaN
  #left = 0

  constructor(total: number, each: number) {
    this.#total = total
    this.#each = each
  }

  take(who: string, atMs: number): boolean {
    const second = Math.floor(atMs / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#left = this.#total
      this.#taken.clear()
    }
    const taken = this.#taken.get(who) ?? 0
    if (this.#left === 0 || taken === this.#each) return false
    this.#left--
    this.#taken.set(who, taken + 1)
    return true
  }
}
