// `npm run screenshots`: the explorer as it looks now, over a real network of four validators on this machine, into
// docs/images. The network has had a few minutes' life first: names, transfers, a delegation, a proposal with votes.
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type BrowserContextOptions, chromium } from "playwright-core"
import { connect, type PromiseClient } from "../src/client/Client.js"
import * as Wallet from "../src/client/Wallet.js"
import type { Hash } from "../src/protocol/identity/Hash.js"

const root = resolve(import.meta.dirname, "..")
const images = join(root, "docs/images")
const directory = mkdtempSync(join(tmpdir(), "udg-screenshots-"))

/** Four nodes; the one that holds the faucet's key is the first. */
const startNetwork = async () => {
  const words = ["localnet", "--validators", "4", "--port", "0", "--round-ms", "500", "--dir", directory]
  const child = spawn(process.execPath, [join(root, "dist/main.js"), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let said = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text
  })
  for (let waited = 0; waited < 120_000; waited += 250) {
    const [, url] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? []
    if (
      url !== undefined &&
      (await fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      return { child, url }
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
}

const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 860 } }
const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, deviceScaleFactor: 2 }

const shots: ReadonlyArray<readonly [name: string, path: string, options: BrowserContextOptions]> = [
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

const { child, url } = await startNetwork()
try {
  await live(connect(url))
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  for (const [name, path, options] of shots) {
    const page = await (await browser.newContext(options)).newPage()
    await page.goto(`${url}/explorer/${path}`)
    await page.locator(".skeleton").first().waitFor({ state: "detached" })
    // Long enough for the picture to follow the newest round and for the little charts to have a course.
    await sleep(8_000)
    await page.screenshot({ path: join(images, `explorer-${name}.png`) })
    console.log(`docs/images/explorer-${name}.png`)
    await page.context().close()
  }
  await browser.close()
} finally {
  child.kill("SIGTERM")
  await new Promise((resolve) => child.once("close", resolve))
  rmSync(directory, { recursive: true, force: true })
}
