/**
 * The one fiber that writes. It executes writes in order and publishes each once it is written. Only own vertices go
 * ahead of writes that wait for the ledger's file.
 */
import { Clock, Deferred, Duration, Effect, type Scope } from "effect"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Output } from "../../replica/output/Output.js"
import * as Write from "../../replica/output/Write.js"
import type { Storage } from "../../storage/Storage.js"
import * as EventLoop from "../../turns/EventLoop.js"
import { Inbox } from "../../turns/Inbox.js"
import type { Ending } from "../lifecycle/Ending.js"
import type { Supervisor } from "../lifecycle/Supervisor.js"
import * as Disk from "./Disk.js"
import { isPublished, type NodeEvent } from "./NodeEvent.js"

export type Task =
  | Extract<Output, { readonly _tag: "Write" }>
  /** Published once every earlier task is done; a new highest round, at once. */
  | { readonly _tag: "Publish"; readonly event: NodeEvent }
  | { readonly _tag: "End"; readonly ending: Ending }
  /** Signals that every earlier task is done. */
  | { readonly _tag: "Awaited"; readonly done: Deferred.Deferred<void> }

export interface Writer {
  readonly perform: (task: Task) => void
  /** Whether it holds back tasks that it could execute at once. */
  readonly isGathering: () => boolean
}

export interface Listener {
  /** Called with the next tasks, before any of their writes is in the files. */
  readonly taking?: (tasks: ReadonlyArray<Task>) => Effect.Effect<void, Ending>
  /** This synced write is on disk with everything that must not be lost without it, and survives a power cut. */
  readonly written: (id: number) => Effect.Effect<void>
  /** If the event is a write, it and all before it are in the files and survive a crash of the process. */
  readonly published: (event: NodeEvent) => Effect.Effect<void>
}

/** Tasks taken together if `taking` must see them before they are written. */
const TAKEN_AT_ONCE = 512

/** Deferrable writes are gathered for this long: each transaction writes a page in each of some twenty tables and indexes. */
const GATHERED_MS = 4_000
/** Limit of deferred tasks, and of the bytes in them. */
const GATHERED_TASKS = 256
const GATHERED_BYTES = 1_048_576
/** Network transactions per database transaction: a reader waits until all are final. */
const TRANSACTIONS_AT_ONCE = 1_024

const transactionsIn = (task: Task): number =>
  task._tag === "Write" && task.write._tag === "Executed"
    ? task.write.vertices.reduce((sum, { body }) => sum + body.transactions.length, 0)
    : 0

const bytesIn = (task: Task): number => {
  if (task._tag !== "Write") return 0
  switch (task.write._tag) {
    case "Inserted":
      return task.write.vertex.encoded.length
    case "JoinSubtree":
      return task.write.subtree.length
    default:
      return 0
  }
}

/** Whether nothing waits for the task: a round without transactions, or data that a restart can do without. */
const mayWait = (task: Task): boolean => {
  switch (task._tag) {
    case "Write":
      if (task.isSynced || task.write._tag === "Pending") return false
      return !isPublished(task.write) || (task.write._tag === "Executed" && transactionsIn(task) === 0)
    case "Publish":
      return task.event._tag === "RoundReached"
    case "End":
    case "Awaited":
      return false
  }
}

const isOfThisNode = ({ _tag }: Write.Write): boolean => _tag === "OwnVertex" || _tag === "Intent"

const isOwn = (task: Task): boolean => task._tag === "Write" && isOfThisNode(task.write)

/** An own vertex with its companions, which go to the other file, or a round, which goes to none. */
const goesAhead = (task: Task): boolean => {
  switch (task._tag) {
    case "Write":
      return isOfThisNode(task.write) && !Write.syncsLedger(task.write)
    case "Publish":
      return task.event._tag === "RoundReached"
    case "End":
    case "Awaited":
      return false
  }
}

/** Each group is one database transaction, after which all its tasks are reported. */
export const grouped = (tasks: ReadonlyArray<Task>): ReadonlyArray<ReadonlyArray<Task>> => {
  const groups: Array<Array<Task>> = []
  let group: Array<Task> = []
  let transactions = 0
  for (const task of tasks) {
    group.push(task)
    transactions += transactionsIn(task)
    if (!(task._tag === "Write" && !Disk.isTogether(task.write)) && transactions < TRANSACTIONS_AT_ONCE) continue
    groups.push(group)
    group = []
    transactions = 0
  }
  if (group.length > 0) groups.push(group)
  return groups
}

