/**
 * Decides which gossip this node forwards: messages that are correctly signed, new here, and useful. The amount is
 * limited for each signer, so that none fills the network with messages that cost only a signature.
 */

import type { RelayDecision } from "../../network/Network.js"
import type { Address } from "../../protocol/identity/Address.js"
import { MIN_STAKE_SATS } from "../../protocol/numbers/Sats.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"
import type { Gossip, Message } from "../../replica/messages/Message.js"
import type { Replica } from "../../replica/Replica.js"

type View = Pick<Replica, "read" | "pool" | "core" | "namingOf">

type GossipOf<Tag extends Gossip["_tag"]> = Extract<Gossip, { readonly _tag: Tag }>

/** Ids of forwarded messages; far more than are sent in the time that gossip takes. */
const REMEMBERED = 4_096

export class Forwarding {
  /** For each validator, the last executed commit that a forwarded heartbeat of its names. */
  readonly #beats = new Map<Address, number>()
  readonly #forwarded = new Set<string>()

  /** Call this before the replica takes in the message, and the returned function afterwards. */
  judge(view: View, message: Message): () => RelayDecision {
    switch (message._tag) {
      case "Transactions":
        return this.#transactions(view, message)
      case "Heartbeat":
        return always(this.#heartbeat(view, message))
      case "Evidence":
        return always(this.#evidence(view, message))
      case "CheckpointSignature":
        return always(this.#signature(view, message))
      default:
        // Vertices are not forwarded, and answers are for this node alone.
        return always(false)
    }
  }

  /** All or nothing: gossip forwards a message unchanged, so it must contain nothing that was refused here. */
  #transactions({ pool }: View, { transactions }: GossipOf<"Transactions">): () => RelayDecision {
    const fresh = transactions.filter(({ id }) => pool.get(id) === undefined)
    return () => (fresh.length > 0 && fresh.every(({ id }) => pool.get(id) !== undefined) ? "news" : "known")
  }

  /** Whether a heartbeat would be forwarded, if its signature holds. Changes nothing. */
  isNewBeat(view: Pick<View, "read" | "namingOf">, heartbeat: Heartbeat): boolean {
    const { validator, commitIndex } = heartbeat
    if (view.read.stake(validator).stakedAmount < MIN_STAKE_SATS) return false
    switch (view.namingOf(heartbeat)) {
      case "executed":
        return commitIndex > (this.#beats.get(validator) ?? -1)
      case "ahead":
        // It may have been signed on another network, and must not keep the real ones back.
        return !this.#forwarded.has(nameOf(heartbeat))
      case "none":
        return false
    }
  }

  #heartbeat(view: View, { heartbeat }: GossipOf<"Heartbeat">): boolean {
    const { validator, commitIndex } = heartbeat
    if (!this.isNewBeat(view, heartbeat)) return false
    if (view.namingOf(heartbeat) === "ahead") return this.#isFirst(nameOf(heartbeat))
    if (this.#beats.size >= REMEMBERED) this.#beats.clear()
    this.#beats.set(validator, commitIndex)
    return true
  }

  #evidence({ core }: View, { evidence }: GossipOf<"Evidence">): boolean {
    const { epoch, author } = evidence.first
    return core.committeeOf(epoch)?.seatOf(author) !== undefined && this.#isFirst(`evidence ${epoch} ${author}`)
  }

  #signature({ core }: View, { checkpoint, signature }: GossipOf<"CheckpointSignature">): boolean {
    const { epoch, commitIndex } = checkpoint
    const { validator } = signature
    const isMember = core.committeeOf(epoch)?.seatOf(validator) !== undefined
    return isMember && this.#isFirst(`checkpoint ${commitIndex} ${validator}`)
  }

  #isFirst(name: string): boolean {
    if (this.#forwarded.has(name)) return false
    if (this.#forwarded.size >= REMEMBERED) this.#forwarded.clear()
    this.#forwarded.add(name)
    return true
  }
}

const nameOf = ({ validator, commitIndex, commitHash }: Heartbeat): string =>
  `heartbeat ${validator} ${commitIndex} ${commitHash}`

const always = (isNews: boolean) => (): RelayDecision => (isNews ? "news" : "known")
