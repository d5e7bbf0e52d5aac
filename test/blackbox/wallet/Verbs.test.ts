/** Verbs that docs/cli.md does not show: staking, watching, signing on separate machines, and failures. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Wallet from "../../../src/client/Wallet.js"
import { type FundedAccount, startNode } from "../../../src/testing/Testing.js"
import { forTests } from "../../support/forTests.js"
import * as Rest from "../../support/Rest.js"
import { Person, typed } from "./Person.js"

// Each step starts a process, and each passphrase deliberately takes half a second.

const EACH = "each step is a program of its own"

const node = forTests(() => startNode({ roundMs: 50, coinsEach: 10_000, parameters: { cooldownRounds: 100_000 } }))
let person: Person
beforeAll(async () => {
  person = new Person({ UDG_NODE: node().url })
  node().accounts.forEach(({ secretKey }, i) => {
    writeFileSync(join(person.home, `${i}.key`), secretKey.toSecretHex(), { mode: 0o600 })
  })
})
afterAll(() => person.leave())

const account = (i: number): FundedAccount => {
  const found = node().accounts[i]
  if (found === undefined) throw new Error(`the test node has no account ${i}`)
  return found
}

const next = async (i: number) =>
  (await node().client.core.balance({ path: { address: account(i).address } })).next_nonce

/** The program's JSON output. */
const said = (stdout: string): Record<string, unknown> => JSON.parse(stdout)

const fileOf = (name: string) => JSON.parse(readFileSync(inHome(name), "utf8"))

const inHome = (name: string): string => join(person.home, name)

describe(Rest.of(EACH, "protocol versions"), () => {
  it("warns before it signs a proposal for one that the program does not know", async () => {
    const warning =
      /^warning: this program knows protocol versions up to 3, not 4: if the vote passes, every node that runs it stops/
    const unknown = await person.udg("propose", "Next", "--set", "protocol_version=4", "--key", "0.key")
    expect(unknown.stderr).toMatch(warning)
    const known = await person.udg("propose", "Next", "--set", "protocol_version=3", "--key", "0.key")
    expect(known.stderr).not.toContain("warning")
  })

  it("names the vote that a change of a validator's key needs", async () => {
    await person.udg("genesis", "key", "--out", "next.key")
    const { code, stderr } = await person.udg("rotate-key", "next.key", "--key", "0.key")
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining("a vote must put version 3 in force first: see docs/operations/upgrade.md"),
    ])
  })
})

describe(Rest.of(EACH, "staking"), () => {
  it("makes a validator, sets its commission, and ends it", async () => {
    const little = await person.udg("stake", "1999.99999999", "--key", "0.key")
    expect(little).toEqual({
      code: 1,
      stdout: "",
      stderr: "udg: a stake is at least 2,000 UDG, also when adding to one; stake more\n",
    })
    expect((await person.udg("stake", "2000", "--key", "0.key")).code).toBe(0)
    expect((await person.udg("set-commission", "7", "--key", "0.key")).code).toBe(0)
    const { stdout } = await person.udg("balance", "--key", "0.key")
    expect(stdout).toMatch(/^staked +2,000 UDG\nvalidator +active, 0 delegators, commission 7 %$/m)
    expect((await person.udg("unstake", "--key", "0.key")).code).toBe(0)
    const left = await person.udg("balance", "--key", "0.key", "--json")
    expect(said(left.stdout)["stake"]).toMatchObject({ unstaking: true, commission_percent: 7 })
  })
})

describe(Rest.of(EACH, "a final transaction without effect"), () => {
  it("ends with 6 and the reason", async () => {
    const nonce = await next(1)
    // The node accepts both while the account has no name; the second is executed when it has one.
    const second = person.udg("name", "second", "--nonce", String(nonce + 1), "--key", "1.key", "--json")
    const isWaiting = async () => (await node().client.core.mempool()).some(({ from }) => from === account(1).address)
    while (!(await isWaiting())) await node().client.core.status()
    await node().client.transactions.submit({
      payload: account(1).registerName({ name: "first", fee: 100_000, nonce }),
    })
    const { code, stdout, stderr } = await second
    expect(code).toBe(6)
    expect(said(stdout)).toMatchObject({ status: "finalized", applied: false, transaction: { name: "second" } })
    expect(stderr).toBe(`udg: it is final, but only its fee was taken: ${said(stdout)["failure"]}\n`)
    const watched = await person.udg("watch", String(said(stdout)["hash"]))
    expect(watched).toMatchObject({ code: 6, stdout: expect.stringContaining("but not applied\n") })
  })
})

