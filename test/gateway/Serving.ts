/** Gateways as separate processes, and requests to them. */
import { type ChildProcess, spawn } from "node:child_process"
import { resolve } from "node:path"
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
