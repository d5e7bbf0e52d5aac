/** The built node, alone on a network with epochs of a second and an open port. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Client from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import { program, Running } from "../blackbox/Running.js"

export type Mode = "testnet" | "mainnet"

const COIN = 100_000_000

/** Accounts with coins in the genesis. */
export const people = ["alice", "bob", "carol", "dave", "erin", "frank"] as const
export type Person = (typeof people)[number]

export interface TestNode {
  readonly mode: Mode
  readonly prefix: "udg" | "tudg"
  readonly port: number
  readonly url: string
  readonly pid: number
  readonly client: Client.PromiseClient
  readonly network: Wallet.WalletNetwork
  /** The content of the genesis file. */
  readonly genesis: unknown
  readonly genesisFile: string
  /** As KEY@HOST:PORT. */
  readonly p2p: string
  /** A private folder that is removed with the node. */
  readonly folder: string
  readonly validator: Wallet.Account
  readonly accounts: Readonly<Record<Person, Wallet.Account>>
  readonly keys: Readonly<Record<Person, Wallet.SecretKey>>
  /** The node's stderr so far. */
  readonly log: () => string
  readonly stop: () => Promise<{ readonly code: number | null; readonly tookMs: number }>
}

export interface Settings {
  readonly mode?: Mode
  readonly roundMs?: number
  readonly words?: ReadonlyArray<string>
  /** Parameters that differ from a solo network's. */
  readonly parameters?: Readonly<Record<string, number>>
}

/** The shortest possible epochs: 40 rounds. */
const genesisOf = (settings: Settings, validator: string, faucet: string, allocations: ReadonlyArray<string>) => ({
  network_id: `conformance-${settings.mode ?? "testnet"}`,
  mode: settings.mode ?? "testnet",
  time: Date.now(),
  allocations: [
    ...allocations.map((address) => ({ address, amount: 100_000 * COIN })),
    { address: faucet, amount: 5_000_000 * COIN },
  ],
  validators: [{ pub_key: validator, stake: 100_000 * COIN, commission_percent: 10 }],
  faucet: settings.mode === "mainnet" ? null : { address: faucet, max_request: 100_000 * COIN },
  // One validator decides, as on a solo network.
  parameters: {
    ...{ checkpoint_interval_rounds: 10, quorum_percent: 10, voting_period_rounds: 240, execution_delay_rounds: 60 },
    ...{ proposal_bond_sats: 1_000_000, max_active_per_proposer: 20 },
    ...settings.parameters,
  },
  protocol: { round_interval_ms: settings.roundMs ?? 50, epoch_rounds: 40, collection_depth_rounds: 20 },
})

const RPC_LINE = /^ {2}rpc +(http:\/\/\S+?)\/?$/m
const P2P_LINE = /^ {2}p2p +(\S+)$/m

/** The files of a node and its funded accounts. */
export const prepare = (settings: Settings = {}) => {
  const mode = settings.mode ?? "testnet"
  const prefix = mode === "mainnet" ? "udg" : "tudg"
  const network = Wallet.network({ network_id: `conformance-${mode}`, address_prefix: prefix })
  const keyed = people.map((name) => [name, Wallet.generate()] as const)
  const accounted = keyed.map(([name, key]) => [name, Wallet.account(network, key)] as const)
  const validator = Wallet.generate()
  const faucet = Wallet.generate()
  const directory = mkdtempSync(join(tmpdir(), "udg-conformance-"))
  const file = (name: string, text: string): string => {
    const path = join(directory, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const genesis = genesisOf(
    settings,
    validator.publicKey,
    Wallet.account(network, faucet).address,
    accounted.map(([, { address }]) => address),
  )
  const files = {
    genesis: file("genesis.json", JSON.stringify(genesis)),
    validatorKey: file("validator.secret", validator.toSecretHex()),
    faucetKey: mode === "mainnet" ? undefined : file("faucet.secret", faucet.toSecretHex()),
  }
  const known = {
    mode,
    prefix,
    network,
    genesis,
    genesisFile: files.genesis,
    folder: directory,
    validator: Wallet.account(network, validator),
    accounts: Object.fromEntries(accounted) as Record<Person, Wallet.Account>,
    keys: Object.fromEntries(keyed) as Record<Person, Wallet.SecretKey>,
  } as const
  return { files, known, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export const start = async (settings: Settings = {}): Promise<TestNode> => {
  const { files, known, remove } = prepare(settings)
  const node = new Running(process.execPath, [
    program,
    ...["--data-dir", join(known.folder, "data"), "--port", "0"],
    ...["--genesis", files.genesis],
    ...["--validator-key", files.validatorKey],
    ...(files.faucetKey === undefined ? [] : ["--faucet-key", files.faucetKey]),
    ...(settings.words ?? ["--rate-limits", "off"]),
  ])
  await node.until(() => RPC_LINE.test(node.stdout))
  const url = RPC_LINE.exec(node.stdout)?.[1] ?? ""
  const stop = async () => {
    const ended = await node.stop()
    remove()
    return ended
  }
  return {
    ...known,
    url,
    port: Number(new URL(url).port),
    pid: node.pid,
    client: Client.connect(url, { retries: 0 }),
    p2p: P2P_LINE.exec(node.stdout)?.[1] ?? "",
    log: () => node.stderr,
    stop,
  }
}

/** Repeats a request until the response is as wanted, since a busy machine may be slow. */
export const until = async <A>(
  ask: () => Promise<A>,
  isWanted: (answer: A) => boolean,
  withinMs = 120_000,
): Promise<A> => {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    if (performance.now() > deadline) throw new Error(`it did not come to that: ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Submits a signed transaction and waits until it is final and applied. */
export const applied = async ({ client }: TestNode, payload: Wallet.SignedTransaction) => {
  const answer = await client.transactions.submit({ payload })
  if (!("tx_hash" in answer)) throw new Error("one transaction, one answer")
  const lookup = await finalized(client, answer.tx_hash)
  if (lookup.applied !== true) throw new Error(`${payload.type} was not applied: ${lookup.failure}`)
  return lookup
}

export const finalized = (client: Client.PromiseClient, hash: string) =>
  until(
    () => client.transactions.lookup({ path: { hash: hash as never } }),
    ({ status }) => status === "finalized",
  )
