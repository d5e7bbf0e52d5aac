/** Finds authors who fill one slot twice, and proves it. Once per author and epoch, as they can be slashed only once. */
import type { Address } from "../../protocol/identity/Address.js"
import * as Evidence from "../../protocol/vertex/Evidence.js"
import type { Header } from "../../protocol/vertex/Header.js"

export class Equivocations {
  readonly #proven = new Set<Address>()

  isProven(author: Address): boolean {
    return this.#proven.has(author)
  }

  /** The evidence a header makes with any other of its slot; none when the author is proven guilty already. */
  find(header: Header, others: Iterable<Header>): Evidence.Evidence | undefined {
    if (this.#proven.has(header.author)) return undefined
    for (const other of others) {
      const evidence = Evidence.of(header, other)
      if (evidence === undefined) continue
      this.#proven.add(header.author)
      return evidence
    }
    return undefined
  }
}
