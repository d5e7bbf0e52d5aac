/** What happens to the connection of a cancelled statement. */
import { execFileSync } from "node:child_process"
import { Duration, Effect, Either, Redacted } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Postgres from "../../src/archive/Postgres.js"
import * as Rest from "../support/Rest.js"
import * as Server from "./Server.js"

const signalAll = (pid: number, signal: NodeJS.Signals): void => {
  const children = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map(Number)
  for (const each of [pid, ...children]) process.kill(each, signal)
}

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)("connections to PostgreSQL", () => {
  it(Rest.of(
    "a server that hangs for seconds",
    "serve other statements as soon as the server answers again after one was cancelled",
  ), { timeout: 120_000 }, async () => {
    const warnings: Array<string> = []
    const warned = ({ name, message }: Error) => void warnings.push(`${name}: ${message}`)
    process.on("warning", warned)
    onTestFinished(() => void process.off("warning", warned))
    const server = await Server.make()
    onTestFinished(server.remove)
    const url = Redacted.make(await server.create("hanging"))
    const life = Effect.gen(function* () {
      const database = yield* Postgres.open(url, 2)
      const asked = Effect.all(
        Array.from({ length: 6 }, () => database.rows("select 1 + 1")),
        { concurrency: "unbounded" },
      )
      expect(yield* asked).toEqual(Array(6).fill([[2]]))
      signalAll(server.pid(), "SIGSTOP")
      for (let n = 0; n < 3; n++) {
        const given = yield* Effect.either(Effect.timeout(Effect.disconnect(asked), Duration.millis(500)))
        expect(Either.isLeft(given)).toBe(true)
        // Cancellation is retried for five seconds.
        yield* Effect.sleep(Duration.seconds(6))
      }
      signalAll(server.pid(), "SIGCONT")
      expect(yield* asked).toEqual(Array(6).fill([[2]]))
    })
    await Effect.runPromise(Effect.scoped(life))
    expect(warnings.filter((text) => text.includes("pg@9"))).toEqual([])
  })
})