/** How long a stop waits for the disk. Together with answers and peers, a stop takes at most five seconds. */
const FLUSH_LIMIT = Duration.millis(2_500)

/** Runs until the scope ends and all tasks handed over by then are done. */
export const start = (
  storage: typeof Storage.Service,
  supervisor: typeof Supervisor.Service,
  { taking, written, published }: Listener,
): Effect.Effect<Writer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const tasks: Array<Task> = []
    /** Tasks that depend on none of those in `tasks`. */
    const ahead: Array<Task> = []
    const bell = new Inbox<"ring">()
    const drained = yield* Deferred.make<void>()
    let isStopping = false
    let isHurried = false
    let bytes = 0
    let timer: ReturnType<typeof setTimeout> | undefined

    const hurry = (): void => {
      isHurried = true
      bell.push("ring")
    }

    const isLong = (): boolean => tasks.length >= GATHERED_TASKS || bytes >= GATHERED_BYTES

    const add = (task: Task): void => {
      // Beyond this many, rounds wait for the ledger's file: they must not outrun it for long.
      if (taking === undefined && !isLong() && goesAhead(task) && !tasks.some(isOwn)) {
        ahead.push(task)
        bell.push("ring")
        return
      }
      tasks.push(task)
      bytes += bytesIn(task)
      if (!mayWait(task) || isLong()) hurry()
      else timer ??= setTimeout(hurry, GATHERED_MS)
    }

    const take = (): ReadonlyArray<Task> => {
      const taken = tasks.splice(0, taking === undefined ? tasks.length : TAKEN_AT_ONCE)
      for (const task of taken) bytes -= bytesIn(task)
      if (tasks.length > 0) return taken
      clearTimeout(timer)
      timer = undefined
      isHurried = false
      return taken
    }

    const keep = (writes: ReadonlyArray<Write.Write>) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) =>
        Effect.forEach(
          Disk.batched(writes),
          (batch) => Effect.zipRight(Disk.keep(storage, batch, Natural.timestamp(at)), EventLoop.turn),
          { discard: true },
        ),
      )

    const report = (task: Task): Effect.Effect<void> => {
      switch (task._tag) {
        case "Write":
          return Effect.zipRight(
            task.isSynced ? written(task.id) : Effect.void,
            isPublished(task.write) ? published(task.write) : Effect.void,
          )
        case "Publish":
          return published(task.event)
        case "End":
          return supervisor.end(task.ending)
        case "Awaited":
          return Effect.asVoid(Deferred.succeed(task.done, undefined))
      }
    }

    const perform = (taken: ReadonlyArray<Task>) =>
      Effect.forEach(
        grouped(taken),
        (group) =>
          Effect.zipRight(
            keep(group.flatMap((task) => (task._tag === "Write" ? [task.write] : []))),
            Effect.forEach(group, report, { discard: true }),
          ),
        { discard: true },
      )

    const run = Effect.gen(function* () {
      for (;;) {
        bell.take(bell.length)
        if (ahead.length > 0) {
          yield* perform(ahead.splice(0))
        } else if (tasks.length > 0 && (isHurried || isStopping)) {
          const taken = take()
          if (taking !== undefined) yield* taking(taken)
          yield* perform(taken)
        } else if (isStopping) {
          return yield* Effect.zipRight(Deferred.succeed(drained, undefined), Effect.never)
        } else {
          yield* bell.arrival
        }
      }
    }).pipe(Effect.onError(() => Deferred.succeed(drained, undefined)))

    yield* supervisor.critical("storage writer", run)
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isStopping = true
        clearTimeout(timer)
        bell.wake()
        // Finalizers are uninterruptible by default, and a timeout waits for the effect it interrupts.
        return Effect.ignore(Effect.timeout(Effect.interruptible(Deferred.await(drained)), FLUSH_LIMIT))
      }),
    )
    return { perform: add, isGathering: () => tasks.length > 0 && !isHurried }
  })
