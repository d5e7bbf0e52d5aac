/**
 * What comes to an endpoint within one turn of the event loop, handled together: sixteen who ask at once cost one fiber.
 * Each gets what he would have got alone.
 */
import { Array as Arr, Effect, Either, Exit } from "effect"
import type * as Failure from "../api/Failure.js"

/** What becomes of one body. */
export type Outcome = Either.Either<unknown, Failure.Failure>

/** The bodies of one request, each decoded or refused already. */
export interface Bodies<Visit> {
  readonly visit: Visit
  readonly decoded: ReadonlyArray<Either.Either<unknown, Failure.InvalidRequest>>
  readonly isBatch: boolean
}

/** What becomes of a request's bodies, in their order. */
export type Outcomes = Exit.Exit<ReadonlyArray<Outcome>, unknown>

export interface Options<Visit> {
  readonly handle: (bodies: ReadonlyArray<unknown>) => Effect.Effect<unknown, Failure.Failure>
  readonly settle: (
    effect: Effect.Effect<unknown, Failure.Failure>,
    settled: (exit: Exit.Exit<unknown, unknown>) => void,
  ) => void
  /** Called once for each request, also for one whose client is gone. */
  readonly answer: (bodies: Bodies<Visit>, outcomes: Outcomes) => void
}

/** More at a time would keep others waiting, and the threads that check them idle until all are read. */
const AT_ONCE = 16

export class Gathering<Visit> {
  readonly #options: Options<Visit>
  #waiting: Array<Bodies<Visit>> = []
  #count = 0

  constructor(options: Options<Visit>) {
    this.#options = options
  }

  add(bodies: Bodies<Visit>): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#handleWaiting())
    this.#waiting.push(bodies)
    this.#count += bodies.decoded.length
    if (this.#count >= AT_ONCE) this.#handleWaiting()
  }

  #handleWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#count = 0
    if (waiting.length > 0) this.#handle(waiting)
  }

  #handle(gathered: ReadonlyArray<Bodies<Visit>>): void {
    const { handle, settle, answer } = this.#options
    const bodies = gathered.flatMap(({ decoded }) => Arr.getRights(decoded))
    const settled = (exit: Exit.Exit<unknown, unknown>): void => {
      // What one request brings about is no other one's matter.
      if (Exit.isFailure(exit) && gathered.length > 1) for (const one of gathered) this.#handle([one])
      else for (const one of sharedOrDead(gathered, exit)) answer(...one)
    }
    let effect: Effect.Effect<unknown, Failure.Failure>
    try {
      effect = bodies.length === 0 ? Effect.succeed([]) : handle(bodies)
    } catch (defect) {
      // Nobody is above who could answer: this runs in a turn of its own, for several requests.
      settled(Exit.die(defect))
      return
    }
    settle(effect, settled)
  }
}

const TOO_FEW = Exit.die(new Error("a handler gave fewer answers than there were bodies"))

/** To each request its own part of the answer. */
const shared = <Visit>(
  gathered: ReadonlyArray<Bodies<Visit>>,
  exit: Exit.Exit<unknown, unknown>,
): ReadonlyArray<readonly [Bodies<Visit>, Outcomes]> => {
  if (Exit.isFailure(exit)) return gathered.map((one) => [one, Exit.failCause(exit.cause)])
  const outcomes = exit.value as ReadonlyArray<Outcome>
  let at = 0
  return gathered.map((one) => {
    const own = one.decoded.map((body) => (Either.isLeft(body) ? body : outcomes[at++]))
    return [one, own.every((outcome) => outcome !== undefined) ? Exit.succeed(own) : TOO_FEW]
  })
}

/** Also where what a handler gave cannot be looked at. */
const sharedOrDead: typeof shared = (gathered, exit) => {
  try {
    return shared(gathered, exit)
  } catch (defect) {
    return gathered.map((one) => [one, Exit.die(defect)])
  }
}
