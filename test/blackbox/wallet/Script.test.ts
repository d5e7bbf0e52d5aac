/** The wallet as a script uses it: JSON, pipes, exit codes, and no terminal. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Wallet from "../../../src/client/Wallet.js"
import { type FundedAccount, startNode } from "../../../src/testing/Testing.js"
import { forTests } from "../../support/forTests.js"
import * as Rest from "../../support/Rest.js"
import { type Outcome, udg } from "../InProcess.js"
import { PASSPHRASE, Person } from "./Person.js"

// Most steps start a process, and each passphrase deliberately takes half a second.

const node = forTests(() => startNode({ roundMs: 50 }))
let alice: Person
let bob: FundedAccount
let rich: FundedAccount
let richFile = ""

/** A key file like a node's. */
const keyFile = (name: string, { secretKey }: FundedAccount, mode = 0o600): string => {
  const path = join(alice.home, name)
  writeFileSync(path, `${secretKey.toSecretHex()}\n`)
  chmodSync(path, mode)
  return path
}

beforeAll(async () => {
  alice = new Person({ UDG_NODE: node().url })
  const [first, second] = node().accounts
  if (first === undefined || second === undefined) throw new Error("a test node has accounts")
  ;[rich, bob] = [first, second]
  richFile = keyFile("rich.key", rich)
})
afterAll(() => alice.leave())

/** Calls the program in this process, for steps without a passphrase or a shell. */
const asked = (...[verb = "", ...words]: ReadonlyArray<string>): Promise<Outcome> =>
  udg(verb, ...(words.includes("--node") ? [] : ["--node", node().url]), ...words)

const balanceOf = async (address: string) => (await node().client.core.balance({ path: { address } })).balance

describe("the wallet in a script", () => {
  it("makes a key, gets coins, and pays, with JSON as its only output", async () => {
    const { code, stdout, stderr } = await alice.script(
      `udg keygen --json && udg faucet 50 --json && udg send ${bob.address} 0.00000001 --json && udg balance --json`,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const [key, gift, payment, balance] = JSON.parse(`[${stdout.replaceAll("\n}\n{", "\n},{")}]`)
    expect(key).toMatchObject({ file: join(alice.home, ".udg/wallet.key"), address: balance.address })
    expect(gift).toMatchObject({ status: "finalized", applied: true, transaction: { to: key.address, amount: 5e9 } })
    expect(payment).toMatchObject({ status: "finalized", applied: true, transaction: { amount: 1, fee: 1000 } })
    expect(balance).toMatchObject({ balance: 5e9 - 1001, next_nonce: 1, delegation: null, stake: { staked_amount: 0 } })
    expect(stdout).not.toContain("horse")
  })

  it("accepts words and arguments in any order, and arguments that look like options after --", async () => {
    const before = await balanceOf(bob.address)
    const { code } = await asked("send", "--key", richFile, "--json", bob.address, "--memo=--json", "--", "1")
    expect(code).toBe(0)
    expect((await balanceOf(bob.address)) - before).toBe(Wallet.sats("1"))
  })

  it("returns the hash at once with --no-wait, for tx and pipes", async () => {
    const line = `udg send ${bob.address} 1 --key rich.key --no-wait --json | jq_hash | xargs -I{} sh -c 'echo {}'`
    const { stdout } = await alice.script(`jq_hash() { sed -n 's/.*"hash": "\\(.*\\)".*/\\1/p'; }; ${line}`)
    expect(stdout).toMatch(/^[0-9a-f]{64}\n$/)
    expect((await node().finalized(stdout.trim() as never)).applied).toBe(true)
    const { stdout: shown } = await asked("tx", stdout.trim())
    expect(shown).toContain(`hash    ${stdout.trim()}\nstatus  final in round `)
    expect(shown).toContain(`to      ${bob.addressBech32}\n`)
  })

  it("accepts a fee, a nonce and a network", async () => {
    const { next_nonce: nonce } = await node().client.core.balance({ path: { address: rich.address } })
    const { networkId } = node().network
    const words = ["--fee", "0.001", "--nonce", String(nonce), "--network", networkId, "--json"]
    const { code, stdout } = await asked("send", bob.address, "1", "--key", richFile, ...words)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).transaction).toMatchObject({ nonce, fee: 100_000, from: rich.address })
  })

  it("prints tables and sheets whole and plain in a pipe", async () => {
    const { stdout } = await alice.script("udg validators | cat")
    expect(stdout).toMatch(/^VALIDATOR +STAKE +SHARE +COMMISSION +DELEGATORS +STATE\ntudg1[0-9a-z]{38,} +100,000 UDG/)
    expect((await asked("status")).stdout).toContain(`network  ${node().network.networkId} (testnet)\n`)
    expect((await asked("proposals")).stdout).toContain("there are no proposals\n")
    expect(stdout).not.toContain("\u001b")
  })
})

