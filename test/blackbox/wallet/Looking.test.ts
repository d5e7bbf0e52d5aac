/** The read verbs, at a terminal of eighty columns and from a script. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type FundedAccount, startNode } from "../../../src/testing/Testing.js"
import { forTests } from "../../support/forTests.js"
import * as Rest from "../../support/Rest.js"
import { Person } from "./Person.js"

// Some steps start a process.

const node = forTests(() => startNode({ roundMs: 50, accounts: 2, coinsEach: COINS }))
let alice: FundedAccount
let bob: FundedAccount
let person: Person
let paid = ""
let vertex = ""
let round = 0

const COINS = 1_234_567

beforeAll(async () => {
  const [first, second] = node().accounts
  if (first === undefined || second === undefined) throw new Error("the test node has two accounts")
  alice = first
  bob = second
  person = new Person({ UDG_NODE: node().url })
  writeFileSync(join(person.home, "alice.key"), alice.secretKey.toSecretHex(), { mode: 0o600 })
  const payment = { to: second.address, amount: 123_456_789_012, fee: 1_000, nonce: 0, memo: "for the coffee" }
  const { tx_hash } = await node().client.transactions.submit({ payload: alice.transfer(payment) })
  const naming = alice.registerName({ name: "alice", fee: 100_000, nonce: 1 })
  await node().client.waitFor((await node().client.transactions.submit({ payload: naming })).tx_hash)
  const outcome = await node().client.waitFor(tx_hash)
  paid = tx_hash
  vertex = outcome.vertex_hash ?? ""
  round = outcome.round ?? 0
})
afterAll(() => person.leave())

const COLUMNS = 80

/** What this line shows at a terminal with this many columns. */
const seen = async (line: string): Promise<string> => {
  const terminal = person.sit(`stty columns ${COLUMNS}; ${line}`)
  expect(await terminal.end()).toBe(0)
  return terminal.screen.trimEnd()
}

const json = async (...words: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await person.udg(...words, "--json")
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return JSON.parse(stdout)
}

