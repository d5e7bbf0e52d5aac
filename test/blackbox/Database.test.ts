/** `udg db` on data directories of a real node, intact and damaged. */
import { createHash } from "node:crypto"
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Sqlite } from "../../src/storage/sqlite/Driver.js"
import { sqlite } from "../storage/world.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { type Outcome, udg } from "./InProcess.js"
import { program, Running } from "./Running.js"
import { Terminal as AtTerminal } from "./wallet/Person.js"

const EPOCH_ROUNDS = 40
const ROUND_MS = 20

const udgProcess = async (...words: ReadonlyArray<string>): Promise<Outcome> => {
  const running = new Running(process.execPath, [program, ...words])
  const { code } = await running.end()
  return { code, stdout: running.stdout, stderr: running.stderr }
}

const rows = (directory: string, statement: string) =>
  Effect.runPromise(sqlite(join(directory, "udg.db"), statement)) as Promise<ReadonlyArray<ReadonlyArray<unknown>>>

const valueIn = async (directory: string, statement: string): Promise<unknown> =>
  (await rows(directory, statement))[0]?.[0]

const startIn = async (directory: string): Promise<Running> => {
  const node = new Running(process.execPath, [program, "--data-dir", directory, "--port", "0", "--rate-limits", "off"])
  await node.until(() => /running/.test(node.stderr))
  return node
}

const urlOf = (node: Running): string => /^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1] ?? ""

const stopped = async (node: Running): Promise<void> => {
  expect({ code: (await node.stop()).code, said: node.stderr }).toMatchObject({ code: 0 })
}

const untilRound = (node: Running, round: number): Promise<void> => {
  const client = Client.connect(urlOf(node))
  return node.until(async () => (await client.core.status()).last_finalized_round >= round)
}

const runTo = async (directory: string, round: number): Promise<void> => {
  const node = await startIn(directory)
  await untilRound(node, round)
  await stopped(node)
}

/** The content of each file, except those that SQLite keeps for an open database. */
const contentOf = (directory: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((name) => !/-(wal|shm)$|\.lock$/.test(name) && statSync(join(directory, name)).isFile())
      .map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(directory, name)))
          .digest("hex"),
      ]),
  )

