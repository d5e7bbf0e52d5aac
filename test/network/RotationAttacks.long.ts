/**
 * A validator of four changes its key, against an outsider and its own operator's mistakes: nodes with the old key and
 * with the new one, twice, run at the same time.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey, type Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as Possession from "../../src/protocol/transaction/Possession.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { expectSound } from "./History.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

const WORDS = ["--rate-limits", "off"]

afterEach(Processes.removeAll)

interface Answer {
  readonly status: number
  readonly text: string
}

const call = async ({ http }: Processes.Started, path: string, body?: object): Promise<Answer> => {
  const headers = { "content-type": "application/json" }
  const answer = await fetch(`${http}${path}`, body ? { method: "POST", headers, body: JSON.stringify(body) } : {})
  return { status: answer.status, text: await answer.text() }
}

/** A change by the account of this key. */
const change = (
  { genesis: { networkId } }: Processes.Founded,
  by: SecretKey,
  nonce: number,
  next: SecretKey,
  proof?: Signature,
) => {
  const from = Address.fromPublicKey(by.publicKey)
  const claim = { account: from, nonce: Natural.nonce(nonce) }
  const operation = {
    _tag: "RotateKeyTx",
    validatorKey: next.publicKey,
    proof: proof ?? Possession.sign(networkId, claim, next),
  } as const
  const unsigned = { from, nonce: claim.nonce, fee: Sats.make(1_000), operation }
  return JsonForm.toJson(Transaction.sign(networkId, unsigned, by))
}

const upgrade = async (network: Processes.Founded, node: Processes.Started): Promise<void> => {
  const secret = (n: number) => ({ secret_key: network.keys[n]?.toSecretHex(), fee: 1_000 })
  const proposal_type = { ParameterChange: { param: "protocol_version", value: 3 } }
  const proposal = { ...secret(0), title: "Upgrade", description: "", proposal_type }
  expect(await call(node, "/proposal", proposal)).toMatchObject({ status: 200 })
  await Processes.until("the proposal is final", async () => (await call(node, "/proposals")).text.includes("Active"))
  for (const n of [0, 1, 2]) {
    expect(await call(node, "/vote", { ...secret(n), proposal_id: 1, vote: true })).toMatchObject({ status: 200 })
  }
  await Processes.until("version 3 is in force", async () =>
    (await call(node, "/governance/config")).text.includes('"protocol_version":3'),
  )
}

it("accepts no change from anybody else, signs no slot twice with any key, and keeps stake and seat", async () => {
  const parameters = { votingPeriodRounds: 30, executionDelayRounds: 10 }
  const network = Processes.found({ roundMs: 150, epochRounds: 120, parameters })
  const nodes = await Processes.startAll(network, WORDS)
  const [first, second, third, old] = nodes
  const [thief, , , key] = network.keys
  if (!first || !second || !third || !old || !thief || !key) return expect.unreachable()
  await Processes.everybodySigns(network, first)
  const next = SecretKey.generate()
  const submit = (body: object) => call(first, "/tx/submit", body)

  const early = await submit(change(network, key, 0, next))
  expect(early).toMatchObject({ status: 400, text: expect.stringContaining("not_in_force") })
  await upgrade(network, first)

  const real = change(network, key, 0, next)
  const proof = "proof" in real ? real.proof : expect.unreachable()
  const nonce = 2
  const refused: ReadonlyArray<readonly [object, string]> = [
    [change(network, thief, nonce, next, proof), "InvalidSignature"],
    [change(network, network.rich, 0, SecretKey.generate()), "not_staking"],
    [change(network, thief, nonce, key), "key_in_use"],
    [{ ...real, validator_key: next.publicKey.slice(2) }, "validator_key"],
    [{ ...real, proof: proof.slice(2) }, "proof"],
    [{ ...real, proof: `${proof}00` }, "proof"],
    [{ ...real, proof: "0".repeat(128) }, "InvalidSignature"],
  ]
  for (const [body, why] of refused) {
    const { status, text } = await submit(body)
    expect([status >= 400 && status < 500, text]).toEqual([true, expect.stringContaining(why)])
  }

  const account = Address.fromPublicKey(key.publicKey)
  const stake = await Wallet.stakeOf(first, account)
  expect(await submit(real)).toMatchObject({ status: 200 })

  // Both start before the change is in force, while the node with the old key runs.
  const file = join(network.folder, "next.key")
  writeFileSync(file, `${next.toSecretHex()}\n`, { mode: 0o600 })
  const peers = nodes.flatMap(({ p2p }) => ["--peer", p2p])
  const words = ["--validator-key", file, ...peers, ...WORDS]
  const renewed = await Processes.start(network, "renewed", words)
  const before = Processes.finalizedRound(first)
  await Processes.until("the new key signs", () => Processes.lastRoundOf(first, next) > 0)
  const lastOfOld = Processes.lastRoundOf(first, key)
  const twin = await Processes.start(network, "twin", words)
  await Processes.everybodyAt(nodes, Processes.finalizedRound(first) + 30)
  expect(Processes.lastRoundOf(first, key)).toBe(lastOfOld)
  expect(lastOfOld).toBeGreaterThanOrEqual(before)
  const epochsOf = (signer: SecretKey) => Processes.slotsOf(first, signer).map((slot) => Number(slot.split("/")[0]))
  expect(Math.max(...epochsOf(key))).toBeLessThan(Math.min(...epochsOf(next)))

  // The operator restarts the old directory, first with the old key and then with the new one.
  await old.kill()
  const again = await Processes.startValidator(network, 3, [first, second, third], WORDS)
  await Processes.everybodyAt([first, again], Processes.finalizedRound(first) + 15)
  await again.kill()
  const moved = await Processes.start(network, "3", words)
  await Processes.everybodyAt([first, moved, renewed, twin], Processes.finalizedRound(first) + 60)
  expect(Processes.lastRoundOf(first, key)).toBe(lastOfOld)

  const all = [first, second, third, renewed, twin, moved]
  await expectSound({ ...network, keys: [...network.keys, next] }, all, lastOfOld + 60)
  expect(await Wallet.stakeOf(first, account)).toBeGreaterThanOrEqual(stake)
  expect(await Wallet.isInCommittee(first, account)).toBe(true)
})
