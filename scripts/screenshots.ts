// `npm run screenshots`: the explorer as it looks now, over a real network of seven validators on this machine, one of which
// has stopped, into docs/images. The network has had some life first: names, transfers, a delegation, proposals with votes.
// `npm run screenshots -- DIRECTORY` takes every page instead, on a desktop and on a phone, light and dark, into that directory;
// where PostgreSQL is installed, also what a gateway with an archive shows beyond that.
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type BrowserContextOptions, chromium } from "playwright-core"
import { connect, type PromiseClient } from "../src/client/Client.js"
import * as Wallet from "../src/client/Wallet.js"
import type { Hash } from "../src/protocol/identity/Hash.js"
import * as Follower from "../test/archive/Follower.js"
import * as Server from "../test/archive/Server.js"
import * as Serving from "../test/gateway/Serving.js"
import * as Processes from "../test/network/Processes.js"

const root = resolve(import.meta.dirname, "..")
const images = join(root, "docs/images")
const directory = mkdtempSync(join(tmpdir(), "udg-screenshots-"))

/** Seven nodes; the one that holds the faucet's key is the first. */
const startNetwork = async () => {
  const words = ["localnet", "--validators", "7", "--port", "0", "--round-ms", "500", "--dir", directory]
  const child = spawn(process.execPath, [join(root, "dist/main.js"), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let said = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text
  })
  for (let waited = 0; waited < 120_000; waited += 250) {
    const [, url, p2p] = /(http:\/\/127\.0\.0\.1:\d+)\s+([0-9a-f]{64}@\S+)/.exec(said) ?? []
    if (
      url !== undefined &&
      p2p !== undefined &&
      (await fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      return { child, url, p2p }
    await sleep(250)
  }
  child.kill("SIGTERM")
  throw new Error(`the network did not start within two minutes: ${said}`)
}

const settled = async (client: PromiseClient, hash: Hash): Promise<void> => {
  for (;;) {
    const { status } = await client.transactions.lookup({ path: { hash } })
    if (status === "finalized") return
    await sleep(250)
  }
}

/** Stops the last of the nodes, and no other process: each says its own number. */
const stopOne = (): void => {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith("running.json"),
  )
  const [last] = files.sort().reverse()
  if (last === undefined) throw new Error(`no running.json below ${directory}`)
  const { pid }: { readonly pid: number } = JSON.parse(readFileSync(join(directory, last), "utf8"))
  process.kill(pid, "SIGTERM")
}

const validatorKeys = (): ReadonlyArray<Wallet.SecretKey> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("validator.key"))
    .sort()
    .map((file) => Wallet.secretKey(readFileSync(join(directory, file), "utf8").trim()))

/** What people do with a network, so that there is something to see. */
const live = async (client: PromiseClient): Promise<void> => {
  const network = Wallet.network(await client.core.network())
  const alice = Wallet.account(network, Wallet.generate())
  const { tx_hash: gift } = await client.core.faucet({
    payload: { address: alice.addressBech32, amount: Wallet.sats("2500") },
  })
  await settled(client, gift)
  const { validators } = await client.staking.validators()
  const to = validators[1]?.address ?? ""
  const common = (nonce: number) => ({ nonce, fee: 1_000 })
  const send = async (payload: Wallet.SignedTransaction) => (await client.transactions.submit({ payload })).tx_hash
  await send(alice.registerName({ nonce: 0, fee: 100_000, name: "alice" }))
  await send(alice.delegate({ nonce: 1, validator: to, amount: Wallet.sats("1200") }))
  for (let nonce = 2; nonce < 30; nonce++) {
    await send(alice.transfer({ ...common(nonce), to, amount: Wallet.sats(`${nonce}.25`), memo: "for the show" }))
  }
  const [proposer, ...others] = validatorKeys().map((key) => Wallet.account(network, key))
  if (proposer === undefined) throw new Error(`no validator.key below ${directory}`)
  const proposal = await send(
    proposer.createProposal({
      ...common(0),
      title: "Lower the least fee to 500 sats",
      description: "Transfers cost validators little, and a lower fee lets more of them in.",
      proposal_type: { ParameterChange: { param: "min_fee_sats", value: 500 } },
    }),
  )
  await settled(client, proposal)
  await send(proposer.vote({ ...common(1), proposal_id: 1, vote: true }))
  for (const [i, voter] of others.slice(0, 2).entries()) {
    await send(voter.vote({ ...common(0), proposal_id: 1, vote: i === 0 }))
  }
  for (const [i, name] of ["north", "harbour", "lighthouse"].entries()) {
    const owner = others[i + 2]
    if (owner !== undefined) await send(owner.registerName({ nonce: 0, fee: 100_000, name }))
  }
  const second = await send(
    proposer.createProposal({
      ...common(2),
      title: "Pay for a second explorer",
      description: "Somebody should look at the network through other eyes.",
      proposal_type: { TreasurySpend: { recipient: alice.address, amount: Wallet.sats("3") } },
    }),
  )
  await settled(client, second)
  stopOne()
}

