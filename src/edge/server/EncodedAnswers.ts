/** One endpoint's encoded answers, each for the newest version of its data. Versions are compared with `Object.is`. */
import type { Content } from "./Content.js"

/** Returns the current version. */
export type Version = () => unknown

interface Encoded {
  readonly version: unknown
  readonly versionNow: Version
  readonly content: Content
}

/** For all paths of an endpoint. Beyond it, the oldest answers are dropped. */
const CAPACITY_BYTES = 8_388_608
/** The cost of an entry besides its bytes. */
const OVERHEAD_BYTES = 512

export class EncodedAnswers {
  readonly #capacity: number
  /** Oldest first. */
  readonly #byPath = new Map<string, Encoded>()
  #size = 0

  constructor(capacity = CAPACITY_BYTES) {
    this.#capacity = capacity
  }

  /** Bytes in use. */
  get size(): number {
    return this.#size
  }

  /** The path's answer, if it is still current. */
  current(path: string): Content | undefined {
    const known = this.#byPath.get(path)
    return known !== undefined && Object.is(known.versionNow(), known.version) ? known.content : undefined
  }

  /** Replaces the path's answer. `version` was read when the handler started and can be outdated. */
  keep(path: string, content: Content, version: unknown, versionNow: Version): void {
    if (!Object.is(versionNow(), version)) return
    const before = this.#byPath.get(path)
    if (before !== undefined) this.#forget(path, before)
    this.#byPath.set(path, { version, versionNow, content })
    this.#size += content.bytes + OVERHEAD_BYTES
    for (const [oldest, encoded] of this.#byPath) {
      if (this.#size <= this.#capacity) break
      this.#forget(oldest, encoded)
    }
  }

  #forget(path: string, { content }: Encoded): void {
    this.#byPath.delete(path)
    this.#size -= content.bytes + OVERHEAD_BYTES
  }
}
