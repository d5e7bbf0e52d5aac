/** A wallet with several accounts: import and export of keys, and the help before signing. */
import { readFileSync } from "node:fs"
import { Option } from "effect"
import type { Page } from "playwright-core"
import decode from "qr/decode.js"
import { beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as KeyFile from "../../src/client/KeyFile.js"
import * as Mnemonic from "../../src/client/Mnemonic.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"
import * as Purse from "./Purse.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(100) }))
const visitor = Visitor.forTests()
let network: Wallet.WalletNetwork
let validator: Wallet.Account
let owner: Wallet.SecretKey

beforeAll(async () => {
  const info = await connect(node().url).core.network()
  network = Wallet.network(info)
  validator = Wallet.account(network, Option.getOrThrow(node().validatorKey))
  await RealNode.earned(node(), validator.address, info.parameters.name_fee_sats)
  await RealNode.finalized(
    node(),
    validator.registerName({ nonce: 0, fee: info.parameters.name_fee_sats, name: "alice" }),
  )
  owner = Wallet.generate()
  const faucet = Wallet.account(network, Option.getOrThrow(node().faucetKey))
  const to = Wallet.account(network, owner).address
  await RealNode.finalized(node(), faucet.transfer({ nonce: 0, fee: 10_000_000, to, amount: Wallet.sats("1000") }))
})

const visitWallet = (options?: Visitor.Options) => visitor.visit(`${node().url}/explorer/wallet`, options)

const writtenBy = (key: Wallet.SecretKey): string => Wallet.account(network, key).addressBech32

/** Waits until the page shows this key's address. */
const isShown = (page: Page, key: Wallet.SecretKey): Promise<void> =>
  page.locator(".purse a.mono", { hasText: writtenBy(key) }).waitFor()

const addForm = async (page: Page) => {
  await page.getByRole("button", { name: "Add an account" }).click()
  return page.getByRole("form", { name: "Import another key" })
}

const isNowhere = async (page: Page, keys: ReadonlyArray<Wallet.SecretKey>): Promise<void> => {
  const everything = (await page.content()) + (await page.evaluate(() => JSON.stringify({ ...localStorage })))
  for (const key of keys) {
    expect(everything).not.toContain(key.toSecretHex())
    expect(everything).not.toContain(Mnemonic.of(key).slice(0, 4).join(" "))
  }
}

describe("several accounts", () => {
  it("are imported from hex, from 24 words and from key files under one passphrase, and removed one by one", async () => {
    const { page, sent } = await visitor.open()
    await page.goto(`${node().url}/explorer/wallet`)
    const [first, second, third, fourth] = [owner, Wallet.generate(), Wallet.generate(), Wallet.generate()]
    await Purse.bringKey(page, first.toSecretHex())
    await isShown(page, first)

    let form = await addForm(page)
    await form.getByLabel("As", { exact: true }).selectOption("24 words")
    await form.getByLabel(/^The 24 words/).fill(Mnemonic.of(second).toReversed().join(" "))
    await form.getByRole("button", { name: "Import the key" }).click()
    await form.getByText(Mnemonic.complaint).waitFor()
    await form.getByLabel(/^The 24 words/).fill(` ${Mnemonic.of(second).join("  ").toUpperCase()} `)
    await form.getByRole("button", { name: "Import the key" }).click()
    await isShown(page, second)
    await expect.poll(() => page.evaluate("document.activeElement?.tagName")).toBe("H1")

    form = await addForm(page)
    await form.getByLabel("As", { exact: true }).selectOption("a key file")
    const file = { name: "wallet.key", mimeType: "application/json" }
    const encrypted = await KeyFile.seal(third, "the file's own", 2 ** 14)
    await form.getByLabel("Key file", { exact: true }).setInputFiles({ ...file, buffer: Buffer.from("nonsense") })
    await form.getByRole("button", { name: "Import the key" }).click()
    await form.getByText("this is not a key file of udg").waitFor()
    await form.getByLabel("Key file", { exact: true }).setInputFiles({ ...file, buffer: Buffer.from(encrypted) })
    await form.getByLabel("The file's passphrase").fill("somebody else's")
    await form.getByRole("button", { name: "Import the key" }).click()
    await form.getByText("the passphrase is wrong").waitFor()
    await form.getByLabel("The file's passphrase").fill("the file's own")
    await form.getByRole("button", { name: "Import the key" }).click()
    await isShown(page, third)

    form = await addForm(page)
    await form.getByLabel("As", { exact: true }).selectOption("a key file")
    const plain = Buffer.from(`${fourth.toSecretHex()}\n`)
    await form.getByLabel("Key file", { exact: true }).setInputFiles({ ...file, buffer: plain })
    expect(await Axe.seriousOn(page)).toEqual([])
    await form.getByRole("button", { name: "Import the key" }).click()
    await isShown(page, fourth)
    const keys = [first, second, third, fourth]
    await isNowhere(page, keys)

    const accounts = page.getByRole("group", { name: "Account" })
    await accounts.getByRole("button", { name: writtenBy(second).slice(-6) }).click()
    await isShown(page, second)
    await page.getByText("Remove this account…").click()
    await page.getByRole("button", { name: /^Remove tudg1/ }).click()
    await isShown(page, first)
    await expect.poll(() => page.evaluate("document.activeElement?.tagName")).toBe("H1")
    await page.getByRole("button", { name: "Lock" }).click()
    await page.getByLabel("Passphrase").fill(Purse.PASSPHRASE)
    await page.getByRole("button", { name: "Unlock" }).click()
    await isShown(page, first)
    expect(await accounts.getByRole("button", { name: /^tudg1/ }).count()).toBe(3)
    await accounts.getByRole("button", { name: writtenBy(fourth).slice(-6) }).click()
    await isShown(page, fourth)
    await isNowhere(page, keys)
    for (const key of keys) expect(sent.filter((request) => request.includes(key.toSecretHex()))).toEqual([])
  })

  it("are not mixed with those that another tab has made under another passphrase", async () => {
    const page = await visitWallet()
    await Purse.makeKey(page)
    const other = await page.context().newPage()
    await other.goto(`${node().url}/explorer/wallet`)
    await other.getByText("Delete 1 key…").click()
    await other.getByRole("button", { name: "Delete 1 key" }).click()
    await Purse.makeKey(other)
    await page.getByRole("button", { name: "Add an account" }).click()
    await page.getByRole("button", { name: "Make another key" }).click()
    await page.getByText("the keys of this browser have changed").waitFor()
  })

  it("are listed as another tab stores them, and only those listed are deleted", async () => {
    const page = await visitWallet()
    await Purse.makeKey(page)
    const other = await page.context().newPage()
    await other.goto(`${node().url}/explorer/wallet`)
    await other.getByText("This browser stores the key of").waitFor()
    await page.getByRole("button", { name: "Add an account" }).click()
    await page.getByRole("button", { name: "Make another key" }).click()
    await other.getByText("This browser stores the 2 keys of").waitFor({ timeout: 10_000 })
    await other.getByLabel("Passphrase").fill(Purse.PASSPHRASE)
    await other.getByRole("button", { name: "Unlock" }).click()
    const accounts = other.getByRole("group", { name: "Account" }).getByRole("button", { name: /^tudg1/ })
    await expect.poll(() => accounts.count()).toBe(2)
    await other.getByRole("button", { name: "Lock" }).click()
    // No event tells a page of its own writes, so the key is stored as if another tab had done so this instant.
    await other.evaluate(() => {
      const { accounts: stored, ...rest } = JSON.parse(localStorage.getItem("udg-wallet") ?? "")
      const unseen = { ...stored[0], address: "unseen" }
      localStorage.setItem("udg-wallet", JSON.stringify({ ...rest, accounts: [...stored, unseen] }))
    })
    await other.getByText("Delete 2 keys…").click()
    await other.getByRole("button", { name: "Delete 2 keys" }).click()
    await other.getByText("unseen", { exact: true }).waitFor({ timeout: 10_000 })
    expect(await other.locator(".hashes li").count()).toBe(1)
  })

  it("begin with the single key that an older version kept in the browser", async () => {
    const page = await visitWallet()
    const key = Wallet.generate()
    await page.evaluate(
      async ({ secret, passphrase, address }) => {
        const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
        const [salt, iv] = [crypto.getRandomValues(new Uint8Array(16)), crypto.getRandomValues(new Uint8Array(12))]
        const [text, iterations] = [new TextEncoder(), 100_000]
        const material = await crypto.subtle.importKey("raw", text.encode(passphrase), "PBKDF2", false, ["deriveKey"])
        const cipher = await crypto.subtle.deriveKey(
          { name: "PBKDF2", hash: "SHA-256", salt, iterations },
          material,
          { name: "AES-GCM", length: 256 },
          false,
          ["encrypt"],
        )
        const content = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, cipher, text.encode(secret))
        const [kept, at] = [base64(new Uint8Array(content)), { salt: base64(salt), iv: base64(iv) }]
        localStorage.setItem("udg-wallet", JSON.stringify({ version: 1, address, iterations, ...at, content: kept }))
      },
      { secret: key.toSecretHex(), passphrase: Purse.PASSPHRASE, address: writtenBy(key) },
    )
    await page.reload()
    await page.getByLabel("Passphrase").fill(Purse.PASSPHRASE)
    await page.getByRole("button", { name: "Unlock" }).click()
    await isShown(page, key)
    await page.getByRole("button", { name: "Add an account" }).click()
    await page.getByRole("button", { name: "Make another key" }).click()
    await page
      .getByRole("group", { name: "Account" })
      .getByRole("button", { name: /^tudg1/ })
      .nth(1)
      .waitFor()
    await page.reload()
    await page.getByText("This browser stores the 2 keys of").waitFor()
  })
})

