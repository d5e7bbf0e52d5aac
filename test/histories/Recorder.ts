/** Clients that record requests and responses. Without a response, only submissions are recorded. */
import { Option, Schema } from "effect"
import { connect } from "../../src/client/Client.js"
import type { Chance } from "../simulation/Chance.js"
import type { Line, Of } from "./History.js"

const { Number: Numeral, NullOr, String: Text } = Schema

const Lookup = Schema.Struct({
  status: Schema.Literal("pending", "finalized"),
  ...{ round: NullOr(Numeral), vertex_hash: NullOr(Text), timestamp: NullOr(Numeral) },
  ...{ applied: NullOr(Schema.Boolean), failure: NullOr(Text) },
})
const NotFound = Schema.Struct({ code: Schema.Literal("TransactionNotFound"), reason: Schema.optional(NullOr(Text)) })
const Balance = Schema.Struct({ balance: Numeral, nonce: Numeral, next_nonce: Numeral })
const Change = Schema.Struct({ kind: Text, hash: NullOr(Text), change: Numeral })
const Page = Schema.Struct({ balance: Numeral, entries: Schema.Array(Change), next_cursor: NullOr(Text) })
const Status = Schema.Struct({ last_finalized_round: Numeral, total_supply: Numeral })
const Checkpoint = Schema.Struct({ round: Numeral, hash: Text })
const Accepted = Schema.Struct({ status: Schema.Literal("accepted") })
const Refused = Schema.Struct({ code: Text })
const Event = Schema.Struct({
  type: Text,
  hash: Schema.optional(Text),
  status: Schema.optional(Text),
  applied: Schema.optional(NullOr(Schema.Boolean)),
})

const PATIENCE_MS = 10_000
const ROWS = 7
/** The longest time on one connection for events. */
const LISTENING_MS = 5_000

const as = <A, I>(schema: Schema.Schema<A, I>, body: unknown): A | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(body))

export class Recorder {
  readonly #write: (line: Line) => void
  #runs = 0
  /** The latest commit reported by any gateway. */
  #latest: number | null = null

  constructor(write: (line: Line) => void) {
    this.#write = write
  }

