/**
 * Starts handlers of requests without a body: a limited number at a time, fewer for one client, in fair turns. Node.js
 * delivers all requests of a packet at once, and a client can pipeline a thousand in one write. Started together, they
 * would hold the thread and their intermediate results until the last one is done.
 */
import type { TurnScheduler } from "./TurnScheduler.js"
import { Turns } from "./Turns.js"

export interface Options {
  /** Decides when one starts. Turns of the event loop are short, and shorter while the node is late. */
  readonly scheduler: TurnScheduler
  /** How many of one client run at a time. */
  readonly each: number
  readonly total: number
}

/** Calls its argument when it is done. */
export type Begin = (leave: () => void) => void

/** The requests of one client. */
interface Client {
  readonly name: string
  running: number
  /** Whether it waits for a place. */
  isQueued: boolean
  readonly waiting: Array<Begin>
  next: number
}

export class Readers {
  readonly #options: Options
  readonly #clients = new Map<string, Client>()
  /** Clients that wait for a place, each once. */
  readonly #turns = new Turns<Client>()
  #running = 0
  #isAdmitting = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Begins now or later. `begin` must not throw and must call its argument. */
  enter(name: string, begin: Begin): void {
    const client = this.#clients.get(name) ?? { name, running: 0, isQueued: false, waiting: [], next: 0 }
    this.#clients.set(name, client)
    client.waiting.push(begin)
    this.#queue(client)
    this.#admit()
  }

  /** A loop, because a reader can be done and leave before `begin` returns. */
  #admit(): void {
    if (this.#isAdmitting) return
    this.#isAdmitting = true
    while (this.#running < this.#options.total) {
      const client = this.#turns.next()
      if (client === undefined) break
      this.#admitOne(client)
    }
    this.#isAdmitting = false
  }

  #admitOne(client: Client): void {
    client.isQueued = false
    const begin = client.waiting[client.next]
    if (begin === undefined) return
    client.next++
    client.running++
    this.#running++
    this.#queue(client)
    let isThrough = false
    const leave = (): void => {
      if (isThrough) return
      isThrough = true
      client.running--
      this.#running--
      this.#queue(client)
      this.#admit()
    }
    this.#options.scheduler.schedule(client.name, () => begin(leave))
  }

  /** Appends the client to the queue if it has a request that it may start. */
  #queue(client: Client): void {
    if (client.next === client.waiting.length) {
      client.waiting.length = 0
      client.next = 0
      if (client.running === 0) this.#clients.delete(client.name)
      return
    }
    if (client.isQueued || client.running >= this.#options.each) return
    client.isQueued = true
    this.#turns.push(client.name, client)
  }
}