describe("the read verbs", () => {
  it(Rest.of("a program for each verb", "fit eighty columns, with digits in groups of three"), async () => {
    const calls = [
      ["status"],
      ["balance", "@alice"],
      ["history", "@alice"],
      ["tx", paid],
      ["round", String(round)],
      ["vertex", vertex],
      ["validators"],
      ["mempool"],
      ["peers"],
      ["parameters"],
      ["proposals"],
    ]
    const screens: Array<string> = []
    for (const words of calls) screens.push((await person.within(COLUMNS, ...words)).stdout)
    screens.push(await seen("udg history @alice"))
    expect(screens.flatMap((screen) => screen.split("\n")).filter((line) => line.length > COLUMNS)).toEqual([])
    expect(screens.every((screen) => screen !== "")).toBe(true)
    expect(await seen("udg balance @alice")).toContain("1,233,332.43109988 UDG")
  })

  it("list a history that adds up to the balance, newest first, and continues where a page ends", async () => {
    const whole = await json("history", "@alice")
    expect(whole.entries.map(({ kind, change }: { kind: string; change: number }) => [kind, change])).toEqual([
      ["sent", -100_000],
      ["sent", -123_456_790_012],
      ["genesis", COINS * 100_000_000],
    ])
    expect(whole).toMatchObject({ address: alice.address, balance: 123_333_243_109_988, next_cursor: null })
    const first = await json("history", "--key", "alice.key", "--limit", "1")
    expect(first.entries).toEqual(whole.entries.slice(0, 1))
    const rest = await json("history", "@alice", "--cursor", first.next_cursor)
    expect(rest.entries).toEqual(whole.entries.slice(1))
    const screen = await seen("udg history @alice")
    expect(screen).toMatch(/^20\d\d-\d\d-\d\d \d\d:\d\d +RegisterName +-0\.001 +[0-9a-f]+…[0-9a-f]+$/m)
    expect(screen).toMatch(/ sent +-1,234\.56790012 +tudg1[0-9a-z]*…[0-9a-z]+ +[0-9a-f]+…[0-9a-f]+$/m)
    expect(screen).toMatch(/ genesis +\+1,234,567$/m)
  })

  it("show a round and a vertex that lead to the transaction", async () => {
    expect((await json("round", String(round))).vertices.map(({ hash }: { hash: string }) => hash)).toContain(vertex)
    const { stdout } = await person.udg("vertex", vertex)
    expect(stdout).toMatch(new RegExp(`^vertex +${vertex}\nstatus +final\nround +${round}$`, "m"))
    expect(stdout).toMatch(new RegExp(`^${paid} +Transfer +0\\.00001 UDG +applied$`, "m"))
    const unknown = await person.udg("vertex", "ab".repeat(32))
    expect(unknown).toMatchObject({ code: 7, stdout: "" })
    const last = await person.udg("round")
    expect(last.stdout).toMatch(/^round +[\d,]+\nstatus +final$/m)
  })

  it("accept a hash by its beginning, and by the ends that a list shows", async () => {
    const [, shown = ""] =
      / ([0-9a-f]+…[0-9a-f]+)$/m.exec((await seen("udg history @alice")).split("\n")[5] ?? "") ?? []
    expect(paid.startsWith(shown.split("…")[0] ?? " ")).toBe(true)
    for (const short of [paid.slice(0, 12), paid.slice(0, 12).toUpperCase(), shown]) {
      expect(await json("tx", short)).toMatchObject({ hash: paid })
      expect(await json("watch", short)).toMatchObject({ hash: paid, status: "finalized" })
    }
    expect(await json("vertex", vertex.slice(0, 12))).toMatchObject({ hash: vertex })
    const none = await person.udg("tx", `${paid.slice(0, 12)}…${paid.endsWith("0") ? "1" : "0"}`)
    expect(none).toMatchObject({ code: 7, stdout: "" })
    expect(none.stderr).toContain("knows no transaction")
    expect((await person.udg("tx", "abc")).stderr).toContain("or the first ones, at least four")
  })

  it("show parameters with their units and bounds", async () => {
    const { stdout: screen } = await person.within(COLUMNS, "parameters")
    expect(screen).toMatch(/^min_fee_sats +1,000 sats +1 +100,000,000$/m)
    expect(screen).toMatch(/^round_interval_ms +50 ms$/m)
    expect(await json("parameters")).toMatchObject({ round_interval_ms: 50, min_fee_sats: 1000 })
  })

  it("show a transaction in the mempool until it is in a vertex", async () => {
    const waiting = alice.transfer({ to: alice.address, amount: 100_000_000, fee: 2_000, nonce: 4 })
    const { tx_hash } = await node().client.transactions.submit({ payload: waiting })
    const { stdout } = await person.udg("mempool")
    expect(stdout).toMatch(new RegExp(`^${tx_hash} +Transfer +tudg1\\w+ +4 +1 +0\\.00002 +\\d+ s$`, "m"))
    expect((await person.within(COLUMNS, "peers")).stdout).toMatch(/^connected +0\n\nno peers\n$/)
  })

  it("show a name beside its address, to people", async () => {
    const naming = bob.registerName({ name: "bob", fee: 100_000, nonce: 0 })
    await node().client.waitFor((await node().client.transactions.submit({ payload: naming })).tx_hash)
    expect(await seen("udg history @alice")).toMatch(/ sent +-1,234\.56790012 +@bob [0-9a-z]*…[0-9a-z]+ /)
    const { stdout } = await person.udg("history", "@alice")
    expect(stdout).toMatch(new RegExp(` -1,234\\.56790012 +@bob ${bob.addressBech32} +${paid}$`, "m"))
    expect((await json("history", "@alice")).entries.at(-2)).toMatchObject({ counterparty: bob.address })
  })
})

describe("colour", () => {
  /** The raw terminal output, with escape sequences. */
  const painted = async (line: string, environment: Readonly<Record<string, string>> = {}): Promise<string> => {
    const terminal = person.sit(line, environment)
    await terminal.end()
    return terminal.raw
  }
  const ESCAPE = "\u001b"
  const matching = (pattern: string) => expect.stringMatching(new RegExp(pattern.replaceAll("<", `${ESCAPE}\\[`)))

  it(Rest.of("a program for each verb", "marks states, amounts and addresses on a terminal"), async () => {
    expect(await painted("udg status")).toEqual(matching("<3[123]m\\w+<0m"))
    const balance = await painted("udg balance @alice")
    expect(balance).toEqual(matching("<1m[\\d,.]+ UDG<0m"))
    expect(balance).toEqual(matching("<2mtudg1\\w+<0m"))
    expect(await painted("udg history @alice")).toEqual(matching("<32m\\+1,234,567<0m"))
    const outcome = await painted(`udg tx ${paid}`)
    expect(outcome).toEqual(matching("<32mfinal in round [\\d,]+<0m"))
    expect(outcome).toContain("memo    for the coffee")
    expect(await painted("udg parameters")).toEqual(matching("<1m50 ms<0m"))
    expect(await painted(`udg tx ${"ab".repeat(32)}`)).toEqual(matching("^<31mudg:<0m "))
  })

  it("is off with NO_COLOR, on a dumb terminal, without a terminal, and in JSON", async () => {
    const raw = await Promise.all([
      painted("udg balance @alice", { NO_COLOR: "1" }),
      painted("udg history @alice", { NO_COLOR: "1" }),
      painted("udg history @alice", { TERM: "dumb" }),
      painted("udg history @alice | cat"),
      painted("udg balance @alice --json"),
      painted("udg history @alice --json"),
    ])
    for (const each of raw) {
      expect(each.length).toBeGreaterThan(100)
      expect(each).not.toContain(ESCAPE)
    }
  })
})
