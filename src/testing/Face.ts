/**
 * The HTTP interface of a network that can be set back: one server for the whole life of the network, in front of one node after
 * another. While there is none, requests wait. Connections and streams of events outlive the nodes; a stream says `reset` when
 * another node continues it.
 */
import { Deferred, Effect, FiberId, Stream } from "effect"
import type * as HttpInterface from "../rpc/HttpInterface.js"
import * as Answer from "../rpc/server/Answer.js"
import type * as Handlers from "../rpc/server/Handlers.js"

/** A node's side of the interface. */
export interface Node {
  readonly handlers: Handlers.All
  readonly behind: HttpInterface.Behind
}

type Call = (...given: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

type Untyped = Readonly<Record<string, Readonly<Record<string, Call>>>>

/** A number that no node gives an event: the answer begins with a `reset`. */
const UNKNOWN_EVENT = "0"

/** How long answers that were begun may take while the node is about to be replaced. */
const LAST_ANSWERS = "1 second"

interface Behind {
  readonly node: Node
  /** Done when the node is about to be replaced. */
  readonly gone: Deferred.Deferred<void>
  /** Answers that it is making. */
  answering: number
}

export class Face {
  readonly #isHere = Effect.unsafeMakeLatch(true)
  #behind: Behind

  constructor(first: Node) {
    this.#behind = this.#of(first)
  }

  /** Stops what stands behind the face and puts another node there. */
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

  /** For a server that asks once, at its start. */
  get handlers(): Handlers.All {
    const groups = Object.entries(this.#behind.node.handlers).map(([group, handlers]) => [
      group,
      Object.fromEntries(Object.keys(handlers).map((name) => [name, this.#handler(group, name)])),
    ])
    // The same names, each with a function that passes on to the handler of that name.
    const all = Object.fromEntries(groups) as Handlers.All
    return { ...all, events: { stream: (request) => this.#stream(request) } }
  }

  get behind(): HttpInterface.Behind {
    return {
      isMainnet: this.#behind.node.behind.isMainnet,
      onAnswer: (answered) => this.#behind.node.behind.onAnswer?.(answered),
      onDefect: (route) => this.#behind.node.behind.onDefect?.(route),
      isPressed: () => this.#behind.node.behind.isPressed?.() === true,
    }
  }

  #of(node: Node): Behind {
    return { node, gone: Deferred.unsafeMake(FiberId.none), answering: 0 }
  }

  readonly #answered = Effect.gen(this, function* () {
    while (this.#behind.answering > 0) yield* Effect.sleep("1 millis")
  })

  #handler(group: string, name: string): Call {
    return (...given) =>
      this.#isHere.whenOpen(
        Effect.suspend(() => {
          const behind = this.#behind
          const call = (behind.node.handlers as unknown as Untyped)[group]?.[name]
          if (call === undefined) return Effect.dieMessage(`${group}.${name} has no handler`)
          behind.answering++
          return call(...given).pipe(
            Effect.map((answer) => (answer instanceof Answer.Versioned ? this.#versioned(behind, answer) : answer)),
            Effect.ensuring(Effect.sync(() => behind.answering--)),
          )
        }),
      )
  }

  /** What another node would answer may be the same under the same number, or not. */
  #versioned(behind: Behind, { version, make, at }: Answer.Versioned<unknown>): Answer.Versioned<unknown> {
    return new Answer.Versioned(() => (behind === this.#behind ? version() : this.#behind), make, at)
  }

  readonly #stream: Handlers.Of<"events">["stream"] = (request) =>
    this.#isHere.whenOpen(
      Effect.suspend(() => {
        const { node, gone } = this.#behind
        const next = this.#stream({ ...request, headers: { "last-event-id": UNKNOWN_EVENT } })
        return Effect.map(node.handlers.events.stream(request), (events) =>
          Stream.concat(
            Stream.interruptWhenDeferred(events, gone),
            // A reader who asks about a name that is not there any more is told by the end of the stream.
            Stream.unwrap(Effect.orElseSucceed(next, () => Stream.empty)),
          ),
        )
      }),
    )
}