describe("a key file", () => {
  it(
    Rest.of(
      "key files are slow to open",
      "is encrypted: it does not contain the key, and another passphrase does not open it",
    ),
    async () => {
      await alice.udg("keygen", "--from", "rich.key", "--key", "sealed.key")
      const sealed = readFileSync(join(alice.home, "sealed.key"), "utf8")
      expect(sealed).not.toContain(rich.secretKey.toSecretHex())
      expect(JSON.parse(sealed).public_key).toBe(rich.publicKey)
      const right = await alice.script(`udg send ${bob.address} 1 --key sealed.key`)
      const wrong = await alice.script(`udg send ${bob.address} 1 --key sealed.key`, {
        UDG_PASSPHRASE: "Correct horse",
      })
      expect(right.code).toBe(0)
      expect(wrong).toEqual({
        code: 2,
        stdout: "",
        stderr: "udg: the passphrase is wrong, or the file was modified\n",
      })
    },
  )

  it("is never overwritten", async () => {
    const file = join(alice.home, "rich.key")
    const before = readFileSync(file, "utf8")
    const { code, stderr } = await udg("keygen", "--key", file)
    expect(code).toBe(2)
    expect(stderr).toBe(`udg: ${file} exists, and a key is never overwritten; choose another --key\n`)
    expect(readFileSync(file, "utf8")).toBe(before)
  })

  it.each([
    [
      "is not there",
      "none.key",
      "udg: there is no key in FILE; make one with udg keygen, or name its file with --key\n",
    ],
    ["others may read", "open.key", "udg: key file FILE: others may read it (mode 0644); run: chmod 600 FILE\n"],
    ["is no key", "junk.key", "udg: key file FILE: expected 64 hex characters, found something else\n"],
    ["is cut off", "cut.key", "udg: key file FILE: it is damaged, or not a key file of this program\n"],
  ])("that %s is refused, without a word of its contents", async (_, name, complaint) => {
    keyFile("open.key", bob, 0o644)
    writeFileSync(join(alice.home, "junk.key"), "zz", { mode: 0o600 })
    writeFileSync(join(alice.home, "cut.key"), '{"udg_key":1,"content":"ab', { mode: 0o600 })
    const file = join(alice.home, name)
    const { code, stdout, stderr } = await asked("send", bob.address, "1", "--key", file)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: complaint.replaceAll("FILE", file) })
  })

  it("needs a passphrase, which is neither read from a pipe nor waited for", async () => {
    const { code, stderr } = await alice.script(`echo '${PASSPHRASE}' | udg keygen --key piped.key`, {})
    expect(code).toBe(2)
    expect(stderr).toBe(
      "udg: a passphrase is needed to encrypt the key, and there is no terminal to ask on; set UDG_PASSPHRASE\n",
    )
    const short = await alice.script("udg keygen --key short.key", { UDG_PASSPHRASE: "short" })
    expect(short.stderr).toBe("udg: the passphrase is too short; it needs at least 10 characters\n")
  })

  it("given as the key itself is not repeated", async () => {
    const { code, stderr } = await asked("send", bob.address, "1", "--key", rich.secretKey.toSecretHex())
    expect(code).toBe(1)
    expect(stderr).toContain("(not shown: it looks like a key")
    expect(stderr).not.toContain(rich.secretKey.toSecretHex())
  })
})

describe("exit codes", () => {
  it.each([
    ["send", "@bob"],
    ["send", "nonsense", "1", "--key", "rich.key"],
    ["balance", "--node", "ftp://x"],
  ])("are 1 for wrong usage: %j %j", async (...words) => {
    const there = words.map((word) => (word.endsWith(".key") ? join(alice.home, word) : word))
    const { code, stdout, stderr } = await asked(...there)
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^udg: [^\n]+\n$/)
  })

  it("are 3 where no node answers", async () => {
    const { server, url } = await listening(() => {})
    server.close()
    const { code, stderr } = await asked("status", "--node", url)
    expect(code).toBe(3)
    expect(stderr).toBe(
      `udg: no node answers at ${url}: nothing listens there; start one, or name another with --node or UDG_NODE\n`,
    )
  })

  it("are 3 where something else answers", async () => {
    const other = await listening((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"))
    const { code, stderr } = await asked("status", "--node", other.url)
    other.server.close()
    expect(code).toBe(3)
    expect(stderr).toContain("it does not answer like a udg node of this version")
  })

  it("are 4 where the node refuses, with its code", async () => {
    const poor = await asked("send", bob.address, "9999999", "--key", richFile)
    expect(poor.code).toBe(4)
    expect(poor.stderr).toMatch(/^udg: the node refuses \(InsufficientBalance\): /)
  })

  it("are 7, at once, for a watched transaction that was never sent", async () => {
    const { code, stderr } = await asked("watch", "ab".repeat(32))
    expect(code).toBe(7)
    expect(stderr).toContain(`knows no transaction ${"ab".repeat(32)}; it may never have been sent`)
  })

  it("are 1 for an amount above all coins, with the reason", async () => {
    for (const amount of ["21000001", "999999999999", "21000000.00000001"]) {
      const { code, stderr } = await asked("send", bob.address, amount)
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `udg: AMOUNT "${amount}" is more than the maximum supply; use at most 21000000\n`,
      })
    }
  })

  it("are 7 for an unknown subject", async () => {
    const unknown = await asked("tx", "ab".repeat(32))
    expect(unknown).toMatchObject({ code: 7, stdout: "" })
    expect(unknown.stderr).toMatch(/^udg: the node refuses \(TransactionNotFound\): /)
    const nobody = await asked("balance", "@nobody")
    expect(nobody).toEqual({ code: 7, stdout: "", stderr: "udg: the name @nobody is not registered\n" })
  })
})

const listening = (onConnection: Parameters<typeof createServer>[1] & object) =>
  new Promise<{ readonly server: Server; readonly url: string }>((settle) => {
    const server = createServer(onConnection).listen(0, "127.0.0.1", () => {
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("it listens on a port")
      settle({ server, url: `http://127.0.0.1:${address.port}` })
    })
  })
