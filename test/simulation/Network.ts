/**
 * The network between the machines. Every message has a delay of its own, with a heavy tail, so messages overtake each
 * other; some are lost, some come twice; links can be cut one way or both ways, and heal. Machines are named by number.
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

/** Invariant: while `#conditions` loses nothing and no link is cut, everything that is sent arrives. */
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

  /** Everything this machine sends and gets takes so many times as long. */
  slow(machine: number, factor: number): void {
    this.#slowness.set(machine, factor)
  }

  /** Cuts the link in this one direction, until it is mended as often as it was cut. */
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
      // A link that was cut in the meantime takes with it what was under way.
      if (this.isCut(from, to)) this.#lost++
      else this.#deliver(to, from, message)
    })
  }
}
