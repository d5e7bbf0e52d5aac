/** A whole node with its HTTP interface in this process, on a free port. Its disk holds only keys that tests know. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { connect } from "../../src/client/Client.js"
import type { SignedTransaction } from "../../src/client/Wallet.js"
import * as Engine from "../../src/node/engine/Engine.js"
import { RpcUrl } from "../../src/node/RpcUrl.js"
import type * as Configuration from "../../src/node/start/Configuration.js"
import { Home } from "../../src/node/start/Home.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as HttpInterface from "../../src/rpc/HttpInterface.js"
import * as world from "../node/world.js"

export interface RealNode extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly faucetKey: Option.Option<SecretKey>
  readonly validatorKey: Option.Option<SecretKey>
  /** What it has in memory. */
  readonly view: Engine.View
  readonly stop: () => Promise<void>
}

/** The key in a file, created unless the network's directory has one: a node hands out no keys. */
const written = (folder: string, name: string) => {
  const file = join(folder, name)
  if (!existsSync(file)) writeFileSync(file, SecretKey.generate().toSecretHex(), { mode: 0o600 })
  const key = Option.getOrThrow(SecretKey.fromHex(readFileSync(file, "utf8").trim()))
  return { key, file: Option.some(file) }
}

export const start = async (
  changes: Partial<Configuration.Settings> = {},
  engine: typeof Engine.layer = Engine.layer,
): Promise<RealNode> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-real-node-"))
  const home = changes.dataDirectory ?? folder
  const [validator, faucet] = [written(home, "validator.key"), written(home, "faucet.key")]
  const scope = Effect.runSync(Scope.make())
  const keys = { validatorKeyFile: validator.file, faucetKeyFile: faucet.file }
  const layer = Layer.provideMerge(
    HttpInterface.layer,
    world.node("", { ephemeral: true, rateLimits: false, ...keys, ...changes }, undefined, engine),
  )
  const stop = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const services = Effect.all([RpcUrl, Home, Engine.Engine])
    const [{ url }, home, { view }] = Effect.runSync(Effect.provide(services, context))
    const port = Number(new URL(url).port)
    const faucetKey = Option.as(home.faucetKey, faucet.key)
    const validatorKey = Option.as(home.validatorKey, validator.key)
    return { url, port, faucetKey, validatorKey, view, stop, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Sends a transaction and waits until it is final and its effect is visible; returns its hash. */
export const finalized = async ({ url }: RealNode, payload: SignedTransaction): Promise<string> => {
  const { hash, applied } = await connect(url).sendAndWait(payload)
  if (!applied) throw new Error(`${hash} had no effect`)
  return hash
}

/** Waits until the account has this many sats: a validator earns some in each round. */
export const earned = async ({ url }: RealNode, address: Address, sats: number): Promise<void> => {
  for (;;) {
    const { balance } = await (await fetch(`${url}/balance/${address}`)).json()
    if (balance >= sats) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
