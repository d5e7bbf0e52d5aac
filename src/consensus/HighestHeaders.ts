/** The highest header that this node knows of each author: what a validator that lost its disk asks for. */
import type { Address } from "../protocol/identity/Address.js"
import type { Header } from "../protocol/vertex/Header.js"
import { isAbove } from "./KeyMemory.js"

export class HighestHeaders {
  readonly #headers = new Map<Address, Header>()

  get size(): number {
    return this.#headers.size
  }

  of(author: Address): Header | null {
    return this.#headers.get(author) ?? null
  }

  isHighest(header: Header): boolean {
    const before = this.#headers.get(header.author)
    return before === undefined || isAbove(header, before)
  }

  remember(header: Header): void {
    if (this.isHighest(header)) this.#headers.set(header.author, header)
  }

  keepOnly(isKept: (author: Address) => boolean): void {
    for (const author of this.#headers.keys()) if (!isKept(author)) this.#headers.delete(author)
  }
}
