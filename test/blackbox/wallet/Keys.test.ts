/** The wallet's operations on keys that need no node. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Wallet from "../../../src/client/Wallet.js"
import * as Keys from "../../../src/protocol/identity/Keys.js"
import * as SealedKey from "../../../src/protocol/identity/SealedKey.js"
import * as KeySealing from "../../../src/storage/files/KeySealing.js"
import * as Rest from "../../support/Rest.js"
import { PASSPHRASE, Person, typed } from "./Person.js"

// Each passphrase deliberately takes half a second.

const SECRET = "07".repeat(32)
const key = Option.getOrThrow(Keys.SecretKey.fromHex(SECRET))

let person: Person
const inHome = (name: string): string => join(person.home, name)
beforeAll(() => {
  // Nothing listens there.
  person = new Person({ UDG_NODE: "http://127.0.0.1:1" })
  writeFileSync(inHome("plain.key"), SECRET, { mode: 0o600 })
})
afterAll(() => person.leave())

const json = async (...words: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await person.udg(...words, "--json")
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return JSON.parse(stdout)
}

describe("a signed text", () => {
  it("is verified with its key and against an account, unlike another text, key or account", async () => {
    const { address, public_key, signature } = await json("sign", "Hello, Bob", "--key", "plain.key")
    expect(public_key).toBe(key.publicKey)
    expect(await json("verify", public_key, signature, "Hello, Bob", "--by", address)).toMatchObject({ address })
    const other = Wallet.generate().publicKey
    const refused = [
      [public_key, signature, "Hello, Rob"],
      [other, signature, "Hello, Bob"],
      [public_key, signature.replace(/^./, (digit: string) => (digit === "0" ? "1" : "0")), "Hello, Bob"],
      [public_key, signature, "Hello, Bob", "--by", "aa".repeat(20)],
    ]
    for (const words of refused) {
      const { code, stdout } = await person.udg("verify", ...words)
      expect({ code, stdout }).toEqual({ code: 8, stdout: "" })
    }
  })

  it("shows its signature, the text and the key on a line each, for copying", async () => {
    const text = `from here on it is ${"long ".repeat(30)}`.trimEnd()
    const { stdout } = await person.udg("sign", text, "--key", "plain.key")
    const copied = (label: string) => new RegExp(`^${label} +(.+)$`, "m").exec(stdout)?.[1] ?? ""
    const words = [copied("public key"), copied("signature"), copied("text")]
    expect(await json("verify", ...words)).toMatchObject({ is_valid: true })
  })

  it("is never a transaction, since it begins with its own domain", async () => {
    const said = await json("sign", "é", "--key", "plain.key")
    expect(said.signature).toBe(key.sign(Buffer.from("udg/message\0é")))
  })
})

describe("keys", () => {
  it(Rest.of("many key files, each made slow to open", "survive conversion into plain text and words"), async () => {
    mkdirSync(inHome(".udg"))
    await json("keys", "import", "--from", "plain.key")
    const { words } = await json("keys", "export", "--words")
    expect(words.split(" ")).toHaveLength(24)
    writeFileSync(inHome("words.txt"), `words  ${words.replaceAll(/((?:\w+ ){5}\w+) /g, "$1\n       ")}\n`, {
      mode: 0o600,
    })
    const again = await json("keys", "import", "--from", "words.txt", "--key", ".udg/paper.key")
    expect(again.public_key).toBe(key.publicKey)
    await json("keys", "export", "--key", ".udg/paper.key", "--out", "copy.key")
    expect(readFileSync(inHome("copy.key"), "utf8")).toBe(`${SECRET}\n`)
    expect(statSync(inHome("copy.key")).mode & 0o777).toBe(0o600)
    writeFileSync(inHome(".udg/broken.key"), "{}", { mode: 0o600 })
    const listed = await json("keys", "list")
    expect(listed).toEqual([
      { file: inHome(".udg/broken.key"), error: expect.stringContaining("damaged") },
      { file: inHome(".udg/paper.key"), address: again.address, public_key: key.publicKey, is_encrypted: true },
      { file: inHome(".udg/wallet.key"), address: again.address, public_key: key.publicKey, is_encrypted: true },
    ])
    const { stdout } = await person.udg("keys", "list")
    expect(stdout).toMatch(/^KEY +ADDRESS ON TESTNETS +FILE\nbroken\.key +cannot be read\npaper +tudg1\w+ +encrypted\n/)
  })

  it("are restored from typed words, which the terminal does not show", async () => {
    const { stdout } = await person.udg("keys", "export", "--key", "plain.key", "--words")
    const words = stdout
      .replace(/^words/, "")
      .trim()
      .split(/\s+/)
      .join(" ")
    const terminal = person.sit(typed("keys", "import", "--key", "typed.key"), {
      UDG_PASSPHRASE: "correct horse battery",
    })
    await terminal.see("words, with spaces between them: ")
    terminal.type(`${words}\r`)
    expect(await terminal.end()).toBe(0)
    expect(terminal.text).toContain(`public key    ${key.publicKey}`)
    expect(terminal.text).not.toContain(words.slice(0, 20))
  })

  it("are restored from all pasted lines of words, with none left for the shell", async () => {
    const { stdout } = await person.udg("keys", "export", "--key", "plain.key", "--words")
    const lines = stdout
      .replace(/^words/, "")
      .trimEnd()
      .split("\n")
    expect(lines).toHaveLength(4)
    const line = `${typed("keys", "import", "--key", "pasted.key")}; cat`
    const terminal = person.sit(line, { UDG_PASSPHRASE: "correct horse battery" })
    await terminal.see("words, with spaces between them: ")
    terminal.type(`${lines.join("\r\n")}\r`)
    await terminal.see(`public key    ${key.publicKey}`)
    terminal.type("\u0004")
    expect(await terminal.end()).toBe(0)
    expect(terminal.text).toContain("18 more: \n12 more: \n6 more: \n")
    expect(terminal.text).not.toContain(lines[3]?.trim())
  })

  it("are not read past an empty line before all words", async () => {
    const terminal = person.sit(typed("keys", "import", "--key", "few.key"))
    await terminal.see("words, with spaces between them: ")
    terminal.type("abandon abandon\r")
    await terminal.see("22 more: ")
    terminal.type("\r")
    expect(await terminal.end()).toBe(2)
    expect(terminal.text).toContain("udg: these are not the words of a key")
  })

  it("are exported in a requested form, and imported at a terminal", async () => {
    expect(await person.udg("keys", "export", "--key", "plain.key")).toEqual({
      code: 1,
      stdout: "",
      stderr: "udg: choose a form: --out FILE writes the key in plain text, --words shows it as 24 words\n",
    })
    expect(await person.udg("keys", "import", "--key", "new.key")).toMatchObject({ code: 2, stdout: "" })
    expect((await person.udg("keys", "import", "--from", "plain.key", "--key", "plain.key")).code).toBe(2)
  })
})

/** The lowest work factor that a file may have. Files made here take half a second and are opened once. */
const QUICK = 2 ** 14
const sealed = async (name: string, passphrase: string) => {
  const content = await Effect.runPromise(KeySealing.seal(key, passphrase, QUICK))
  writeFileSync(inHome(name), SealedKey.print(content), { mode: 0o600 })
}
const passphraseFile = (name: string, passphrase: string) => {
  writeFileSync(inHome(name), `${passphrase}\n`, { mode: 0o600 })
  return name
}
const opened = async (name: string, passphrase: string): Promise<string> =>
  (await Wallet.restoreKey(readFileSync(inHome(name), "utf8"), passphrase)).toSecretHex()