describe(Rest.of(EACH, "watching"), () => {
  /** Starts a command and yields its lines as they arrive. */
  const lines = (line: string) => {
    const child = spawn("bash", ["-c", `${person.shell}exec ${line}`.replace("exec udg", "udg")], {
      env: person.environment(),
      stdio: ["ignore", "pipe", "inherit"],
    })
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part
    })
    const until = async (what: RegExp): Promise<string> => {
      for (;;) {
        const found = what.exec(text)?.[0]
        if (found !== undefined) return found
        await once(child.stdout, "data")
      }
    }
    return { until, end: once(child, "close") }
  }

  it("follows a transaction until it is final", async () => {
    const payment = account(2).transfer({ to: account(3).address, amount: 5, fee: 1000, nonce: await next(2) })
    const { tx_hash } = await node().client.transactions.submit({ payload: payment })
    const { code, stdout } = await person.udg("watch", tx_hash, "--json")
    expect(code).toBe(0)
    expect(said(stdout)).toMatchObject({ hash: tx_hash, status: "finalized", applied: true })
  })

  it("shows an account's receipts and payments, a line each, and ends when its output is closed", async () => {
    const { until, end } = lines(`udg watch ${account(4).address} | head -2`)
    let nonce = await next(5)
    const pay = async () => {
      const payment = { to: account(4).address, amount: 250_000_000, fee: 1000, memo: "tip\u001b[2J" }
      await node().client.transactions.submit({ payload: account(5).transfer({ ...payment, nonce: nonce++ }) })
    }
    // It shows only what happens after its start, and does not report when it started. So payments repeat until one is
    // shown.
    const first = until(/^.+\n/)
    let isSeen = false
    const seen = first.then(() => {
      isSeen = true
    })
    while (!isSeen) {
      await pay()
      await Promise.race([seen, sleep(500)])
    }
    expect(await first).toMatch(
      new RegExp(`^\\S+Z  received 2\\.5 UDG from ${account(5).addressBech32}: tip\\\\u001b\\[2J  [0-9a-f]{64}\\n$`),
    )
    for (let i = 0; i < 3; i++) await pay()
    await end
  })

  it("shows events as they happen, each a JSON object on a line", async () => {
    const { stdout, code } = await person.script("udg events --json | head -5")
    expect(code).toBe(0)
    const types = stdout
      .trimEnd()
      .split("\n")
      .map((line) => said(line)["type"])
    expect(types).toHaveLength(5)
    expect(["round", "vertex", "transaction", "alert", "reset"]).toEqual(expect.arrayContaining([...new Set(types)]))
  })
})

