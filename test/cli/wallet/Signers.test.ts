import { expect, it } from "vitest"
import * as Signers from "../../../src/cli/wallet/Signers.js"
import * as Address from "../../../src/protocol/identity/Address.js"
import * as Keys from "../../../src/protocol/identity/Keys.js"

const [first, second, third, stranger] = Array.from({ length: 4 }, Keys.SecretKey.generate).map((key) => ({
  publicKey: key.publicKey,
  signature: key.sign(new Uint8Array()),
})) as [Proof, Proof, Proof, Proof]
type Proof = { readonly publicKey: Keys.PublicKey; readonly signature: Keys.Signature }

const account = Address.fromPublicKey(first.publicKey)
const policy = { threshold: 2, keys: [first, second, third].map(({ publicKey }) => publicKey) }

it("counts only signatures of the account's signers", () => {
  expect(Signers.counted(policy, account, [stranger, second, first])).toEqual([second, first])
  expect(Signers.counted(null, account, [stranger, second, first])).toEqual([first])
})

it("reports how many have signed, and who still may", () => {
  expect(Signers.progress(policy, [second])).toEqual([
    ["signed", "1 of 2, still needs 1 of these keys"],
    ["by", [second.publicKey]],
    ["may sign", [first.publicKey, third.publicKey]],
  ])
  expect(Signers.progress(policy, [second, third])[0]).toEqual(["signed", "2 of 2, ready for udg multisig submit"])
  expect(Signers.progress(null, [])[0]).toEqual(["signed", "0 of 1, still needs the account's own key"])
  expect(Signers.progress(null, [first])[0]).toEqual(["signed", "1 of 1, ready for udg multisig submit"])
})
