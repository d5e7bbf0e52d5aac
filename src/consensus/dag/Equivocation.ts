/** Proves that an author filled one slot twice. Once per author and epoch, since it can be slashed only once. */
import type { Address } from "../../protocol/identity/Address.js"
import * as Evidence from "../../protocol/vertex/Evidence.js"
import type { Header } from "../../protocol/vertex/Header.js"

export class Equivocations {
  readonly #proven = new Set<Address>()

  isProven(author: Address): boolean {
    return this.#proven.has(author)
  }

  /** The evidence that a header makes with another of its slot; undefined if the author is already proven guilty. */
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
