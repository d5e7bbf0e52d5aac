/** Accounts that pay each other, and readers at every node and gateway. */
import { setTimeout as sleep } from "node:timers/promises"
import * as Address from "../../src/protocol/identity/Address.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import type { Chance } from "../simulation/Chance.js"
import type { Transaction as Sent } from "./History.js"
import type { Recorder } from "./Recorder.js"
import type { Stage } from "./Stage.js"

const FEE = 1_000
const MOST_AMOUNT = 10_000
const PAUSE_MS = 150
/** How long a payment waits for the one before it, without faults. */
const GAP_MS = 16_000
/** Payments that one sender has in flight. */
const WINDOW = 4
const END_MS = 120_000
/** Pages of a statement that are read during the run, while it grows. */
const PAGES = 2

interface Payment {
  readonly sent: Sent
  readonly body: unknown
}

export class Clients {
  readonly #world: Stage
  readonly #recorder: Recorder
  readonly #chance: Chance
  readonly #hashes: Array<string> = []
  readonly #open = new Set<Payment>()
  readonly #ended = new AbortController()
  readonly #work: Array<Promise<void>> = []

  constructor(world: Stage, recorder: Recorder, chance: Chance) {
    this.#world = world
    this.#recorder = recorder
    this.#chance = chance
    const [first, ...others] = world.spenders
    for (const key of others) this.#work.push(this.#spend(key))
    if (first !== undefined) this.#work.push(this.#spendInReverse(first))
    for (const name of world.doors.keys()) {
      this.#work.push(this.#read(name, chance.stream(`read ${name}`)))
      this.#work.push(recorder.listen(name, () => this.#urlOf(name), chance.stream(`hear ${name}`), this.#ended.signal))
    }
    // Gateways come back at other URLs.
    for (const name of world.names) this.#work.push(recorder.follow(name, this.#urlOf(name), this.#ended.signal))
  }

  get sent(): number {
    return this.#hashes.length
  }

  #urlOf(name: string): string {
    return this.#world.doors.get(name) ?? ""
  }

  #payment(key: SecretKey, nonce: number, chance: Chance): Payment {
    const from = Address.fromPublicKey(key.publicKey)
    const others = this.#world.spenders.filter((other) => other !== key)
    const to = Address.fromPublicKey((others[chance.below(others.length)] ?? key).publicKey)
    const amount = 1 + chance.below(MOST_AMOUNT)
    const operation = { _tag: "Transfer", to, amount: Sats.make(amount), memo: "" } as const
    const unsigned = { from, nonce: Natural.nonce(nonce), fee: Sats.make(FEE), operation }
    const transaction = Transaction.sign(this.#world.network.genesis.networkId, unsigned, key)
    const sent = { hash: transaction.id, from, to, amount, fee: FEE, nonce }
    return { sent, body: JsonForm.toJson(transaction) }
  }

  /** Submits to any node or gateway until one reports finality: a killed node forgets pending transactions. */
  async #finish(payment: Payment, chance: Chance): Promise<void> {
    const doors = [...this.#world.doors]
    const [name, url] = doors[chance.below(doors.length)] ?? ["", ""]
    if ((await this.#recorder.lookup(name, url, payment.sent.hash)) === "finalized") this.#open.delete(payment)
    else await this.#recorder.submit(name, url, payment.sent, payment.body)
  }

  #begin(key: SecretKey, nonce: number, chance: Chance): Payment {
    const payment = this.#payment(key, nonce, chance)
    this.#open.add(payment)
    this.#hashes.push(payment.sent.hash)
    return payment
  }

  /** Of a node that may be down. */
  async #untilAnswered(ask: () => Promise<unknown>): Promise<void> {
    while (!this.#ended.signal.aborted && (await ask()) === null) await sleep(PAUSE_MS)
  }

  /** Pairs, the later one first and to each node. It is not relayed before its turn, so each node must keep it itself. */
  async #spendInReverse(key: SecretKey): Promise<void> {
    const chance = this.#chance.stream("reverse")
    const nodes = this.#world.names.map((name) => [name, this.#urlOf(name)] as const)
    for (let nonce = 0; !this.#ended.signal.aborted; nonce += 2) {
      const later = this.#begin(key, nonce + 1, chance)
      const earlier = this.#begin(key, nonce, chance)
      const ofEach = (ask: (name: string, url: string) => Promise<unknown>) =>
        Promise.all(nodes.map(([name, url]) => this.#untilAnswered(() => ask(name, url))))
      await ofEach((name, url) => this.#recorder.submit(name, url, later.sent, later.body))
      await sleep(GAP_MS / 2 + chance.below(GAP_MS / 2), undefined, { signal: this.#ended.signal }).catch(() => {})
      await ofEach((name, url) => this.#recorder.lookup(name, url, later.sent.hash))
      const isOpen = (): boolean => this.#open.has(later) || this.#open.has(earlier)
      for (; isOpen() && !this.#ended.signal.aborted; await sleep(PAUSE_MS))
        for (const payment of [earlier, later]) if (this.#open.has(payment)) await this.#finish(payment, chance)
    }
  }

  async #spend(key: SecretKey): Promise<void> {
    const chance = this.#chance.stream(`spend ${this.#world.spenders.indexOf(key)}`)
    const own: Array<Payment> = []
    for (let nonce = 0; !this.#ended.signal.aborted; await sleep(PAUSE_MS)) {
      const open = own.filter((payment) => this.#open.has(payment))
      if (open.length < WINDOW) {
        const payment = this.#begin(key, nonce++, chance)
        own.push(payment)
        open.push(payment)
      }
      for (const payment of open) await this.#finish(payment, chance)
    }
  }

  async #read(name: string, chance: Chance): Promise<void> {
    const accounts = Object.keys(this.#world.accounts)
    for (; !this.#ended.signal.aborted; await sleep(PAUSE_MS)) {
      const url = this.#urlOf(name)
      const address = accounts[chance.below(accounts.length)] ?? ""
      await this.#recorder.balance(name, url, address)
      const hash = this.#hashes[this.#hashes.length - 1 - chance.below(Math.min(50, this.#hashes.length))]
      if (hash !== undefined) await this.#recorder.lookup(name, url, hash)
      await this.#recorder.status(name, url)
      const which = chance.below(10)
      if (which === 0) await this.#recorder.statement(name, url, address, PAGES)
      if (which === 1) await this.#recorder.checkpoint(name, url)
    }
  }

  /**
   * Stops, waits for pending payments, and reads everything from every node. Returns whether all payments became final.
   */
  async end(): Promise<boolean> {
    this.#ended.abort()
    await Promise.all(this.#work)
    const began = performance.now()
    const chance = this.#chance.stream("end")
    for (; this.#open.size > 0 && performance.now() - began < END_MS; await sleep(PAUSE_MS))
      for (const payment of this.#open) await this.#finish(payment, chance)
    await Promise.all([...this.#world.doors].map(([name, url]) => this.#askAll(name, url)))
    return this.#open.size === 0
  }

  /** Whoever is behind has until the end to get there. */
  async #askAll(name: string, url: string): Promise<void> {
    const began = performance.now()
    for (const hash of this.#hashes)
      while ((await this.#recorder.lookup(name, url, hash)) !== "finalized" && performance.now() - began < END_MS)
        await sleep(PAUSE_MS)
    for (const address of Object.keys(this.#world.accounts)) {
      await this.#recorder.statement(name, url, address)
      await this.#recorder.balance(name, url, address)
    }
  }
}
