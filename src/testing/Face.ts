/**
 * The HTTP interface of a network that can be reverted: one server for the network's life, in front of successive
 * nodes. Requests wait while there is none. Connections and event streams outlive the nodes; a stream sends `reset`
 * when another node continues it.
 */
import { Deferred, Effect, FiberId, Stream } from "effect"
import { isEventStream } from "../edge/server/EventStreams.js"
import type { Handle, Implementations, Request } from "../edge/server/Group.js"
import type * as HttpInterface from "../rpc/HttpInterface.js"

/** A node's side of the interface. */
export interface Node {
  readonly handlers: Implementations
  readonly behind: HttpInterface.Behind
}

/** An id that no node gives to an event, so the answer starts with a `reset`. */
const UNKNOWN_EVENT = "0"

/** Time for pending responses before the node is replaced. */
const LAST_ANSWERS = "1 second"

interface Behind {
  readonly node: Node
  /** Done when the node is about to be replaced. */
  readonly gone: Deferred.Deferred<void>
  /** Responses in progress. */
  answering: number
}

export class Face {
  readonly #isHere = Effect.unsafeMakeLatch(true)
  #behind: Behind

  constructor(first: Node) {
    this.#behind = this.#of(first)
  }

  /** Stops the current node and installs another one. */
  replaced<A, E, R>(next: Effect.Effect<readonly [Node, A], E, R>): Effect.Effect<A, E, R> {
    return Effect.gen(this, function* () {
      const { gone } = this.#behind
      yield* this.#isHere.close
      yield* Deferred.succeed(gone, undefined)
      yield* Effect.ignore(Effect.timeout(this.#answered, LAST_ANSWERS))
      const [node, result] = yield* next
      this.#behind = this.#of(node)
      return result
    }).pipe(Effect.ensuring(this.#isHere.open))
  }

  /** For a server that reads them once, at its start. */
  get handlers(): Implementations {
    const groups = [...this.#behind.node.handlers].map(([group, handlers]) => {
      const own = [...handlers.keys()].map((name) => [name, this.#handler(group, name)] as const)
      return [group, new Map(own)] as const
    })
    return new Map<string, ReadonlyMap<string, Handle>>([...groups, ["events", new Map([["stream", this.#stream]])]])
  }

  get behind(): HttpInterface.Behind {
    const { isMainnet, versions, memory } = this.#behind.node.behind
    return {
      isMainnet,
      versions: {
        ...Object.fromEntries(Object.keys(versions).map((name) => [name, this.#version(name)])),
        restart: () => this.#behind,
      },
      memory: {
        versions: memory.versions,
        isWritten: () => this.#behind.node.behind.memory.isWritten(),
        written: Effect.suspend(() => this.#behind.node.behind.memory.written),
      },
      onAnswer: (...answer) => this.#behind.node.behind.onAnswer(...answer),
      onDefect: (route) => this.#behind.node.behind.onDefect(route),
      isPressed: () => this.#behind.node.behind.isPressed(),
    }
  }

  #of(node: Node): Behind {
    return { node, gone: Deferred.unsafeMake(FiberId.none), answering: 0 }
  }

  readonly #answered = Effect.gen(this, function* () {
    while (this.#behind.answering > 0) yield* Effect.sleep("1 millis")
  })

  #call(behind: Behind, group: string, name: string, request: Request): Effect.Effect<unknown, unknown> {
    const handle = behind.node.handlers.get(group)?.get(name)
    return handle === undefined ? Effect.dieMessage(`${group}.${name} has no handler`) : handle(request)
  }

  #handler(group: string, name: string): Handle {
    return (request) =>
      this.#isHere.whenOpen(
        Effect.suspend(() => {
          const behind = this.#behind
          behind.answering++
          return Effect.ensuring(
            Effect.suspend(() => this.#call(behind, group, name, request)),
            Effect.sync(() => behind.answering--),
          )
        }),
      )
  }

  /** Another node's answer with the same number can differ. */
  #version(name: string): () => unknown {
    let last: { readonly behind: Behind; readonly version: unknown } | undefined
    return () => {
      const behind = this.#behind
      const version = behind.node.behind.versions[name]?.()
      if (last?.behind !== behind || !Object.is(last.version, version)) last = { behind, version }
      return last
    }
  }

  readonly #stream: Handle = (request) =>
    this.#isHere.whenOpen(
      Effect.suspend(() => {
        const behind = this.#behind
        const next = Effect.suspend(() => this.#stream({ ...request, headers: { "last-event-id": UNKNOWN_EVENT } }))
        // A reader of a name that no longer exists learns it from the end of the stream.
        const others = Stream.unwrap(
          Effect.map(
            Effect.orElseSucceed(next, () => Stream.empty),
            (events) => (isEventStream(events) ? events : Stream.empty),
          ),
        )
        return Effect.map(this.#call(behind, "events", "stream", request), (events) =>
          isEventStream(events) ? Stream.concat(Stream.interruptWhenDeferred(events, behind.gone), others) : events,
        )
      }),
    )
}
