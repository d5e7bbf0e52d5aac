/** The encoded answers of one endpoint, each for the newest version of what it was made from. */
import type { Versioned } from "./Answer.js"

interface Encoded {
  readonly version: unknown
  readonly bytes: Buffer
}

/** For all paths of an endpoint together; who asks for more different ones than fit is answered all the same. */
const CAPACITY_BYTES = 8_388_608
/** What an entry costs besides its bytes. */
const OVERHEAD_BYTES = 256

export class EncodedAnswers {
  readonly #encode: (value: unknown) => Buffer
  readonly #capacity: number
  /** Oldest first. */
  readonly #byKey = new Map<string, Encoded>()
  #size = 0

  constructor(encode: (value: unknown) => Buffer, capacity = CAPACITY_BYTES) {
    this.#encode = encode
    this.#capacity = capacity
  }

  /** Bytes that are kept. */
  get size(): number {
    return this.#size
  }

  /** The answer's bytes, encoded now or earlier; `key` tells apart what is answered to different paths. */
  bytesOf(key: string, { version, make }: Versioned<unknown>): Buffer {
    const known = this.#byKey.get(key)
    if (known !== undefined) {
      if (Object.is(known.version, version)) return known.bytes
      this.#forget(key, known)
    }
    const bytes = this.#encode(make())
    this.#byKey.set(key, { version, bytes })
    this.#size += bytes.length + OVERHEAD_BYTES
    for (const [oldest, encoded] of this.#byKey) {
      if (this.#size <= this.#capacity) break
      this.#forget(oldest, encoded)
    }
    return bytes
  }

  #forget(key: string, { bytes }: Encoded): void {
    this.#byKey.delete(key)
    this.#size -= bytes.length + OVERHEAD_BYTES
  }
}
