import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { afterEach, describe, expect } from "vitest"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import { Connection } from "../../src/signer/Connection.js"
import * as KeyProgram from "../../src/signer/KeyProgram.js"
import { isTried } from "../ops/Kit.js"
import * as world from "../storage/world.js"
import * as SignerProcess from "./SignerProcess.js"
import * as SoftHsm from "./SoftHsm.js"
import * as Statements from "./Statements.js"

const { publicKey } = Statements.validator
const patient = { startMs: 60_000, signatureMs: 60_000 }

afterEach(() => SignerProcess.killAll())

/** A program in JavaScript that runs the statements for each line of its input. */
const scripted = (directory: string, name: string, start: string, onLine: string): string => {
  const file = join(directory, `${name}.mjs`)
  const reading = `import { createInterface } from "node:readline"\nfor await (const line of createInterface(process.stdin)) {`
  writeFileSync(file, `${start}\n${reading}\n${onLine}\n}\n`)
  return `${process.execPath} ${file}`
}

const path = { PATH: process.env["PATH"] ?? "" }
const named = `console.log("${publicKey}")`

interface Trial {
  readonly asked?: Uint8Array
  readonly environment?: KeyProgram.Environment
  readonly patience?: KeyProgram.Patience
}

const failureOf = (command: string, { asked, environment = {}, patience = patient }: Trial = {}) =>
  Effect.gen(function* () {
    const key = yield* KeyProgram.start(command, environment, patience)
    if (asked !== undefined) yield* key.sign(asked)
  }).pipe(
    Effect.scoped,
    Effect.flip,
    Effect.map(({ message }) => message),
  )

describe("a key program", () => {
  it.scopedLive("is refused in one line if it is missing, ends, is silent or names no key", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      expect(yield* failureOf("/nowhere/program --pin 1234")).toMatch(
        /^key program \/nowhere\/program: cannot be started: spawn \/nowhere\/program ENOENT$/,
      )
      const ends = scripted(directory, "ends", `console.error("no token\\nis here"); process.exit(3)`, "")
      expect(yield* failureOf(ends)).toMatch(/^key program \S+: ended with exit code 3: is here$/)
      expect(yield* failureOf(scripted(directory, "wrong", `console.log("hello")`, ""))).toMatch(
        /^key program \S+: did not begin with a public key of 64 hex characters$/,
      )
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("fails once it is late, ends, answers twice or gives a wrong signature", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const message = Statements.vertex()
      const failing = (name: string, onLine: string, patience = patient) =>
        failureOf(scripted(directory, name, named, onLine), { asked: message, patience })
      const late = yield* failing("late", "", { ...patient, signatureMs: 500 })
      expect(late).toMatch(/gave no signature for 0.5 s$/)
      const mute = yield* failureOf(scripted(directory, "mute", "", ""), { patience: { ...patient, startMs: 500 } })
      expect(mute).toMatch(/gave no public key for 0.5 s$/)
      expect(yield* failing("ends", "process.exit(1)")).toMatch(/ended with exit code 1$/)
      expect(yield* failing("killed", "process.kill(process.pid, 'SIGKILL')")).toMatch(/ended with SIGKILL$/)
      expect(yield* failing("short", `console.log("00")`)).toMatch(/gave no signature$/)
      expect(yield* failing("wrong", `console.log("${"00".repeat(64)}")`)).toMatch(
        /gave a signature that is not valid$/,
      )
      expect(yield* failing("long", `process.stdout.write("0".repeat(2_000))`)).toMatch(
        /wrote a line that is too long$/,
      )
      expect(yield* failing("twice", `process.stdout.write("00\\n00\\n")`)).toMatch(/an unrequested line$/)
    }).pipe(Effect.provide(world.platform)),
  )
})