describe.concurrent("udg db", () => {
  const folder = TemporaryFolder.forTests("db")
  /** The directory of a node in its fifth epoch. Each test uses a copy. */
  let original = ""
  let stateFile = ""
  /** The directory of a network in its first epoch. */
  let young = ""
  let copies = 0
  const place = (name: string): string => join(folder, `${name}-${copies++}`)
  const copy = (of = original): string => {
    const directory = place("copy")
    cpSync(of, directory, { recursive: true })
    return directory
  }

  const found = async (networkId: string): Promise<string> => {
    const directory = place(networkId)
    mkdirSync(directory)
    const keys: Array<string> = []
    for (const name of ["validator.key", "faucet.key"]) {
      const { stdout } = await udg("genesis", "key", "--out", join(directory, name))
      keys.push(/public key +(\S+)/.exec(stdout)?.[1] ?? "")
    }
    const [validator = "", faucet = ""] = keys
    const words = ["--network-id", networkId, "--validator", `${validator}:100000`, "--faucet", faucet]
    const lengths = ["--round-ms", String(ROUND_MS), "--epoch-rounds", String(EPOCH_ROUNDS)]
    const { code } = await udg("genesis", "new", ...words, ...lengths, "--out", join(directory, "genesis.json"))
    expect(code).toBe(0)
    return directory
  }

  beforeAll(async () => {
    original = await found("db-test")
    const node = await startIn(original)
    const client = Client.connect(urlOf(node))
    for (let epoch = 0; epoch < 4; epoch++) {
      await untilRound(node, epoch * EPOCH_ROUNDS + 5)
      const { address } = await client.core.keygen()
      await client.core.faucet({ payload: { address, amount: Sats.make(100_000_000) } })
    }
    await untilRound(node, 4 * EPOCH_ROUNDS + 15)
    await stopped(node)
    stateFile = place("state")
    expect((await udg("db", "export", "--data-dir", original, "--out", stateFile)).code).toBe(0)
    young = await found("young")
    await runTo(young, 10)
  })

  const verify = (directory: string): Promise<Outcome> => udg("db", "verify", "--data-dir", directory)

  describe("verify", () => {
    it("finds no problem in a node's directory, reports its contents, and changes nothing", async () => {
      const directory = copy()
      const before = contentOf(directory)
      const { code, stdout, stderr } = await udgProcess("db", "verify", "--data-dir", directory)
      expect({ code, stderr }).toStrictEqual({ code: 0, stderr: "" })
      expect(stdout).toMatch(
        new RegExp(
          [
            `^${directory} is sound`,
            "",
            " {2}network {5}db-test \\(testnet\\)",
            " {2}genesis {5}[0-9a-f]{64}",
            " {2}commit {6}\\d+, round \\d+",
            " {2}supply {6}[\\d.,]+ UDG in 6 accounts, counted again",
            " {2}state root {2}[0-9a-f]{64}",
            ` {14}reached again from the close of epoch ${4} by \\d+ commits, over \\d+\\s+checkpoints\n$`,
          ].join("\n"),
        ),
      )
      expect(contentOf(directory)).toStrictEqual(before)
    })

    it("starts from the genesis where no epoch has closed", async () => {
      const { code, stdout } = await verify(copy(young))
      expect(code).toBe(0)
      expect(stdout).toContain("reached again from the genesis by ")
    })

    it(Rest.of("nodes for some seconds", "finds sound what a killed node has left, repeatedly"), async () => {
      const directory = copy()
      for (const rounds of [4, 45]) {
        const node = await startIn(directory)
        const { last_finalized_round } = await Client.connect(urlOf(node)).core.status()
        await untilRound(node, last_finalized_round + rounds)
        await node.stop("SIGKILL")
        expect(await verify(directory)).toMatchObject({ code: 0, stderr: "" })
      }
    })

    it("checks a copy of udg.db alone, and creates no other database beside it", async () => {
      const directory = place("backup")
      mkdirSync(directory)
      copyFileSync(join(original, "udg.db"), join(directory, "udg.db"))
      expect((await verify(directory)).code).toBe(0)
      expect(Object.keys(contentOf(directory))).toStrictEqual(["udg.db"])
    })

    it(Rest.of("one more start", "refuses the directory of a running node"), async () => {
      const directory = copy()
      const node = await startIn(directory)
      for (const words of [
        ["verify"],
        ["export", "--out", place("never")],
        ["import", "--from", stateFile],
        ["prune"],
      ]) {
        const refused = await udg("db", ...words, "--data-dir", directory)
        expect(refused).toMatchObject({ code: 1, stdout: "" })
        expect(refused.stderr).toMatch(/^udg: .* is in use by another process; .*\n$/)
      }
      await stopped(node)
    })

    it("creates no missing directory", async () => {
      const directory = place("nowhere")
      for (const words of [["verify"], ["export", "--out", place("never")], ["prune"]]) {
        const refused = await udg("db", ...words, "--data-dir", directory)
        expect(refused).toMatchObject({ code: 1, stdout: "" })
        expect(refused.stderr).toBe(
          `udg: ${directory} holds no ledger; name the data directory of a node that has run\n`,
        )
      }
      expect(existsSync(directory)).toBe(false)
    })

    const largest = "(select address from accounts order by balance desc limit 1)"
    const second = "(select address from accounts order by balance desc limit 1 offset 1)"
    const exchanged = `update accounts set balance = balance + case address when ${largest} then -7 else 7 end
      where address in (${largest}, ${second})`
    it.each([
      [
        "a balance",
        `update accounts set balance = balance + 1 where address = ${largest}`,
        101,
        /supply invariant violated: .*found liquid .* = \d+ sats, expected liquid .* = \d+ sats/,
      ],
      [
        "a commit's hash",
        `update commits set hash = x'${"00".repeat(32)}' where commit_index = (select max(commit_index) - 3 from commits)`,
        100,
        /finality rollback: the stored vertices decide commit /,
      ],
      ["money between two accounts, with all sums as they were", exchanged, 1, /the stored state is damaged: /],
      [
        "a nonce",
        `update accounts set nonce = nonce + 1 where address = ${largest}`,
        1,
        /the stored state is damaged: /,
      ],
      [
        "the time of a commit",
        "update commits set time = time + 1 where commit_index = (select max(commit_index) - 3 from commits)",
        1,
        /executing commit \d+ again has the effects/,
      ],
      [
        "the round of a commit's leader",
        "update commits set leader_round = leader_round + 1 where commit_index = (select max(commit_index) from commits)",
        1,
        /the state is that of commit (\d+), round \d+, the last commit is \1, round \d+/,
      ],
      [
        "what an account was at the last close",
        "update accounts_before set balance = balance + 1 where epoch = 4 and balance is not null",
        1,
        /the reconstructed state at the close of epoch 4 has the root/,
      ],
      [
        "the order of a commit's vertices, losing one",
        "update vertices set commit_index = null, position = null where commit_index = (select max(commit_index) - 2 from commits)",
        1,
        /commit \d+ lacks vertices that are recorded for it/,
      ],
      [
        "the checkpoint of the last close, which is gone",
        "delete from checkpoints where epoch = 4 and is_closing = 1",
        1,
        /the signed closing checkpoint of epoch 4 is missing/,
      ],
    ] as const)("sees a change of %s", async (_, change, code, complaint) => {
      const directory = copy()
      await rows(directory, change)
      const found = await verify(directory)
      expect({ code: found.code, stdout: found.stdout }).toStrictEqual({ code, stdout: "" })
      expect(found.stderr).toMatch(complaint)
      expect(found.stderr.trimEnd().split("\n")).toHaveLength(1)
    })

    it("detects a damaged page", async () => {
      const directory = copy()
      const file = openSync(join(directory, "udg.db"), "r+")
      writeSync(file, Buffer.alloc(4_096, 0x5a), 0, 4_096, 2 * 4_096)
      closeSync(file)
      const found = await verify(directory)
      expect(found).toMatchObject({ code: 1, stdout: "" })
      expect(found.stderr).toMatch(/^udg: .*udg\.db is damaged: .*; restore a backup, .*\n$/)
    })

    it(
      Rest.of("more starts", "detects an index that differs from its table, which a start does not check"),
      async () => {
        const directory = copy()
        const database = new Sqlite(join(directory, "udg.db"))
        database.unsafeMode(true)
        database.exec("pragma writable_schema = on")
        const sql = "create index transaction_vertices_by_commit on transaction_vertices (timestamp)"
        database.prepare("update sqlite_schema set sql = ? where name = 'transaction_vertices_by_commit'").run(sql)
        database.close()
        const found = await verify(directory)
        expect(found).toMatchObject({ code: 1, stdout: "" })
        expect(found.stderr).toMatch(/^udg: .*udg\.db is damaged: .* index transaction_vertices_by_commit; .*\n$/)
        await runTo(directory, 4 * EPOCH_ROUNDS + 20)
      },
    )

    it("detects the genesis of another network", async () => {
      const directory = copy()
      const other = await found("other")
      copyFileSync(join(other, "genesis.json"), join(directory, "genesis.json"))
      const refused = await verify(directory)
      expect(refused).toMatchObject({ code: 1, stdout: "" })
      expect(refused.stderr).toMatch(
        /^udg: .*udg\.db belongs to the network with genesis [0-9a-f]{64}, not [0-9a-f]{64}; .*\n$/,
      )
    })
  })

  describe("export and import", () => {
    const importInto = (directory: string, file = stateFile, ...words: ReadonlyArray<string>): Promise<Outcome> =>
      udg("db", "import", "--from", file, "--data-dir", directory, ...words)

    /** An empty directory with only the validator's key. */
    const withKey = (): string => {
      const directory = place("with-key")
      mkdirSync(directory)
      copyFileSync(join(original, "validator.key"), join(directory, "validator.key"))
      return directory
    }

    it("carry the state of the last close, and leave the source unchanged", async () => {
      const before = contentOf(original)
      const file = place("again")
      const exported = await udg("db", "export", "--data-dir", original, "--out", file)
      expect(exported).toMatchObject({ code: 0, stderr: "" })
      expect(contentOf(original)).toStrictEqual(before)
      expect(readFileSync(file).equals(readFileSync(stateFile))).toBe(true)

      const directory = place("fresh")
      const imported = await importInto(directory, file)
      expect(imported).toMatchObject({ code: 0, stderr: "" })
      const said = (text: string) => text.split("\n").slice(1)
      expect(said(imported.stdout)).toStrictEqual(said(exported.stdout))
      expect(imported.stdout).toMatch(/checkpoint {2}epoch 4, round 16\d\n/)
      expect(readFileSync(join(directory, "genesis.json"), "utf8")).toBe(
        readFileSync(join(original, "genesis.json"), "utf8"),
      )
      expect(Object.keys(contentOf(directory)).sort()).toStrictEqual(["genesis.json", "udg.db"])
      expect(await verify(directory)).toMatchObject({ code: 0, stderr: "" })
    })

    it(
      Rest.of("a node for some seconds", "let a validator continue that has lost everything but its key"),
      async () => {
        const directory = withKey()
        expect((await importInto(directory)).code).toBe(0)
        await runTo(directory, 5 * EPOCH_ROUNDS + 5)
        const commit = "select hex(hash) from commits where commit_index = (select min(commit_index) from commits)"
        expect(await valueIn(directory, "select count(*) from accounts")).toBe(6)
        expect(await valueIn(directory, commit)).toMatch(/^[0-9A-F]{64}$/)
        expect((await verify(directory)).code).toBe(0)
      },
    )

    it(Rest.of("more starts", "with signed.db restore a solo validator to where it was"), async () => {
      const directory = withKey()
      copyFileSync(join(original, "signed.db"), join(directory, "signed.db"))
      expect((await importInto(directory)).code).toBe(0)
      await runTo(directory, 5 * EPOCH_ROUNDS + 5)
      const commits = "select commit_index, hex(hash) from commits where epoch = 5 order by 1"
      const before = await rows(original, commits)
      expect(before.length).toBeGreaterThan(10)
      expect((await rows(directory, commits)).slice(0, before.length)).toStrictEqual(before)
    })

    it("need a closed epoch", async () => {
      const file = place("never")
      const refused = await udg("db", "export", "--data-dir", copy(young), "--out", file)
      expect(refused).toMatchObject({ code: 1, stdout: "" })
      expect(refused.stderr).toBe(
        "udg: no epoch has closed here with the signatures of a quorum; epoch 1 ends with round 40, try again after that\n",
      )
      expect(existsSync(file)).toBe(false)
    })

    it("export no state that differs from its checkpoint", async () => {
      const directory = copy()
      await rows(directory, "update accounts_before set balance = balance + 1 where epoch = 4 and balance is not null")
      const file = place("never")
      const refused = await udg("db", "export", "--data-dir", directory, "--out", file)
      expect(refused).toMatchObject({ code: 1, stdout: "" })
      expect(refused.stderr).toMatch(/the state at the close of epoch 4 has the root/)
      expect(existsSync(file)).toBe(false)
    })

    it("never overwrite existing files", async () => {
      const taken = await udg("db", "export", "--data-dir", original, "--out", stateFile)
      expect(taken.code).toBe(1)
      expect(taken.stderr).toMatch(/^udg: --out .* exists and is not overwritten; .*\n$/)
      const directory = copy()
      const before = contentOf(directory)
      const refused = await importInto(directory)
      expect(refused.code).toBe(1)
      expect(refused.stderr).toMatch(/^udg: .* holds a ledger already; .*\n$/)
      expect(contentOf(directory)).toStrictEqual(before)
    })

    it("ignore the leftover log of another database", async () => {
      const directory = withKey()
      writeFileSync(join(directory, "udg.db-wal"), "what a crash has left of another database")
      const refused = await importInto(directory)
      expect(refused.code).toBe(1)
      expect(refused.stderr).toMatch(/holds a ledger already/)
      expect(existsSync(join(directory, "udg.db"))).toBe(false)
    })

    it("refuse another genesis, whether named or found there", async () => {
      const other = join(await found("other"), "genesis.json")
      const named = place("named")
      const refused = await importInto(named, stateFile, "--genesis", other)
      expect(refused.code).toBe(1)
      expect(refused.stderr).toMatch(
        /^udg: .* is the state of db-test \([0-9a-f]{64}\), but .*genesis\.json is other \([0-9a-f]{64}\); .*\n$/,
      )
      const there = withKey()
      copyFileSync(other, join(there, "genesis.json"))
      expect((await importInto(there)).stderr).toBe(refused.stderr.replace(other, join(there, "genesis.json")))
      expect([existsSync(join(named, "udg.db")), existsSync(join(there, "udg.db"))]).toStrictEqual([false, false])
      expect((await importInto(named, stateFile, "--genesis", join(original, "genesis.json"))).code).toBe(0)
    })

    it.each([
      ["with another byte", (bytes: Buffer) => bytes.fill(0x5a, bytes.length - 50, bytes.length - 49)],
      ["that ends too early", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
      ["that is none", () => Buffer.from("{}")],
    ])("refuse a file %s, and leave the directory as it was", async (_, change) => {
      const directory = withKey()
      const before = contentOf(directory)
      const file = place("spoilt")
      writeFileSync(file, change(readFileSync(stateFile)))
      const refused = await importInto(directory, file)
      expect(refused).toMatchObject({ code: 1, stdout: "" })
      expect(refused.stderr).toMatch(new RegExp(`^udg: .*${file}.*\\n$`))
      expect(contentOf(directory)).toStrictEqual(before)
    })

    it(Rest.of("a dozen programs one after the other", "can be interrupted at any time"), async () => {
      const started = performance.now()
      expect((await udgProcess("db", "import", "--from", stateFile, "--data-dir", withKey())).code).toBe(0)
      const whole = performance.now() - started
      for (const [part, signal] of [
        [0.6, "SIGTERM"],
        [0.75, "SIGKILL"],
        [0.9, "SIGKILL"],
      ] as const) {
        const directory = withKey()
        const importing = new Running(process.execPath, [
          program,
          ...["db", "import", "--from", stateFile, "--data-dir", directory],
        ])
        await sleep(whole * part)
        importing.signal(signal)
        await importing.end()
        // The ledger is there either completely or not at all.
        if (!existsSync(join(directory, "udg.db"))) {
          expect((await importInto(directory)).code).toBe(0)
          expect(existsSync(join(directory, "udg.importing"))).toBe(false)
        }
        expect((await verify(directory)).code, `${signal} after ${part} of it`).toBe(0)
      }
    })

    it("require their arguments", async () => {
      expect(await udg("db", "export", "--data-dir", original)).toMatchObject({
        code: 1,
        stderr: "udg: --out FILE is missing: the file to write; it must not exist; see --help\n",
      })
      expect(await udg("db", "import", "--data-dir", place("x"))).toMatchObject({
        code: 1,
        stderr: "udg: --from FILE is missing: a state written by udg db export; see --help\n",
      })
      expect(await udg("db", "mend")).toMatchObject({
        code: 1,
        stderr: 'udg: udg db has no action "mend"; use verify, export, import, prune or --help\n',
      })
    })
  })

  describe("prune", () => {
    const prune = (directory: string, keepRounds: number): Promise<Outcome> =>
      udg("db", "prune", "--data-dir", directory, "--keep-rounds", String(keepRounds), "--yes")
    const count = (directory: string, table: string) => valueIn(directory, `select count(*) from ${table}`)

    it(
      Rest.of(
        "a node for some epochs",
        "removes old data, keeps the current epoch and the previous one, and reports the freed space",
      ),
      async () => {
        const directory = copy()
        const size = statSync(join(directory, "udg.db")).size
        const accounts = await rows(directory, "select address, balance, nonce from accounts order by 1")
        const kept = await rows(directory, "select hex(hash) from vertices where epoch >= 4 order by 1")
        const vertices = Number(await count(directory, "vertices"))
        // As a shorter checkpoint interval would leave it.
        await rows(directory, "insert into checkpoints select 7, 1, hash, 0, 1, content, 0 from checkpoints limit 1")
        expect(await count(directory, "checkpoints where is_closing = 0 and epoch < 4")).toBe(1)
        const { code, stdout, stderr } = await prune(directory, 0)
        expect({ code, stderr }).toStrictEqual({ code: 0, stderr: "" })
        expect(stdout).toMatch(
          new RegExp(
            ` {2}old +rounds before \\d+, of epochs before 4\n` +
              ` {2}pruned +${vertices - kept.length} vertices, 3 transactions with their histories\n` +
              ` {2}freed +\\d+\\.\\d MiB: \\d+\\.\\d MiB before, \\d+\\.\\d MiB after\n$`,
          ),
        )
        expect(statSync(join(directory, "udg.db")).size).toBeLessThan(size)
        expect(await rows(directory, "select hex(hash) from vertices order by 1")).toStrictEqual(kept)
        expect(await rows(directory, "select address, balance, nonce from accounts order by 1")).toStrictEqual(accounts)
        expect(await valueIn(directory, "select sum(transactions) from transaction_packs")).toBe(1)
        expect(
          await valueIn(
            directory,
            "select count(*) from account_history where sequence not in (select sequence from transaction_keys)",
          ),
        ).toBe(0)
        expect(
          await valueIn(directory, "select group_concat(distinct epoch) from checkpoints where is_closing = 1"),
        ).toBe("1,2,3,4")
        expect(await count(directory, "checkpoints where is_closing = 0 and epoch < 4")).toBe(0)
        expect((await verify(directory)).code).toBe(0)
        await runTo(directory, 4 * EPOCH_ROUNDS + 30)
      },
    )

    it("lists what it would remove, and deletes nothing without confirmation", async () => {
      const directory = copy()
      const before = await count(directory, "vertices")
      const { code, stdout, stderr } = await udg("db", "prune", "--data-dir", directory, "--keep-rounds", "0")
      expect({ code, stdout }).toStrictEqual({ code: 1, stdout: "" })
      expect(stderr).toMatch(
        /this would delete the vertices, .* of rounds before \d+, of epochs before 4; use --yes to/,
      )
      for (const [answer, status] of [
        ["no", 1],
        ["yes", 0],
      ] as const) {
        const line = `${process.execPath} ${program} db prune --data-dir ${directory} --keep-rounds 0`
        const terminal = new AtTerminal(line, { PATH: process.env["PATH"] ?? "", TERM: "xterm" })
        await terminal.see("Type yes to continue: ")
        expect(await count(directory, "vertices")).toBe(before)
        terminal.type(`${answer}\r`)
        expect(await terminal.end()).toBe(status)
      }
      expect(await count(directory, "vertices")).toBeLessThan(Number(before))
    })

    it("keeps everything younger than requested", async () => {
      const directory = copy()
      const before = await rows(directory, "select hex(hash) from vertices order by 1")
      const { stdout } = await prune(directory, 10_000)
      expect(stdout).toBe("  pruned  nothing: the running epoch, the one before and the last 10,000 rounds stay\n")
      // With nothing to delete, no confirmation is asked for.
      const unasked = await udg("db", "prune", "--data-dir", directory)
      expect(unasked).toMatchObject({ code: 0, stdout })
      expect(await rows(directory, "select hex(hash) from vertices order by 1")).toStrictEqual(before)
      expect(await count(directory, "transaction_keys")).toBe(4)
    })

    it(Rest.of("a dozen programs one after the other", "can be interrupted at any time"), async () => {
      const started = performance.now()
      expect((await udgProcess("db", "prune", "--data-dir", copy(), "--keep-rounds", "0", "--yes")).code).toBe(0)
      const whole = performance.now() - started
      for (const part of [0.6, 0.8, 0.9]) {
        const directory = copy()
        const pruning = new Running(process.execPath, [
          program,
          "db",
          "prune",
          "--data-dir",
          directory,
          "--keep-rounds",
          "0",
          "--yes",
        ])
        await sleep(whole * part)
        await pruning.stop("SIGKILL")
        expect((await verify(directory)).code, `after ${part} of it`).toBe(0)
      }
    })
  })
})
