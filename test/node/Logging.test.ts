import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, TestClock } from "effect"
import * as Log from "../../src/node/log/Log.js"
import * as Logging from "../../src/node/log/Logging.js"

interface Given {
  readonly directives?: string
  readonly format?: Logging.Format
  readonly colours?: boolean
}

/** The lines that a program writes. */
const linesOf = ({ directives = "", format = "json", colours = false }: Given, program: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const written: Array<string> = []
    const write = (line: string) => void written.push(line)
    yield* Effect.provide(program, Logging.layer({ directives, format, colours, write }))
    expect(written.every((line) => line.endsWith("\n"))).toBe(true)
    return written.map((line) => line.slice(0, -1))
  })

const recordsOf = (given: Given, program: Effect.Effect<void>) =>
  Effect.map(linesOf(given, program), (lines) =>
    lines.map((line) => JSON.parse(line) as Readonly<{ [name: string]: unknown }>),
  )

const mempool = Log.for("mempool")
const rpc = Log.for("rpc")

describe("Logging", () => {
  it.effect("writes one JSON object per line, with time, level, module, message, annotations and cause", () =>
    Effect.gen(function* () {
      const [record, ...others] = yield* recordsOf(
        {},
        mempool
          .warn("transaction\nrefused", { tx: "3f", fee: 7n }, Cause.fail(new Error("too cheap")))
          .pipe(Effect.annotateLogs("round", 12)),
      )
      expect(others).toEqual([])
      expect(record).toEqual({
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level: "warn",
        module: "mempool",
        message: "transaction\nrefused",
        annotations: { tx: "3f", fee: "7", round: 12 },
        cause: expect.stringContaining("too cheap"),
      })
    }),
  )

  it.effect("writes pretty lines without colours where the terminal has none", () =>
    Effect.gen(function* () {
      const lines = yield* linesOf({ format: "pretty" }, mempool.info("accepted", { tx: "3f", note: "two words" }))
      expect(lines).toEqual([
        expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}mempool {5}accepted {2}tx=3f note="two words"$/),
      ])
    }),
  )

  it.effect("colours the level on a terminal", () =>
    Effect.gen(function* () {
      const lines = yield* linesOf({ format: "pretty", colours: true }, mempool.error("broken"))
      expect(lines[0]).toContain("\u001b[31mERROR\u001b[0m")
    }),
  )

  it.effect("indents a cause below its line, and lets no message start a line or control the terminal", () =>
    Effect.gen(function* () {
      const said = "a\n12:00:00.000 ERROR node forged \u001b[2J"
      const [written = ""] = yield* linesOf({ format: "pretty" }, rpc.info(said, { note: said }, Cause.die("why")))
      const [first = "", ...below] = written.split("\n")
      expect(first).toContain("a\\n12:00:00.000 ERROR node forged \\u001b[2J")
      expect(written).not.toContain("\u001b")
      expect(below.length).toBeGreaterThan(0)
      expect(below.every((line) => line.startsWith("    "))).toBe(true)
    }),
  )

  it.effect("filters each module by its own level", () =>
    Effect.gen(function* () {
      const records = yield* recordsOf(
        { directives: "info,mempool=debug,rpc=warn" },
        Effect.all([
          mempool.debug("1"),
          mempool.trace("2"),
          rpc.info("3"),
          rpc.warn("4"),
          Log.for("dag").info("5"),
          Log.for("dag").debug("6"),
        ]),
      )
      expect(records.map(({ message }) => message)).toEqual(["1", "4", "5"])
    }),
  )

  it.effect("filters lines without a module, such as a library's, by the general level", () =>
    Effect.gen(function* () {
      const program = Effect.all([Effect.logDebug("quiet"), Effect.logWarning("loud")])
      const records = yield* recordsOf({ directives: "warn,mempool=trace" }, program)
      expect(records.map(({ message, module }) => [message, module])).toEqual([["loud", "node"]])
    }),
  )

  it.effect("never formats the message or the fields of a filtered line", () =>
    Effect.gen(function* () {
      let made = 0
      const build = () => `${++made}`
      const fields = () => ({ made: ++made })
      yield* linesOf({ directives: "trace,mempool=warn" }, mempool.info(build, fields))
      expect(made).toBe(0)
      yield* linesOf({ directives: "error,mempool=info" }, mempool.info(build, fields))
      expect(made).toBe(2)
    }),
  )

  it.effect("filters in fibers that the program starts, too", () =>
    Effect.gen(function* () {
      const records = yield* recordsOf(
        { directives: "mempool=trace" },
        Effect.flatMap(Effect.fork(mempool.trace("from a fiber")), (fiber) => Effect.asVoid(fiber)),
      )
      expect(records.map(({ message }) => message)).toEqual(["from a fiber"])
    }),
  )

  it.effect("names all unreadable directives in one warning, regardless of the others", () =>
    Effect.gen(function* () {
      const records = yield* recordsOf({ directives: "error,mempol=debug,verbose" }, Effect.void)
      expect(records.map(({ level }) => level)).toEqual(["warn"])
      expect(records[0]?.["message"]).toMatch(/^RUST_LOG: ignored "mempol=debug", "verbose"; /)
    }),
  )

  it.effect("keeps the readable directives after warning of the others", () =>
    Effect.gen(function* () {
      const program = Effect.all([mempool.debug("heard"), rpc.warn("not heard"), Effect.logWarning("nor this")])
      const records = yield* recordsOf({ directives: "error,mempool=debug,loud" }, program)
      expect(records.map(({ level, module }) => [level, module])).toEqual([
        ["warn", "node"],
        ["debug", "mempool"],
      ])
    }),
  )

  const key = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"

  it.effect.each(["json", "pretty"] as const)("never writes fields that are named like a secret, in %s", (format) =>
    Effect.gen(function* () {
      const lines = yield* linesOf(
        { format },
        Effect.all([
          rpc.info("made", { secret_key: key, secretKey: key, seed: key, passphrase: key, validatorPrivateKey: key }),
          rpc.info("asked", {
            body: { to: "someone", accounts: [{ secret_key: key }] },
            map: new Map([["seed", key]]),
          }),
          rpc.info(`cannot read {"secret_key":"${key}","amount":1}`),
          rpc.info("nested", { text: JSON.stringify(JSON.stringify({ secret_key: key, to: "someone" })) }),
          rpc.info(`started with seed=${key} round=3`),
          rpc.error("failed", {}, Cause.die(new Error(`bad passphrase: ${key}`))),
          Effect.logInfo("library", { secret_key: key }),
        ]),
      )
      expect(lines).toHaveLength(7)
      expect(lines.join("\n")).not.toContain(key)
      expect(lines.every((line) => line.includes("[redacted]"))).toBe(true)
      expect(lines.join("\n")).toContain("someone")
    }),
  )

  // Each of these once leaked.
  it.effect.each([
    `secret: ${key}`,
    `secret=${key}`,
    `client_secret=${key}`,
    `{"secret":"${key}"}`,
    `secret key: ${key}`,
    `{'secret_key': '${key}', 'to': 'someone'}`,
    `seed: abandon,${key},about`,
    `"passphrase":"a \\"quoted\\" ${key}"`,
    `"passphrase":"cut off, ${key}`,
    `password = one; two ${key}`,
  ])("never writes the secret in the phrase %s", (phrase) =>
    Effect.gen(function* () {
      const lines = yield* linesOf({}, rpc.info(`failed: ${phrase}`, { phrase, nested: JSON.stringify({ phrase }) }))
      expect(lines.join("")).not.toContain(key)
      expect(lines.join("").split("[redacted]")).toHaveLength(4)
    }),
  )

  it.effect("keeps the JSON after a secret", () =>
    Effect.gen(function* () {
      const [record] = yield* recordsOf({}, rpc.info(`asked {"seed":5,"round":3} and {"secret_key":"x","to":"y"}`))
      expect(record?.["message"]).toBe(`asked {"seed":[redacted],"round":3} and {"secret_key":[redacted],"to":"y"}`)
    }),
  )

  it.effect("never repeats a key given as RUST_LOG, nor an endless value", () =>
    Effect.gen(function* () {
      const [line = ""] = yield* linesOf({ directives: `${key},${"x".repeat(10_000)}` }, Effect.void)
      expect(line).not.toContain(key)
      expect(line).toContain("it looks like a key")
      expect(line.length).toBeLessThan(600)
    }),
  )

  it.effect("survives values that throw, each in its own place", () =>
    Effect.gen(function* () {
      const broken = () => {
        throw new Error("no")
      }
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      const fields = {
        json: { toJSON: broken },
        getter: { good: 1, bad: Object.defineProperty({}, "x", { enumerable: true, get: broken }) },
        own: Object.defineProperty({ good: 1 }, "bad", { enumerable: true, get: broken }),
        proxy,
        key: new Map([[{ toString: broken }, 1]]),
      }
      const [record] = yield* recordsOf({}, rpc.info("odd", fields))
      expect(record?.["annotations"]).toEqual({
        json: "[unprintable]",
        getter: { good: 1, bad: { x: "[unprintable]" } },
        own: { good: 1, bad: "[unprintable]" },
        proxy: "[unprintable]",
        key: "[unprintable]",
      })
    }),
  )

  // An object that held itself in twelve fields kept the caller for five seconds.
  it.effect("bounds the length of every value it writes", () =>
    Effect.gen(function* () {
      const circle: Record<string, unknown> = {}
      for (let i = 0; i < 12; i++) circle[`field${i}`] = circle
      const endless = {
        *[Symbol.iterator]() {
          for (;;) yield 1
        },
      }
      const set = Object.assign(new Set(), endless)
      const fields = { circle, set, sparse: new Array(4_000_000_000), long: "x".repeat(1e6), bytes: Buffer.alloc(1e6) }
      const started = performance.now()
      const [line = ""] = yield* linesOf({}, rpc.info("large", fields))
      expect(performance.now() - started).toBeLessThan(10_000)
      expect(line.length).toBeLessThan(60_000)
    }),
  )

  it.effect("escapes line separators and characters that reverse or hide text", () =>
    Effect.gen(function* () {
      const said = "a\u202eb\u2028c\u200bd\u009be\u{e0041}f"
      const [line = ""] = yield* linesOf({ format: "pretty" }, rpc.info(said, { said }))
      expect(line).toContain("a\\u202eb\\u2028c\\u200bd\\u009be\\udb40\\udc41f")
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u)
    }),
  )

  it.effect("survives values that JSON cannot hold", () =>
    Effect.gen(function* () {
      const circle: { self?: unknown } = {}
      circle.self = circle
      const fields = { circle, bytes: Uint8Array.of(1, 255), nothing: undefined, infinite: Number.POSITIVE_INFINITY }
      const [record] = yield* recordsOf({}, rpc.info("odd", fields))
      expect(record?.["annotations"]).toMatchObject({ bytes: "01ff", infinite: "Infinity" })
    }),
  )
})

