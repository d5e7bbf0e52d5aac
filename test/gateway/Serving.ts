/** Gateways as separate processes, and requests to them. */
import { type ChildProcess, spawn } from "node:child_process"
import { resolve } from "node:path"
import * as Address from "../../src/protocol/identity/Address.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Processes from "../network/Processes.js"

const built = resolve(import.meta.dirname, "../../dist/main.js")

export interface Gateway {
  readonly child: ChildProcess
  readonly url: string
  readonly said: () => string
}

export const serve = async (
  genesisFile: string,
  database: string,
  nodes: ReadonlyArray<string>,
  more: ReadonlyArray<string> = ["--rate-limits", "off"],
  { program = built, execArgv = [] }: Processes.Executed = {},
): Promise<Gateway> => {
  const words = ["gateway", "--genesis", genesisFile, "--rpc-port", "0", ...more]
  const all = [...execArgv, program, ...words, ...nodes.flatMap((node) => ["--node", node])]
  const child = spawn(process.execPath, all, {
    env: { PATH: process.env["PATH"] ?? "", UDG_DATABASE: database },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text))
  const url = () => /^ {2}rpc +(\S+)$/m.exec(said)?.[1]
  await Processes.until(`the gateway serves: ${said}`, () => {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}: ${said}`)
    return url() !== undefined
  })
  return { child, url: url() ?? "", said: () => said }
}

/** A transaction of this key's account, with the form in which clients submit it. */
export const signed = (networkId: NetworkId, key: SecretKey, nonce: number, operation: Operation, fee = 1_000) => {
  const from = Address.fromPublicKey(key.publicKey)
  const unsigned = { from, nonce: Natural.nonce(nonce), fee: Sats.make(fee), operation }
  const transaction = Transaction.sign(networkId, unsigned, key)
  return { id: transaction.id, json: JsonForm.toJson(transaction) }
}

export interface Got {
  readonly status: number
  readonly body: unknown
  readonly commit: string | null
}

export const get = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Got> => {
  const answer = await fetch(url, { headers })
  const text = await answer.text()
  const isJson = answer.headers.get("content-type")?.includes("json") === true
  return { status: answer.status, body: isJson ? JSON.parse(text) : text, commit: answer.headers.get("udg-commit") }
}

export const post = async (url: string, body: unknown) => {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json() }
}
