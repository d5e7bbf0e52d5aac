/** The client as a package of its own, installed alone. */
import { execFile } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type StartedNode, startNode } from "../../src/testing/Testing.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

const root = resolve(import.meta.dirname, "../..")
const run = promisify(execFile)

const folder = TemporaryFolder.forTests("client")
let node: StartedNode

beforeAll(async () => {
  await run(process.execPath, [join(root, "scripts/build-client.mjs"), join(folder, "built")])
  const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts"], { cwd: join(folder, "built") })
  const [packed]: ReadonlyArray<{ readonly filename: string }> = JSON.parse(stdout)
  mkdirSync(join(folder, "program"))
  writeFileSync(join(folder, "program/package.json"), '{ "type": "module", "private": true }')
  const file = join(folder, "built", packed?.filename ?? "")
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", file], { cwd: join(folder, "program") })
  node = await startNode({ accounts: 2 })
})
afterAll(() => node?.stop())

const installed = (): string => join(folder, "program/node_modules")

it("is one package of less than a megabyte, without native code or Effect", () => {
  expect(readdirSync(installed()).filter((name) => !name.startsWith("."))).toEqual(["udg-client"])
  const files = readdirSync(installed(), { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const paths = files.map((each) => join(each.parentPath, each.name))
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0)
  process.stdout.write(`udg-client: ${paths.length} files, ${bytes} bytes\n`)
  expect(bytes).toBeLessThan(1_000_000)
  const foreign = paths.filter((path) => /(?:from|import) "(?:@?effect|node:)/.test(readFileSync(path, "utf8")))
  expect(foreign).toEqual([])
  const manifest = JSON.parse(readFileSync(join(installed(), "udg-client/package.json"), "utf8"))
  expect(manifest).toMatchObject({ type: "module", sideEffects: false })
  expect(manifest.dependencies).toBeUndefined()
})

it("pays on a node from a separate program", async () => {
  const [alice] = node.accounts
  writeFileSync(
    join(folder, "program/pay.mjs"),
    `import { connect, Wallet } from "udg-client"
     const client = connect(process.argv[2])
     const receipt = await client.account(process.argv[3]).send({ to: process.argv[4], amount: Wallet.sats("1.5") })
     console.log(receipt.type, (await client.balance(process.argv[4])).balance)`,
  )
  const words = [node.url, alice?.secretKey.toSecretHex() ?? "", "ab".repeat(20)]
  const { stdout } = await run(process.execPath, ["pay.mjs", ...words], { cwd: join(folder, "program") })
  expect(stdout).toBe("Transfer 150000000\n")
})

const PROGRAM = `
import { connect, InvalidInput, NotApplied, RequestRefused, Wallet, type Balance, type Receipt } from "udg-client"
import * as Own from "udg-client/wallet"

const client = connect("localhost:10333", { retries: 1 })
export const main = async (): Promise<Receipt<"Transfer">> => {
  const account = client.account(Own.generate())
  const { balance }: Balance = await client.balance("@alice")
  const plain: number = (await client.core.balance({ path: { address: "@alice" } })).next_nonce
  const [answer] = await client.transactions.submit({ payload: [] })
  if (answer !== undefined && "code" in answer) console.log(answer.code, plain)
  for await (const { event } of client.follow()) if (event.type === "round") console.log(event.finalized_round)
  try {
    const { proposal_id } = await account.createProposal({ title: "", description: "", proposal_type: { Text: {} } })
    await account.vote({ proposal_id, vote: true })
  } catch (error) {
    if (error instanceof RequestRefused && error.failure._tag === "InsufficientBalance") console.log(error.failure.required)
    if (error instanceof NotApplied || error instanceof InvalidInput) console.log(error.message)
  }
  return account.send({ to: "@bob", amount: Wallet.sats("1") + balance })
}
`

const compile = async (resolution: "nodenext" | "bundler", isWithNode: boolean): Promise<void> => {
  const place = join(folder, "program")
  if (isWithNode) {
    mkdirSync(join(installed(), "@types"), { recursive: true })
    rmSync(join(installed(), "@types/node"), { force: true })
    symlinkSync(join(root, "node_modules/@types/node"), join(installed(), "@types/node"))
  }
  const compilerOptions = {
    target: "es2022",
    lib: ["es2023"],
    module: resolution === "nodenext" ? "nodenext" : "esnext",
    moduleResolution: resolution,
    types: isWithNode ? ["node"] : [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  }
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["program.ts"] }))
  const declared = isWithNode ? "" : "declare const console: { log: (...words: ReadonlyArray<unknown>) => void }\n"
  writeFileSync(join(place, "program.ts"), `${declared}${PROGRAM}`)
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const outcome = await run(process.execPath, [tsc], { cwd: place }).catch(
    (error: { readonly stdout?: string }) => error,
  )
  expect(outcome.stdout).toBe("")
  rmSync(join(installed(), "@types"), { recursive: true, force: true })
}

it.each(["nodenext", "bundler"] as const)(
  Rest.of("the compiler", "compiles strictly without the DOM, with the modules of %s"),
  async (resolution) => {
    await compile(resolution, true)
    await compile(resolution, false)
  },
  240_000,
)
