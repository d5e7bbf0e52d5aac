import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { ConfigProvider, Effect } from "effect"
import * as NodeSettings from "../../src/cli/NodeSettings.js"
import * as Command from "../../src/cli/settings/Command.js"
import { udg } from "../blackbox/InProcess.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

const folder = TemporaryFolder.forTests("config")

const written = (content: unknown, name = "udg.json"): string => {
  const file = join(folder, name)
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
  return file
}

const reading = (words: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) =>
  Command.read(NodeSettings.settings, words).pipe(
    Effect.flatMap(({ values, origins }) => NodeSettings.configurationOf("1.2.3", values, origins)),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)))),
    Effect.provide(NodeContext.layer),
  )

describe("a configuration file", () => {
  it.effect("applies where the command line and the environment set nothing", () =>
    Effect.gen(function* () {
      const peer = ["a.example:9333", "b.example:9333"]
      const file = written({
        $schema: "x",
        port: 9_400,
        peer,
        "rate-limits": false,
        archive: true,
        "log-format": "json",
      })
      const { configuration, logFormat } = yield* reading(["--config", file])
      expect(logFormat).toBe("json")
      expect(configuration).toMatchObject({
        p2p: { port: 9_400 },
        rpc: { port: 10_400 },
        rateLimits: false,
        archive: true,
      })
      expect(configuration.peers).toHaveLength(2)
      expect(configuration).not.toHaveProperty("config")
      const over = yield* reading(["--port", "9500", "--archive", "false"], {
        UDG_CONFIG: file,
        UDG_PEER: "c.example:9333",
      })
      expect(over.configuration).toMatchObject({ p2p: { port: 9_500 }, archive: false, rateLimits: false })
      expect(over.configuration.peers).toHaveLength(1)
    }),
  )

  it.effect.each<readonly [content: unknown, complaint: RegExp]>([
    ["{", /udg\.json is not a JSON object/],
    ["[]", /udg\.json is not a JSON object/],
    [{ prot: 9_400 }, /^.*udg\.json: "prot" is not an option; did you mean port\?$/],
    [{ nonsense: 1 }, /udg config schema lists all/],
    [{ config: "other.json" }, /"config" is not an option/],
    [{ port: 99_999 }, /^.*udg\.json: port "99999" is not a port; /],
    [{ archive: true, history: 20_000 }, /udg\.json: archive keeps everything and .*udg\.json: history prunes/],
    [{ port: 9_400, "rpc-port": 9_400 }, /rpc-port and .*port are both 9400/],
    [{ port: [1] }, /udg\.json: port is a list; use a text, a number, true or false/],
    [{ "data-dir": "" }, /udg\.json: data-dir is empty; leave it out/],
    [{ peer: { a: 1 } }, /udg\.json: peer is .*; use a text or a list of texts/],
    [{ port: null }, /udg\.json: port is null/],
    ['{"__proto__": {"port": 9400}}', /udg\.json: "__proto__" is not an option/],
    ['{"port": 9400, "archive": true, "port": 9500}', /udg\.json: port appears twice in one object$/],
    ['{"port": 9400.5}', /udg\.json: port expected an integer .*, got 9400\.5$/],
  ])("is refused in one line when invalid: %j", ([content, complaint]) =>
    Effect.gen(function* () {
      const file = written(content)
      const { message } = yield* Effect.flip(reading(["--config", file]))
      expect(message).toMatch(complaint)
      expect(message).not.toContain("\n")
      const { code, stderr } = yield* Effect.promise(() => udg("config", "check", file))
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^udg: .*\n$/)])
      expect(stderr.trimEnd()).toMatch(new RegExp(complaint.source.replace(/^\^/, "")))
    }),
  )

  it.effect("is checked as at a start, for each role, without values that may be secret", () =>
    Effect.promise(async () => {
      const file = written({ database: "postgres://udg:hidden@localhost/udg", node: "http://127.0.0.1:10333" })
      expect(await udg("config", "check", file, "--for", "gateway")).toEqual({
        code: 0,
        stdout: `${file} is valid: database, node\n`,
        stderr: "",
      })
      expect((await udg("config", "check", file, "--for", "archive")).stderr).toContain('"node" is not an option')
      expect(await udg("config", "check", written({}))).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("sets nothing"),
      })
      expect((await udg("config", "check", join(folder, "none"))).code).toBe(1)
    }),
  )

  it.effect("sets the form of the last line, too", () =>
    Effect.promise(async () => {
      const { stderr } = await udg("--config", written({ "log-format": "json", port: "x" }))
      expect(JSON.parse(stderr)).toMatchObject({ level: "error", message: expect.stringContaining("udg.json: port") })
    }),
  )

  it.effect("is bounded in size, so that it cannot delay a start", () =>
    Effect.gen(function* () {
      const peers = Array.from({ length: 5_000 }, () => "a:1")
      for (const [content, complaint] of [
        [{ peer: peers }, /udg\.json is too large: more than 4096 values$/],
        [{ peer: [...peers, "a".repeat(300_000)] }, /udg\.json cannot be read: larger than 262144 bytes$/],
      ] as const)
        expect((yield* Effect.flip(reading(["--config", written(content)]))).message).toMatch(complaint)
    }),
  )

  it.effect("shows no secret when it is refused, however deeply nested", () =>
    Effect.promise(async () => {
      const file = written(
        `{"database": ${"[".repeat(100_000)}"postgres://udg:hun/ter@host/udg"${"]".repeat(100_000)}}`,
      )
      const { code, stderr } = await udg("config", "check", file, "--for", "archive")
      expect([code, stderr]).toEqual([
        1,
        `udg: ${file} is too large: more than 32 levels of nested objects and lists\n`,
      ])
    }),
  )

  it.effect("must be a regular file, also for the form of the last line", () =>
    Effect.promise(async () => {
      const pipe = join(folder, "pipe")
      execFileSync("mkfifo", [pipe])
      for (const file of [pipe, "/dev/zero"]) {
        const { code, stderr } = await udg("--config", file)
        expect([code, stderr]).toEqual([1, expect.stringMatching(/^udg: .*is not a regular file.*\n$/)])
      }
    }),
  )

  it.effect("follows the printed schema", () =>
    Effect.promise(async () => {
      const { stdout } = await udg("config", "schema")
      const holds = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(JSON.parse(stdout))
      expect(holds({ $schema: "x", port: 1, peer: ["a:1"], archive: true, "log-format": "json" })).toBe(true)
      for (const wrong of [{ prot: 1 }, { port: [1] }, { archive: "yes" }, { config: "x" }])
        expect(holds(wrong)).toBe(false)
      const { properties } = JSON.parse(stdout)
      const names = Object.values(NodeSettings.settings).map(({ name }) => name)
      expect(Object.keys(properties).sort()).toEqual(["$schema", ...names.filter((name) => name !== "config")].sort())
    }),
  )
})
