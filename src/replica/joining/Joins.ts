/** The fast sync of a replica: at most one at a time, begun by a peer's proof that it is in a later epoch. */
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import type { Epoch, Timestamp } from "../../protocol/numbers/Natural.js"
import type { StoredJoin } from "../disk/StoredState.js"
import type { Answer } from "../messages/Message.js"
import type { PeerId } from "../messages/Peer.js"
import { type Joined, Joining, type Surroundings } from "./Joining.js"
import type { Trust } from "./ProvenChain.js"

export interface Setting extends Surroundings, Omit<Trust, "record"> {
  /** Whether a later epoch's state may replace this one. */
  readonly joins: boolean
}

export class Joins {
  readonly #setting: Setting
  /** What a join before the restart has fetched. */
  #kept: StoredJoin | null
  #joining: Joining | null = null

  constructor(setting: Setting, kept: StoredJoin | null) {
    this.#setting = setting
    this.#kept = kept
  }

  /** The closing checkpoint whose state is being fetched. */
  get target(): SignedCheckpoint | null {
    return this.#joining?.target ?? null
  }

  get hasWork(): boolean {
    return this.#joining?.hasWork === true
  }

  get wakeAt(): number | null {
    return this.#joining?.isStopped === false ? this.#joining.wakeAt : null
  }

  isAsked(peer: PeerId): boolean {
    return this.#joining?.isAsked(peer) === true
  }

  /** Takes a peer's checkpoints, `record` being the epoch of this node. */
  offered(from: PeerId, closing: Extract<Answer, { _tag: "Closing" }>, record: EpochRecord, now: Timestamp): void {
    const { newest } = closing
    if (this.#setting.joins && this.#joining === null && newest !== null && newest.checkpoint.epoch > record.epoch) {
      this.#joining = new Joining(this.#setting, { ...this.#setting, record }, this.#kept, now)
      this.#kept = null
    }
    this.#joining?.offered(from, closing, now)
  }

  received(from: PeerId, state: Extract<Answer, { _tag: "State" }>, now: Timestamp): void {
    this.#joining?.received(from, state, now)
  }

  tick(now: Timestamp): void {
    if (this.#joining?.isPointless === true) this.#joining = null
    this.#joining?.tick(now)
  }

  /** Works while `mayContinue`. A join ends with what it returns. */
  work(mayContinue: () => boolean, now: Timestamp): Joined | undefined {
    const joined = this.#joining?.work(mayContinue, now)
    if (joined !== undefined) this.#joining = null
    return joined
  }

  /** The replica has reached this epoch by itself. */
  reached(epoch: Epoch): void {
    if ((this.target?.checkpoint.epoch ?? 0) < epoch) this.#joining = null
  }
}