describe("a key", () => {
  it("is exported as words or as a file that udg and this page accept, only with the passphrase", async () => {
    const page = await visitWallet()
    const key = Wallet.generate()
    await Purse.bringKey(page, key.toSecretHex())
    await page.getByRole("button", { name: /^Show the secret key/ }).click()
    const form = page.getByRole("form", { name: "Show the secret key" })
    await form.getByLabel("As", { exact: true }).selectOption("24 words, for paper")
    await form.getByLabel("Passphrase").fill(Purse.PASSPHRASE)
    await form.getByRole("button", { name: "Show it" }).click()
    const shown = (await page.locator(".backup .secret").textContent()) ?? ""
    expect(Option.getOrThrow(Mnemonic.parse(shown)).toSecretHex()).toBe(key.toSecretHex())
    expect(await Axe.seriousOn(page)).toEqual([])
    await page.getByRole("button", { name: "Hide the secret key" }).click()
    await isNowhere(page, [key])

    await page.getByRole("button", { name: /^Show the secret key/ }).click()
    await form.getByLabel("As", { exact: true }).selectOption("file")
    await form.getByLabel("Passphrase").fill(Purse.PASSPHRASE)
    const saving = page.waitForEvent("download")
    await form.getByRole("button", { name: "Show it" }).click()
    const file = readFileSync(await (await saving).path(), "utf8")
    expect((await Wallet.restoreKey(file, Purse.PASSPHRASE)).toSecretHex()).toBe(key.toSecretHex())
    await isNowhere(page, [key])
  })

  it("is locked after a quarter of an hour without use, and not before", async () => {
    const { page } = await visitor.open()
    await page.clock.install()
    await page.goto(`${node().url}/explorer/wallet`)
    await Purse.bringKey(page, owner.toSecretHex())
    await page.clock.fastForward("14:00")
    await page.getByLabel("Amount in UDG").press("1")
    await page.clock.fastForward("14:00")
    await page.getByRole("button", { name: "Lock" }).waitFor()
    await page.clock.fastForward("01:30")
    await page.getByRole("button", { name: "Unlock" }).waitFor()
    await isNowhere(page, [owner])
  })
})

