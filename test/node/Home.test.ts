import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { inspect } from "node:util"
import { Effect, Layer, Logger, Option, Redacted } from "effect"
import { describe, expect } from "vitest"
import { fromHex } from "#crypto"
import * as Examined from "../../src/cli/doctor/Directory.js"
import * as Records from "../../src/ledger/tables/Records.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Ending from "../../src/node/lifecycle/Ending.js"
import * as Configuration from "../../src/node/start/Configuration.js"
import * as Home from "../../src/node/start/Home.js"
import * as ValidatorKeys from "../../src/node/start/ValidatorKeys.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { type PublicKey, SecretKey, type Signer } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import * as GenesisFile from "../../src/storage/files/GenesisFile.js"
import * as KeyFile from "../../src/storage/files/KeyFile.js"
import * as KeyPassphrase from "../../src/storage/files/KeyPassphrase.js"
import * as RunningFile from "../../src/storage/files/RunningFile.js"
import { Storage } from "../../src/storage/Storage.js"
import { Sqlite } from "../../src/storage/sqlite/Driver.js"
import { withDirectory, withPlatform } from "./withDirectory.js"
import * as world from "./world.js"

/** What a start finds or creates in this directory. */
const home = (directory: string, changes: Partial<Configuration.Settings> = {}) =>
  Home.Home.pipe(
    Effect.provide(Home.layer),
    Effect.provideService(Configuration.Configuration, world.settings({ dataDirectory: directory, ...changes })),
    Effect.scoped,
    Effect.provide(world.platform),
  )

/** The same with the databases in it. */
const opened = (directory: string) =>
  Storage.pipe(
    Effect.provide(Home.storageLayer),
    Effect.provide(Home.layer),
    Effect.provideService(
      Configuration.Configuration,
      world.settings({ dataDirectory: directory, roundMs: Option.none() }),
    ),
    Effect.scoped,
    Effect.provide(world.platform),
  )

const refusal = (directory: string, changes: Partial<Configuration.Settings>) =>
  Effect.map(Effect.flip(home(directory, changes)), ({ message }) => message)

const keyIn = (path: string) =>
  Effect.gen(function* () {
    const key = SecretKey.generate()
    yield* KeyFile.create(path, key)
    return key
  })

/** Records that the account of a key has changed to another key. */
const recordChange = (directory: string, from: PublicKey, to: PublicKey): void => {
  const [account, key] = [from, to].map(Address.fromPublicKey)
  const value = Records.encode(Records.signingKey, { account: account ?? expect.fail(), since: Natural.epoch(1) })
  const file = new Sqlite(`${directory}/udg.db`)
  file
    .prepare("insert into records (kind, key, value) values (?, ?, ?)")
    .run(StateKey.KINDS.SigningKey.byte, fromHex(key ?? expect.fail()), value)
  file.close()
}

const publicKeyOf = (key: Option.Option<Signer>) => Option.getOrThrow(key).publicKey