/** Then a balance can be checked, and the pictures of the DAG are full. */
const checkpointed = async (client: PromiseClient): Promise<void> => {
  const isThere = () =>
    client.checkpoints.latest().then(
      () => true,
      () => false,
    )
  while (!(await isThere())) await sleep(500)
}

/** A gateway over an archive that follows the network. */
const startGateway = async (node: string, p2p: string) => {
  const server = await Server.make()
  const database = await server.create("screenshots")
  const genesisFile = join(directory, "genesis.json")
  const follower = Follower.follow({ folder: directory, genesisFile }, "screenshots", database, { p2p })
  await Processes.until("the archive has a checkpoint", async () => {
    const rows = await Server.query(database, "select round from checkpoints limit 1").catch(() => [])
    return rows.length > 0
  })
  const gateway = await Serving.serve(genesisFile, database, [node])
  const stop = async (): Promise<void> => {
    gateway.child.kill("SIGTERM")
    await follower.end("SIGTERM")
    await server.remove()
  }
  return { url: gateway.url, stop }
}

/** What only an archive shows. */
const archivePages = [
  ["archive-overview", ""],
  ["archive-accounts", "accounts"],
  ["archive-address", "address/@alice"],
  ["archive-charts", "charts"],
  ["archive-words", "transactions?words=show&from=2026-01-01"],
] as const

/** Every page with something to see. */
const everyPage = async (client: PromiseClient): Promise<ReadonlyArray<readonly [name: string, path: string]>> => {
  const { validators } = await client.staking.validators()
  const { transactions } = await client.transactions.latest({ urlParams: { limit: 1 } })
  const [validator, transaction] = [validators[1], transactions[0]]
  const places = ["dag", "transactions", "charts", "validators", "proposals", "mempool", "checkpoints", "peers"]
  return [
    ["overview", ""],
    ...places.map((place) => [place, place] as const),
    ...["parameters", "wallet"].map((place) => [place, place] as const),
    ["validator", `validator/${validator?.address}`],
    ["address", "address/@alice"],
    ["transaction", `tx/${transaction?.hash}`],
    ["vertex", `vertex/${transaction?.vertex_hash}`],
    ["round", `round/${transaction?.round}`],
    ["proposal", "proposal/1"],
    ["search", "search?q=abcdef"],
  ]
}

const desktop: BrowserContextOptions = { viewport: { width: 1400, height: 900 } }
const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, deviceScaleFactor: 2 }

type Shot = readonly [name: string, path: string, options: BrowserContextOptions]

const everyShot = (pages: ReadonlyArray<readonly [name: string, path: string]>): ReadonlyArray<Shot> =>
  pages.flatMap(([name, path]) =>
    (["light", "dark"] as const).flatMap(
      (colorScheme): ReadonlyArray<Shot> => [
        [`${name}-desktop-${colorScheme}`, path, { ...desktop, colorScheme }],
        [`${name}-phone-${colorScheme}`, path, { ...phone, colorScheme }],
      ],
    ),
  )

const shots: ReadonlyArray<Shot> = [
  ["overview", "", { ...desktop, colorScheme: "light" }],
  ["dag", "dag", { ...desktop, colorScheme: "dark" }],
  ["address", "address/@alice", { ...desktop, colorScheme: "light" }],
  ["validators", "validators", { ...desktop, colorScheme: "light" }],
  ["proposal", "proposal/1", { ...desktop, colorScheme: "dark" }],
  ["wallet", "wallet", { ...desktop, colorScheme: "light" }],
  ["phone", "", { ...phone, colorScheme: "dark" }],
]

const executablePath = [process.env["CHROMIUM"], "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
)
if (executablePath === undefined)
  throw new Error("no Chromium; install Debian's chromium, or name one with CHROMIUM=PATH")

const { child, url, p2p } = await startNetwork()
const [into] = process.argv.slice(2)
/** Long enough for the picture to follow the newest round; charts have had all the shots before. */
const settledMs = into === undefined ? 8_000 : 1_500
const out = into === undefined ? images : resolve(into)

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })

const take = async (from: string, [name, path, options]: Shot): Promise<void> => {
  const page = await (await browser.newContext(options)).newPage()
  await page.goto(`${from}/explorer/${path}`)
  await page.locator(".skeleton").first().waitFor({ state: "detached" })
  await sleep(settledMs)
  const file = join(out, into === undefined ? `explorer-${name}.png` : `${name}.png`)
  await page.screenshot({ path: file, fullPage: into !== undefined })
  console.log(file)
  await page.context().close()
}

try {
  const client = connect(url)
  const gateway = into !== undefined && Server.isThere ? await startGateway(url, p2p) : undefined
  await live(client)
  await checkpointed(client)
  mkdirSync(out, { recursive: true })
  for (const shot of into === undefined ? shots : everyShot(await everyPage(client))) await take(url, shot)
  if (gateway !== undefined) {
    for (const shot of everyShot(archivePages)) await take(gateway.url, shot)
    await gateway.stop()
  }
} finally {
  await browser.close()
  child.kill("SIGTERM")
  await new Promise((resolve) => child.once("close", resolve))
  rmSync(directory, { recursive: true, force: true })
}
