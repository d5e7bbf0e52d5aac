/** Stands in for `TlsWire`: a wire of the machine that makes it. */

import type { Policy } from "../../src/network/peers/Wire.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import { FakeWire } from "../network/FakeWire.js"
import type { Machine } from "./Time.js"
import * as Universe from "./Universe.js"

/** As in the real one. */
const TICK_MS = 5_000
const SILENT_TICKS = 18
const TICKS_PER_PING = 2

export class TlsWire extends FakeWire {
  readonly machine: Machine
  #timer: NodeJS.Timeout | undefined

  constructor({ key }: { readonly key: SecretKey }) {
    const { net, time, hostOf } = Universe.here()
    super(net, NodeProof.idOf(key), hostOf(time.here.name))
    this.machine = time.here
    this.machine.onDeath(() => net.lose(this))
  }

  override async start(policy: Policy): Promise<void> {
    await super.start(policy)
    this.net.add(this)
    let tick = 0
    this.#timer = setInterval(() => this.#listen(++tick % TICKS_PER_PING === 0), TICK_MS)
  }

  #listen(isPinging: boolean): void {
    for (const connection of this.connections) {
      if (connection.isSilentFor(SILENT_TICKS)) connection.abort(new Error("silent for too long"))
      else if (isPinging) connection.lanes.ping()
    }
  }

  override async stop(): Promise<void> {
    clearInterval(this.#timer)
    await super.stop()
    this.net.lose(this)
  }

  override after(ms: number, act: () => void): void {
    this.machine.after(ms, act)
  }
}