describe("a node's home", () => {
  withDirectory("is created with the named keys, which are not copied", function* (path) {
    const directory = `${path}/data`
    const validator = yield* keyIn(`${path}/mine.key`)
    const faucet = yield* keyIn(`${path}/reserve.key`)
    const named = {
      validatorKeyFile: Option.some(`${path}/mine.key`),
      faucetKeyFile: Option.some(`${path}/reserve.key`),
    }
    const founded = yield* home(directory, named)
    expect(founded.isFounded).toBe(true)
    expect(founded.genesis.validators.map(({ publicKey }) => publicKey)).toEqual([validator.publicKey])
    expect(founded.genesis.faucet?.address).toBe(Address.fromPublicKey(faucet.publicKey))
    expect(readdirSync(directory).filter((name) => name.endsWith(".key"))).toEqual([])

    const again = yield* home(directory, { ...named, roundMs: Option.none() })
    expect(again.isFounded).toBe(false)
    expect(publicKeyOf(again.validatorKey)).toBe(validator.publicKey)
    expect(publicKeyOf(again.faucetKey)).toBe(faucet.publicKey)

    // Without the option there is no faucet here, and the node's own key has no seat.
    const other = yield* home(directory, { roundMs: Option.none() })
    expect(other.faucetKey).toEqual(Option.none())
    expect(publicKeyOf(other.validatorKey)).not.toBe(validator.publicKey)
  })

  withDirectory("refuses a named key that is not the faucet's, and leaves alone one it finds there", function* (path) {
    const directory = `${path}/data`
    const { genesis } = yield* home(directory)
    yield* keyIn(`${path}/wrong.key`)
    expect(yield* refusal(directory, { faucetKeyFile: Option.some(`${path}/wrong.key`), roundMs: Option.none() })).toBe(
      `--faucet-key ${path}/wrong.key is not the key of the faucet of ${genesis.networkId}; leave out the option, or name the right file`,
    )
    rmSync(`${directory}/faucet.key`)
    yield* keyIn(`${directory}/faucet.key`)
    expect((yield* home(directory, { roundMs: Option.none() })).faucetKey).toEqual(Option.none())
  })

  withDirectory("has no faucet on a mainnet, and refuses a mode other than the network's", function* (directory) {
    const { genesis, faucetKey } = yield* home(directory, { mode: Option.some("mainnet") })
    expect({ mode: genesis.mode, faucet: genesis.faucet, faucetKey }).toEqual({
      mode: "mainnet",
      faucet: null,
      faucetKey: Option.none(),
    })
    expect(existsSync(`${directory}/faucet.key`)).toBe(false)
    expect(yield* refusal(directory, { mode: Option.some("testnet"), roundMs: Option.none() })).toMatch(
      /^--testnet true asks for a testnet, but the genesis of udg-solo-[0-9a-f]{16} says mainnet; /,
    )
  })

  withDirectory(
    "refuses in one line key files that are missing, readable by others, or hold something else",
    function* (path) {
      const file = `${path}/some.key`
      const problem = () => refusal(`${path}/data`, { validatorKeyFile: Option.some(file) })
      expect(yield* problem()).toMatch(new RegExp(`^key file ${file}: cannot be read: `))
      yield* keyIn(file)
      chmodSync(file, 0o640)
      expect(yield* problem()).toBe(`key file ${file}: others may read it (mode 0640); run: chmod 600 ${file}`)
      chmodSync(file, 0o600)
      writeFileSync(file, "no key\n")
      expect(yield* problem()).toBe(`key file ${file}: expected 64 hex characters, found something else`)
      expect(existsSync(`${path}/data/genesis.json`)).toBe(false)
    },
  )

  withDirectory("hands out signers but no access to their keys", function* (path) {
    const validator = yield* keyIn(`${path}/mine.key`)
    const { validatorKey, faucetKey } = yield* home(`${path}/data`, {
      validatorKeyFile: Option.some(`${path}/mine.key`),
    })
    const signer = Option.getOrThrow(validatorKey)
    const message = new TextEncoder().encode("a message")
    expect(signer.sign(message)).toBe(validator.sign(message))
    for (const each of [signer, Option.getOrThrow(faucetKey)]) {
      expect(Object.keys(each).sort()).toEqual(["publicKey", "sign"])
      expect(SecretKey.isSecretKey(each)).toBe(false)
      expect(inspect(each, { depth: 9, showHidden: true })).not.toContain(validator.toSecretHex())
    }
  })

  withDirectory("encrypts the keys it creates with a passphrase, and warns of plain-text keys", function* (path) {
    const logged: Array<string> = []
    const listening = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void logged.push(String(message))),
    )
    const known = KeyPassphrase.known(Redacted.make("correct horse battery"))
    const opened = (directory: string) =>
      home(directory, { roundMs: Option.none() }).pipe(
        Effect.provideService(KeyPassphrase.KeyPassphrase, known),
        Effect.provide(listening),
      )
    const founded = yield* opened(`${path}/fresh`)
    for (const name of ["validator.key", "faucet.key"]) {
      expect((yield* KeyFile.read(`${path}/fresh/${name}`))._tag).toBe("Sealed")
    }
    expect(publicKeyOf((yield* opened(`${path}/fresh`)).validatorKey)).toBe(publicKeyOf(founded.validatorKey))
    expect(logged.filter((line) => line.includes("plain text"))).toEqual([])
    expect(yield* refusal(`${path}/fresh`, { roundMs: Option.none() })).toBe(
      `key file ${path}/fresh/validator.key: is encrypted; name the file with its passphrase with --key-passphrase-file FILE`,
    )
    yield* home(`${path}/plain`)
    yield* opened(`${path}/plain`)
    expect(logged).toContain(
      `${path}/plain/validator.key is in plain text, although there is a passphrase; run: udg keys encrypt --key ${path}/plain/validator.key`,
    )
  })

  withDirectory("restricts keys to their owner, and creates none for a follower", function* (path) {
    const { genesis } = yield* home(`${path}/one`)
    for (const key of ["validator.key", "faucet.key"]) expect(statSync(`${path}/one/${key}`).mode & 0o777).toBe(0o600)
    const file = `${path}/genesis.json`
    yield* GenesisFile.write(file, genesis)
    const following = { genesisFile: Option.some(file), validate: false, roundMs: Option.none() }
    const follower = yield* home(`${path}/two`, following)
    expect(follower).toMatchObject({ isFounded: false, validatorKey: Option.none(), faucetKey: Option.none() })
    expect(Genesis.hash(follower.genesis)).toBe(Genesis.hash(genesis))
    expect(existsSync(`${path}/two/validator.key`)).toBe(false)
    expect(yield* refusal(`${path}/three`, { validate: false })).toMatch(/^--no-validate: a new solo network /)
  })

  // A validator whose key file was not mounted became another validator without a seat, and its network stopped.
  withDirectory("gets no fresh validator key where a node ran before", function* (directory) {
    const { validatorKey } = yield* home(directory)
    rmSync(`${directory}/validator.key`)
    // A start interrupted before it signed anything is still the first start.
    expect(publicKeyOf((yield* home(directory)).validatorKey)).not.toBe(publicKeyOf(validatorKey))

    yield* opened(directory)
    rmSync(`${directory}/validator.key`)
    const problem = yield* refusal(directory, { roundMs: Option.none() })
    expect(problem).toContain(`${directory}/validator.key is missing, but this directory was used before; restore it`)
    expect(problem).not.toContain("\n")
    expect(existsSync(`${directory}/validator.key`)).toBe(false)
    const follower = yield* home(directory, { validate: false, roundMs: Option.none() })
    expect(follower.validatorKey).toEqual(Option.none())
  })

  withDirectory("takes, of the keys in the directory, the one for which it has restarted", function* (directory) {
    const first = publicKeyOf((yield* home(directory)).validatorKey)
    const second = yield* keyIn(`${directory}/validator-2.key`)
    yield* keyIn(`${directory}/validator-3.key`)
    writeFileSync(`${directory}/validator-1.key`, "damaged", { mode: 0o600 })
    const again = home(directory, { roundMs: Option.none() })
    expect(publicKeyOf((yield* again).validatorKey)).toBe(first)
    const address = Option.some(Address.fromPublicKey(second.publicKey))
    const restarted = yield* Effect.provideService(again, ValidatorKeys.Preferred, address)
    expect(publicKeyOf(restarted.validatorKey)).toBe(second.publicKey)
  })

  withDirectory(
    "takes, of the keys in the directory, its own with a seat, and none of another validator",
    function* (directory) {
      const member = publicKeyOf((yield* home(directory)).validatorKey)
      yield* Effect.scoped(Layer.build(world.node(directory, { roundMs: Option.none() })))
      renameSync(`${directory}/validator.key`, `${directory}/validator-other.key`)
      const own = yield* keyIn(`${directory}/validator.key`)
      const again = home(directory, { roundMs: Option.none() })
      expect(publicKeyOf((yield* again).validatorKey)).toBe(own.publicKey)
      recordChange(directory, own.publicKey, member)
      expect(publicKeyOf((yield* again).validatorKey)).toBe(member)
    },
  )

  withDirectory("leaves nothing behind after a refused start", function* (path) {
    const signer = Option.some({ host: "127.0.0.1", port: 1, key: NodeProof.idOf(SecretKey.generate()) })
    const missing = Option.some(`${path}/missing`)
    const genesisFile = Option.some(`${path}/other/genesis.json`)
    yield* home(`${path}/other`)
    expect(yield* refusal(`${path}/new`, { signer })).toMatch(/^--signer: a new network/)
    for (const changes of [
      { faucetKeyFile: missing },
      { faucetKeyFile: missing, genesisFile },
      { genesisFile: missing },
    ]) {
      expect(yield* refusal(`${path}/new`, changes)).toContain(`${path}/missing`)
    }
    expect(readdirSync(path)).toEqual(["other"])
    mkdirSync(`${path}/old`, { mode: 0o700 })
    expect(yield* refusal(`${path}/old`, { signer })).toMatch(/^--signer: a new network/)
    expect(readdirSync(`${path}/old`)).toEqual(["udg.lock"])
  })

  withDirectory("records how its node ended, for udg doctor", function* (directory) {
    const file = `${directory}/running.json`
    const facts = { version: "", pid: 7, since: 0, rpc: "", p2p: null, metrics_host: null, settings: {}, ended: null }
    let runs = 0
    const ends = (how: Effect.Effect<never, Ending.Ending>, hasRun = true) =>
      (hasRun ? RunningFile.write(file, { ...facts, since: ++runs }) : Effect.void).pipe(
        Effect.zipRight(how),
        Effect.provide(Home.layer),
        Effect.provideService(
          Configuration.Configuration,
          world.settings({ dataDirectory: directory, roundMs: Option.none() }),
        ),
        Effect.exit,
        Effect.zipRight(Examined.examine(directory)),
        Effect.map(({ findings }) => findings.find(({ part }) => part === "process")),
      )
    yield* home(directory)
    const killed = /the last one, process 7, was killed or lost power$/
    expect((yield* ends(Effect.die("a bug")))?.message).toMatch(killed)
    const refused = new Ending.DirectoryLost({ finding: "refused" })
    expect((yield* ends(refused, false))?.message).toMatch(killed)
    expect(yield* ends(new Ending.UpgradeNeeded({ epoch: Natural.epoch(7), version: 9, newest: 3 }))).toMatchObject({
      status: "problem",
      message: expect.stringMatching(/the last one, process 7, ended with 103: epoch 7 runs by protocol version 9/),
      page: "docs/operations/upgrade.md#exit-code-103",
    })
    expect((yield* ends(new Ending.DirectoryLost({ finding: "gone" })))?.message).toMatch(/ended with 1: gone/)
    expect((yield* ends(Effect.interrupt))?.message).toMatch(/the last one stopped properly$/)
  })

  withPlatform("does not overwrite dangling links", function* () {
    for (const file of ["genesis.json", "validator.key", "faucet.key"]) {
      const path = `${yield* world.temporaryDirectory}/${file}`
      symlinkSync("/nowhere/mounted", path)
      expect(yield* refusal(path.slice(0, -file.length - 1), {})).toContain(`${path}: cannot be read: NotFound`)
      expect(lstatSync(path).isSymbolicLink()).toBe(true)
    }
  })

  withDirectory(
    "does not switch to another network, and finds its own again when the network file is gone",
    function* (path) {
      const directory = `${path}/data`
      const first = yield* home(directory)
      yield* home(`${path}/other`)
      const other = Option.some(`${path}/other/genesis.json`)
      expect(yield* refusal(directory, { genesisFile: other, roundMs: Option.none() })).toMatch(
        /^--genesis .* is udg-solo-.*, but .* holds udg-solo-.*; name another data directory$/,
      )
      // The database knows it too.
      yield* opened(directory)
      rmSync(`${directory}/genesis.json`)
      const found = yield* home(directory, { roundMs: Option.none() })
      expect(found).toMatchObject({ isFounded: false, genesis: first.genesis })
      expect(existsSync(`${directory}/genesis.json`)).toBe(true)
    },
  )

  withPlatform("has no directory when nothing is kept", function* () {
    const directory = `${yield* world.temporaryDirectory}/data`
    const { location, validatorKey, faucetKey } = yield* home(directory, { ephemeral: true })
    expect(location).toEqual({ _tag: "Ephemeral" })
    expect([Option.isSome(validatorKey), Option.isSome(faucetKey)]).toEqual([true, true])
    expect(existsSync(directory)).toBe(false)
  })
})
