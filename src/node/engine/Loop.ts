/**
 * The one fiber that owns the replica: it takes in what has come, carries out what follows, gives the replica a slice of
 * background work, and then lets everybody else have the thread, so that nothing holds it for long.
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
}

export const COMPONENT = "consensus"

/** What the loop is at: what is applied, or a name for anything else. */
interface Task {
  current: Input | "starting" | "at its tick" | "at work in the background"
}

/** For the one line that says what the loop ended of. Nothing in it is what a sender chose. */
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
  }
}

/** Inputs taken in before others have the thread. */
const INPUTS_AT_ONCE = 64

/**
 * Until something comes in or the replica's next moment is there; a halted replica has none. Others have their turn in any
 * case: where rounds are late, the writer's answer to every vertex is there before anything else, and the two would pass
 * the thread to each other for good.
 */
const rest = ({ replica, inbox }: Parts): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (replica.isHalted) return yield* Effect.never
    yield* EventLoop.turn
    const at = yield* SteadyClock.current
    const waitMs = replica.wakeAt(at) - at
    if (inbox.isEmpty && !replica.hasWork && waitMs > 0) yield* inbox.arrivalWithin(waitMs)
  })

const step = (parts: Parts, task: Task): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { replica, vitals, inbox, incoming, outgoing } = parts
    const at = yield* SteadyClock.current
    replica.wallIs(yield* SteadyClock.wallAhead)
    for (const input of inbox.take(INPUTS_AT_ONCE)) {
      task.current = input
      yield* outgoing.carryOut(yield* incoming.take(input, at))
    }
    task.current = "at its tick"
    yield* outgoing.carryOut(replica.tick(at))
    task.current = "at work in the background"
    if (replica.hasWork) yield* outgoing.carryOut(replica.work(Slice.begin(), at))
    vitals.changed()
    const round = replica.core.epoch.dag.highestRound
    if (vitals.beat(round, at)) outgoing.publish({ _tag: "RoundReached", round })
    yield* rest(parts)
  })

/** What was taken at the door since the last step would otherwise be forgotten by a stop. */
const keepTheLast = ({ replica, outgoing }: Parts): Effect.Effect<void> =>
  Effect.map(SteadyClock.current, (at) => outgoing.keepOf(replica.end(at)))

/** Whatever throws here has changed something, nobody knows how far: the loop goes no further. */
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
