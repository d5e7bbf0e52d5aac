/** Why the built program exits, and with which code. */
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import * as Process from "../storage/Process.js"
import { sqlite } from "../storage/world.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { udg } from "./InProcess.js"
import { program, Running } from "./Running.js"

const nodeIn = (directory: string, ...words: ReadonlyArray<string>): Running => {
  const port = words.includes("--port") ? [] : ["--port", "0"]
  return new Running(process.execPath, [program, "--data-dir", directory, ...port, ...words])
}

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
/** File modes do not restrict root, so tests of root run the node as another user. */
const ordinary = isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : ["env"]
const ordinarily = (...words: ReadonlyArray<string>) => [...ordinary.slice(1), process.execPath, program, ...words]

const ordinaryNodeIn = (directory: string): Running =>
  new Running(ordinary[0] ?? "", ordinarily("--data-dir", directory, "--port", "0"))

/** Whether the system has file modes, and that user can run the program. */
const hasModes = process.getuid !== undefined && spawnSync(ordinary[0] ?? "", ordinarily("--version")).status === 0

const rows = (file: string, statement: string) => Effect.runPromise(sqlite(file, statement))

// Most of the time is spent waiting for a node to start or reach a round. Each has its own directory.
describe.concurrent("the built node", () => {
  const folder = TemporaryFolder.forTests("endings")
  beforeAll(async () => {
    chmodSync(folder, 0o711)
    await runTo(place("original"), 30, "--round-ms", "10")
  })

  const place = (name: string): string => join(folder, name)
  const database = (directory: string): string => join(directory, "udg.db")

  const lastRound = async (directory: string): Promise<number> => {
    if (!existsSync(database(directory))) return 0
    const [[round] = []] = await rows(database(directory), "select max(leader_round) from commits")
    return Number(round ?? 0)
  }

  /** Starts a node, waits for this round, and stops the node. */
  const runTo = async (directory: string, round: number, ...words: ReadonlyArray<string>): Promise<Running> => {
    const node = nodeIn(directory, ...words)
    await node.until(async () => /^ {2}data directory/m.test(node.stdout) && (await lastRound(directory)) >= round)
    const { code, tookMs } = await node.stop()
    expect({ code, stderr: node.stderr }).toMatchObject({ code: 0 })
    expect(tookMs).toBeLessThan(20_000)
    return node
  }

  /** The directory of a node that stopped after its thirtieth round. */
  const leftBehind = (name: string): string => {
    cpSync(place("original"), place(name), { recursive: true })
    // On Node 24 a copied directory gets the default mode, of which the node warns.
    chmodSync(place(name), 0o700)
    return place(name)
  }

  const goesOn = async (directory: string): Promise<void> => {
    await runTo(directory, (await lastRound(directory)) + 5)
  }

  it("opens no inspector, which could read its keys, on a signal", async () => {
    const node = nodeIn(place("inspected"))
    await node.until(() => /^ {2}data directory/m.test(node.stdout))
    node.signal("SIGUSR1")
    // Signals arrive in order, so the node has handled the first one when it exits on the second.
    expect(await node.stop()).toMatchObject({ code: 0 })
    expect(node.stderr).not.toMatch(/debugger/i)
    expect(node.stdout).toMatch(/^ {2}p2p +[0-9a-f]{64}@127\.0\.0\.1:\d+$/m)
  })

  const refused = async (directory: string, ...words: ReadonlyArray<string>) => {
    const node = nodeIn(directory, ...words)
    const { code } = await node.end()
    return { code, stdout: node.stdout, stderr: node.stderr }
  }

  /** The same in this process, for tests of the output only. */
  const refusedHere = (directory: string, ...words: ReadonlyArray<string>) =>
    udg("--data-dir", directory, ...(words.includes("--port") ? [] : ["--port", "0"]), ...words)

  const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? ""

  it("creates a network at its first start, and continues it at the second", async () => {
    const directory = place("restart")
    const first = await runTo(directory, 105, "--round-ms", "10")
    for (const key of ["validator.key", "faucet.key"]) expect(statSync(join(directory, key)).mode & 0o777).toBe(0o600)
    const genesis = readFileSync(join(directory, "genesis.json"), "utf8")
    const before = await rows(database(directory), "select commit_index, hex(hash) from commits order by 1")
    const checkpoint = await rows(database(directory), "select round, hex(hash) from checkpoints where round = 101")
    expect(checkpoint).toHaveLength(1)

    const second = await runTo(directory, before.length + 20, "--round-ms", "10")
    expect(second.stdout.match(/genesis .*/)?.[0]).toBe(first.stdout.match(/genesis .*/)?.[0])
    expect(second.stdout).not.toContain("made just now")
    expect(second.stderr.match(/--round-ms 10 is ignored/g)).toHaveLength(1)
    expect(readFileSync(join(directory, "genesis.json"), "utf8")).toBe(genesis)
    const after = await rows(database(directory), "select commit_index, hex(hash) from commits order by 1")
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.map(([index]) => index)).toEqual(after.map((_, i) => i))
    expect(await rows(database(directory), "select round, hex(hash) from checkpoints where round = 101")).toEqual(
      checkpoint,
    )
  })

  const WARNS = "warns once of each weakness of a genesis of several validators, and not of one without any"
  it(Rest.of("five programs one after the other", WARNS), async () => {
    const validators: Array<string> = []
    for (const name of ["one", "two"]) {
      const { stdout } = await udg("genesis", "key", "--out", place(name))
      validators.push("--validator", `${/public key +(\S+)/.exec(stdout)?.[1]}:2000`)
    }
    const warnings = async (name: string, ...words: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
      const file = place(`${name}.json`)
      expect((await udg("genesis", "new", "--out", file, ...validators, ...words)).code).toBe(0)
      const node = nodeIn(place(name), "--genesis", file, "--no-validate", "--port", "0", "--rpc-port", "0")
      await node.until(() => /running/.test(node.stderr))
      await node.stop()
      return [...node.stderr.matchAll(/weak genesis: (\S+ \S+ \S+)/g)].map(([, said = ""]) => said)
    }
    expect(await warnings("prudent")).toEqual([])
    const weak = ["--network-id", "weak", "--execution-delay-rounds", "60", "--quorum-percent", "10"]
    expect(await warnings("weak", ...weak)).toEqual([
      "execution_delay_rounds is 60,",
      "quorum_percent is 10,",
      "the network id",
    ])
  })

  it(Rest.of(
    "a minute between two counts",
    "ends with 101 while it runs, when a balance in its database is changed",
  ), async () => {
    const node = nodeIn(place("altered"), "--round-ms", "100")
    const file = database(place("altered"))
    await node.until(async () => /running/.test(node.stderr) && (await lastRound(place("altered"))) > 5)
    const [[reserve, before] = []] = await rows(
      file,
      "select address, balance from accounts order by balance desc limit 1",
    )
    await rows(file, `update accounts set balance = balance + 7 where address = '${String(reserve)}'`)
    const altered = await lastRound(place("altered"))
    const { code } = await node.end()
    expect(code).toBe(101)
    expect(node.stderr).toMatch(
      /supply invariant violated: in udg\.db at commit \d+, balances and held bonds do not add up to the liquid total/,
    )
    // The executed commits and the wrong balance stay in the database, for investigation.
    expect(await lastRound(place("altered"))).toBeGreaterThan(altered)
    expect(await rows(file, `select balance from accounts where address = '${String(reserve)}'`)).toEqual([
      [Number(before) + 7],
    ])
  }, 480_000)

  it(Rest.of("one more start", "stops at once for a second signal"), async () => {
    const node = nodeIn(place("twice"))
    await node.until(() => /running/.test(node.stderr))
    node.signal("SIGINT")
    const { code, signal, tookMs } = await node.stop()
    expect(code === 0 || signal !== null).toBe(true)
    expect(tookMs).toBeLessThan(20_000)
  })

  it("names a port in use, and starts no unreachable node", async () => {
    const holder = createServer().listen(0, "127.0.0.1")
    await once(holder, "listening")
    const { port } = holder.address() as AddressInfo
    const { code, stdout, stderr } = await refused(place("port"), "--rpc-port", String(port))
    const taken = ["--port", String(port), "--host", "127.0.0.1"]
    const { stderr: ofPeers } = await refusedHere(place("port"), ...taken)
    const other = createServer().listen(0, "127.0.0.1")
    await once(other, "listening")
    const { port: second } = other.address() as AddressInfo
    const { stderr: ofBoth } = await refusedHere(place("port"), "--port", String(port), "--rpc-port", String(second))
    holder.close()
    other.close()
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(ofPeers).toBe(
      `udg: cannot listen for other nodes on 127.0.0.1 port ${port}: the port is in use; give another --host or --port\n`,
    )
    expect(lastLine(stderr)).toBe(
      `udg: cannot serve HTTP on 127.0.0.1:${port}: the port is in use; stop what uses it, or choose another with --rpc-port`,
    )
    expect(ofBoth).toBe(
      `udg: cannot listen for other nodes on port ${port} or serve HTTP on port ${second}: both are in use, probably by ` +
        "another node; stop it, or choose another --port, to which HTTP adds 1000 unless --rpc-port is given\n",
    )
    expect(existsSync(place("port"))).toBe(false)
  })

  it("ends with a line of JSON if its log is JSON, for any failure of the start", async () => {
    const genesis = ["--genesis", place("no genesis")]
    const inJson = [
      await refusedHere(place("json"), "--log-format", "json", ...genesis),
      await refusedHere(place("json"), "--log-format=json", "--port", "nowhere"),
      await refusedHere(place("json"), "--no-such-option", "--log-format", "json"),
      await refused(place("json"), "--log-format", "json", ...genesis),
    ]
    for (const { code, stdout, stderr } of inJson) {
      expect([code, stdout]).toEqual([1, ""])
      const said = JSON.parse(lastLine(stderr))
      expect(said).toMatchObject({ level: "error", module: "supervisor", annotations: { exitCode: 1 } })
      expect(said.message).toMatch(/no genesis|nowhere|no-such-option/)
    }
    for (const words of [["--log-format", "pretty"], []])
      expect((await refusedHere(place("json"), ...words, ...genesis)).stderr).toMatch(/^udg: /)
  })

  it("reports that it cannot be reached at its configured address", async () => {
    const words = ["--port", "0", "--host", "203.0.113.9"]
    expect(await refusedHere(place("host"), ...words)).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "udg: cannot listen for other nodes on 203.0.113.9 port 0: this machine has no such address; " +
        "give another --host or --port\n",
    })
  })

  it(Rest.of("more starts", "allows one process per directory"), async () => {
    const directory = place("locked")
    const node = nodeIn(directory)
    await node.until(() => /running/.test(node.stderr))
    const other = await refused(directory)
    expect(other).toMatchObject({ code: 1, stdout: "" })
    expect(other.stderr).toMatch(/^udg: .* is in use by another process; .*\n$/)
    await node.stop("SIGKILL")
    await runTo(directory, 1)
  })

  it(Rest.of("more starts", "reports contradictory options or files, and changes nothing"), async () => {
    const directory = place("disagree")
    await runTo(directory, 5, "--round-ms", "10", "--testnet", "false")
    const wrongMode = await refusedHere(directory, "--testnet", "true")
    expect(wrongMode).toMatchObject({ code: 1, stdout: "" })
    expect(wrongMode.stderr).toMatch(/^udg: --testnet true asks for a testnet, .* says mainnet; .*\n$/)
    const wrongGenesis = await refusedHere(directory, "--genesis", join(place("original"), "genesis.json"))
    expect(wrongGenesis.code).toBe(1)
    expect(wrongGenesis.stderr).toMatch(/^udg: --genesis .* is udg-solo-.*, but .* holds udg-solo-.*\n$/)
    const follower = await refusedHere(place("follower"), "--no-validate")
    expect(follower.code).toBe(1)
    expect(follower.stderr).toMatch(/^udg: --no-validate: .*--genesis FILE\n$/)
  })

  /** Removes a directory under a running node. The node must report the loss everywhere before it exits. */
  const endsWithout = async (directory: string, vanish: () => void, node: Running): Promise<void> => {
    await node.until(() => /running/.test(node.stderr))
    const rpc = /^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1] ?? ""
    vanish()
    const problems: Array<unknown> = []
    await node.until(async () => {
      const answer = await fetch(`${rpc}/health/detailed`).catch(() => undefined)
      // The node has exited before this process could read the report. See test/node/DirectoryWatch.test.ts.
      if (answer === undefined) return true
      const report = (await answer.json()) as { readonly problems: ReadonlyArray<{ readonly component: string }> }
      problems.push(...report.problems.filter(({ component }) => component === "data_directory"))
      return problems.length > 0
    })
    for (const problem of problems)
      expect(problem).toMatchObject({ status: "unhealthy", reason: expect.stringContaining(directory) })
    const { code } = await node.end()
    expect(code).toBe(1)
    expect(node.stderr).toMatch(/ERROR storage .*the data directory is lost, and this node is ending/)
    expect(lastLine(node.stderr)).toMatch(
      /^udg: .*: the data directory was deleted, replaced or unmounted while the node ran/,
    )
    expect(node.stderr).not.toContain("a bug, please report it")
  }

  it("ends with 1 when its directory is deleted, after a message", async () => {
    const directory = place("deleted")
    // Again and again, because the node may create a file meanwhile, and one that was not listed stays.
    const remove = () => {
      while (existsSync(directory)) {
        try {
          rmSync(directory, { recursive: true, force: true })
        } catch (error) {
          if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error
        }
      }
    }
    await endsWithout(directory, remove, nodeIn(directory))
    // The node must not recreate it.
    expect(existsSync(directory)).toBe(false)
  })

  it(Rest.of("more starts", "ends with 1 when a file of its directory is replaced"), async () => {
    const directory = leftBehind("replaced")
    const replace = () => {
      cpSync(join(directory, "signed.db"), place("copy of signed.db"))
      renameSync(place("copy of signed.db"), join(directory, "signed.db"))
    }
    await endsWithout(directory, replace, nodeIn(directory))
    await goesOn(directory)
  })

  it.runIf(isRoot && Process.canMount)(
    Rest.of("more starts", "ends with 1 when the volume of its directory is detached"),
    async () => {
      const directory = place("detached")
      mkdirSync(directory)
      expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=256m,mode=0700", "tmpfs", directory]).status).toBe(0)
      await endsWithout(directory, () => spawnSync("umount", ["--lazy", directory]), nodeIn(directory))
    },
  )

  it(Rest.of("more starts", "rewrites its genesis when only the database still has it"), async () => {
    const directory = leftBehind("no-genesis")
    const before = readFileSync(join(directory, "genesis.json"), "utf8")
    rmSync(join(directory, "genesis.json"))
    await goesOn(directory)
    expect(readFileSync(join(directory, "genesis.json"), "utf8")).toBe(before)
  })

  const endsWith101 = async (name: string, balance: string): Promise<void> => {
    const directory = leftBehind(`supply ${name}`)
    const change = `update accounts set balance = ${balance}
      where address = (select address from accounts order by balance desc limit 1)`
    await rows(database(directory), change)
    const { code, stderr, stdout } = await refused(directory)
    expect({ code, stdout }).toEqual({ code: 101, stdout: "" })
    const sums = /ERROR supervisor .*found liquid .* = (\d+) sats, expected liquid .* = (\d+) sats/.exec(
      lastLine(stderr),
    )
    expect(sums).not.toBeNull()
    expect(sums?.[1]).not.toBe(sums?.[2])
  }

  const WRONG_BALANCE = "ends with 101 when a balance has %s, with both sums"
  it.each([["one sat more", "balance + 1"]])(WRONG_BALANCE, endsWith101)
  it.each([
    ["one sat less", "balance - 1"],
    ["less than nothing", "-1"],
    ["more than there is", "3000000000000000"],
  ])(Rest.of("more of the same", WRONG_BALANCE), endsWith101)

  it(Rest.of("more starts", "ends with 100 when the stored vertices contradict a stored commit"), async () => {
    const directory = leftBehind("rollback")
    const [[hash] = []] = await rows(database(directory), "select hex(hash) from commits where commit_index = 10")
    const flip = `update commits set hash = x'${"00".repeat(32)}' where commit_index = 10`
    await rows(database(directory), flip)
    const { code, stderr } = await refused(directory)
    expect(code).toBe(100)
    expect(lastLine(stderr)).toMatch(/ERROR supervisor .*finality rollback: the stored vertices decide commit 10 /)
    expect(lastLine(stderr)).toContain(String(hash).toLowerCase())
    // After the restart by a service manager the node reports the same problem without checking the database again.
    await rows(database(directory), `update commits set hash = x'${hash}' where commit_index = 10`)
    const again = await refused(directory)
    expect(again).toMatchObject({ code: 100, stdout: "" })
    expect(lastLine(again.stderr)).toMatch(
      /ERROR supervisor .*ended with 100 at .*finality rollback: .*exit-100\.md.*exitCode=100/,
    )
    const unsaid = await udg("recover", "--data-dir", directory)
    expect(unsaid).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("finality rollback: the stored vertices"),
    })
    expect(await udg("doctor", directory)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("ended with 100"),
    })
    expect((await refused(directory)).code).toBe(100)
    // Once the hash is restored and the operator confirms, the node continues: nothing else was changed.
    expect(await udg("recover", "--data-dir", directory, "--yes")).toMatchObject({ code: 0 })
    await goesOn(directory)
    expect(await udg("recover", "--data-dir", directory)).toMatchObject({ code: 0 })
  })

  it(Rest.of("more starts", "ends with 1 when a page is damaged"), async () => {
    const directory = leftBehind("damaged")
    const page = 4_096
    const file = openSync(database(directory), "r+")
    writeSync(file, Buffer.alloc(page, 0x5a), 0, page, 2 * page)
    closeSync(file)
    const { code, stderr } = await refused(directory)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^udg: .*udg\.db is damaged: .*; restore a backup, .*\n$/)
  })

  // SQLite gave the files beside a database the same wrong mode, which blocked later starts.
  it.runIf(hasModes)(
    Rest.of("seven nodes one after the other", "ends with 1 where it may not write, and starts when it may"),
    async () => {
      const directory = leftBehind("not-mine")
      for (const path of [directory, ...readdirSync(directory).map((name) => join(directory, name))]) {
        if (isRoot) chownSync(path, NOBODY, NOBODY)
      }
      for (const [name, mode] of [
        ["udg.db", 0o400],
        ["udg.db", 0o000],
        ["signed.db", 0o400],
        ["genesis.json", 0o000],
        ["validator.key", 0o000],
        [".", 0o500],
      ] as const) {
        const path = join(directory, name)
        const { mode: before } = statSync(path)
        chmodSync(path, mode)
        const node = ordinaryNodeIn(directory)
        const { code } = await node.end()
        expect([name, code]).toEqual([name, 1])
        expect(node.stderr).toMatch(/^udg: [^\n]+\n$/)
        chmodSync(path, before)
      }
      const node = ordinaryNodeIn(directory)
      await node.until(() => /running/.test(node.stderr))
      expect(await node.stop()).toMatchObject({ code: 0 })
    },
  )

  it.runIf(Process.canMount)(
    Rest.of("more starts", "ends with 1 on a read-only file system, and starts when it is writable"),
    async () => {
      const directory = leftBehind("read-only-mount")
      const script = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`
      const words = ["-rm", "sh", "-c", script, directory, process.execPath, program, "--data-dir", directory]
      const node = new Running("unshare", words)
      const { code } = await node.end()
      expect(code).toBe(1)
      expect(node.stderr).toMatch(/^udg: [^\n]+\n$/)
      await goesOn(directory)
    },
  )

  it.runIf(Process.canMount)(
    Rest.of("more starts", "ends with 1 on a full disk, and the database opens afterwards"),
    async () => {
      const directory = place("full")
      const image = place("full.sh")
      // Runs on a private disk until the disk is full, then again with room for both databases' logs.
      writeFileSync(
        image,
        `mount -t tmpfs -o size=3m tmpfs "$1" || exit 99
     "$2" "$3" --data-dir "$1" --port 0 --round-ms 1; echo "full: $?"
     mount -o remount,size=256m "$1"
     timeout -s TERM 5 "$2" "$3" --data-dir "$1" --port 0; echo "roomy: $?"`,
      )
      spawnSync("mkdir", ["-p", directory])
      const node = new Running("unshare", ["-rm", "sh", image, directory, process.execPath, program])
      await node.end()
      expect(node.stdout, node.stderr).toContain("full: 1")
      expect(node.stdout, node.stderr).toMatch(/roomy: (0|124)/)
      expect(node.stderr).toMatch(/udg: no space is left for .*; free some and start again/)
    },
  )
})
