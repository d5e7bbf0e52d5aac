/** This node as a validator: whether it makes vertices, and if not, why. */
import { Context, Effect, Layer, Option } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import { Engine } from "../engine/Engine.js"
import { Home, validatorOf } from "../start/Home.js"

export interface Standing {
  /** Its account. */
  readonly address: Address.Address
  readonly publicKey: PublicKey
  readonly isInCommittee: boolean
  /** The stake that would count for a seat; zero unless it is active. */
  readonly activeStake: Sats.Sats
  /**
   * The key has recently signed vertices that are not on this disk: another process uses it, or the disk was rolled
   * back or lost.
   */
  readonly hasForeignHeader: boolean
}

const make = Effect.gen(function* () {
  const { view } = yield* Engine
  const validator = validatorOf(yield* Home)
  return {
    /** None for a node that only follows the network. */
    standing: Effect.sync(() =>
      Option.map(validator, (publicKey): Standing => {
        const ofKey = Address.fromPublicKey(publicKey)
        const isInCommittee = view.read.epoch.members.some((member) => member.address === ofKey)
        const address = view.read.accountOf(ofKey)
        const { isActiveValidator, effectiveStake } = view.read.stake(address)
        const activeStake = isActiveValidator ? effectiveStake : Sats.ZERO
        return { address, publicKey, isInCommittee, activeStake, hasForeignHeader: view.core.signing._tag === "Silent" }
      }),
    ),
  }
})

export class Validator extends Context.Tag("udg/Validator")<Validator, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Validator, make)