it.scopedLive("a key program gets no passphrase, and is killed if it ignores a request to end", () =>
  Effect.gen(function* () {
    const directory = yield* world.temporaryDirectory
    const [genesisFile, left] = [join(directory, "genesis.json"), join(directory, "left")]
    writeFileSync(genesisFile, JSON.stringify(Genesis.toJson(world.genesis())))
    const stubborn = `import { readFileSync, writeFileSync } from "node:fs"
writeFileSync("${left}", JSON.stringify({ pid: process.pid, names: Object.keys(process.env) }))
process.on("SIGTERM", () => {})
setInterval(() => {}, 1_000)
${named}`
    const place = {
      directory: join(directory, "signer"),
      genesisFile,
      keyProgram: scripted(directory, "stubborn", stubborn, ""),
    }
    process.env["UDG_PASSPHRASE"] = "a secret of the signer"
    try {
      expect(yield* Effect.promise(() => SignerProcess.signFrom(place, "1:1"))).toBe(0)
    } finally {
      delete process.env["UDG_PASSPHRASE"]
    }
    const { pid, names }: { pid: number; names: ReadonlyArray<string> } = JSON.parse(readFileSync(left, "utf8"))
    expect(() => process.kill(pid, 0)).toThrow("ESRCH")
    expect(KeyProgram.VARIABLES).toEqual(expect.arrayContaining([...names]))
    expect(names).toContain("PATH")
  }).pipe(Effect.timeout("2 minutes"), Effect.provide(world.platform)),
)

describe.runIf(isTried("softhsm2-util", "--version"))("a key in a PKCS#11 token", () => {
  it.scopedLive("is refused in one line without its token, its key or its PIN", () =>
    Effect.gen(function* () {
      const hsm = SoftHsm.make(yield* world.temporaryDirectory)
      const refused = (command: string) => failureOf(command, { environment: { ...path, ...hsm.environment } })
      expect(yield* refused(hsm.command("validator", "other"))).toMatch(/exit code 1: no token has the label other$/)
      expect(yield* refused(hsm.command("other"))).toMatch(/no keys of the token have the label other; exactly one/)
      const wrongPin = yield* refused(hsm.command("validator", "udg", "999999"))
      expect(wrongPin).toMatch(/C_Login of the PKCS#11 module failed with 0xa0$/)
      expect(wrongPin).not.toContain("999999")
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("signs for a node without leaving the token, and its signer ends when the program does", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const hsm = SoftHsm.make(directory)
      process.env["SOFTHSM2_CONF"] = hsm.environment.SOFTHSM2_CONF
      const key = yield* Effect.map(
        Effect.scoped(KeyProgram.start(hsm.command("validator"), { ...path, ...hsm.environment })),
        (held) => held.publicKey,
      )
      const genesis = world.genesis()
      const [genesisFile, nodeKey] = [join(directory, "genesis.json"), Statements.keyOf(21)]
      writeFileSync(genesisFile, JSON.stringify(Genesis.toJson(genesis)))
      const place = { directory: join(directory, "signer"), genesisFile, keyProgram: hsm.command("validator") }
      expect(yield* Effect.promise(() => SignerProcess.signFrom(place, "1:1"))).toBe(0)
      const signer = yield* Effect.promise(() => SignerProcess.start(place, [NodeProof.idOf(nodeKey)]))
      const connection = new Connection({
        ...{ nodeKey, genesisHash: Genesis.hash(genesis), clock: nodeClock, changed: () => {} },
        signer: { host: "127.0.0.1", port: signer.port, key: signer.id },
      })
      const sign = (round: number, variant = 1) => {
        const message = Statements.vertex({ round, variant, publicKey: key })
        return Effect.map(
          Effect.promise(() => connection.sign(key, message)),
          (answer) =>
            Either.isRight(answer) &&
            Verification.isStrictlyValid({ message, publicKey: key, signature: answer.right }),
        )
      }
      for (const round of [1, 2, 3]) expect(yield* sign(round)).toBe(true)
      expect(yield* sign(3, 2)).toBe(false)
      const [program] = yield* Effect.promise(() => signer.children())
      if (program === undefined) return expect.unreachable()
      process.kill(program, "SIGKILL")
      void connection.sign(key, Statements.vertex({ round: 4, publicKey: key }))
      expect(yield* Effect.promise(() => signer.ended)).toBe(1)
      expect(signer.log()).toMatch(/key program \S+udg-pkcs11\.py: ended with SIGKILL\n/)
      expect(signer.log()).not.toContain(SoftHsm.PIN)
      connection.stop()
    }).pipe(Effect.provide(world.platform)),
  )
})
