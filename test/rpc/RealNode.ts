/** A whole node with its HTTP interface in this process, on a free port, with nothing on the disk. */
import { Effect, Exit, Layer, type Option, Scope } from "effect"
import { RpcUrl } from "../../src/node/RpcUrl.js"
import type * as Configuration from "../../src/node/start/Configuration.js"
import { Home } from "../../src/node/start/Home.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as HttpInterface from "../../src/rpc/HttpInterface.js"
import * as world from "../node/world.js"

export interface RealNode {
  readonly url: string
  readonly port: number
  readonly faucetKey: Option.Option<SecretKey>
  readonly validatorKey: Option.Option<SecretKey>
  readonly stop: () => Promise<void>
}

export const start = async (changes: Partial<Configuration.Settings> = {}): Promise<RealNode> => {
  const scope = Effect.runSync(Scope.make())
  const layer = Layer.provideMerge(
    HttpInterface.layer,
    world.node("", { ephemeral: true, rateLimits: false, ...changes }),
  )
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const [{ url }, { faucetKey, validatorKey }] = Effect.runSync(Effect.provide(Effect.all([RpcUrl, Home]), context))
    return { url, port: Number(new URL(url).port), faucetKey, validatorKey, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Waits until the account has so many sats: a validator earns some in each round. */
export const earned = async ({ url }: RealNode, address: Address, sats: number): Promise<void> => {
  for (;;) {
    const { balance } = await (await fetch(`${url}/balance/${address}`)).json()
    if (balance >= sats) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
