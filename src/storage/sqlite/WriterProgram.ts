/**
 * The program of the thread in which SQLite writes; `WriterThread` is the other side. A failure ends its transaction.
 */
import { parentPort } from "node:worker_threads"
import type { Row } from "./Column.js"
import type { Value } from "./Connection.js"
import { Sqlite } from "./Driver.js"
import { ParcelReader, type Step } from "./Parcel.js"

interface Perform {
  readonly what: "perform"
  readonly file: number
  /** Texts of new statements. Both sides number a file's statements in order. */
  readonly texts: ReadonlyArray<string>
  readonly steps: ReadonlyArray<Step>
  /** The values of all steps. */
  readonly bytes: ArrayBuffer
}

/** The other side numbers files too. */
export type Request =
  | { readonly what: "open"; readonly file: number; readonly path: string; readonly pageBytes: number }
  | Perform
  | { readonly what: "close"; readonly file: number }

/** The driver's error. */
export interface Problem {
  readonly message: string
  readonly code: string | undefined
}

/** The rows of the last step. */
export type Reply = { readonly rows: ReadonlyArray<Row> } | { readonly problem: Problem }

type Statement = (values: ReadonlyArray<Value>) => ReadonlyArray<Row>

class File {
  readonly #database: InstanceType<typeof Sqlite>
  readonly #statements: Array<Statement> = []
  readonly #texts: Array<string> = []

  constructor(path: string, pageBytes: number) {
    this.#database = new Sqlite(path)
    // For a new file. An existing one keeps its own.
    this.#database.exec(`pragma page_size = ${pageBytes}`)
    this.#database.prepare("pragma journal_mode = wal").all()
  }

  perform({ texts, steps, bytes }: Perform): ReadonlyArray<Row> {
    this.#texts.push(...texts)
    const reader = new ParcelReader(bytes)
    let rows: ReadonlyArray<Row> = []
    for (const [number, count] of steps) {
      // Not `Array.from`, which takes three times as long, and a commit has thousands of values.
      const values = new Array<Value>(count)
      for (let i = 0; i < count; i++) values[i] = reader.next()
      rows = this.#statement(number)(values)
    }
    return rows
  }

  rollBack(): void {
    try {
      if (this.#database.inTransaction) this.#database.exec("rollback")
    } catch {
      // Only the first error is reported.
    }
  }

  close(): void {
    this.#database.close()
  }

  /** Prepared on first use, because an earlier step can create its table. */
  #statement(number: number): Statement {
    const known = this.#statements[number]
    if (known !== undefined) return known
    const made = this.#prepare(this.#texts[number] ?? "")
    this.#statements[number] = made
    return made
  }

  #prepare(text: string): Statement {
    const statement = this.#database.prepare(text)
    if (statement.reader) {
      const raw = statement.raw()
      return (values) => raw.all(values)
    }
    return (values) => {
      statement.run(values)
      return []
    }
  }
}

const files = new Map<number, File>()

const opened = (number: number): File => {
  const file = files.get(number)
  if (file === undefined) throw new Error(`file ${number} is not open`)
  return file
}

const rowsOf = (request: Request): ReadonlyArray<Row> => {
  switch (request.what) {
    case "open":
      files.set(request.file, new File(request.path, request.pageBytes))
      return []
    case "perform":
      return opened(request.file).perform(request)
    case "close":
      opened(request.file).close()
      return []
  }
}

const problemOf = (error: unknown): Problem =>
  error instanceof Error
    ? { message: error.message, code: "code" in error && typeof error.code === "string" ? error.code : undefined }
    : { message: String(error), code: undefined }

const replyTo = (request: Request): Reply => {
  try {
    return { rows: rowsOf(request) }
  } catch (error) {
    files.get(request.file)?.rollBack()
    return { problem: problemOf(error) }
  }
}

const port = parentPort
if (port === null) throw new Error("this is the program of a thread, which WriterThread starts")
port.on("message", (request: Request) => port.postMessage(replyTo(request)))
