// The first check of an account over a hundred epochs, with the server that answers in the same process: its time is in the figures.
import { createHash } from "node:crypto"
import { Option } from "effect"
import * as Light from "../src/light/Light.js"
import { SecretKey, type Signer } from "../src/protocol/identity/Keys.js"
import * as History from "../test/light/History.js"
import * as Liar from "../test/light/Liar.js"
import { type Figure, median, type Suite } from "./Harness.js"

const EPOCHS = 100
const REPEATS = 5

const signers = new Map<string, Signer>()
const signerOf = (name: string): Signer => {
  const seed = createHash("sha256").update(name).digest()
  const signer = signers.get(name) ?? Option.getOrThrow(SecretKey.fromSeed(seed))
  signers.set(name, signer)
  return signer
}

const address = History.addressOf("alice")

const firstCheck = async (size: number, turnover: number): Promise<ReadonlyArray<Figure>> => {
  const { closing, running } = History.make({ last: EPOCHS + 1, size, turnover, signerOf })
  const [first] = closing
  if (first === undefined) throw new Error("a checkpoint expected")
  await using server = await Liar.start((path) => {
    if (path.startsWith("/proof/")) return History.accountJson(address, running)
    const signed = closing[Number(path.slice("/checkpoint/epoch/".length)) - 1]
    return signed && { ...History.checkpointJson(signed) }
  })
  const trust = Light.checkpoint(1, first.checkpoint.hash, "testnet")
  const times: Array<number> = []
  for (let i = 0; i < REPEATS; i++) {
    const started = performance.now()
    await Light.client({ trust, nodes: [server.url] }).account(address)
    times.push(performance.now() - started)
  }
  const name = `${size} members, of whom ${turnover} change in every epoch`
  return [
    { name: `${name}: time`, value: median(times), unit: "ms" },
    { name: `${name}: answers`, value: server.asked.length / REPEATS, unit: "" },
  ]
}

export const suite: Suite = {
  about: `the first check of an account over ${EPOCHS} epochs`,
  isLong: true,
  figures: async () => [
    ...(await firstCheck(4, 0)),
    ...(await firstCheck(4, 2)),
    ...(await firstCheck(100, 10)),
    ...(await firstCheck(100, 50)),
  ],
}
