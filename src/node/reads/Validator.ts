/** This node as a validator: whether it makes vertices, and if not, why. */
import { Context, Effect, Layer, Option } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"

export interface Standing {
  readonly address: Address.Address
  readonly publicKey: PublicKey
  /** It has a seat in the running epoch. */
  readonly isInCommittee: boolean
  /**
   * The key has lately signed something that this disk does not know: another process signs with it, or the disk was
   * set back or lost.
   */
  readonly hasForeignHeader: boolean
}

export class Validator extends Context.Tag("udg/Validator")<
  Validator,
  {
    /** None for a node that only follows the network. */
    readonly standing: Effect.Effect<Option.Option<Standing>>
  }
>() {}

export const layer: Layer.Layer<Validator, never, Engine | Home> = Layer.effect(
  Validator,
  Effect.gen(function* () {
    const { view } = yield* Engine
    const { validatorKey } = yield* Home
    return Validator.of({
      standing: Effect.gen(function* () {
        if (Option.isNone(validatorKey)) return Option.none()
        const { publicKey } = validatorKey.value
        const address = Address.fromPublicKey(publicKey)
        const members = view.read.epoch.members
        const isInCommittee = members.some((member) => member.address === address)
        return Option.some({
          address,
          publicKey,
          isInCommittee,
          hasForeignHeader: view.core.signing._tag === "Silent",
        })
      }),
    })
  }),
)
