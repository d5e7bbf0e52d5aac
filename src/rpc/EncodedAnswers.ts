/** The encoded answers of one endpoint for the newest version of what they are made from. */
import type { Versioned } from "./Answer.js"

/** A version lives for a round; more different paths than this are not asked for in one, or not by friends. */
const CAPACITY = 4_096

export class EncodedAnswers {
  readonly #encode: (value: unknown) => Buffer
  #version: unknown
  readonly #byKey = new Map<string, Buffer>()

  constructor(encode: (value: unknown) => Buffer) {
    this.#encode = encode
  }

  /** The answer's bytes, encoded now or earlier; `key` tells apart what one version answers to different paths. */
  bytesOf(key: string, answer: Versioned<unknown>): Buffer {
    if (!Object.is(this.#version, answer.version)) {
      this.#byKey.clear()
      this.#version = answer.version
    }
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const bytes = this.#encode(answer.make())
    if (this.#byKey.size < CAPACITY) this.#byKey.set(key, bytes)
    return bytes
  }
}