  /** The response body and its time; undefined without a response. */
  async #ask(url: string, floor: number | null, init: RequestInit = {}) {
    const began = performance.now()
    const headers = { "content-type": "application/json", ...(floor === null ? {} : { "udg-commit": String(floor) }) }
    try {
      const answer = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(PATIENCE_MS) })
      const body: unknown = await answer.json()
      const commit = answer.headers.get("udg-commit")
      if (commit !== null) this.#latest = Math.max(this.#latest ?? 0, Number(commit))
      return { body, began, ended: performance.now(), floor, commit: commit === null ? null : Number(commit) }
    } catch {
      return { body: undefined, began, ended: performance.now(), floor, commit: null }
    }
  }

  #floorOf(node: string): number | null {
    return node.startsWith("gateway") ? this.#latest : null
  }

  async submit(
    node: string,
    url: string,
    transaction: Of<"submit">["transaction"],
    body: unknown,
  ): Promise<string | null> {
    const { body: told, ...times } = await this.#ask(`${url}/tx/submit`, null, {
      method: "POST",
      body: JSON.stringify(body),
    })
    const answer = as(Accepted, told)?.status ?? as(Refused, told)?.code ?? null
    this.#write({ kind: "submit", node, ...times, transaction, answer })
    return answer
  }

  /** The status that was told; null if there was no answer. */
  async lookup(node: string, url: string, hash: string): Promise<Of<"lookup">["found"]["status"] | null> {
    const { body, ...times } = await this.#ask(`${url}/tx/${hash}`, this.#floorOf(node))
    const said = as(Lookup, body)
    const missing = as(NotFound, body)
    const line = { kind: "lookup", node, ...times, hash } as const
    if (missing !== undefined) this.#write({ ...line, found: { status: "missing", reason: missing.reason ?? null } })
    if (said?.status === "pending") this.#write({ ...line, found: { status: "pending" } })
    if (said?.status !== "finalized") return missing === undefined ? (said?.status ?? null) : "missing"
    const { round, vertex_hash: vertex, timestamp, applied, failure } = said
    if (round === null || vertex === null || timestamp === null || applied === null) return null
    this.#write({ ...line, found: { status: "finalized", round, vertex, timestamp, applied, failure } })
    return "finalized"
  }

  async balance(node: string, url: string, address: string): Promise<void> {
    const { body, ...times } = await this.#ask(`${url}/balance/${address}`, this.#floorOf(node))
    const said = as(Balance, body)
    if (said === undefined) return
    const { balance, nonce, next_nonce: nextNonce } = said
    this.#write({ kind: "balance", node, ...times, address, balance, nonce, nextNonce })
  }

  /** Reads page by page. Entries newer than the first page are not included. `most` limits the number of pages. */
  async statement(node: string, url: string, address: string, most = Number.POSITIVE_INFINITY): Promise<boolean> {
    const entries: Array<Of<"statement">["entries"][number]> = []
    let first: Pick<Of<"statement">, "began" | "ended" | "floor" | "commit" | "balance"> | null = null
    let cursor: string | null = ""
    const asked = new Set<string>()
    // A page that leads to an earlier one would be read forever.
    for (let pages = 0; cursor !== null && !asked.has(cursor) && pages < most; pages++) {
      asked.add(cursor)
      const more: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`
      const { body, ...times } = await this.#ask(
        `${url}/account/${address}/statement?limit=${ROWS}${more}`,
        this.#floorOf(node),
      )
      const page = as(Page, body)
      if (page === undefined) return false
      first ??= { ...times, balance: page.balance }
      for (const { kind, hash, change } of page.entries)
        if ((kind === "sent" || kind === "received") && hash !== null) entries.push({ hash, kind, change })
      cursor = page.next_cursor
    }
    const isWhole = cursor === null
    if (first !== null) this.#write({ kind: "statement", node, address, ...first, isWhole, entries })
    return true
  }

  async status(node: string, url: string): Promise<void> {
    const { body, ...times } = await this.#ask(`${url}/status`, this.#floorOf(node))
    const said = as(Status, body)
    if (said === undefined) return
    this.#write({ kind: "status", node, ...times, round: said.last_finalized_round, supply: said.total_supply })
  }

  async checkpoint(node: string, url: string): Promise<void> {
    const { body, ...times } = await this.#ask(`${url}/checkpoint/latest`, this.#floorOf(node))
    const said = as(Checkpoint, body)
    if (said !== undefined) this.#write({ kind: "checkpoint", node, ...times, ...said })
  }

  /** Reads events until told to stop. It drops its connection now and then, and resumes after the last event. */
  async listen(node: string, urlOf: () => string, chance: Chance, ended: AbortSignal): Promise<void> {
    let last: string | null = null
    let run = ++this.#runs
    while (!ended.aborted) {
      try {
        const signal = AbortSignal.any([ended, AbortSignal.timeout(1_000 + chance.below(LISTENING_MS))])
        const headers: Record<string, string> = last === null ? {} : { "last-event-id": last }
        const answer = await fetch(`${urlOf()}/events?type=transaction`, { headers, signal })
        if (!answer.ok || answer.body === null) throw new Error(`events: ${answer.status}`)
        let text = ""
        for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
          const blocks = (text + part).split("\n\n")
          text = blocks.pop() ?? ""
          for (const block of blocks) {
            const data = /^data: ?(.*)$/m.exec(block)?.[1]
            const event = data === undefined ? undefined : as(Schema.parseJson(Event), data)
            if (event?.type === "reset") run = ++this.#runs
            if (event !== undefined) this.#heard(node, run, event)
            last = /^id: ?(.*)$/m.exec(block)?.[1] ?? last
          }
        }
      } catch {
        await new Promise((settle) => setTimeout(settle, 200))
      }
    }
  }

  #heard(node: string, run: number, { status, hash, applied }: typeof Event.Type): void {
    if (status !== "finalized" || hash === undefined) return
    this.#write({ kind: "event", node, at: performance.now(), run, hash, applied: applied === true })
  }

  /** The same with the program's own client, which reopens its stream by itself. */
  async follow(node: string, url: string, ended: AbortSignal): Promise<void> {
    const stream = connect(url)
      .follow(undefined, { types: ["transaction"] })
      [Symbol.asyncIterator]()
    ended.addEventListener("abort", () => void stream.return?.())
    let run = ++this.#runs
    for (let next = await stream.next(); next.done !== true; next = await stream.next()) {
      const { event } = next.value
      if (event.type === "reset") run = ++this.#runs
      if (event.type === "transaction") this.#heard(node, run, event)
    }
  }
}
