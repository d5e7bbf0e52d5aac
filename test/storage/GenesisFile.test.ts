import { execFileSync } from "node:child_process"
import { existsSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { Effect } from "effect"
import { describe, expect, vi } from "vitest"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as GenesisFile from "../../src/storage/files/GenesisFile.js"
import { given } from "./withStorage.js"
import * as world from "./world.js"

const withFile = given(Effect.map(world.temporaryDirectory, (path) => `${path}/genesis.json`))

describe("a genesis file", () => {
  withFile("returns the genesis that was written", function* (file) {
    yield* GenesisFile.write(file, world.genesis())
    expect(yield* GenesisFile.load(file)).toEqual(world.genesis())
    expect(existsSync(`${file}.new`)).toBe(false)
  })

  withFile("that is invalid is refused in one line that names the file and the field", function* (file) {
    const refusal = Effect.map(Effect.flip(GenesisFile.load(file)), ({ message }) => message)
    expect(yield* refusal).toBe(`genesis file ${file}: cannot be read: NotFound`)
    writeFileSync(file, "{")
    expect(yield* refusal).toBe(`genesis file ${file}: genesis: not valid JSON`)
    writeFileSync(file, "[".repeat(20_000) + "]".repeat(20_000))
    expect(yield* refusal).toMatch(/: more than 32 levels of nested objects and lists$/)
    writeFileSync(file, `{"time":1.5,"time":2}`)
    expect(yield* refusal).toMatch(/json: time: expected an integer .*, got 1\.5$/)
    writeFileSync(file, JSON.stringify({ network_id: "x".repeat(1_000_000) }))
    expect((yield* refusal).length).toBeLessThan(500)
    const json = Genesis.toJson(world.genesis())
    writeFileSync(file, JSON.stringify({ ...json, network_id: "Not One" }))
    expect(yield* refusal).toMatch(/^genesis file .*genesis\.json: network_id: .*$/)
    writeFileSync(file, JSON.stringify({ ...json, treasury: Number.MAX_SAFE_INTEGER }))
    expect(yield* refusal).toMatch(/^genesis file .*genesis\.json: treasury: .*$/)
  })

  withFile("with more entries than a genesis can have is refused before it is parsed", function* (file) {
    const parse = vi.spyOn(JSON, "parse")
    yield* Effect.addFinalizer(() => Effect.sync(() => parse.mockRestore()))
    for (const [text, reason] of [
      ["[".repeat(100_000), "more than 32 levels of nested objects and lists"],
      [`{"allocations":[${"[],".repeat(100_000)}[]]}`, "more than 22847 values"],
      [`{${Array.from({ length: 300 }, (_, n) => `"${n}":0`).join(",")}}`, "an object of more than 256 fields"],
    ]) {
      writeFileSync(file, text ?? "")
      const { message } = yield* Effect.flip(GenesisFile.load(file))
      expect(message).toBe(`genesis file ${file}: genesis: ${reason}`)
    }
    expect(parse).not.toHaveBeenCalled()
  })

  withFile("may have as many of the shortest allocations and names as fit into it", function* (file) {
    const addresses = Array.from({ length: 20_000 }, (_, n) => n.toString(16).padStart(40, "0"))
    const allocations = addresses.map((address) => ({ address, amount: 1 }))
    const names = addresses.map((address, n) => ({ name: `a${n.toString(36).padStart(2, "0")}`, address }))
    writeFileSync(file, JSON.stringify({ ...Genesis.toJson(world.genesis()), faucet: null, allocations, names }))
    expect((yield* GenesisFile.load(file)).names).toHaveLength(20_000)
  })

  withFile("that is not a regular file, or larger than any genesis, is refused without being read", function* (file) {
    const refusal = Effect.map(Effect.flip(GenesisFile.load(file)), ({ message }) => message)
    expect(yield* Effect.map(Effect.flip(GenesisFile.load("/dev/zero")), ({ reason }) => reason)).toBe(
      "not a regular file",
    )
    execFileSync("mkfifo", [file])
    expect(yield* refusal).toBe(`genesis file ${file}: not a regular file`)
    rmSync(file)
    writeFileSync(file, "{")
    truncateSync(file, 257 * 2 ** 20)
    expect(yield* refusal).toBe(`genesis file ${file}: larger than 256 MiB`)
  })
})
