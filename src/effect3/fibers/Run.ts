/** Runs effects for plain code, synchronously if an effect needs no fiber. */
import { Effect, Either, Exit, type Fiber, FiberSet, Runtime, type Scope } from "effect"

export type Fork = <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>

export type Run = <A, E>(effect: Effect.Effect<A, E>, done: (exit: Exit.Exit<A, E>) => void) => void

/** Interrupts what it started when the scope closes. */
export const scopedFork: Effect.Effect<Fork, never, Scope.Scope> = Effect.gen(function* () {
  const fibers = yield* FiberSet.make()
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  return (effect) => {
    const fiber = runFork(effect)
    if (fiber.unsafePoll() === null) FiberSet.unsafeAdd(fibers, fiber)
    return fiber
  }
})

const isExit = <A, E>(effect: Effect.Effect<A, E>): effect is Exit.Exit<A, E> => Exit.isExit(effect)

const isEither = <A, E>(effect: Effect.Effect<A, E>): effect is Either.Right<E, A> | Either.Left<E, A> =>
  Either.isEither(effect)

/** Known results need no fiber: an exit, or the `Either` of a handler that can refuse. */
export const make =
  (fork: Fork): Run =>
  (effect, done) => {
    if (isExit(effect)) return done(effect)
    if (isEither(effect)) return done(Exit.fromEither(effect))
    const fiber = fork(effect)
    // Many handlers are done before their result is needed.
    const exit = fiber.unsafePoll()
    if (exit !== null) done(exit)
    else fiber.addObserver(done)
  }
