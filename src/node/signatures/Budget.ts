/** Limits how much peers of each standing may use together. Members, who are few, are limited by fair turns alone. */
import { Allowance, type Rate } from "../../network/Allowance.js"
import type { Standing } from "../../network/Standing.js"

export class Budget {
  readonly #named: Allowance
  readonly #stranger: Allowance

  constructor({ named, stranger }: { readonly named: Rate; readonly stranger: Rate }, now: number) {
    this.#named = new Allowance(named, now)
    this.#stranger = new Allowance(stranger, now)
  }

  /** Whether anything is left for them. */
  has(standing: Standing, now: number): boolean {
    return this.#of(standing)?.take(0, now) === 0 || standing === "member"
  }

  take(standing: Standing, amount: number, now: number): void {
    this.#of(standing)?.take(amount, now)
  }

  #of(standing: Standing): Allowance | undefined {
    switch (standing) {
      case "member":
        return undefined
      case "named":
        return this.#named
      case "stranger":
        return this.#stranger
    }
  }
}
