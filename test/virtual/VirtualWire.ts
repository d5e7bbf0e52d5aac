/** Stands in for `TlsWire`: a wire of the machine that makes it. */

import type { Policy } from "../../src/network/peers/Wire.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import { FakeWire } from "../network/FakeWire.js"
import type { Machine } from "./Time.js"
import * as Universe from "./Universe.js"

export class TlsWire extends FakeWire {
  readonly machine: Machine

  constructor({ key }: { readonly key: SecretKey }) {
    const { net, time, hostOf } = Universe.here()
    super(net, NodeProof.idOf(key), hostOf(time.here.name))
    this.machine = time.here
    this.machine.onDeath(() => net.lose(this))
  }

  override async start(policy: Policy): Promise<void> {
    await super.start(policy)
    this.net.add(this)
  }

  override async stop(): Promise<void> {
    await super.stop()
    this.net.lose(this)
  }

  override after(ms: number, act: () => void): void {
    this.machine.after(ms, act)
  }

  override ask<A>(question: (policy: Policy) => A): A {
    return this.machine.run(() => question(this.policy))
  }

  override get isAwake(): boolean {
    return !this.machine.isPaused
  }
}
