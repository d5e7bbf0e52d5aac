/** An encrypted validator key: where its passphrase comes from, and that key and passphrase are never shown. */
import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { geteuid } from "node:process"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as SealedKey from "../../src/protocol/identity/SealedKey.js"
import * as KeySealing from "../../src/storage/files/KeySealing.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as InProcess from "./InProcess.js"
import { program, Running } from "./Running.js"
import { Person } from "./wallet/Person.js"

const PASSPHRASE = "correct horse battery"
/** The lowest work factor that a file may have, to keep tests fast. */
const QUICK = 2 ** 14
const key = Keys.SecretKey.generate()
const address: string = Address.fromPublicKey(key.publicKey)

const service = { uid: 65_534, gid: 65_534 }

/** Only root can start a program as another user, who must be able to read it: a clone in /root is closed to others. */
const canServe =
  geteuid?.() === 0 &&
  spawnSync(process.execPath, ["-e", "fs.accessSync(process.argv[1])", program], service).status === 0

const folder = TemporaryFolder.forTests("encrypted")
const place = (name: string): string => join(folder, name)
beforeAll(async () => {
  const sealed = await Effect.runPromise(KeySealing.seal(key, PASSPHRASE, QUICK))
  const reserve = await Effect.runPromise(KeySealing.seal(Keys.SecretKey.generate(), PASSPHRASE, QUICK))
  writeFileSync(place("validator.key"), SealedKey.print(sealed), { mode: 0o600 })
  writeFileSync(place("faucet.key"), SealedKey.print(reserve), { mode: 0o600 })
  writeFileSync(place("passphrase"), `${PASSPHRASE}\n`, { mode: 0o600 })
  mkdirSync(place("credentials"), { mode: 0o700 })
  writeFileSync(place("credentials/key-passphrase"), PASSPHRASE, { mode: 0o400 })
})

const words = (directory: string, ...more: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...["--data-dir", place(directory), "--port", "0", "--round-ms", "10"],
  ...["--validator-key", place("validator.key"), ...more],
]

/** What no file of the directory and no output may contain. */
const SECRETS = [PASSPHRASE, key.toSecretHex(), Buffer.from(key.toSecretHex(), "hex").toString("latin1")]

const everythingIn = (directory: string): string =>
  readdirSync(directory, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n")

const runs = async (directory: string, more: ReadonlyArray<string>, variables: Record<string, string>) => {
  const node = new Running(process.execPath, [program, ...words(directory, ...more)], {
    RUST_LOG: "trace",
    ...variables,
  })
  await node.until(() => /^ {2}data directory/m.test(node.stdout))
  const said = await fetch(`${/https?:\/\/127\.0\.0\.1:\d+/.exec(node.stdout)?.[0]}/status`).then((answer) =>
    answer.text(),
  )
  expect(await node.stop()).toMatchObject({ code: 0 })
  return { stdout: node.stdout, stderr: node.stderr, said }
}

const expectNoSecret = (text: string) => {
  for (const secret of SECRETS) expect(text.includes(secret)).toBe(false)
}

describe("a node with an encrypted key", () => {
  it("opens it with the passphrase of a file, encrypts the keys it creates, and shows no secret at any log level", async () => {
    const { stdout, stderr, said } = await runs("named", ["--key-passphrase-file", place("passphrase")], {})
    expect(stdout).toContain(address)
    expectNoSecret(stdout + stderr + said + everythingIn(place("named")))
    for (const made of ["faucet.key", "node.key"]) {
      expect(JSON.parse(readFileSync(place(`named/${made}`), "utf8"))).toMatchObject({ udg_key: 1 })
    }
    const { stdout: doctor } = await InProcess.udg("doctor", place("named"))
    expect(doctor).toMatch(/node\.key: is readable, by its owner only, and is encrypted/)
  })

  it("opens it with a credential of systemd, unless a file is named", async () => {
    const credentials = { CREDENTIALS_DIRECTORY: place("credentials") }
    const { stdout } = await runs("credential", [], credentials)
    expect(stdout).toContain(address)
    writeFileSync(place("other"), "another passphrase\n", { mode: 0o600 })
    const node = new Running(
      process.execPath,
      [program, ...words("never", "--key-passphrase-file", place("other"))],
      credentials,
    )
    expect(await node.end()).toMatchObject({ code: 1 })
    expect(node.stderr).toBe(
      `udg: key file ${place("validator.key")}: the passphrase is wrong, or the file was modified\n`,
    )
  })

  it("asks for the passphrase once at a terminal, and echoes nothing, including text typed ahead", async () => {
    const person = new Person({})
    try {
      const line = ["--ephemeral", "--port", "0", "--validator-key", place("validator.key"), "--faucet-key"]
      const terminal = person.sit(`udg ${[...line, place("faucet.key")].join(" ")}`)
      await terminal.see(`Passphrase of ${place("validator.key")}: `)
      terminal.type(`wrong\r${PASSPHRASE}\r`)
      await terminal.see("the passphrase is wrong")
      await terminal.see(address)
      terminal.type("\u0003")
      expect(await terminal.end()).toBe(0)
      expect(terminal.raw).not.toContain("horse")
      expect(terminal.text.split("Passphrase of").length).toBe(3)
    } finally {
      person.leave()
    }
  })

  it("ends in one line where the passphrase is missing or its file invalid", async () => {
    writeFileSync(place("empty"), "\n", { mode: 0o600 })
    writeFileSync(place("open"), PASSPHRASE, { mode: 0o600 })
    chmodSync(place("open"), 0o644)
    spawnSync("mkfifo", ["-m", "600", place("pipe")])
    const refused = async (...more: ReadonlyArray<string>) => {
      const { code, stdout, stderr } = await InProcess.udg(...words("never", ...more))
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
      return stderr
    }
    expect(await refused()).toBe(
      `udg: key file ${place("validator.key")}: is encrypted; name the file with its passphrase with --key-passphrase-file FILE\n`,
    )
    const complaints = [
      ["empty", `passphrase file ${place("empty")}: is empty; write the passphrase into it, on one line`],
      ["open", `passphrase file ${place("open")}: others may read it (mode 0644); run: chmod 600 ${place("open")}`],
      ["pipe", `--key-passphrase-file "${place("pipe")}" is not a regular file; use the path of one`],
      ["nothing", `--key-passphrase-file "${place("nothing")}" does not exist; use the path of an existing file`],
    ] as const
    for (const [name, complaint] of complaints) {
      expect(await refused("--key-passphrase-file", place(name))).toBe(`udg: ${complaint}\n`)
    }
  })

  it.runIf(canServe)("reads what root provides through a group, as systemd and Kubernetes do", () => {
    const handed = place("handed")
    mkdirSync(handed)
    chmodSync(folder, 0o755)
    const ask = (mode: number, owner: number) => {
      const file = join(handed, "validator.key")
      writeFileSync(file, readFileSync(place("validator.key")))
      chownSync(file, owner, service.gid)
      chmodSync(file, mode)
      const { status, stderr } = spawnSync(process.execPath, [program, "address", "--key", file], {
        ...service,
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", HOME: handed },
      })
      rmSync(file)
      return { status, isOpen: stderr.includes("others may read it") }
    }
    expect(ask(0o440, 0)).toEqual({ status: 0, isOpen: false })
    expect(ask(0o444, 0)).toEqual({ status: 2, isOpen: true })
    expect(ask(0o460, 0)).toEqual({ status: 2, isOpen: true })
    expect(ask(0o440, service.uid)).toEqual({ status: 2, isOpen: true })
  })
})
