/**
 * The one fiber that owns the replica: it takes in the waiting inputs, carries out the outputs, allows the replica a
 * slice of background work, and then yields the thread, so that nothing holds it for long.
 */
import { Effect } from "effect"
import type { Replica } from "../../replica/Replica.js"
import * as EventLoop from "../../turns/EventLoop.js"
import type { Inbox } from "../../turns/Inbox.js"
import * as Slice from "../../turns/Slice.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import { ApplyingFault, InternalFault } from "../lifecycle/Ending.js"
import type { Incoming, Input } from "./Incoming.js"
import type { Outgoing } from "./Outgoing.js"
import type { Vitals } from "./Vitals.js"

export interface Parts {
  readonly replica: Replica
  readonly vitals: Vitals
  readonly inbox: Inbox<Input>
  readonly incoming: Incoming
  readonly outgoing: Outgoing
  /** How many outputs wait for a writer that may be slower than this loop. */
  readonly unwritten: () => number
}

export const COMPONENT = "consensus"

/** What the loop is doing: the input that it applies, or a name for anything else. */
interface Task {
  current: Input | "starting" | "at its tick" | "at work in the background"
}

/** For the log line about the loop's end. It contains nothing that a sender chose. */
const describe = ({ current }: Task): string => {
  if (typeof current === "string") return current
  switch (current._tag) {
    case "Message":
      return `applying ${current.message._tag} from ${current.from}`
    case "HeardOf":
      return `applying what ${current.from} says of its epoch`
    case "HeaderOnly":
      return `applying a header from ${current.from}`
    case "Connections":
      return "applying who is connected"
    case "Written":
      return `applying that write ${current.id} is on the disk`
    case "Signed":
      return `applying the signer's answer ${current.id}`
  }
}

/** Inputs taken in before the loop yields. */
const INPUTS_AT_ONCE = 64

/** More than these would only take up memory. */
const UNWRITTEN = 4_096
const WRITERS_TURN = "10 millis"

/**
 * Waits for an input or for the replica's next deadline; a halted replica has none. It always yields the thread once:
 * when rounds are late, the writer's answer to each vertex arrives before anything else, and loop and writer would pass
 * the thread between them forever.
 */
const rest = ({ replica, inbox, unwritten }: Parts): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (unwritten() > UNWRITTEN) yield* Effect.sleep(WRITERS_TURN)
    if (replica.isHalted) return yield* Effect.never
    yield* EventLoop.turn
    const at = yield* SteadyClock.current
    const waitMs = replica.wakeAt(at) - at
    if (inbox.isEmpty && !replica.hasWork && waitMs > 0) yield* inbox.arrivalWithin(waitMs)
  })

const step = (parts: Parts, task: Task): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { replica, vitals, inbox, incoming, outgoing } = parts
    // At each input: on a busy machine a step takes seconds, which must not look as if the process had stood still.
    const look = Effect.flatMap(Effect.all([SteadyClock.current, SteadyClock.wallAhead]), ([now, aheadMs]) =>
      Effect.sync(() => {
        replica.wallIs(aheadMs)
        return now
      }),
    )
    for (const input of inbox.take(INPUTS_AT_ONCE)) {
      task.current = input
      yield* outgoing.carryOut(incoming.take(input, yield* look))
    }
    const at = yield* look
    task.current = "at its tick"
    yield* outgoing.carryOut(replica.tick(at))
    task.current = "at work in the background"
    if (replica.hasWork) yield* outgoing.carryOut(replica.work(Slice.begin(), at))
    vitals.changed()
    const round = replica.core.epoch.dag.highestRound
    if (vitals.beat(round, at)) outgoing.publish({ _tag: "RoundReached", round })
    yield* rest(parts)
  })

/** A stop would otherwise forget the clients' transactions that came in since the last step. */
const keepTheLast = ({ replica, outgoing }: Parts): Effect.Effect<void> =>
  Effect.map(SteadyClock.current, (at) => outgoing.keepOf(replica.end(at)))

/** An exception here may leave a change half done, so the loop ends. */
export const run = (parts: Parts): Effect.Effect<never, InternalFault> =>
  Effect.suspend(() => {
    const task: Task = { current: "starting" }
    return Effect.flatMap(Effect.all([SteadyClock.current, SteadyClock.wallAhead]), ([at, aheadMs]) => {
      parts.replica.wallIs(aheadMs)
      return parts.outgoing.carryOut(parts.replica.start(at))
    }).pipe(
      Effect.zipRight(Effect.forever(step(parts, task))),
      Effect.onInterrupt(() => keepTheLast(parts)),
      Effect.catchAllDefect(
        (cause) =>
          new InternalFault({ fault: new ApplyingFault({ component: COMPONENT, doing: describe(task), cause }) }),
      ),
    )
  })