describe("a repeated warning", () => {
  const warn = (peer: string) => mempool.warn("full", { peer, at: Math.random() })

  it.effect("is written once a minute, with the number of those left out", () =>
    Effect.gen(function* () {
      const records = yield* recordsOf(
        {},
        Effect.gen(function* () {
          for (let i = 0; i < 200; i++) {
            yield* warn("a")
            yield* TestClock.adjust("1 second")
          }
        }),
      )
      expect(records.map(({ annotations }) => (annotations as { repeated?: number }).repeated)).toEqual([
        undefined,
        59,
        59,
        59,
      ])
    }),
  )

  it.effect("recognizes a bug even if strangers change its message", () =>
    Effect.gen(function* () {
      const bugs = Array.from({ length: 5 }, (_, n) => new Error(`cannot read ${n}`))
      const records = yield* recordsOf(
        {},
        Effect.forEach(bugs, (error) => rpc.error("a request met a bug", {}, Cause.die(error))),
      )
      expect(records).toHaveLength(1)
    }),
  )

  it.effect("hides no other warning: another state, another reason, another bug", () =>
    Effect.gen(function* () {
      const bug = (text: string) => rpc.error("a request met a bug", { route: "/balance/:address" }, Cause.die(text))
      const records = yield* recordsOf(
        {},
        Effect.all(
          [
            mempool.warn("waits", { following: "InStep", signing: "Asking" }),
            mempool.warn("waits", { following: "InStep", signing: "Silent" }),
            mempool.warn("a node does not answer", { url: "http://127.0.0.1:1", fee: 7n }),
            mempool.warn("a node does not answer", { url: "http://127.0.0.1:1", fee: 8n }),
            mempool.warn("a node does not answer", { url: "http://127.0.0.1:2" }),
            bug("one"),
            bug("another"),
            bug("one"),
          ],
          { discard: true },
        ),
      )
      expect(records.map(({ message, annotations, cause }) => [message, annotations, cause])).toEqual([
        ["waits", { following: "InStep", signing: "Asking" }, undefined],
        ["waits", { following: "InStep", signing: "Silent" }, undefined],
        ["a node does not answer", { url: "http://127.0.0.1:1", fee: "7" }, undefined],
        ["a node does not answer", { url: "http://127.0.0.1:2" }, undefined],
        ["a request met a bug", { route: "/balance/:address" }, expect.stringContaining("one")],
        ["a request met a bug", { route: "/balance/:address" }, expect.stringContaining("another")],
      ])
    }),
  )

  it.effect("hides no warning of another peer or level, and nothing at info", () =>
    Effect.gen(function* () {
      const records = yield* recordsOf(
        {},
        Effect.all([warn("a"), warn("b"), mempool.error("full", { peer: "a" }), mempool.info("x"), mempool.info("x")], {
          discard: true,
        }),
      )
      expect(records).toHaveLength(5)
    }),
  )
})
