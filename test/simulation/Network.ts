/**
 * The network between the machines. Each message has its own heavy-tailed delay, so messages overtake each other. Some
 * are lost and some arrive twice. Links are cut in one or both directions and mended later. Machines are numbers.
 */
import type { Agenda } from "./Agenda.js"
import type { Chance } from "./Chance.js"

export interface Conditions {
  readonly minDelayMs: number
  readonly maxDelayMs: number
  /** Per cent of all messages. */
  readonly loss: number
  readonly duplication: number
}

export const calm: Conditions = { minDelayMs: 2, maxDelayMs: 60, loss: 0, duplication: 0 }

/** Invariant: while `#conditions` loses nothing and no link is cut, every message arrives. */
export class Network<Message> {
  readonly #agenda: Agenda
  readonly #chance: Chance
  readonly #deliver: (to: number, from: number, message: Message) => void
  readonly #cut = new Map<string, number>()
  readonly #slowness = new Map<number, number>()
  #conditions: Conditions
  #sent = 0
  #lost = 0

  constructor(
    agenda: Agenda,
    chance: Chance,
    conditions: Conditions,
    deliver: (to: number, from: number, message: Message) => void,
  ) {
    this.#agenda = agenda
    this.#chance = chance
    this.#conditions = conditions
    this.#deliver = deliver
  }

  get sent(): number {
    return this.#sent
  }

  get lost(): number {
    return this.#lost
  }

  set conditions(conditions: Conditions) {
    this.#conditions = conditions
  }

  /** Multiplies the delay of all messages to and from this machine. */
  slow(machine: number, factor: number): void {
    this.#slowness.set(machine, factor)
  }

  /** Cuts the link in this direction until it is mended as often as it was cut. */
  cut(from: number, to: number): void {
    const link = `${from} ${to}`
    this.#cut.set(link, (this.#cut.get(link) ?? 0) + 1)
  }

  mend(from: number, to: number): void {
    const link = `${from} ${to}`
    const left = (this.#cut.get(link) ?? 0) - 1
    if (left > 0) this.#cut.set(link, left)
    else this.#cut.delete(link)
  }

  isCut(from: number, to: number): boolean {
    return this.#cut.size > 0 && this.#cut.has(`${from} ${to}`)
  }

  send(from: number, to: number, message: Message): void {
    this.#sent++
    const { loss, duplication } = this.#conditions
    if (this.isCut(from, to) || this.#chance.percent(loss)) {
      this.#lost++
      return
    }
    this.#carry(from, to, message)
    if (this.#chance.percent(duplication)) this.#carry(from, to, message)
  }

  #carry(from: number, to: number, message: Message): void {
    const { minDelayMs, maxDelayMs } = this.#conditions
    const slowness = Math.max(this.#slowness.get(from) ?? 1, this.#slowness.get(to) ?? 1)
    const delay = this.#chance.heavyTail(minDelayMs, maxDelayMs) * slowness
    this.#agenda.after(Math.round(delay), () => {
      // A cut also loses the messages that are under way.
      if (this.isCut(from, to)) this.#lost++
      else this.#deliver(to, from, message)
    })
  }
}
