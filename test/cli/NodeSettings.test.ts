import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { beforeAll, describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option } from "effect"
import * as NodeSettings from "../../src/cli/NodeSettings.js"
import * as Command from "../../src/cli/settings/Command.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

type Environment = Readonly<{ [name: string]: string }>

const reading = (words: ReadonlyArray<string>, environment: Environment = {}) =>
  Command.read(NodeSettings.settings, words).pipe(
    Effect.flatMap(({ values, origins }) => NodeSettings.configurationOf("1.2.3", values, origins)),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)))),
    Effect.provide(NodeContext.layer),
  )

const configurationOf = (words: ReadonlyArray<string>, environment?: Environment) =>
  Effect.map(reading(words, environment), ({ configuration }) => configuration)

const complaintOf = (words: ReadonlyArray<string>, environment?: Environment) =>
  Effect.map(Effect.flip(reading(words, environment)), ({ message }) => message)

const hash = "AB".repeat(32)

describe("the settings of the node", () => {
  const folder = TemporaryFolder.forTests("settings")
  const file = join(folder, "some.key")
  beforeAll(() => writeFileSync(file, "content"))

  it.effect("have the documented defaults", () =>
    Effect.gen(function* () {
      const { configuration, logFormat, keyPassphraseFile } = yield* reading([])
      expect({ logFormat, keyPassphraseFile }).toEqual({ logFormat: "pretty", keyPassphraseFile: Option.none() })
      expect(configuration).toEqual({
        version: "1.2.3",
        p2p: { host: Option.none(), port: 9333 },
        rpc: { host: "127.0.0.1", port: 10_333 },
        metrics: Option.none(),
        mode: Option.none(),
        dataDirectory: resolve("data"),
        ephemeral: false,
        archive: false,
        history: Option.none(),
        genesisFile: Option.none(),
        validatorKeyFile: Option.none(),
        signer: Option.none(),
        faucetKeyFile: Option.none(),
        validate: true,
        peers: [],
        trustedCheckpoint: Option.none(),
        signingWord: Option.none(),
        roundMs: Option.none(),
        rpcNames: [],
        trustedProxies: [],
        clientIpHeader: Option.none(),
        rateLimits: true,
      })
    }),
  )

  const everything = () => ({
    port: "4000",
    "rpc-port": "4001",
    host: "::1",
    "rpc-host": "localhost",
    "metrics-port": "4002",
    "metrics-host": "::1",
    testnet: "false",
    "data-dir": folder,
    genesis: file,
    "validator-key": file,
    signer: `${"a".repeat(64)}@10.0.0.7:8333`,
    "no-validate": "true",
    "faucet-key": file,
    "key-passphrase-file": file,
    trust: `7:${hash}`,
    "round-ms": "100",
    archive: "true",
    ephemeral: "true",
    "client-ip-header": "CF-Connecting-IP",
    "rate-limits": "off",
    "log-format": "json",
  })

  const whole = () => ({
    logFormat: "json",
    keyPassphraseFile: Option.some(file),
    configuration: {
      version: "1.2.3",
      p2p: { host: Option.some("::1"), port: 4000 },
      rpc: { host: "localhost", port: 4001 },
      metrics: Option.some({ host: "::1", port: 4002 }),
      mode: Option.some("mainnet"),
      dataDirectory: folder,
      ephemeral: true,
      archive: true,
      history: Option.none(),
      genesisFile: Option.some(file),
      validatorKeyFile: Option.some(file),
      signer: Option.some({ host: "10.0.0.7", port: 8333, key: "a".repeat(64) }),
      faucetKeyFile: Option.some(file),
      validate: false,
      peers: [
        { host: "a.example", port: 1, key: Option.none() },
        { host: "10.0.0.1", port: 2, key: Option.none() },
      ],
      trustedCheckpoint: Option.some({ epoch: 7, hash: hash.toLowerCase() }),
      signingWord: Option.none(),
      roundMs: Option.some(100),
      rpcNames: ["mybox", "mybox.lan"],
      trustedProxies: [
        { family: "ipv4", address: "10.0.0.0", prefix: 8 },
        { family: "ipv6", address: "::1", prefix: 128 },
      ],
      clientIpHeader: Option.some("cf-connecting-ip"),
      rateLimits: false,
    },
  })

  it.effect("can all be given on the command line", () =>
    Effect.gen(function* () {
      const words = Object.entries(everything()).flatMap(([name, value]) => [`--${name}`, value])
      const repeated = ["--peer", "a.example:1", "--peer=10.0.0.1:2", "--trusted-proxy", "10.0.0.0/8"]
      const names = ["--rpc-name", "mybox", "--rpc-name=mybox.lan"]
      expect(yield* reading([...repeated, ...names, ...words, "--trusted-proxy=::1"])).toEqual(whole())
    }),
  )

  it.effect("can all be given in the environment, repeated ones with commas", () =>
    Effect.gen(function* () {
      const named = Object.entries(everything()).map(([name, value]) => [variableOf(name), value])
      const environment = {
        ...Object.fromEntries(named),
        UDG_PEER: "a.example:1, 10.0.0.1:2,",
        UDG_RPC_NAME: "mybox,mybox.lan",
        UDG_TRUSTED_PROXY: "10.0.0.0/8,::1",
      }
      expect(yield* reading([], environment)).toEqual(whole())
    }),
  )

  const variableOf = (name: string) => `UDG_${name.toUpperCase().replaceAll("-", "_")}`

  it.effect("prefer the command line over the environment, which is then not even parsed", () =>
    Effect.gen(function* () {
      const environment = { UDG_PORT: "nonsense", UDG_ARCHIVE: "true", UDG_PEER: "a.example:1" }
      const words = ["--port", "4000", "--archive=false", "--peer", "b.example:2"]
      const { p2p, archive, peers } = yield* configurationOf(words, environment)
      expect([p2p.port, archive, peers.map(({ host }) => host)]).toEqual([4000, false, ["b.example"]])
    }),
  )

  it.effect("treat an empty variable as unset", () =>
    Effect.gen(function* () {
      const empty = { UDG_PORT: "", UDG_PEER: " ", UDG_GENESIS: "", UDG_NO_VALIDATE: "", UDG_TESTNET: "" }
      expect(yield* configurationOf([], empty)).toEqual(yield* configurationOf([]))
    }),
  )

  it.effect("accept a flag alone, before the next option, or with a value", () =>
    Effect.gen(function* () {
      const { archive, ephemeral, validate } = yield* configurationOf([
        "--archive",
        "--ephemeral",
        "no",
        "--no-validate",
      ])
      expect({ archive, ephemeral, validate }).toEqual({ archive: true, ephemeral: false, validate: false })
    }),
  )

  it.effect("read history as a number of rounds or none, and keep all of it for an archive", () =>
    Effect.gen(function* () {
      expect((yield* configurationOf(["--history", "5000"])).history).toEqual(Option.some(5_000))
      expect((yield* configurationOf(["--history", "none"])).history).toEqual(Option.some(0))
      expect(yield* complaintOf(["--history", "none"], { UDG_ARCHIVE: "true" })).toBe(
        "UDG_ARCHIVE keeps everything and --history prunes old data; use only one of them",
      )
    }),
  )

  it.effect("derive the RPC port from the port, and use any free one when the port is any", () =>
    Effect.gen(function* () {
      expect((yield* configurationOf(["--port", "4000"])).rpc.port).toBe(5000)
      expect((yield* configurationOf(["--port", "64535"])).rpc.port).toBe(65_535)
      expect((yield* configurationOf(["--port", "0"])).rpc.port).toBe(0)
      expect((yield* configurationOf(["--port", "65000", "--rpc-port", "80"])).rpc.port).toBe(80)
      expect(yield* complaintOf(["--port", "64536"])).toMatch(
        /^--rpc-port would be 65536, which is --port 64536 \+ 1000/,
      )
      expect(yield* complaintOf([], { UDG_PORT: "64600" })).toBe(
        "--rpc-port would be 65600, which is UDG_PORT 64600 + 1000 and not a port; set --rpc-port",
      )
      expect(yield* complaintOf([], { UDG_PORT: "80", UDG_RPC_PORT: "80" })).toMatch(
        /^UDG_RPC_PORT and UDG_PORT are both 80/,
      )
      expect(yield* complaintOf(["--port", "80", "--rpc-port", "80"])).toMatch(/^--rpc-port and --port are both 80/)
    }),
  )

  const wrong: ReadonlyArray<readonly [word: string, value: string]> = [
    ["port", "-1"],
    ["port", "65536"],
    ["port", "9333x"],
    ["port", "1e3"],
    ["rpc-port", "0x10"],
    ["rpc-port", "80.5"],
    ["metrics-port", "65536"],
    ["metrics-host", "127.0.0.1:11333"],
    ["config", "/does/not/exist.json"],
    ["host", "127.0.0.1:9333"],
    ["rpc-host", "10.0.0.256"],
    ["testnet", "mainnet"],
    ["data-dir", "package.json"],
    ["data-dir", "package.json/below"],
    ["genesis", "/does/not/exist.json"],
    ["validator-key", "src"],
    ["signer", "10.0.0.7:8333"],
    ["signer", "somebody@10.0.0.7:8333"],
    ["no-validate", "perhaps"],
    ["sign-from-round", "7:1702"],
    ["sign-from-round", "0:1:0123456789abcdef"],
    ["sign-from-round", "7:0:0123456789abcdef"],
    ["sign-from-round", "7:1702:0123456789abcdeg"],
    ["faucet-key", "/does/not/exist.key"],
    ["key-passphrase-file", "/dev/null"],
    ["peer", "node.example"],
    ["trust", `7:${"z".repeat(64)}`],
    ["round-ms", "0"],
    ["round-ms", "60001"],
    ["archive", "2"],
    ["history", "all"],
    ["history", "-1"],
    ["ephemeral", "never"],
    ["rpc-name", "mybox:10333"],
    ["trusted-proxy", "10.0.0.0/33"],
    ["client-ip-header", "X Forwarded"],
    ["rate-limits", "sometimes"],
    ["log-format", "xml"],
  ]

  it.effect.each(wrong)("refuse --%s %s in one line with the name, the value and the alternative", ([name, value]) =>
    Effect.gen(function* () {
      const line = yield* complaintOf([`--${name}`, value])
      expect(line.startsWith(`--${name} "${value}" `)).toBe(true)
      expect(line).toMatch(/^[^\n]+; (?:or )?use [^\n]+$/)
    }),
  )

  it.effect.each(wrong)("refuse UDG_… for %s %s under the variable's name", ([name, value]) =>
    Effect.gen(function* () {
      const variable = variableOf(name)
      expect((yield* complaintOf([], { [variable]: value })).startsWith(`${variable} "${value}" `)).toBe(true)
    }),
  )

  // Each of these used to print the key into terminals, service logs and bug reports.
  it.effect.each([
    [["--validator-key", hash], {}],
    [["--faucet-key", `0x${hash}`], {}],
    [[], { UDG_FAUCET_KEY: hash }],
    [[hash], {}],
    [[`--${hash}`], {}],
    [["--trust", hash], {}],
    [["--port", hash], {}],
    [["--port", "1", "--port", `${"x".repeat(40)}${hash}`], {}],
  ] as const)("never repeat what may be a secret key: %j %j", ([words, environment]) =>
    Effect.gen(function* () {
      const line = yield* complaintOf(words, environment)
      expect(line).not.toContain(hash.slice(0, 16))
      expect(line).toContain("it looks like a key; use the path of the key's file instead")
    }),
  )

  it.effect("accept the operator's word after a lost disk, and none for a node that does not validate", () =>
    Effect.gen(function* () {
      const words = ["--sign-from-round", "7:1702:0123456789ABCDEF"]
      const { configuration } = yield* reading(words)
      expect(configuration.signingWord).toEqual(Option.some({ epoch: 7, round: 1702, base: "0123456789abcdef" }))
      expect(yield* complaintOf([...words, "--no-validate"])).toContain("use only one of them")
    }),
  )

  it.effect("name one of several mistakes", () =>
    Effect.gen(function* () {
      expect(yield* complaintOf(["--round-ms", "0", "--port", "x", "--peer", "?"])).toMatch(/^--port "x"[^\n]*$/)
    }),
  )

  it.effect.each([
    [["--port"], /^--port needs a value, but nothing follows; write --port PORT$/],
    [["--port", "--archive"], /^--port needs a value, but "--archive" follows; write --port PORT$/],
    [["--port="], /^--port needs a value/],
    [["--data-dir", ""], /^--data-dir needs a value/],
    [["--peer", "--peer", "a.example:1"], /^--peer needs a value, but "--peer" follows/],
    [["--prot", "9333"], /^"--prot" is not an option; did you mean --port\?/],
    [["--Port", "9333"], /did you mean --port\?/],
    [["--rpc_port=1"], /^"--rpc_port" is not an option; did you mean --rpc-port\?/],
    [["-port", "9333"], /^"-port" is not an option; did you mean --port\?/],
    [["--novalidate"], /did you mean --no-validate\?/],
    [["--versoin"], /did you mean --version\?/],
    [["--nothing-like-it"], /^"--nothing-like-it" is not an option; see --help/],
    [["-x"], /^"-x" is not an option; see --help/],
    [["--"], /^"--" is not an option; see --help/],
    [["start"], /^"start" is an argument, and none is expected here; see --help/],
    [["--port", "1", "2"], /^"2" is an argument/],
    [["--port", "1", "--port=2"], /^--port is set twice, to "1" and "2"; set it once$/],
    [["--archive", "--archive"], /^--archive is set twice/],
    [["--genesis", "two\nlines"], /^--genesis "two\\nlines" does not exist; [^\n]*$/],
    [["--genesis", "x".repeat(10_000)], /^--genesis "x{80}…" [^\n]{1,200}$/],
  ] as const)("%j is refused in one line", ([words, line]) =>
    Effect.gen(function* () {
      expect(yield* complaintOf(words)).toMatch(line)
    }),
  )
})
