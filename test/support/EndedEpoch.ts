import type { EndedEpoch, StoredEpoch } from "../../src/consensus/output/StoredEpoch.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { Header } from "../../src/protocol/vertex/Header.js"

/** An epoch whose vertices are all still in memory when the next one begins. */
export const endedEpoch = (epoch: StoredEpoch): EndedEpoch => {
  const highest = new Map<Address, Header>()
  for (const { header } of epoch.vertices) {
    if (header.round > (highest.get(header.author)?.round ?? -1)) highest.set(header.author, header)
  }
  return { ...epoch, highestHeaders: [...highest.values()] }
}
