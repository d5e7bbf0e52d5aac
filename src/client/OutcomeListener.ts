/**
 * Listens for what becomes of an account's transactions: one stream for all that wait, since a node gives a client few. Where the
 * node gives none, who waits asks more often.
 */
import type { Address, Hash } from "../protocol/numbers/Kinds.js"
import * as Events from "./Events.js"
import * as Exchange from "./wire/Exchange.js"
import type { Event } from "./wire/Interface.js"

/** An account may receive any number; what is forgotten is asked for. */
const MOST_HEARD = 1_000
const POLL_MS = { heard: 5_000, unheard: 1_000 }

export class OutcomeListener {
  readonly #source: Events.Source
  readonly #account: Address
  readonly #waiting = new Map<Hash, () => void>()
  /** Of those whose event came before they waited for it. */
  readonly #heard = new Set<Hash>()
  #isOpen = false
  #users = 0
  #leaving = new AbortController()

  constructor(source: Events.Source, account: Address) {
    this.#source = source
    this.#account = account
  }

  /** Listens while this goes on. */
  async during<A>(work: () => Promise<A>): Promise<A> {
    if (this.#users++ === 0) this.#listen()
    try {
      return await work()
    } finally {
      if (--this.#users === 0) this.#leave()
    }
  }

  /** Until the transaction is heard of, or a while has passed. Rejects with the signal's reason. */
  async wait(hash: Hash, signal: AbortSignal): Promise<void> {
    if (this.#heard.delete(hash)) return
    const over = new AbortController()
    this.#waiting.set(hash, () => over.abort())
    const ms = this.#isOpen ? POLL_MS.heard : POLL_MS.unheard
    await Exchange.sleep(ms, AbortSignal.any([signal, over.signal])).catch(() => signal.throwIfAborted())
    this.#waiting.delete(hash)
    this.#heard.delete(hash)
  }

  #listen(): void {
    this.#leaving = new AbortController()
    const wanted: Events.Wanted = { types: ["transaction"], account: this.#account }
    const listener: Events.Listener = {
      open: () => this.#opened(),
      ring: (event) => this.#told(event),
      close: () => {
        this.#isOpen = false
      },
    }
    Events.listen(this.#source, wanted, listener, this.#leaving.signal)
  }

  #leave(): void {
    this.#leaving.abort()
    this.#isOpen = false
    this.#heard.clear()
  }

  /** What came before is missed, so everybody asks once. */
  #opened(): void {
    this.#isOpen = true
    for (const wake of this.#waiting.values()) wake()
  }

  #told(event: Event): void {
    if (event.type === "reset") this.#opened()
    if (event.type !== "transaction" || event.status !== "finalized") return
    if (this.#heard.size >= MOST_HEARD) this.#heard.clear()
    this.#heard.add(event.hash)
    this.#waiting.get(event.hash)?.()
  }
}
