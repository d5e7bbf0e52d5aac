/**
 * The thread in which SQLite writes and waits for the disk, while this thread runs rounds and serves requests;
 * `WriterProgram` runs there. Statements are collected and sent together: this side waits only when it needs rows, or
 * needs to know that everything before is done. A failure rolls its transaction back, and the next awaited reply has
 * the reason.
 */
import type { Worker } from "node:worker_threads"
import { SqlError } from "@effect/sql"
import { Data, Effect, type Scope } from "effect"
import * as Threads from "#threads"
import type { Row } from "./Column.js"
import type { Connection } from "./Connection.js"
import { Parcel } from "./Parcel.js"
import type { Problem, Reply, Request } from "./WriterProgram.js"

type Rows = ReadonlyArray<Row>

/** The driver's errors on this side. */
class SqliteProblem extends Data.Error<{ readonly message: string; readonly code: string }> {}

const problemOf = ({ message, code = "no code" }: Problem): SqlError.SqlError =>
  new SqlError.SqlError({ cause: new SqliteProblem({ message, code }), message: "the statement failed" })

type Settle = (reply: Effect.Effect<Rows, SqlError.SqlError>) => void

const goneOf = (reason: string): Problem => ({ message: `the thread that writes ${reason}`, code: "THREAD_GONE" })

export class WriterThread {
  readonly #worker: Worker
  readonly #waiting: Array<Settle> = []
  #files = 0
  #gone: Problem | null = null

  private constructor() {
    this.#worker = Threads.start("storage/sqlite/WriterProgram")
    this.#worker.on("message", (reply: Reply) => {
      this.#waiting.shift()?.("rows" in reply ? Effect.succeed(reply.rows) : Effect.fail(problemOf(reply.problem)))
    })
    // The thread exits after an error.
    this.#worker.on("error", ({ message }) => {
      this.#gone = goneOf(`has failed: ${message}`)
    })
    this.#worker.on("exit", () => {
      const gone = this.#gone ?? goneOf("is gone")
      this.#gone = gone
      for (const settle of this.#waiting.splice(0)) settle(Effect.fail(problemOf(gone)))
    })
  }

  /** Ends with the scope. Its files are closed by then, after all their writes. */
  static readonly make: Effect.Effect<WriterThread, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync(() => new WriterThread()),
    (thread) => Effect.promise(() => thread.#worker.terminate()),
  )

  #ask(request: Request, moved: ReadonlyArray<ArrayBuffer> = []): Effect.Effect<Rows, SqlError.SqlError> {
    return Effect.async<Rows, SqlError.SqlError>((resume) => {
      if (this.#gone !== null) {
        resume(Effect.fail(problemOf(this.#gone)))
        return
      }
      this.#waiting.push(resume)
      this.#worker.postMessage(request, moved)
    })
  }

  /** Opens a file for writing until the scope ends. A new file has pages of this size. */
  open(path: string, pageBytes: number): Effect.Effect<Connection, SqlError.SqlError, Scope.Scope> {
    return Effect.gen(this, function* () {
      const file = this.#files++
      yield* Effect.acquireRelease(this.#ask({ what: "open", file, path, pageBytes }), () =>
        Effect.ignore(this.#ask({ what: "close", file })),
      )
      return this.#connection(file)
    })
  }

  #connection(file: number): Connection {
    let parcel = new Parcel()
    /** Both sides number a file's statements in order; another file's parcel can overtake this one's. */
    const numbers = new Map<string, number>()
    let texts: Array<string> = []

    const numberOf = (text: string): number => {
      const known = numbers.get(text)
      if (known !== undefined) return known
      const number = numbers.size
      numbers.set(text, number)
      texts.push(text)
      return number
    }

    return {
      add: (text, values) => parcel.add(numberOf(text), values),
      ask: (text, values) =>
        Effect.suspend(() => {
          parcel.add(numberOf(text), values)
          const { steps, bytes } = parcel.close()
          const request: Request = { what: "perform", file, texts, steps, bytes }
          parcel = new Parcel()
          texts = []
          return this.#ask(request, [bytes])
        }),
    }
  }
}
