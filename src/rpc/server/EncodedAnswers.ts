/** The encoded answers of one endpoint, each for the newest version of its data. */
import type { Versioned } from "./Answer.js"
import type { Content } from "./Content.js"

interface Encoded {
  readonly version: unknown
  readonly versionNow: () => unknown
  readonly content: Content
}

/** For all paths of an endpoint together; beyond it, the oldest answers are encoded again when asked for. */
const CAPACITY_BYTES = 8_388_608
/** The cost of an entry besides its bytes. */
const OVERHEAD_BYTES = 512

export class EncodedAnswers {
  readonly #encode: (value: unknown) => Content
  readonly #capacity: number
  /** Oldest first. */
  readonly #byPath = new Map<string, Encoded>()
  #size = 0

  constructor(encode: (value: unknown) => Content, capacity = CAPACITY_BYTES) {
    this.#encode = encode
    this.#capacity = capacity
  }

  /** Bytes that are kept. */
  get size(): number {
    return this.#size
  }

  /** The last answer to this path, if it is still current. */
  current(path: string): Content | undefined {
    const known = this.#byPath.get(path)
    return known !== undefined && Object.is(known.versionNow(), known.version) ? known.content : undefined
  }

  /** Encodes the answer to this path and keeps it in place of the one before. */
  keep(path: string, answer: Versioned<unknown>): Content {
    const content = this.#encode(answer.make())
    const before = this.#byPath.get(path)
    if (before !== undefined) this.#forget(path, before)
    this.#byPath.set(path, { version: answer.at, versionNow: answer.version, content })
    this.#size += content.bytes + OVERHEAD_BYTES
    for (const [oldest, encoded] of this.#byPath) {
      if (this.#size <= this.#capacity) break
      this.#forget(oldest, encoded)
    }
    return content
  }

  #forget(path: string, { content }: Encoded): void {
    this.#byPath.delete(path)
    this.#size -= content.bytes + OVERHEAD_BYTES
  }
}
