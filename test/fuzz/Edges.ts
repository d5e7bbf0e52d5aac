/** Values at the edges of what fields can hold. */
import { sha256Hex } from "#crypto"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Chance } from "../simulation/Chance.js"

export class Edges {
  readonly #chance: Chance
  #hashes = 0

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** Around a limit, around zero, and as large as an integer gets. */
  number(...limits: ReadonlyArray<number>): number {
    const chance = this.#chance
    if (limits.length > 0 && chance.percent(75)) return Math.max(0, chance.pick(limits) + chance.between(-2, 2))
    return chance.pick([0, 1, 2, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1, 2 ** 32, 2 ** 32 - 1, 2 ** 31])
  }

  sats(...limits: ReadonlyArray<number>): Sats.Sats {
    const chance = this.#chance
    const value = chance.percent(30)
      ? chance.pick([0, 1, Sats.MAX_SUPPLY, Sats.MAX_SUPPLY - 1, Sats.MIN_STAKE_SATS, Sats.MIN_STAKE_SATS - 1])
      : this.number(...limits, Sats.MAX_SUPPLY)
    return Math.min(value, Sats.MAX_SUPPLY) as Sats.Sats
  }

  /** One that nobody has seen. */
  hash(): Hash.Hash {
    return this.#chance.percent(5) ? Hash.ZERO : (sha256Hex(Binary.utf8(`hash ${this.#hashes++}`)) as Hash.Hash)
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#chance.below(256))
  }
}
