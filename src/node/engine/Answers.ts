/**
 * Answers peers' questions in fair turns: members before named peers before strangers, then the peer that has received
 * least, each with only a few answers at a time. The cost of answers (bytes sent, time on this thread) is limited for
 * all non-members together. Questions wait until there is room, and a peer with waiting questions is not read from
 * (`Session`), so the limits slow peers down without costing them points.
 */
import type { Standing } from "../../network/Standing.js"
import type { DiskQuestion, Question } from "../../replica/messages/Message.js"
import { Budget } from "../signatures/Budget.js"
import { FairQueue, type Owner } from "../signatures/FairQueue.js"

export interface Price {
  readonly bytes: number
  readonly milliseconds: number
}

export type Answer = (to: Owner, question: Question | DiskQuestion, done: (price: Price) => void) => void

const MAX_ANSWERS = 4
/** Limit for one member, whose pages then follow each other without a gap. */
const OF_A_MEMBER = 2
/** As many as a session leaves open. */
const MAX_WAITING = 64
const MIB = 1_048_576
const BYTES = {
  named: { burst: 64 * MIB, perSecond: 16 * MIB },
  stranger: { burst: 32 * MIB, perSecond: 8 * MIB },
}
const MILLISECONDS = {
  named: { burst: 1_000, perSecond: 200 },
  stranger: { burst: 500, perSecond: 100 },
}
const LOOK_MS = 20
/** For fair turns: a byte costs as much as the time it takes to send. */
const BYTES_PER_MILLISECOND = 131_072

export class Answers {
  readonly #answer: Answer
  readonly #questions = new FairQueue<Question | DiskQuestion>()
  readonly #bytes: Budget
  readonly #milliseconds: Budget
  readonly #inTheMaking = new Map<string, number>()
  #isLooking = false
  readonly #dropped = { member: 0, named: 0, stranger: 0 }
  #heldBack = 0

  constructor(answer: Answer, now: () => number = () => performance.now()) {
    this.#answer = answer
    // Newcomers need answers on a busy machine as well.
    const clock = { now, spareNow: now, spareShare: () => 1 }
    this.#bytes = new Budget(BYTES, clock)
    this.#milliseconds = new Budget(MILLISECONDS, clock)
  }

  get waiting(): number {
    return this.#questions.size
  }

  /** Questions dropped because too many of the same peer were waiting. */
  get dropped(): Readonly<Record<Standing, number>> {
    return this.#dropped
  }

  /** How often all waiting questions were held back by an exhausted budget. */
  get heldBack(): number {
    return this.#heldBack
  }

  /** Queues a question; false if it is dropped because too many of this peer are waiting. */
  ask(owner: Owner, question: Question | DiskQuestion): boolean {
    if (this.#questions.sizeOf(owner) >= MAX_WAITING) {
      if (owner.standing !== "relayed") this.#dropped[owner.standing]++
      return false
    }
    this.#questions.push(owner, question)
    this.#begin()
    return true
  }

  keepOnly(peers: ReadonlySet<string>): void {
    for (const peer of this.#questions.peers) if (!peers.has(peer)) this.#questions.drop(peer)
  }

  #begin(): void {
    for (;;) {
      let making = 0
      for (const count of this.#inTheMaking.values()) making += count
      if (making >= MAX_ANSWERS || this.#questions.size === 0) return
      const next = this.#questions.next((owner) => this.#mayHave(owner))
      if (next === undefined) {
        // Answers in progress start the next one when they finish.
        if (making === 0) this.#lookLater()
        return
      }
      this.#make(next.owner, next.item)
    }
  }

  #mayHave({ peer, standing }: Owner): boolean {
    const making = this.#inTheMaking.get(peer) ?? 0
    if (making >= (standing === "member" ? OF_A_MEMBER : 1)) return false
    return this.#bytes.has(standing) && this.#milliseconds.has(standing)
  }

  #make(owner: Owner, question: Question | DiskQuestion): void {
    const { peer, standing } = owner
    this.#inTheMaking.set(peer, (this.#inTheMaking.get(peer) ?? 0) + 1)
    this.#answer(owner, question, ({ bytes, milliseconds }) => {
      const making = (this.#inTheMaking.get(peer) ?? 1) - 1
      if (making === 0) this.#inTheMaking.delete(peer)
      else this.#inTheMaking.set(peer, making)
      this.#questions.charge(owner, milliseconds + bytes / BYTES_PER_MILLISECOND)
      this.#bytes.take(standing, bytes)
      this.#milliseconds.take(standing, milliseconds)
      this.#begin()
    })
  }

  #lookLater(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#heldBack++
    setTimeout(() => {
      this.#isLooking = false
      this.#begin()
    }, LOOK_MS).unref()
  }
}
