/** Runs an effect and tells how it ended, at once where that is known at once. */
import { type Effect, Either, Exit, type Fiber } from "effect"

export type Fork = <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>

export type Run = <A, E>(effect: Effect.Effect<A, E>, done: (exit: Exit.Exit<A, E>) => void) => void

const isExit = <A, E>(effect: Effect.Effect<A, E>): effect is Exit.Exit<A, E> => Exit.isExit(effect)

const isEither = <A, E>(effect: Effect.Effect<A, E>): effect is Either.Right<E, A> | Either.Left<E, A> =>
  Either.isEither(effect)

/** What is known already needs no fiber: an exit, or the `Either` of a handler that may refuse. */
export const make =
  (fork: Fork): Run =>
  (effect, done) => {
    if (isExit(effect)) return done(effect)
    if (isEither(effect)) return done(Exit.fromEither(effect))
    const fiber = fork(effect)
    // Many handlers are through before they are asked how it went.
    const exit = fiber.unsafePoll()
    if (exit !== null) done(exit)
    else fiber.addObserver(done)
  }
