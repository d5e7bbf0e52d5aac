/** Peers exchange addresses: an empty message on their lane asks, and a list answers. */
import { Either } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as AddressBook from "../AddressBook.js"
import { Allowance, type Rate } from "../Allowance.js"
import * as Channel from "./Channel.js"
import type { Lanes } from "./Lanes.js"

/** The longest address: a key, an at sign, an IPv6 address in brackets and a port. */
const ADDRESS_BYTES = 128
/** Every node asks some peer every half a minute. */
const QUESTIONS: Rate = { burst: 4, perSecond: 0.1 }

const encode = (addresses: ReadonlyArray<string>): Uint8Array =>
  Binary.encode((writer) => writer.list8(addresses, (address) => writer.text8(address)))

const decode = (bytes: Uint8Array): Either.Either<ReadonlyArray<string>, Binary.MalformedBytes> =>
  Binary.decode("addresses", bytes, (reader) =>
    reader.list8(AddressBook.TOLD_AT_ONCE, () => reader.text8(ADDRESS_BYTES)),
  )

export interface Around {
  readonly now: () => number
  /** What this peer is told. */
  readonly tell: () => ReadonlyArray<string>
  /** Addresses that this node asked for. */
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

  /** One answer for one question; anything that is no list says nothing. */
  #hear(message: Uint8Array): void {
    if (!this.#isAsking) return
    this.#isAsking = false
    this.#around.learn(Either.getOrElse(decode(message), () => []))
  }
}
