/**
 * Listens for the outcomes of an account's transactions, with one stream for all of them, since a node limits the
 * streams of a client. Without a stream, waiting calls poll more often.
 */
import type { Address, Hash } from "../protocol/numbers/Kinds.js"
import * as Events from "./Events.js"
import * as Exchange from "./wire/Exchange.js"
import type { Event } from "./wire/Interface.js"

/** An account can receive any number. Outcomes dropped here are polled. */
const MOST_HEARD = 1_000
const POLL_MS = { heard: 5_000, unheard: 1_000 }

export class OutcomeListener {
  readonly #source: Events.Source
  readonly #account: Address
  readonly #waiting = new Map<Hash, () => void>()
  /** Transactions whose event came before anybody waited for it. */
  readonly #heard = new Set<Hash>()
  #isOpen = false
  #users = 0
  #leaving = new AbortController()

  constructor(source: Events.Source, account: Address) {
    this.#source = source
    this.#account = account
  }

  /** Keeps listening while `work` runs. */
  async during<A>(work: () => Promise<A>): Promise<A> {
    if (this.#users++ === 0) this.#listen()
    try {
      return await work()
    } finally {
      if (--this.#users === 0) this.#leave()
    }
  }

  /** Resolves on an event for the transaction, or after the polling interval. Rejects with the signal's reason. */
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

  /** Earlier events were missed, so all waiting calls poll once. */
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
