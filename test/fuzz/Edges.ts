/** Edge values of the fields of messages. */
import { sha256Hex } from "#crypto"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Numbers from "../edges/Numbers.js"
import type { Chance } from "../simulation/Chance.js"

export class Edges {
  readonly #chance: Chance
  #hashes = 0

  constructor(chance: Chance) {
    this.#chance = chance
  }

  number(...limits: ReadonlyArray<number>): number {
    return this.#chance.pick(this.#chance.percent(90) ? Numbers.around(...limits) : Numbers.around(2 ** 31, 2 ** 32))
  }

  sats(...limits: ReadonlyArray<number>): Sats.Sats {
    const within = Numbers.within(0, Sats.MAX_SUPPLY, Sats.MIN_STAKE_SATS, ...limits)
    return Sats.make(this.#chance.pick(within))
  }

  /** An unknown hash. */
  hash(): Hash.Hash {
    return this.#chance.percent(5) ? Hash.ZERO : (sha256Hex(Binary.utf8(`hash ${this.#hashes++}`)) as Hash.Hash)
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#chance.below(256))
  }
}