describe(Rest.of(EACH, "several keys"), () => {
  it("sign separately, and their copies are sent as one", async () => {
    const keys = [account(6), account(7), account(8)].map(({ publicKey }) => publicKey)
    expect((await person.script(`udg policy 2 ${keys.join(" ")} --key 6.key`)).code).toBe(0)
    const shown = await person.udg("balance", account(6).address)
    expect(shown.stdout).toMatch(new RegExp(`^signed by +2 of 3 keys\n +${keys.join("\n +")}$`, "m"))
    const alone = await person.udg("send", account(9).address, "1", "--key", "6.key")
    expect(alone.code).toBe(1)
    expect(alone.stderr).toContain("several keys sign for this account")
    const line = `udg send ${account(9).address} 1 --from ${account(6).addressBech32} --out a.json --json && cp a.json b.json`
    const written = await person.script(line)
    expect(written).toMatchObject({ code: 0, stderr: "" })
    expect((await person.udg("multisig", "sign", "a.json", "--key", "7.key")).code).toBe(0)
    expect((await person.udg("multisig", "sign", "b.json", "--key", "8.key")).code).toBe(0)
    const twice = await person.udg("multisig", "sign", "a.json", "--key", "7.key")
    expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining("has signed it already") })
    const few = await person.udg("multisig", "submit", "a.json")
    expect(few).toMatchObject({ code: 1, stderr: expect.stringContaining("1 of 2 have signed") })
    const seen = await person.udg("multisig", "show", "a.json")
    expect(seen.stdout).toContain("signed    1 of 2, still needs 1 of these keys\n")
    expect(seen.stdout).toMatch(new RegExp(`^by +${keys[1]}\nmay sign +${keys[0]}\n +${keys[2]}$`, "m"))
    const stranger = await person.udg("multisig", "sign", "a.json", "--key", "9.key")
    expect(stranger).toMatchObject({ code: 1, stderr: expect.stringContaining("does not sign for this account") })
    // A copy with a stranger's valid signature, written into the file by hand.
    const unsigned = Wallet.parseUnsigned(node().network, fileOf("b.json").transaction)
    const forged = Wallet.cosign(unsigned, account(9).secretKey)
    const spoilt = { ...fileOf("b.json"), policy: { threshold: 1, keys: [account(9).publicKey] } }
    spoilt.signatures = [...spoilt.signatures, { pub_key: forged.publicKey, signature: forged.signature }]
    writeFileSync(inHome("spoilt.json"), JSON.stringify(spoilt))
    const { code, stdout } = await person.udg("multisig", "submit", "a.json", "b.json", "spoilt.json", "--json")
    expect(code).toBe(0)
    expect(said(stdout)).toMatchObject({ hash: said(written.stdout)["hash"], applied: true })
  })

  it("do not sign a changed file, and count no signature of something else", async () => {
    await person.udg("send", account(9).address, "1", "--from", account(6).address, "--out", "c.json")
    await person.udg("multisig", "sign", "c.json", "--key", "7.key")
    const file = JSON.parse(readFileSync(inHome("c.json"), "utf8"))
    let copies = 0
    const refused = async (change: object, complaint: string) => {
      const copy = `changed-${copies++}.json`
      writeFileSync(inHome(copy), JSON.stringify({ ...file, ...change }))
      const { code, stdout, stderr } = await person.udg("multisig", "show", copy)
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
      expect(stderr).toContain(`udg: ${copy}: ${complaint}`)
    }
    await Promise.all([
      refused({ transaction: { ...file.transaction, amount: 9e8 } }, "the signature of "),
      refused({ network_id: "another" }, "the signature of "),
      refused({ transaction: { ...file.transaction, amount: -1 } }, "amount: "),
      refused({ transaction: { ...file.transaction, extra: 1 } }, "extra"),
      refused({ transaction: null }, "a transaction is a JSON object"),
      refused({ more: 1 }, "not a file of signatures"),
    ])
  })

  it("of one account act as one, and may sign without a node", async () => {
    const nowhere = { UDG_NODE: "http://127.0.0.1:1" }
    await person.udg("send", account(4).address, "3", "--key", "9.key", "--out", "cold.json")
    expect((await person.script("udg multisig sign cold.json --key 9.key", nowhere)).code).toBe(0)
    const { code, stdout } = await person.udg("multisig", "submit", "cold.json", "--json")
    expect(code).toBe(0)
    expect(said(stdout)).toMatchObject({ applied: true, transaction: { pub_key: account(9).publicKey } })
  })

  it("overwrite no file, and name the network they sign for", async () => {
    writeFileSync(inHome("mine.json"), "mine")
    const { code, stderr } = await person.udg("send", account(4).address, "3", "--key", "9.key", "--out", "mine.json")
    expect(code).toBe(1)
    expect(stderr).toContain("exists and is not overwritten")
    expect(readFileSync(inHome("mine.json"), "utf8")).toBe("mine")
    const other = await person.script(typed("multisig", "show", "cold.json", "--network", "my-net"))
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("not for the one in --network") })
  })
})
