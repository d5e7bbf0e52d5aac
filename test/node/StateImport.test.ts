/** The state of a close in a file, moved from one directory to another, with every possible fault. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { SystemError } from "@effect/platform/Error"
import { Cause, Effect, Exit, Fiber, Option, type Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Audit from "../../src/node/offline/Audit.js"
import * as StateExport from "../../src/node/offline/StateExport.js"
import * as StateImport from "../../src/node/offline/StateImport.js"
import { Dag } from "../../src/node/reads/Dag.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { DataDirectory } from "../../src/storage/files/DataDirectory.js"
import * as GenesisFile from "../../src/storage/files/GenesisFile.js"
import * as StateFile from "../../src/storage/files/StateFile.js"
import * as Storage from "../../src/storage/Storage.js"
import * as Rest from "../support/Rest.js"
import * as world from "./world.js"

const EPOCH_ROUNDS = 40
/** Enough that the state comes in several pieces. */
const ACCOUNTS = 20_000

const allocations = Array.from({ length: ACCOUNTS }, (_, n) => ({
  address: n.toString(16).padStart(40, "0") as Address,
  amount: Sats.make(1_000 + n),
}))

const run = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem | Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.provide(Effect.scoped(effect), world.platform))

/** The parts of a state file: genesis, checkpoints, an empty one, pieces. */
const partsOf = (bytes: Uint8Array) => {
  const reader = new Binary.Reader(bytes)
  const magic = reader.raw("udg state 1\n".length)
  const parts: Array<Uint8Array> = []
  while (reader.remaining > 0) parts.push(reader.raw(reader.u32()))
  const end = parts.findIndex(({ length }) => length === 0)
  return { magic, genesis: parts[0] ?? magic, chain: parts.slice(1, end), pieces: parts.slice(end + 1) }
}

const fileOf = ({ magic, genesis, chain, pieces }: ReturnType<typeof partsOf>): Uint8Array =>
  Binary.encode((writer) => {
    writer.raw(magic)
    for (const part of [genesis, ...chain, new Uint8Array(0), ...pieces]) writer.u32(part.length).raw(part)
  })

