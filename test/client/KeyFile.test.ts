import { Effect, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as KeyFile from "../../src/client/KeyFile.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as SealedKey from "../../src/protocol/identity/SealedKey.js"
import * as KeySealing from "../../src/storage/files/KeySealing.js"

/** The lowest work factor that a file may have. These tests are not about guessing. */
const COST = 2 ** 14
const key = Option.getOrThrow(
  Keys.SecretKey.fromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
)

describe("a saved key", () => {
  it("is restored with its passphrase, in any Unicode form", async () => {
    const saved = await Wallet.saveKey(key, "ﬁne 1 passphrase")
    expect(saved).not.toContain(key.toSecretHex())
    expect((await Wallet.restoreKey(saved, "fine 1 passphrase")).toSecretHex()).toBe(key.toSecretHex())
  })

  it("is compatible with the udg command", async () => {
    const ours = Option.getOrThrow(SealedKey.parse(await KeyFile.seal(key, "secret", COST)))
    expect(Option.getOrThrow(await Effect.runPromise(KeySealing.open(ours, "secret"))).publicKey).toBe(key.publicKey)
    const its = SealedKey.print(await Effect.runPromise(KeySealing.seal(key, "secret", COST)))
    expect((await Wallet.restoreKey(its, "secret")).publicKey).toBe(key.publicKey)
  })

  it("does not open with another passphrase, when modified, or when it is something else", async () => {
    const saved = await KeyFile.seal(key, "secret", COST)
    const content = JSON.parse(saved)
    const modified = [
      { ...content, public_key: Wallet.generate().publicKey },
      { ...content, content: content.content.replace(/^../, (byte: string) => (byte === "00" ? "01" : "00")) },
      { ...content, kdf: { ...content.kdf, n: 2 * COST } },
    ].map((each) => JSON.stringify(each))
    await expect(Wallet.restoreKey(saved, "Secret")).rejects.toThrow("passphrase is wrong")
    for (const text of modified)
      await expect(Wallet.restoreKey(text, "secret")).rejects.toBeInstanceOf(Wallet.InvalidInput)
    const others = ["", "{}", "[]", JSON.stringify({ ...content, kdf: { ...content.kdf, n: 3 * COST } })]
    for (const text of others) await expect(Wallet.restoreKey(text, "secret")).rejects.toThrow("not a udg key file")
  })
})
