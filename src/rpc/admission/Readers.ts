/**
 * Starts the handlers of requests without a body: a limited number at a time, fewer for one client, each client's in order
 * and the clients in turn. Node hands over all requests of a packet at once, so a client can pipeline a thousand in one write.
 * Started together, they would hold the thread and their intermediate results until the last one is done.
 */
import type { TurnScheduler } from "./TurnScheduler.js"

export interface Options {
  /** When one begins: turns of the event loop are short, and shorter while the node is late. */
  readonly scheduler: TurnScheduler
  /** How many of one client are under way at a time. */
  readonly each: number
  readonly total: number
}

/** Calls its argument when it is done. */
export type Begin = (leave: () => void) => void

/** The requests of one client. */
interface Client {
  running: number
  readonly waiting: Array<Begin>
  next: number
}

export class Readers {
  readonly #options: Options
  readonly #clients = new Map<string, Client>()
  /** Clients that wait for a place, in the order of their turns. */
  readonly #turns = new Set<string>()
  #running = 0
  #isAdmitting = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Begins now or later. It must not throw, and must leave. */
  enter(name: string, begin: Begin): void {
    const client = this.#clients.get(name) ?? { running: 0, waiting: [], next: 0 }
    this.#clients.set(name, client)
    client.waiting.push(begin)
    if (client.running < this.#options.each) this.#turns.add(name)
    this.#admit()
  }

  /** A loop, since a reader may be done at once and leave before it returns. */
  #admit(): void {
    if (this.#isAdmitting) return
    this.#isAdmitting = true
    while (this.#running < this.#options.total) {
      const [name] = this.#turns
      if (name === undefined) break
      this.#admitOne(name)
    }
    this.#isAdmitting = false
  }

  #admitOne(name: string): void {
    this.#turns.delete(name)
    const client = this.#clients.get(name)
    const begin = client?.waiting[client.next]
    if (client === undefined || begin === undefined) return
    client.next++
    client.running++
    this.#running++
    this.#queue(name, client)
    let isThrough = false
    const leave = (): void => {
      if (isThrough) return
      isThrough = true
      client.running--
      this.#running--
      this.#queue(name, client)
      this.#admit()
    }
    this.#options.scheduler.schedule(name, () => begin(leave))
  }

  /** At the end of the line, if it waits for something that it may have. */
  #queue(name: string, client: Client): void {
    if (client.next === client.waiting.length) {
      client.waiting.length = 0
      client.next = 0
      if (client.running === 0) this.#clients.delete(name)
      return
    }
    if (client.running < this.#options.each) this.#turns.add(name)
  }
}
