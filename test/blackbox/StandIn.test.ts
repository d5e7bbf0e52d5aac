/**
 * No real node lets one key sign for every account: not by an option, a file or a variable, and not on the data of a
 * development network.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import { FILES } from "../../src/storage/files/DataDirectory.js"
import * as StateFile from "../../src/testing/StateFile.js"
import { startNode } from "../../src/testing/Testing.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as InProcess from "./InProcess.js"
import { program, Running } from "./Running.js"

const folder = TemporaryFolder.forTests("stand-in")

const nobody = "00000000000000000000000000000000000000aa"

/** The dumped state of a development network in which an account was impersonated. */
const dumped = async () => {
  await using node = await startNode({ onDemand: true, snapshots: true, accounts: 2 })
  const account = await node.controls.impersonate(node.accounts[0]?.address ?? "")
  await account.send({ to: nobody, amount: 5 })
  return Effect.runPromise(StateFile.decode(await node.controls.dump()))
}
const state = dumped()

describe("a real node", () => {
  it("accepts no other account's signature, even on a development network's data", async () => {
    const { genesis, validator, accounts, files } = await state
    const directory = join(folder, "data")
    mkdirSync(directory, { mode: 0o700 })
    for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes)
    writeFileSync(join(directory, FILES.genesis), JSON.stringify(Genesis.toJson(genesis)))
    writeFileSync(join(directory, FILES.validatorKey), `${validator.toSecretHex()}\n`, { mode: 0o600 })
    const variables = Object.fromEntries(
      ["UDG_STAND_IN", "UDG_IMPERSONATE", "UDG_IMPERSONATION_KEY", "UDG_DEV"].map((name) => [name, "true"]),
    )
    const words = ["--data-dir", directory, "--port", "0", "--rpc-port", "0", "--rate-limits", "off"]
    const node = new Running(process.execPath, [program, ...words], variables)
    await node.until(() => /running/.test(node.stderr))
    const client = Client.connect(/^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1] ?? "", { retries: 0 })
    const network = Wallet.network(await client.core.network())
    expect((await client.balance(nobody)).balance).toBe(5)
    const [alice] = accounts
    if (alice === undefined) throw new Error("no account")
    const { address } = Wallet.account(network, alice)
    const { next_nonce: nonce } = await client.balance(address)
    const unsigned = Wallet.unsigned(network, address, "Transfer", { to: nobody, amount: 1, fee: 1_000, nonce })
    for (const key of [validator, Wallet.generate()]) {
      for (const payload of [Wallet.sign(unsigned, key), Wallet.combine(unsigned, [Wallet.cosign(unsigned, key)])])
        await expect(client.transactions.submit({ payload })).rejects.toMatchObject({ code: "InvalidSignature" })
    }
    // The account's own key signs the same transaction, which shows that the node works.
    expect(await client.sendAndWait(Wallet.sign(unsigned, alice))).toMatchObject({ applied: true })
    expect((await client.balance(nobody)).balance).toBe(6)
    expect(await node.stop()).toMatchObject({ code: 0 })
  })

  it("has no option, setting or genesis field for impersonation", async () => {
    for (const option of ["--impersonate", "--stand-in", "--impersonation-key", "--dev"]) {
      const { code, stderr } = await InProcess.udg(option, "x")
      expect([code, stderr]).toEqual([1, expect.stringContaining("is not an option")])
    }
    for (const field of ["impersonate", "stand_in", "impersonation_key"]) {
      const config = join(folder, `${field}.json`)
      writeFileSync(config, JSON.stringify({ [field]: "00".repeat(32) }))
      expect(await InProcess.udg("config", "check", config)).toMatchObject({ code: 1 })
      const { genesis } = await state
      const file = join(folder, `${field}-genesis.json`)
      writeFileSync(file, JSON.stringify({ ...Genesis.toJson(genesis), [field]: "00".repeat(32) }))
      const { code, stderr } = await InProcess.udg("--genesis", file, "--ephemeral", "--port", "0", "--rpc-port", "0")
      expect([code, stderr]).toEqual([1, expect.stringContaining(field)])
    }
  })
})
