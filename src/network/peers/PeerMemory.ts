/**
 * Bounds the memory that peers take up: outgoing data, incoming data not yet taken in, and incomplete messages. Each
 * peer has its own limits (`Session`), whose sum exceeds a node's memory, so each standing has a shared limit as well.
 * When strangers exceed theirs, the peers that have held memory longest are cut: a peer that reads and finishes its
 * messages holds nothing in between.
 */
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Standing } from "../Standing.js"

const MIB = 1_048_576

/** Bytes. A frame for all peers counts once for each of them. */
export const TOGETHER: { readonly [standing in Standing]: number } = {
  member: 512 * MIB,
  named: 128 * MIB,
  stranger: 64 * MIB,
}

export interface Around {
  readonly standing: (peer: PeerId) => Standing
  readonly now: () => number
  readonly cut: (peer: PeerId) => void
}

export interface Account {
  /** Whether there is room for more. Strangers always have room, at the expense of other strangers if necessary. */
  readonly hasRoom: () => boolean
  /** Adds to the bytes held; negative values release them. */
  readonly add: (bytes: number) => void
  /** The peer is gone with everything it held. */
  readonly close: () => void
}

interface Entry {
  readonly peer: PeerId
  standing: Standing
  bytes: number
  since: number
}

export class PeerMemory {
  readonly #around: Around
  readonly #entries = new Set<Entry>()
  readonly #bytes: { [standing in Standing]: number } = { member: 0, named: 0, stranger: 0 }

  constructor(around: Around) {
    this.#around = around
  }

  of(standing: Standing): number {
    return this.#bytes[standing]
  }

  open(peer: PeerId, standing: Standing): Account {
    const entry: Entry = { peer, standing, bytes: 0, since: 0 }
    this.#entries.add(entry)
    return {
      hasRoom: () => entry.standing === "stranger" || this.#bytes[entry.standing] < TOGETHER[entry.standing],
      add: (bytes) => this.#add(entry, bytes),
      close: () => this.#close(entry),
    }
  }

  #add(entry: Entry, bytes: number): void {
    if (!this.#entries.has(entry)) return
    if (entry.bytes === 0) entry.since = this.#around.now()
    entry.bytes += bytes
    this.#bytes[entry.standing] += bytes
    if (bytes > 0) this.#relieve()
  }

  #close(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#bytes[entry.standing] -= entry.bytes
  }

  #relieve(): void {
    while (this.#bytes.stranger > TOGETHER.stranger) {
      let longest: Entry | undefined
      for (const entry of this.#entries) {
        if (entry.standing !== "stranger" || entry.bytes === 0) continue
        if (longest === undefined || entry.since < longest.since) longest = entry
      }
      if (longest === undefined) return
      this.#close(longest)
      this.#around.cut(longest.peer)
    }
  }

  /** Updates peers whose standing has changed. Call periodically. */
  sweep(): void {
    for (const entry of this.#entries) {
      const standing = this.#around.standing(entry.peer)
      if (standing === entry.standing) continue
      this.#bytes[entry.standing] -= entry.bytes
      this.#bytes[standing] += entry.bytes
      entry.standing = standing
    }
    this.#relieve()
  }
}
