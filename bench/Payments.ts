/**
 * Payments offered to a network by well-behaved clients. Every account has its node. Rejected payments are repeated
 * before later ones of the same sender, because a missing nonce would hold up all that follow.
 */
import { Agent, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import * as Address from "../src/protocol/identity/Address.js"
import type { Hash } from "../src/protocol/identity/Hash.js"
import { SecretKey } from "../src/protocol/identity/Keys.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as JsonForm from "../src/protocol/transaction/JsonForm.js"
import * as Transaction from "../src/protocol/transaction/Transaction.js"
import type * as Processes from "../test/network/Processes.js"

/** A node can close a connection as idle just when it is used again. */
const ONCE = { connection: "close" }
/** The limit of one request. */
const MOST_AT_ONCE = 1_000
/** The delay before rejected payments are repeated. */
const PAUSE_MS = 50
/** Regularly follows one payment of each client until it is final: the polling interval and time limit. */
const WATCHED_EVERY_MS = 450
const LOOK_MS = 20
const WATCHED_MS = 30_000

export interface Sender {
  readonly key: SecretKey
  readonly address: Address.Address
}

export const senders = (count: number): ReadonlyArray<Sender> =>
  Array.from({ length: count }, () => {
    const key = SecretKey.generate()
    return { key, address: Address.fromPublicKey(key.publicKey) }
  })

/** Signed and encoded in advance, because clients' own work is not measured. */
interface Payment {
  readonly id: Hash
  readonly text: string
}

/** Uses its own persistent connection: a new one for every poll would be most of an idle node's work. */
const get = (url: string, agent: Agent): Promise<string> =>
  new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (part: string) => (text += part))
      response.on("end", () => resolve(text))
    })
      .on("error", reject)
      .end()
  })

const isFinal = async (node: Processes.Started, id: Hash, agent: Agent): Promise<boolean> => {
  const answer = JSON.parse(await get(`${node.http}/tx/${id}`, agent)) as { readonly status?: string }
  return answer.status === "finalized"
}

/** Time until it reads as final at the node that received it. */
const watch = async (node: Processes.Started, id: Hash): Promise<number> => {
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  try {
    while (!(await isFinal(node, id, agent))) {
      if (performance.now() - began > WATCHED_MS) return Number.POSITIVE_INFINITY
      await sleep(LOOK_MS)
    }
    return performance.now() - began
  } finally {
    agent.destroy()
  }
}

/** Payments are sent in order, one request at a time. */
export class Client {
  readonly #network: Processes.Founded
  readonly #node: Processes.Started
  readonly #senders: ReadonlyArray<Sender>
  #made = 0
  #ready: Array<Payment> = []
  #offered: Array<Payment> = []
  #isSending = false
  #failure: unknown = null
  #watchedAt: number
  #latencies: Array<Promise<number>> = []

  /** Following payments costs the node some time, so measurements of its processor time leave it out. */
  constructor(network: Processes.Founded, node: Processes.Started, own: ReadonlyArray<Sender>, follows = true) {
    this.#network = network
    this.#node = node
    this.#senders = own
    this.#watchedAt = follows ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  }

  /** Signs this many more payments, each account's in turn. */
  prepare(count: number): void {
    for (let i = 0; i < count; i++) this.#ready.push(this.#next())
  }

  #next(): Payment {
    const at = this.#made++
    const sender = this.#senders[at % this.#senders.length]
    const other = this.#senders[(at + 1) % this.#senders.length]
    if (sender === undefined || other === undefined) throw new Error("there are no senders")
    const transaction = Transaction.sign(
      this.#network.genesis.networkId,
      {
        from: sender.address,
        nonce: Natural.nonce(Math.floor(at / this.#senders.length)),
        fee: Sats.make(1_000),
        operation: { _tag: "Transfer", to: other.address, amount: Sats.make(1), memo: "" },
      },
      sender.key,
    )
    return { id: transaction.id, text: JSON.stringify(JsonForm.toJson(transaction)) }
  }

  /** Returns once everything offered has been accepted. */
  async settled(): Promise<void> {
    while (this.#isSending) await sleep(PAUSE_MS)
    if (this.#failure !== null) throw this.#failure
  }

  /** Submits prepared payments. Fails with the last failure. */
  offer(count: number): void {
    if (this.#failure !== null) throw this.#failure
    this.#offered.push(...this.#ready.splice(0, count))
    if (this.#isSending) return
    this.#isSending = true
    this.#send()
      .catch((error: unknown) => {
        this.#failure = error
      })
      .finally(() => {
        this.#isSending = false
      })
  }

  async #send(): Promise<void> {
    while (this.#offered.length > 0) {
      const payments = this.#offered.splice(0, MOST_AT_ONCE)
      this.#watchOne(payments)
      const refused = await this.#submit(payments)
      this.#offered.unshift(...refused)
      if (refused.length > 0) await sleep(PAUSE_MS)
    }
  }

  #watchOne(payments: ReadonlyArray<Payment>): void {
    const last = payments.at(-1)
    if (last === undefined || performance.now() - this.#watchedAt < WATCHED_EVERY_MS) return
    this.#watchedAt = performance.now()
    this.#latencies.push(watch(this.#node, last.id))
  }

  /** Returns payments for which there was no room. */
  async #submit(payments: ReadonlyArray<Payment>): Promise<ReadonlyArray<Payment>> {
    const response = await fetch(`${this.#node.http}/tx/submit`, {
      method: "POST",
      headers: { "content-type": "application/json", ...ONCE },
      body: `[${payments.map(({ text }) => text).join(",")}]`,
    })
    if (response.status === 503 || response.status === 429) {
      await response.arrayBuffer()
      return payments
    }
    if (!response.ok) throw new Error(`payments refused: ${response.status} ${await response.text()}`)
    const answers = (await response.json()) as ReadonlyArray<{ readonly status_code: number }>
    const wrong = answers.find(({ status_code: status }) => ![200, 429, 503].includes(status))
    if (wrong !== undefined) throw new Error(`a payment refused: ${JSON.stringify(wrong)}`)
    return payments.filter((_, i) => answers[i]?.status_code !== 200)
  }

  /** Results of payments followed since the last call, once they are final. */
  latencies(): Promise<ReadonlyArray<number>> {
    return Promise.all(this.#latencies.splice(0))
  }
}

/** A client of each node, with its part of the senders. */
export const clients = (
  network: Processes.Founded,
  nodes: ReadonlyArray<Processes.Started>,
  all: ReadonlyArray<Sender>,
  follows = true,
): ReadonlyArray<Client> => {
  const ofNode = (i: number) => all.filter((_, n) => n % nodes.length === i)
  return nodes.map((node, i) => new Client(network, node, ofNode(i), follows))
}