describe("the form before signing", () => {
  it("reads an address with a camera", async () => {
    const { page, troubles } = await visitor.openTroubled({ colorScheme: "dark" })
    await page.goto(`${node().url}/explorer/wallet`)
    await Purse.bringKey(page, owner.toSecretHex())
    await page.getByText("Receive", { exact: true }).click()
    const code = page.getByRole("img", { name: `QR code of ${writtenBy(owner)}` })
    const png = (await code.screenshot()).toString("base64")
    const image = await page.evaluate(async (data) => {
      const picture = new Image()
      picture.src = `data:image/png;base64,${data}`
      await picture.decode()
      const [width, height] = [picture.width, picture.height]
      const canvas = Object.assign(document.createElement("canvas"), { width, height })
      const context = canvas.getContext("2d")
      context?.drawImage(picture, 0, 0)
      return { width, height, data: [...(context?.getImageData(0, 0, width, height).data ?? [])] }
    }, png)
    expect(decode({ ...image, data: Uint8Array.from(image.data) })).toBe(writtenBy(owner).toUpperCase())
    expect(await Axe.seriousOn(page)).toEqual([])
    expect(troubles.filter((text) => !text.includes("data:image"))).toEqual([])
  })

  it("shows a name's address and an address's name, and reports unknown ones", async () => {
    const { page } = await visitor.openTroubled()
    await page.goto(`${node().url}/explorer/wallet`)
    await Purse.bringKey(page, owner.toSecretHex())
    const form = page.getByRole("form", { name: "Send" })
    const resolved = form.locator(".resolved")
    await form.getByLabel("To", { exact: true }).fill("@alice")
    await expect.poll(() => resolved.textContent()).toBe(`${validator.addressBech32} @alice`)
    await form.getByLabel("To", { exact: true }).fill(validator.address)
    await expect.poll(() => resolved.textContent()).toBe(`${validator.addressBech32} @alice`)
    await form.getByLabel("To", { exact: true }).fill(writtenBy(Wallet.generate()))
    await expect.poll(() => resolved.textContent()).toMatch(/ a new account$/)
    await form.getByLabel("To", { exact: true }).fill("@nobody-has-this")
    await form.getByText(/nobody-has-this/).waitFor()
    const lastWrong = validator.addressBech32.replace(/.$/, (last) => (last === "q" ? "p" : "q"))
    await form.getByLabel("To", { exact: true }).fill(lastWrong)
    await form.getByText(/checksum/).waitFor()
  })

  it("fills in the most that the account can give, which leaves nothing", async () => {
    const page = await visitWallet()
    await Purse.bringKey(page, owner.toSecretHex())
    await page.getByText("1,000").first().waitFor()
    const form = page.getByRole("form", { name: "Send" })
    await form.getByRole("button", { name: /^Max/ }).click()
    await form.getByText("enter the recipient first: a new account costs more").waitFor()
    for (const to of ["@alice", writtenBy(Wallet.generate())]) {
      await form.getByLabel("To", { exact: true }).fill(to)
      await form.getByRole("button", { name: /^Max/ }).click()
      // Filled in before the node has answered.
      await form.getByLabel("Memo").fill("all of it")
      await expect.poll(() => form.getByLabel("Amount in UDG").inputValue()).toMatch(/^999\./)
      await form.getByRole("button", { name: "Review" }).click()
      await page.locator(".review").getByText("all of it", { exact: true }).waitFor()
      const after = page.locator(".review .facts > div", { hasText: "Balance after" }).locator("dd")
      expect(await after.textContent()).toBe("0.00 UDG")
      expect(await page.getByText(/^This would fail/).count()).toBe(0)
      await page.getByText("the network's minimum; it is charged even if the transaction fails").waitFor()
      await page.getByRole("button", { name: "Back" }).click()
    }
  })

  it("chooses the validator of a link that has its address in hex", async () => {
    const page = await visitor.visit(`${node().url}/explorer/wallet?action=delegate&validator=${validator.address}`)
    await Purse.bringKey(page, owner.toSecretHex())
    const choice = page.getByRole("form", { name: "Delegate" }).getByLabel("Validator")
    await expect.poll(() => choice.inputValue()).toBe(validator.addressBech32)
  })

  it("explains shared accounts before a key is imported", async () => {
    const page = await visitWallet(Browsers.phone)
    await page.getByText("Do several keys sign for your account?").waitFor()
    await page.getByText("udg multisig").waitFor()
    expect(await Axe.seriousOn(page)).toEqual([])
  })
})
