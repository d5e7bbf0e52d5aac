/**
 * The one fiber that owns the replica. It takes waiting inputs, executes the outputs, gives the replica a slice of
 * background work, and yields, so that nothing holds the thread for long.
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
  /** Outputs waiting for a writer that may be slower than this loop. */
  readonly unwritten: () => number
}

export const COMPONENT = "consensus"

/** What the loop is doing: applying this input, or the named work. */
interface Task {
  current: Input | "starting" | "during a tick" | "during background work"
}

/** For the log line about the loop's end. Contains nothing that a sender chose. */
const describe = ({ current }: Task): string => {
  if (typeof current === "string") return current
  switch (current._tag) {
    case "Message":
      return `applying ${current.message._tag} from ${current.from}`
    case "HeardOf":
      return `applying the epoch of ${current.from}`
    case "PageArrived":
    case "PageRefused":
      return `applying the arrival of rounds from ${current.from}`
    case "HeaderOnly":
      return `applying a header from ${current.from}`
    case "Connections":
      return "applying the connected peers"
    case "Written":
      return `applying the completion of write ${current.id}`
    case "Signed":
      return `applying the signer's answer ${current.id}`
  }
}

/** Inputs taken before the loop yields. */
const INPUTS_AT_ONCE = 64

/** More than these would only take up memory. */
const UNWRITTEN = 4_096
const WRITERS_TURN = "10 millis"

/**
 * Waits for an input or the replica's next deadline; a halted replica has none. Always yields once: when rounds are
 * late, the writer's answer to each vertex would arrive first, and loop and writer would pass the thread between them
 * forever.
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
    // Read at each input: on a busy machine a step takes seconds, which must not look like a stall of the process.
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
    task.current = "during a tick"
    yield* outgoing.carryOut(replica.tick(at))
    task.current = "during background work"
    if (replica.hasWork) yield* outgoing.carryOut(replica.work(Slice.begin(), at))
    vitals.changed()
    const round = replica.core.epoch.dag.highestRound
    if (vitals.beat(round, at)) outgoing.publish({ _tag: "RoundReached", round })
    yield* rest(parts)
  })

/** Keeps clients' transactions that arrived since the last step and that a stop would forget. */
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
