/** A value of a fiber that its child fibers inherit. */
import { Effect, FiberRef, Layer } from "effect"
import { globalValue } from "effect/GlobalValue"

export interface FiberValue<A> {
  /** Continues with the running fiber's value. */
  readonly use: <B, E, R>(next: (value: A) => Effect.Effect<B, E, R>) => Effect.Effect<B, E, R>
  /** Sets the value for everything that runs on the layer. */
  readonly layer: (value: A) => Layer.Layer<never>
}

/** `key` identifies the value, also if this module is loaded twice. */
export const make = <A>(key: string, initial: () => A): FiberValue<A> => {
  const ref = globalValue(key, () => FiberRef.unsafeMake(initial()))
  return {
    use: (next) => Effect.withFiberRuntime((fiber) => next(fiber.getFiberRef(ref))),
    layer: (value) => Layer.scopedDiscard(Effect.locallyScoped(ref, value)),
  }
}
