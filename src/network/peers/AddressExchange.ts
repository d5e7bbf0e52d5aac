/** The exchange of peer addresses: an empty message on this lane asks, and a list answers. */
import { Either } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as AddressBook from "../AddressBook.js"
import { Allowance, type Rate } from "../Allowance.js"
import * as Channel from "./Channel.js"
import type { Lanes } from "./Lanes.js"

/** The longest address: a key, `@`, a bracketed IPv6 address and a port. */
const ADDRESS_BYTES = 128
/** Every node asks one of its peers every 30 seconds. */
const QUESTIONS: Rate = { burst: 4, perSecond: 0.1 }

const encode = (addresses: ReadonlyArray<string>): Uint8Array =>
  Binary.encode((writer) => writer.list8(addresses, (address) => writer.text8(address)))

const decode = (bytes: Uint8Array): Either.Either<ReadonlyArray<string>, Binary.MalformedBytes> =>
  Binary.decode("addresses", bytes, (reader) =>
    reader.list8(AddressBook.TOLD_AT_ONCE, () => reader.text8(ADDRESS_BYTES)),
  )

export interface Around {
  readonly now: () => number
  readonly tell: () => ReadonlyArray<string>
  readonly learn: (addresses: ReadonlyArray<string>) => void
}

export class AddressExchange {
  readonly #lanes: Lanes
  readonly #around: Around
  readonly #questions: Allowance
  #isAsking = false

  constructor(lanes: Lanes, around: Around) {
    this.#lanes = lanes
    this.#around = around
    this.#questions = new Allowance(QUESTIONS, around.now())
    lanes.accept("addresses", Channel.LIMITS.addresses.windowBytes, (message) => {
      if (message.length === 0) this.#answer()
      else this.#hear(message)
      return undefined
    })
  }

  ask(): void {
    this.#isAsking = true
    this.#lanes.send("addresses", new Uint8Array(0))
  }

  #answer(): void {
    if (this.#questions.take(1, this.#around.now()) > 0) return
    const sayable = this.#around.tell().filter((address) => address.length <= ADDRESS_BYTES)
    this.#lanes.send("addresses", encode(sayable.slice(0, AddressBook.TOLD_AT_ONCE)))
  }

  /** Accepts one answer per question. Malformed lists are ignored. */
  #hear(message: Uint8Array): void {
    if (!this.#isAsking) return
    this.#isAsking = false
    this.#around.learn(Either.getOrElse(decode(message), () => []))
  }
}
