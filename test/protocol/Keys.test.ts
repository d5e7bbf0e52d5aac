import { inspect } from "node:util"
import { Cause, Effect, FastCheck as fc, Inspectable, Logger, Option } from "effect"
import { describe, expect, it } from "vitest"
import { verifyZip215 } from "#crypto"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as arbitrary from "./arbitraries.js"

const seed = "5eed".repeat(16)
const secret = Option.getOrThrow(SecretKey.fromHex(seed))

describe("a secret key", () => {
  it("is a 32-byte seed in hexadecimal of any case", () => {
    expect(Option.map(SecretKey.fromHex(seed.toUpperCase()), (key) => key.publicKey)).toStrictEqual(
      Option.some(secret.publicKey),
    )
    for (const bad of ["", seed.slice(2), `${seed}00`, `0x${seed.slice(2)}`, "g".repeat(64)]) {
      expect(SecretKey.fromHex(bad)).toStrictEqual(Option.none())
    }
    expect(SecretKey.fromSeed(new Uint8Array(31))).toStrictEqual(Option.none())
  })

  it("does not change when the bytes it was made of do", () => {
    const bytes = new Uint8Array(32).fill(1)
    const key = Option.getOrThrow(SecretKey.fromSeed(bytes))
    bytes.fill(2)
    expect(key.toSecretHex()).toBe("01".repeat(32))
  })

  it("reveals itself only when asked by name", () => {
    expect(secret.toSecretHex()).toBe(seed)
  })

  it("signs the same message with the same signature", () => {
    fc.assert(
      fc.property(arbitrary.secretKey, fc.uint8Array(), (key, message) => {
        const again = Option.getOrThrow(SecretKey.fromHex(key.toSecretHex()))
        expect(again.publicKey).toBe(key.publicKey)
        expect(again.sign(message)).toBe(key.sign(message))
        const signature = Buffer.from(key.sign(message), "hex")
        expect(verifyZip215(signature, message, Buffer.from(key.publicKey, "hex"))).toBe(true)
      }),
    )
  })

  it("differs every time it is generated", () => {
    expect(SecretKey.generate().publicKey).not.toBe(SecretKey.generate().publicKey)
  })

  /** All ways to print a value, and everything a logger may receive. */
  const printed: ReadonlyArray<readonly [string, () => string]> = [
    ["a template", () => `${secret}`],
    ["String and concatenation", () => String(secret) + secret],
    ["JSON", () => JSON.stringify({ secret, list: [secret] })],
    ["inspect, however deep", () => inspect(secret, { depth: null, showHidden: true, getters: true })],
    [
      "inspect inside other values",
      () => inspect({ a: [new Map([[secret, secret]])] }, { depth: null, showHidden: true }),
    ],
    ["its own properties", () => JSON.stringify(Object.getOwnPropertyDescriptors(secret))],
    ["an error's cause", () => inspect(new Error("failed", { cause: secret }))],
    ["Effect's toStringUnknown", () => Inspectable.toStringUnknown(secret) + Inspectable.format({ secret })],
    ["a pretty cause of a failure", () => Cause.pretty(Cause.fail(secret))],
    ["a pretty cause of a defect", () => Cause.pretty(Cause.die(new Error("failed", { cause: secret })))],
    ["a cause as JSON", () => JSON.stringify(Cause.fail({ secret }))],
  ]

  it.each(printed)("is not shown by %s", (_, print) => {
    const text = print()
    expect(text).not.toBe("")
    expect(text.toLowerCase()).not.toContain(seed)
    // Nor its bytes, as a printed typed array would have them.
    expect(text).not.toContain("94, 237")
    expect(text).not.toContain("94,237")
  })

  it.each([
    [
      "structured",
      Logger.structuredLogger.pipe(Logger.map((entry) => inspect(entry, { depth: null }) + JSON.stringify(entry))),
    ],
    ["JSON", Logger.jsonLogger],
    ["logfmt", Logger.logfmtLogger],
    ["plain", Logger.stringLogger],
  ])("is not shown by the %s logger, as message, annotation or cause", (_, logger) => {
    const lines: Array<string> = []
    const collecting = Logger.map(logger, (line) => {
      lines.push(line)
    })
    const program = Effect.logInfo("a key", secret, { secret }, Cause.fail(secret)).pipe(
      Effect.annotateLogs({ secret, nested: { secret } }),
      Effect.provide(Logger.replace(Logger.defaultLogger, collecting)),
    )
    Effect.runSync(program)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(secret.publicKey)
    expect(lines[0]).not.toContain(seed)
  })
})
