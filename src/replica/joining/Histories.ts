/**
 * Compares the newest checkpoints claimed by a joiner's peers before it follows any of them. Each claim is proven from
 * the committee the joiner trusts. That is not enough, since the retired keys of a former committee can still sign
 * anything. So the newer of two claims must also follow from the committee that the older one names, and two claims for
 * one epoch are two histories.
 */
import type { SignedCheckpoint, SignedClosing } from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { PeerId } from "../messages/Peer.js"
import type { Parting } from "../output/Output.js"
import { Inquiry } from "./Inquiry.js"
import type { Trust } from "./ProvenChain.js"

/** The chain from an older claim to a newer one, asked of the newer claim's peers one after the other. */
interface Link {
  readonly low: SignedClosing
  readonly tried: Set<PeerId>
  inquiry: Inquiry | null
  isConnected: boolean
  /** A checkpoint other than `low` that a peer showed for its epoch. */
  other: SignedCheckpoint | null
}

const linkKey = (low: SignedCheckpoint, high: SignedCheckpoint): string =>
  `${low.checkpoint.hash} ${high.checkpoint.hash}`

export class Histories {
  readonly #trust: Trust
  readonly #claims = new Map<PeerId, Inquiry>()
  readonly #links = new Map<string, Link>()

  constructor(trust: Trust) {
    this.#trust = trust
  }

  has(peer: PeerId): boolean {
    return this.#claims.has(peer)
  }

  claim(peer: PeerId, newest: SignedCheckpoint): Inquiry {
    const inquiry = new Inquiry(peer, this.#trust, newest, null)
    this.#claims.set(peer, inquiry)
    return inquiry
  }

  drop(peer: PeerId): void {
    this.#claims.delete(peer)
  }

  get size(): number {
    return this.#claims.size
  }

  get #proven(): ReadonlyArray<Inquiry> {
    return [...this.#claims.values()].filter(({ chain }) => chain.isProven)
  }

  /** Each proven claim once, oldest first. */
  get newest(): ReadonlyArray<SignedClosing> {
    const byHash = new Map<Hash, SignedClosing>()
    for (const { chain } of this.#claims.values()) {
      const newest = chain.provenNewest
      if (newest !== undefined) byHash.set(newest.checkpoint.hash, newest)
    }
    return [...byHash.values()].sort((a, b) => a.checkpoint.epoch - b.checkpoint.epoch)
  }

  claimantsOf({ checkpoint }: SignedCheckpoint): ReadonlyArray<PeerId> {
    return this.#proven.filter(({ chain }) => chain.newest.checkpoint.hash === checkpoint.hash).map(({ peer }) => peer)
  }

  /** The closing checkpoints on the proven path to this one. */
  wayTo({ checkpoint }: SignedCheckpoint): ReadonlyArray<SignedCheckpoint> {
    return this.#proven.find(({ chain }) => chain.newest.checkpoint.hash === checkpoint.hash)?.chain.proven ?? []
  }

  /** All open inquiries: claims to prove, and neighbouring claims to connect. */
  get open(): ReadonlyArray<Inquiry> {
    const links = this.#neighbours.flatMap(([low, high]) => this.#links.get(linkKey(low, high))?.inquiry ?? [])
    return [...this.#claims.values(), ...links].filter(({ isOpen }) => isOpen)
  }

  get #neighbours(): ReadonlyArray<readonly [SignedClosing, SignedClosing]> {
    const neighbours: Array<readonly [SignedClosing, SignedClosing]> = []
    let low: SignedClosing | null = null
    for (const high of this.newest) {
      if (low !== null) neighbours.push([low, high])
      low = high
    }
    return neighbours
  }

  /** Whether every claim follows from the previous one. */
  get isConnected(): boolean {
    return this.#neighbours.every(([low, high]) => this.#links.get(linkKey(low, high))?.isConnected === true)
  }

  /** Peers whose claim is proven wrong or that cannot prove it. */
  failed(): ReadonlyArray<{ readonly peer: PeerId; readonly isLie: boolean }> {
    return [...this.#claims.values()]
      .filter(({ chain, isOpen }) => !chain.isProven && !isOpen)
      .map(({ peer, chain }) => ({ peer, isLie: chain.isBroken }))
  }

  /**
   * Continues to connect claims, asking peers in the order of `ranked`. Returns peers that showed a successor of the
   * older claim which its committee did not sign, and the parting once no connected peer can connect two claims.
   */
  connect(ranked: ReadonlyArray<PeerId>): { readonly liars: ReadonlyArray<PeerId>; readonly parting: Parting | null } {
    const liars: Array<PeerId> = []
    for (const [low, high] of this.#neighbours) {
      if (low.checkpoint.epoch === high.checkpoint.epoch) return { liars, parting: this.#parting(low, high, null) }
      const link = this.#linkOf(low, high)
      while (!link.isConnected && link.inquiry?.isOpen !== true) {
        if (link.inquiry !== null && this.#judge(link, link.inquiry)) liars.push(link.inquiry.peer)
        if (link.isConnected) break
        const peer = ranked.find((each) => !link.tried.has(each) && this.claimantsOf(high).includes(each))
        if (peer === undefined) {
          if (liars.length > 0) return { liars, parting: null }
          return { liars, parting: this.#parting(low, high, link) }
        }
        link.tried.add(peer)
        const { epoch, nextEpoch } = low.checkpoint
        link.inquiry = new Inquiry(peer, { ...this.#trust, record: nextEpoch, pin: null }, high, epoch)
      }
    }
    return { liars, parting: null }
  }

  #linkOf(low: SignedClosing, high: SignedClosing): Link {
    const key = linkKey(low, high)
    const link = this.#links.get(key) ?? { low, tried: new Set(), inquiry: null, isConnected: false, other: null }
    this.#links.set(key, link)
    return link
  }

  /** Judges a finished inquiry; returns whether its peer lied. */
  #judge(link: Link, { chain, shown }: Inquiry): boolean {
    link.isConnected ||= chain.isProven
    if (chain.isProven) return false
    if (shown !== null && shown.checkpoint.hash !== link.low.checkpoint.hash) {
      link.other ??= shown
      return false
    }
    // The peer agrees with the older claim but continues with checkpoints that its committee did not sign.
    return shown !== null && chain.isBroken
  }

  #parting(low: SignedCheckpoint, high: SignedCheckpoint, link: Link | null): Parting {
    const [lower, higher] = [low, high].map((signed) => {
      return this.#proven.find(({ chain }) => chain.newest.checkpoint.hash === signed.checkpoint.hash)
    })
    const parted = lower && higher && lower.chain.conflictWith(higher.chain)
    const [first, second] = parted ?? [low, link?.other ?? high]
    return { first, second, firstClaimants: this.claimantsOf(low), secondClaimants: this.claimantsOf(high) }
  }
}