describe("a key file changed in place", () => {
  it("is encrypted, given another passphrase and decrypted, and stays its owner's throughout", async () => {
    writeFileSync(inHome("validator.key"), `${SECRET}\n`, { mode: 0o600 })
    const first = passphraseFile("first", "the first passphrase")
    const second = passphraseFile("second", "the second passphrase")
    const encrypted = await json("keys", "encrypt", "--key", "validator.key", "--key-passphrase-file", first)
    expect(encrypted).toMatchObject({ public_key: key.publicKey, file: "validator.key" })
    expect(await opened("validator.key", "the first passphrase")).toBe(SECRET)
    const files = ["--key-passphrase-file", first, "--new-passphrase-file", second]
    await json("keys", "passphrase", "--key", "validator.key", ...files)
    expect(await opened("validator.key", "the second passphrase")).toBe(SECRET)
    expect(statSync(inHome("validator.key")).mode & 0o777).toBe(0o600)
    await json("keys", "decrypt", "--key", "validator.key", "--key-passphrase-file", second, "--yes")
    expect(readFileSync(inHome("validator.key"), "utf8")).toBe(`${SECRET}\n`)
    expect(readdirSync(person.home)).not.toContain("validator.key.new")
  })

  it("is not changed with a wrong passphrase, to its current form, or without a word", async () => {
    await sealed("own.key", PASSPHRASE)
    writeFileSync(inHome("bare.key"), `${SECRET}\n`, { mode: 0o600 })
    const before = readFileSync(inHome("own.key"), "utf8")
    const wrong = passphraseFile("wrong", "not the passphrase")
    const brief = passphraseFile("brief", "brief")
    const cases: ReadonlyArray<readonly [code: number, stderr: string, ...words: ReadonlyArray<string>]> = [
      [2, "the passphrase is wrong, or the file was modified", "decrypt", "--yes", "--key-passphrase-file", wrong],
      [2, "the passphrase is wrong, or the file was modified", "passphrase", "--key-passphrase-file", wrong],
      [2, "own.key is encrypted; to change its passphrase: udg keys passphrase --key own.key", "encrypt"],
      [2, "the passphrase is too short; it needs at least 10 characters", "passphrase", "--new-passphrase-file", brief],
      [
        2,
        "a passphrase is needed to encrypt the key, and there is no terminal to ask on; name a file with --new-passphrase-file",
        "passphrase",
      ],
      [
        1,
        "this would store own.key in plain text, where anyone who reads the file or a backup has the key; use --yes to confirm",
        "decrypt",
      ],
    ]
    for (const [code, stderr, ...words] of cases) {
      expect(await person.udg("keys", ...words, "--key", "own.key")).toEqual({
        code,
        stdout: "",
        stderr: `udg: ${stderr}\n`,
      })
    }
    expect(readFileSync(inHome("own.key"), "utf8")).toBe(before)
    expect((await person.udg("keys", "decrypt", "--key", "bare.key", "--yes")).stderr).toBe(
      "udg: bare.key is not encrypted\n",
    )
    expect((await person.udg("keys", "passphrase", "--key", "bare.key")).stderr).toBe(
      "udg: bare.key is not encrypted; run: udg keys encrypt --key bare.key\n",
    )
  })

  it("is decrypted at a terminal only after confirmation", async () => {
    await sealed("asked.key", PASSPHRASE)
    const answer = async (line: string) => {
      const terminal = person.sit(typed("keys", "decrypt", "--key", "asked.key"), { UDG_PASSPHRASE: PASSPHRASE })
      await terminal.see("Type yes to continue: ")
      terminal.type(`${line}\r`)
      return { code: await terminal.end(), text: terminal.text }
    }
    const before = readFileSync(inHome("asked.key"), "utf8")
    expect((await answer("no")).text).toContain("udg: nothing was changed")
    expect(readFileSync(inHome("asked.key"), "utf8")).toBe(before)
    expect(await answer("yes")).toMatchObject({ code: 0 })
    expect(readFileSync(inHome("asked.key"), "utf8")).toBe(`${SECRET}\n`)
  })

  it(Rest.of("four keys, each made slow to open", "holds its key whenever the program is killed"), async () => {
    const [old, fresh] = ["the old passphrase", "the fresh passphrase"]
    passphraseFile("old", old)
    passphraseFile("fresh", fresh)
    for (let round = 0; round < 4; round++) {
      await sealed("killed.key", old)
      const words = ["keys", "passphrase", "--key", "killed.key", "--key-passphrase-file", "old"]
      const line = `${typed(...words, "--new-passphrase-file", "fresh")} & p=$!; while ! [ -e killed.key.new ] && kill -0 $p 2>/dev/null; do :; done; kill -9 $p; wait $p`
      await person.script(line)
      const isChanged = await opened("killed.key", fresh).then(
        () => true,
        () => false,
      )
      expect(await opened("killed.key", isChanged ? fresh : old)).toBe(SECRET)
      rmSync(inHome("killed.key.new"), { force: true })
    }
  }, 240_000)
})

