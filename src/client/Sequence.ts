/**
 * The nonces of an account. Transactions are sent one after the other, in the order of the calls, each with the next
 * nonce. A refused one leaves no gap, and any number of calls can be made at once. After any failure the node is asked
 * for the next nonce, since another program may use the same key.
 */
import type { Hash } from "../protocol/numbers/Kinds.js"
import * as Exchange from "./wire/Exchange.js"
import { FalseAnswer, RequestRefused, UnexpectedAnswer, Unreachable } from "./wire/Failures.js"
import type { Transaction } from "./wire/Interface.js"

export interface Door {
  /** The nonce after all pending transactions. */
  readonly nextNonce: (signal: AbortSignal) => Promise<number>
  readonly submit: (transaction: Transaction, signal: AbortSignal) => Promise<Hash>
  readonly knows: (hash: Hash, signal: AbortSignal) => Promise<boolean>
}

/** A transaction that has no nonce yet. */
export interface Draft {
  readonly sign: (nonce: number, fee: number) => { readonly transaction: Transaction; readonly hash: Hash }
  readonly fee: number
  /** The limit for raising the fee while the mempool is full of others that pay as much. */
  readonly mostFee: number
}

export interface Accepted {
  readonly hash: Hash
  readonly nonce: number
  readonly fee: number
}

/** Retries with the same transaction after a lost answer. */
const TIMES_AGAIN = 4
const FIRST_WAIT_MS = 250
/** Retries with other nonces, while another program uses them too. */
const TIMES_ANEW = 16
const LATER_MS = 1_000
/** A node that does not know the last transactions may be a moment behind the one that accepted them. */
const BEHIND_MS = [50, 100, 200] as const

/** Whether the node may have accepted the transaction all the same. */
const isUncertain = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof UnexpectedAnswer && !(error instanceof FalseAnswer))

const isRefusal = (error: unknown, ...codes: ReadonlyArray<string>): boolean =>
  error instanceof RequestRefused && codes.includes(error.code)

export class Sequence {
  readonly #door: Door
  #next: number | undefined
  /** Nothing is pending, so the account may have changed in any way. */
  #isPaused = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(door: Door) {
    this.#door = door
  }

  /** Forgets the next nonce, after a transaction was lost. */
  forget(): void {
    this.#next = undefined
  }

  /**
   * Asks the node for the nonce before the next transaction: others may have used the key, and a developer network may
   * have been reset.
   */
  pause(): void {
    this.#isPaused = true
  }

  /**
   * Sends a transaction once all earlier ones are sent. The draft can still be in preparation: the call decides its
   * place.
   */
  send(draft: Promise<Draft>, signal: AbortSignal): Promise<Accepted> {
    const before = this.#last
    const sent = Promise.all([draft, before]).then(([ready]) => this.#send(ready, signal))
    // Waits for the earlier ones too if it fails before its turn.
    this.#last = Promise.allSettled([before, sent])
    return sent
  }

  async #send({ sign, fee: first, mostFee }: Draft, signal: AbortSignal): Promise<Accepted> {
    let fee = first
    for (let left = TIMES_ANEW; ; left--) {
      signal.throwIfAborted()
      try {
        const nonce = await this.#nonce(signal)
        const { transaction, hash } = sign(nonce, fee)
        await this.#submit(transaction, hash, signal)
        this.#next = nonce + 1
        return { hash, nonce, fee }
      } catch (error) {
        this.#next = undefined
        if (left === 0) throw error
        if (isRefusal(error, "MempoolFull") && fee < mostFee) {
          fee = Math.min(mostFee, Math.max(fee + 1, Math.ceil(fee * 1.5)))
        } else if (isRefusal(error, "NonceTooHigh", "AccountThrottled", "MempoolFull")) {
          await Exchange.sleep(LATER_MS, signal)
        } else if (!isRefusal(error, "NonceTooLow", "NoncePending")) throw error
      }
    }
  }

  async #nonce(signal: AbortSignal): Promise<number> {
    const counted = this.#next
    if (counted !== undefined && !this.#isPaused) return counted
    let told = await this.#door.nextNonce(signal)
    for (const ms of BEHIND_MS) {
      if (counted === undefined || told >= counted) break
      await Exchange.sleep(ms, signal)
      told = await this.#door.nextNonce(signal)
    }
    this.#isPaused = false
    return told
  }

  /** Submits again after a lost answer, which is safe because the hash is the same. */
  async #submit(transaction: Transaction, hash: Hash, signal: AbortSignal): Promise<void> {
    for (let times = 0; ; times++) {
      try {
        await this.#door.submit(transaction, signal)
        return
      } catch (error) {
        signal.throwIfAborted()
        // It may be final by now.
        if (times > 0 && isRefusal(error, "NonceTooLow") && (await this.#door.knows(hash, signal))) return
        if (times === TIMES_AGAIN || !isUncertain(error)) throw error
        await Exchange.sleep(FIRST_WAIT_MS * 2 ** times, signal)
      }
    }
  }
}
