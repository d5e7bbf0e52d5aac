/** A fingerprint of all events in their order. Two runs of one seed must have the same. */
export class Digest {
  #a = 0x811c9dc5
  #b = 0x9e3779b9

  #add(value: number): void {
    this.#a = Math.imul(this.#a ^ (value | 0), 0x01000193)
    this.#b = Math.imul(this.#b ^ (this.#a >>> 15) ^ (value | 0), 0x85ebca6b)
  }

  mix(...values: ReadonlyArray<number>): void {
    for (const value of values) this.#add(value)
  }

  /** Mixes in the first 32 bits of a hash in hex. */
  text8(hex: string): void {
    this.#add(Number.parseInt(hex.slice(0, 8), 16))
  }

  get text(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0")
    return hex(this.#a) + hex(this.#b)
  }
}