describe("a file of signatures", () => {
  it("is reported when it is missing or invalid", async () => {
    writeFileSync(inHome("none.json"), "{}")
    const complaint = async (file: string) => (await person.udg("multisig", "show", file)).stderr
    expect(await complaint("nowhere.json")).toBe("udg: nowhere.json: cannot be read: it does not exist\n")
    expect(await complaint("none.json")).toContain("udg: none.json: not a file of signatures of this version")
  })
})

describe("conversion", () => {
  it("accepts amounts, addresses of both kinds of network and public keys", async () => {
    expect(await json("convert", "1234.5")).toEqual({ udg: "1234.5", sats: 123_450_000_000 })
    expect(await json("convert", "1", "sats")).toEqual({ udg: "0.00000001", sats: 1 })
    expect((await person.udg("convert", "1234.5")).stdout).toBe("udg   1,234.5\nsats  123,450,000,000\n")
    const forms = await json("convert", key.publicKey)
    for (const form of [forms.address, forms.testnet, forms.mainnet, forms.mainnet.toUpperCase()]) {
      expect(await json("convert", form)).toEqual(forms)
    }
  })

  it.each([
    ["250000000sats"],
    ["250000000SATS"],
    ["250,000,000", "sats"],
    ["250,000,000sats"],
    ["2.5"],
    ["2.5UDG"],
    ["2.5udg", "udg"],
  ])("accepts %s %s", async (...words) => {
    expect(await json("convert", ...words)).toEqual({ udg: "2.5", sats: 250_000_000 })
  })

  it.each([
    [["1.5", "sats"], '"1.5" is not an amount of sats; use a whole number such as 250000000'],
    [["1,5sats"], '"1,5sats" is not an amount of sats; use a whole number such as 250000000'],
    [["3000000000000000sats"], '"3000000000000000sats" is more than the maximum supply; use at most 2100000000000000'],
    [["21000001"], '"21000001" is more than the maximum supply; use at most 21000000'],
    [
      ["2,500"],
      '"2,500" is not an amount of UDG; use one such as 2000 or 0.5, in digits, with at most eight decimal places',
    ],
    [["much"], '"much" is neither an amount, as 2.5 or 1000 sats, nor an address, nor a public key'],
    [["tudg1much"], '"tudg1much" is neither an amount, as 2.5 or 1000 sats, nor an address, nor a public key'],
  ])("refuses %j with the reason", async (words, complaint) => {
    expect(await person.udg("convert", ...words)).toEqual({ code: 1, stdout: "", stderr: `udg: ${complaint}\n` })
  })
})
