/**
 * The one fiber that writes. It performs writes in the order in which they come, and publishes each once it is written. Only a
 * vertex of this node goes ahead of what waits for the ledger's file.
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
  /** Published once every task before it is done; a new highest round, at once. */
  | { readonly _tag: "Publish"; readonly event: NodeEvent }
  | { readonly _tag: "End"; readonly ending: Ending }
  /** Somebody waits for every task before it. */
  | { readonly _tag: "Awaited"; readonly done: Deferred.Deferred<void> }

export interface Writer {
  readonly perform: (task: Task) => void
  /** Whether it has tasks that it holds back, though it could perform them at once. */
  readonly isGathering: () => boolean
}

export interface Listener {
  /** These tasks come next, and none of their writes is in the files. */
  readonly taking?: (tasks: ReadonlyArray<Task>) => Effect.Effect<void, Ending>
  /** This synced write is on disk, with everything that must not be lost without it, and survives a power cut. */
  readonly written: (id: number) => Effect.Effect<void>
  /** If the event is a write, it and all before it are in the files, and survive a crash of the process. */
  readonly published: (event: NodeEvent) => Effect.Effect<void>
}

/** Taken together if somebody wants to know of it before they are written. */
const TAKEN_AT_ONCE = 512

/** What may wait is written with what comes within this time: each transaction writes a page of each of some ten indexes. */
const GATHERED_MS = 1_000
/** Tasks that wait for others: each may hold a megabyte. */
const GATHERED_TASKS = 64
/** Transactions of the network in a transaction of the database: a reader waits for all to become final. */
const TRANSACTIONS_AT_ONCE = 1_024

const transactionsIn = (task: Task): number =>
  task._tag === "Write" && task.write._tag === "Executed"
    ? task.write.vertices.reduce((sum, { body }) => sum + body.transactions.length, 0)
    : 0

/** Nothing waits for these: a round without transactions, and what a restart can do without. */
const mayWait = (task: Task): boolean => {
  switch (task._tag) {
    case "Write":
      return (
        !task.isSynced && (!isPublished(task.write) || (task.write._tag === "Executed" && transactionsIn(task) === 0))
      )
    case "Publish":
      return task.event._tag === "RoundReached"
    case "End":
    case "Awaited":
      return false
  }
}

const isOfThisNode = ({ _tag }: Write.Write): boolean => _tag === "OwnVertex" || _tag === "Intent"

const isOwn = (task: Task): boolean => task._tag === "Write" && isOfThisNode(task.write)

/** An own vertex whose companions go to the other file with it, and a round, which is in no file. */
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

/** Each group is one transaction of the database, after which all of its tasks are reported. */
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

/** How long a stop waits for the disk: with the time for answers and peers, it takes at most five seconds. */
const FLUSH_LIMIT = Duration.millis(2_500)

/** Runs until the scope ends, and then until all tasks handed over by then are done. */
export const start = (
  storage: typeof Storage.Service,
  supervisor: typeof Supervisor.Service,
  { taking, written, published }: Listener,
): Effect.Effect<Writer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const tasks: Array<Task> = []
    /** What needs nothing of all that waits in `tasks`. */
    const ahead: Array<Task> = []
    const bell = new Inbox<"ring">()
    const drained = yield* Deferred.make<void>()
    let isStopping = false
    let isHurried = false
    let timer: ReturnType<typeof setTimeout> | undefined

    const hurry = (): void => {
      isHurried = true
      bell.push("ring")
    }

    const add = (task: Task): void => {
      // Beyond so many, rounds wait for the ledger's file: they must not become faster than it for long.
      const isShort = tasks.length < GATHERED_TASKS
      if (taking === undefined && isShort && goesAhead(task) && !tasks.some(isOwn)) {
        ahead.push(task)
        bell.push("ring")
        return
      }
      tasks.push(task)
      if (!mayWait(task) || tasks.length >= GATHERED_TASKS) hurry()
      else timer ??= setTimeout(hurry, GATHERED_MS)
    }

    const take = (): ReadonlyArray<Task> => {
      const taken = tasks.splice(0, taking === undefined ? tasks.length : TAKEN_AT_ONCE)
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