describe("a state file", () => {
  let folder = ""
  let source = ""
  let bytes = new Uint8Array(0)
  let directories = 0
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "udg-state-"))
    source = join(folder, "source")
    const original = join(folder, "original")
    await run(
      Effect.gen(function* () {
        yield* world.found(original, { epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 20, roundIntervalMs: 1 })
        const file = join(original, "genesis.json")
        const genesis = yield* GenesisFile.load(file)
        const crowded = { ...genesis, allocations: [...allocations, ...genesis.allocations] }
        yield* GenesisFile.write(file, yield* Genesis.make(crowded))
        yield* world
          .untilRound(3 * EPOCH_ROUNDS + 5)
          .pipe(Effect.provide(world.node(original, { roundMs: Option.none() })))
        const directory = yield* DataDirectory.open(original)
        const exporting = StateExport.exportTo(source, yield* GenesisFile.load(file))
        yield* Effect.provide(exporting, Storage.layerToRead(directory, yield* GenesisFile.load(file)))
      }),
    )
    bytes = readFileSync(source)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const fresh = (): string => join(folder, `directory-${directories++}`)

  const importing = (file: string, directory: string) => StateImport.importFrom(file, directory, Option.none())

  /** The import's error for these bytes; the directory is empty afterwards. */
  const complaintOf = async (content: Uint8Array): Promise<string> => {
    const file = join(folder, "changed")
    writeFileSync(file, content)
    const directory = fresh()
    const outcome = await run(Effect.either(importing(file, directory)))
    expect(readdirSync(directory)).toStrictEqual(["udg.lock"])
    return outcome._tag === "Left" ? outcome.left.message : "nothing"
  }

  it("holds the genesis, the proof of the checkpoint, and the whole state", async () => {
    const { chain, pieces } = partsOf(bytes)
    expect(pieces.length).toBeGreaterThan(2)
    // The committee never changed, so it signed the newest checkpoint itself.
    expect(chain).toHaveLength(1)
    const { checkpoint } = await Effect.runPromise(Checkpoint.decodeSigned(chain[0] ?? bytes))
    expect(checkpoint.epoch).toBeGreaterThanOrEqual(2)
    expect(Buffer.compare(fileOf(partsOf(bytes)), bytes)).toBe(0)
  })

  it("becomes a sound ledger with every account", async () => {
    const directory = fresh()
    const { records, target } = await run(importing(source, directory))
    expect(records).toBeGreaterThan(ACCOUNTS)
    const found = await run(
      Effect.gen(function* () {
        const genesis = yield* GenesisFile.load(join(directory, "genesis.json"))
        const layer = Storage.layerToRead(yield* DataDirectory.open(directory), genesis)
        return yield* Effect.provide(Audit.audit(genesis), layer)
      }),
    )
    expect(found).toMatchObject({
      accounts: ACCOUNTS + 2,
      stateRoot: target.checkpoint.stateRoot,
      head: { hash: target.checkpoint.commitHash },
      commits: 0,
    })
    expect(found.totals.total).toBe(target.checkpoint.totalSupply)
  })

  /** The byte positions of some of its pieces, of what precedes them, and all borders between its parts. */
  it(Rest.of("many imports", "is refused with any byte changed"), async () => {
    const bytesBefore = 40
    const bytesOfPieces = 20
    const { magic, genesis, chain, pieces } = partsOf(bytes)
    const head = magic.length + 8 + genesis.length + chain.reduce((sum, { length }) => sum + length + 4, 0)
    const before = Array.from({ length: bytesBefore }, (_, n) => Math.floor((n * head) / bytesBefore))
    const inPieces = Array.from(
      { length: bytesOfPieces },
      (_, n) => head + Math.floor((n * (bytes.length - head)) / bytesOfPieces),
    )
    const borders = [magic.length, magic.length + 4, head - 1, head, head + 4, bytes.length - 1]
    expect(pieces.length).toBeGreaterThan(0)
    for (const at of [...before, ...inPieces, ...borders]) {
      const changed = new Uint8Array(bytes)
      changed[at] = (changed[at] ?? 0) ^ 0x01
      expect(await complaintOf(changed), `byte ${at} of ${bytes.length}`).not.toBe("nothing")
    }
  })

  it(Rest.of("more imports", "is refused when it is truncated or followed by more"), async () => {
    const { magic, genesis, chain, pieces } = partsOf(bytes)
    const whole = fileOf({ magic, genesis, chain, pieces: pieces.slice(0, -1) })
    expect(await complaintOf(whole)).toMatch(/it ends after \d+ of \d+ records$/)
    expect(await complaintOf(fileOf({ magic, genesis, chain, pieces: [] }))).toMatch(/it ends after 0 of more records$/)
    expect(await complaintOf(bytes.subarray(0, whole.length + 2))).toMatch(/it ends in the middle of a part$/)
    expect(await complaintOf(bytes.subarray(0, bytes.length - 1))).toMatch(/it ends in the middle of a part$/)
    expect(await complaintOf(bytes.subarray(0, magic.length + 4 + genesis.length))).toMatch(
      /it ends before the state begins$/,
    )
    expect(await complaintOf(bytes.subarray(0, 3))).toMatch(/this is not a state file; write one with udg db export$/)
    expect(await complaintOf(fileOf({ magic, genesis, chain, pieces: [...pieces, ...pieces.slice(0, 1)] }))).toMatch(
      /are held already$/,
    )
  })

  it("is refused when its checkpoint is unsigned or missing", async () => {
    const parts = partsOf(bytes)
    const signed = await Effect.runPromise(Checkpoint.decodeSigned(parts.chain[0] ?? bytes))
    const unsigned = Checkpoint.encodeSigned({ ...signed, signatures: [] })
    expect(await complaintOf(fileOf({ ...parts, chain: [unsigned] }))).toMatch(/is not signed by the committee/)
    expect(await complaintOf(fileOf({ ...parts, chain: [] }))).toMatch(/holds no checkpoint$/)
  })

  it(Rest.of("more imports", "imports the same with its pieces in another order"), async () => {
    const parts = partsOf(bytes)
    const file = join(folder, "turned")
    writeFileSync(file, fileOf({ ...parts, pieces: parts.pieces.toReversed() }))
    const { target } = await run(importing(file, fresh()))
    const { checkpoint } = await Effect.runPromise(Checkpoint.decodeSigned(parts.chain.at(-1) ?? bytes))
    expect(target.checkpoint).toStrictEqual(checkpoint)
  })

  /** A file system that does this instead of moving the database into place. */
  const placing =
    (instead: Effect.Effect<void, SystemError>) =>
    <A, E, R>(effect: Effect.Effect<A, E, R | FileSystem.FileSystem>) =>
      Effect.flatMap(FileSystem.FileSystem, (files) =>
        Effect.provideService(effect, FileSystem.FileSystem, {
          ...files,
          rename: (from, to) => (to.endsWith("udg.db") ? instead : files.rename(from, to)),
        }),
      )

  it("leaves no ledger behind if it cannot be moved into place, and can be imported again", async () => {
    const directory = fresh()
    const full = new SystemError({ module: "FileSystem", method: "rename", reason: "Unknown", description: "no" })
    const refused = await run(Effect.flip(placing(Effect.fail(full))(importing(source, directory))))
    expect(refused.message).toMatch(/cannot be used as a data directory/)
    expect(readdirSync(directory).sort()).toStrictEqual(["genesis.json", "udg.lock"])
    await run(importing(source, directory))
    expect(readdirSync(directory).sort()).toStrictEqual(["genesis.json", "udg.db", "udg.lock"])
  })

  it("leaves no ledger behind when it is interrupted at the last moment", async () => {
    const directory = fresh()
    const exit = await run(
      Effect.gen(function* () {
        const reached = yield* Effect.makeLatch()
        const stuck = Effect.zipRight(reached.open, Effect.never)
        const fiber = yield* Effect.fork(Effect.scoped(placing(stuck)(importing(source, directory))))
        yield* reached.await
        return yield* Fiber.interrupt(fiber)
      }),
    )
    expect(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)).toBe(true)
    expect(readdirSync(directory).sort()).toStrictEqual(["genesis.json", "udg.lock"])
  })

  it("is written whole or not at all", async () => {
    const file = join(folder, "broken off")
    const { genesis, chain } = await run(StateFile.open(source))
    const pieces = (function* () {
      yield new Uint8Array(10)
      throw new Error("the disk is gone")
    })()
    const exit = await Effect.runPromiseExit(
      Effect.provide(StateFile.write(file, { genesis, chain, pieces }), world.platform),
    )
    expect(Exit.isFailure(exit)).toBe(true)
    expect(readdirSync(folder).filter((name) => name.startsWith("broken off"))).toStrictEqual([])
  })

  it("is found by a node, which continues from there", async () => {
    const directory = fresh()
    const { target } = await run(importing(source, directory))
    writeFileSync(join(directory, "validator.key"), readFileSync(join(folder, "original", "validator.key")), {
      mode: 0o600,
    })
    const finalized = await run(
      Effect.gen(function* () {
        const dag = yield* Dag
        yield* world.untilRound(target.checkpoint.round + 10)
        return (yield* dag.position).finalizedRound
      }).pipe(Effect.provide(world.node(directory, { roundMs: Option.none() }))),
    )
    expect(finalized).toBeGreaterThan(target.checkpoint.round)
  })
})
