/** The wallet at a terminal of its own. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Wallet from "../../../src/client/Wallet.js"
import * as SealedKey from "../../../src/protocol/identity/SealedKey.js"
import * as KeySealing from "../../../src/storage/files/KeySealing.js"
import { type FundedAccount, startNode } from "../../../src/testing/Testing.js"
import { forTests } from "../../support/forTests.js"
import * as Rest from "../../support/Rest.js"
import { PASSPHRASE, Person } from "./Person.js"

// Each step starts a process.

const ENTER = "\r"
const CTRL_C = "\u0003"
const CTRL_D = "\u0004"
const CTRL_U = "\u0015"
const BACKSPACE = "\u007f"
const LEFT = "\u001b[D"
const WIPED = "\r\u001b[K"

/** Prints the exit code, and whether the terminal echoes input again. */
const thenLook = '; echo "code $?"; stty | grep -q -- "-echo" && echo mute || echo audible'

/**
 * The lowest work factor that the program opens. Keys made by the program deliberately take half a second per
 * passphrase.
 */
const LEAST_COST = 2 ** 14
const SLOW_COST = 2 ** 18

const node = forTests(() => startNode({ roundMs: 50 }))
let alice: Person
let own: FundedAccount

beforeAll(async () => {
  alice = new Person({ UDG_NODE: node().url })
  const [funded] = node().accounts
  if (funded === undefined) throw new Error("a test node has accounts")
  own = funded
  mkdirSync(join(alice.home, ".udg"), { mode: 0o700 })
  const sealed = await Effect.runPromise(KeySealing.seal(own.secretKey, PASSPHRASE, LEAST_COST))
  writeFileSync(join(alice.home, ".udg/wallet.key"), SealedKey.print(sealed), { mode: 0o600 })
})
afterAll(() => alice.leave())

const bob = () => node().accounts[1]?.addressBech32 ?? ""

describe("making a key", () => {
  it("asks twice for the passphrase, shows neither, and keeps the key for its owner alone", async () => {
    const terminal = alice.sit(`udg keygen --key second.key${thenLook}`)
    await terminal.see("New passphrase")
    terminal.type(`${PASSPHRASE}${ENTER}`)
    await terminal.see("Repeat the passphrase")
    terminal.type(`${PASSPHRASE}${ENTER}`)
    await terminal.see("code 0\naudible")
    await terminal.end()
    const file = join(alice.home, "second.key")
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(terminal.raw).not.toContain("horse")
    const { stdout } = await alice.script("udg address --key second.key --json")
    expect(JSON.parse(readFileSync(file, "utf8")).public_key).toBe(JSON.parse(stdout).public_key)
  })

  it("refuses a short passphrase before it is typed again", async () => {
    const terminal = alice.sit("udg keygen --key third.key; echo code $?")
    await terminal.see("New passphrase")
    terminal.type(`short${ENTER}`)
    await terminal.see("code 2")
    await terminal.end()
    expect(terminal.raw).not.toContain("Repeat the passphrase")
  })

  it("writes nothing where the two differ", async () => {
    const terminal = alice.sit(`udg keygen --key never.key${thenLook}; ls`)
    await terminal.see("New passphrase")
    // Pasted together: input typed ahead answers the next question, and is hidden too.
    terminal.type(`${PASSPHRASE}${ENTER}${PASSPHRASE}!${ENTER}`)
    await terminal.see("code 2\naudible")
    await terminal.end()
    expect(terminal.text).toContain("udg: the two passphrases differ; nothing was written")
    expect(terminal.text).not.toContain("never.key\n")
    expect(terminal.raw).not.toContain("horse")
  })
})

describe("paying", () => {
  it("shows the payment, asks for the passphrase, shows progress, and reports finality", async () => {
    const before = await node().client.core.balance({ path: { address: bob() } })
    const terminal = alice.sit(`udg send ${bob()} 2.5 --memo 'for the ☕'${thenLook}`)
    await terminal.see(`Passphrase of ${alice.home}/.udg/wallet.key: `)
    expect(terminal.text).toContain("send     2.5 UDG")
    expect(terminal.text).toContain(`to       ${bob()}`)
    expect(terminal.text).toContain("memo     for the ☕")
    expect(terminal.text).toContain("fee      0.00001 UDG")
    expect(terminal.text).toContain(`network  ${node().network.networkId}`)
    terminal.type(`${PASSPHRASE}${ENTER}`)
    await terminal.see("code 0\naudible")
    await terminal.end()
    expect(terminal.text).toContain("waiting until it is final … 0 s")
    expect(terminal.text).toMatch(/status {2}final in round \d+\n/)
    // The waiting line is erased before any other output.
    expect(terminal.raw.split(WIPED).at(-1)).toMatch(/^hash /)
    expect(terminal.raw).not.toContain("horse")
    const after = await node().client.core.balance({ path: { address: bob() } })
    expect(after.balance - before.balance).toBe(Wallet.sats("2.5"))
  })

  it(
    Rest.of("key files are slow to open", "lets a passphrase be corrected while it is typed, and be wrong twice"),
    async () => {
      const terminal = alice.sit(`udg send ${bob()} 1${thenLook}`)
      await terminal.see("wallet.key: ")
      terminal.type(`wrong passphrase${ENTER}`)
      await terminal.see(/the passphrase is wrong[\s\S]*wallet\.key: $/)
      terminal.type(`wrong again${CTRL_U}still wrong${ENTER}`)
      await terminal.see(/(?:the passphrase is wrong[\s\S]*){2}wallet\.key: $/)
      terminal.type(`nonsense${CTRL_U}${PASSPHRASE}é${LEFT}${BACKSPACE}${ENTER}`)
      await terminal.see("code 0\naudible")
      await terminal.end()
      expect(terminal.raw).not.toMatch(/horse|nonsense|still/)
    },
  )

  it("gives up after three wrong passphrases, and sends nothing", async () => {
    const { nonce } = await node().client.core.balance({ path: { address: own.address } })
    const terminal = alice.sit(`udg send ${bob()} 1${thenLook}`)
    for (let i = 1; i <= 3; i++) {
      await terminal.see(new RegExp(`(?:Passphrase of[\\s\\S]*){${i}}wallet\\.key: $`))
      terminal.type(`wrong${ENTER}`)
    }
    await terminal.see("code 2\naudible")
    await terminal.end()
    expect((await node().client.core.balance({ path: { address: own.address } })).next_nonce).toBe(nonce)
  })

  it.each([
    ["Ctrl-C", CTRL_C],
    ["Ctrl-D", CTRL_D],
    ["Ctrl-C in the middle", `corr${CTRL_C}`],
  ])("sends nothing and restores the terminal after %s at the passphrase", async (_, keys) => {
    const { nonce } = await node().client.core.balance({ path: { address: own.address } })
    const terminal = alice.sit(`udg send ${bob()} 1${thenLook}`)
    await terminal.see("wallet.key: ")
    terminal.type(keys)
    await terminal.see("code 130\naudible")
    await terminal.end()
    expect(terminal.text).not.toContain("udg:")
    expect((await node().client.core.balance({ path: { address: own.address } })).next_nonce).toBe(nonce)
  })
})

describe("a wrong passphrase", () => {
  it(Rest.of("a key file slower than others", "can be cancelled while it is checked"), async () => {
    // The check must take longer than typing a key.
    const sealed = await Effect.runPromise(KeySealing.seal(own.secretKey, PASSPHRASE, SLOW_COST))
    writeFileSync(join(alice.home, "slow.key"), SealedKey.print(sealed), { mode: 0o600 })
    const terminal = alice.sit(`udg send ${bob()} 1 --key slow.key${thenLook}`)
    await terminal.see("slow.key: ")
    terminal.type(`wrong${ENTER}`)
    await terminal.see("slow.key: \n")
    terminal.type(CTRL_C)
    await terminal.see("code 130\naudible")
    await terminal.end()
    expect(terminal.text).not.toContain("passphrase is wrong")
  })
})

describe("waiting", () => {
  it("ends at Ctrl-C with the hash to ask for, and leaves no line behind", async () => {
    await using slow = await startNode({ roundMs: 5_000 })
    const [carol] = slow.accounts
    writeFileSync(join(alice.home, "carol.key"), carol?.secretKey.toSecretHex() ?? "", { mode: 0o600 })
    const terminal = alice.sit(`udg send ${bob()} 1 --key carol.key${thenLook}`, { UDG_NODE: slow.url })
    await terminal.see("waiting until it is final … ")
    terminal.type(CTRL_C)
    await terminal.see("code 130\naudible")
    await terminal.end()
    const [hash] = /(?<=it was sent and is not final yet; check with udg tx )[0-9a-f]{64}/.exec(terminal.screen) ?? []
    expect(terminal.screen).not.toContain("waiting")
    expect((await slow.client.transactions.lookup({ path: { hash: (hash ?? "") as never } })).status).toBe("pending")
  })
})

describe("a table", () => {
  const lastLines = (screen: string) => screen.trimEnd().split("\n").slice(-2)

  it(Rest.of("more terminals", "narrows on a narrow terminal, and has no colours where NO_COLOR is set"), async () => {
    const narrow = alice.sit("stty cols 72; udg validators")
    await narrow.end()
    expect(narrow.raw).toContain("\u001b[1mVALIDATOR")
    for (const line of lastLines(narrow.screen)) expect(line.length).toBeLessThanOrEqual(72)
    expect(narrow.screen).toMatch(/^tudg[0-9a-z]*…[0-9a-z]+ +100,000 UDG/m)
    const plain = alice.sit("stty cols 200; udg validators", { NO_COLOR: "1" })
    await plain.end()
    expect(plain.raw).not.toContain("\u001b")
    expect(plain.screen).toMatch(/^tudg1[0-9a-z]{38} +100,000 UDG/m)
  })
})
