/**
 * A joining node whose first peer corrupts checkpoints and state byte by byte, while three others are honest.
 * `UDG_FUZZ_STATES` sets the amount.
 */
import { setImmediate as turn } from "node:timers/promises"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import type { Message } from "../../src/replica/messages/Message.js"
import { Cluster, type Machine } from "../replica/Cluster.js"
import { Chance } from "../simulation/Chance.js"
import * as Rest from "../support/Rest.js"
import * as WholeMessage from "../support/WholeMessage.js"

const NETWORK = "udg-cluster" as NetworkId
const HONEST = ["ann", "ben", "cleo", "dan"]
const runs = Math.ceil(Number(process.env["UDG_FUZZ_STATES"] ?? 600) / 200)
const LIMIT_MS = 3 * 3_600_000

type Lie = (message: Message) => ReadonlyArray<Message>

/** The messages decoded from bytes with some of them changed. Several attempts, since most do not decode. */
const spoiling =
  (chance: Chance): Lie =>
  (message) => {
    if (message._tag !== "Closing" && message._tag !== "State") return [message]
    const bytes = MessageCodec.encode(message)
    const lies: Array<Message> = []
    for (let tries = 0; tries < 40 && lies.length < 3; tries++) {
      const spoiled = Uint8Array.from(bytes)
      for (let n = chance.below(3); n >= 0; n--) {
        const at = chance.below(spoiled.length)
        spoiled[at] = chance.percent(50) ? (spoiled[at] ?? 0) ^ (1 << chance.below(8)) : of(EDGES, chance)
      }
      const decoded = WholeMessage.decode(NETWORK, spoiled)
      if (Either.isRight(decoded)) lies.push(decoded.right)
    }
    return lies
  }

/** The honest nodes' checkpoints reordered, repeated, or with gaps. */
const rearranging =
  (chance: Chance): Lie =>
  (message) => {
    if (message._tag !== "Closing") return [message]
    const { signed, newest } = message
    switch (chance.below(6)) {
      case 0:
        return [{ ...message, signed: signed.toReversed() }]
      case 1:
        return [{ ...message, signed: signed.flatMap((one) => [one, one]) }]
      case 2:
        return [{ ...message, signed: signed.filter(() => chance.percent(50)) }]
      case 3:
        return [{ ...message, newest: signed[0] ?? newest }]
      case 4:
        return [{ ...message, signed: [] }]
      default:
        return [
          { ...message, signed: signed.map((one, i) => ({ ...one, signatures: signed[i - 1]?.signatures ?? [] })) },
        ]
    }
  }

const EDGES = [0, 1, 0x7f, 0x80, 0xff]

const of = <A>(items: ReadonlyArray<A>, chance: Chance): A => {
  const item = items[chance.below(items.length)]
  if (item === undefined) throw new Error("nothing to choose from")
  return item
}

const join = (seed: number, lieOf: (chance: Chance) => Lie): { readonly eve: Machine; readonly honest: Machine } => {
  const cluster = new Cluster({ validators: Object.fromEntries(HONEST.map((name) => [name, 10_000])), epochRounds: 40 })
  for (const name of HONEST) cluster.add(name)
  cluster.start()
  cluster.runRounds(130)
  const [liar, honest] = [cluster.machine("ann"), cluster.machine("ben")]
  const lie = lieOf(new Chance(seed, "joining"))
  const eve = cluster.add("eve", { isValidator: false })
  liar.says = (to, message) => (to === eve.peer ? lie(message) : [message])
  cluster.start()
  cluster.runRounds(60)
  return { eve, honest }
}

describe("a newcomer between one peer that corrupts its messages and three honest ones", () => {
  it.each([
    ["any of its bytes", spoiling],
    ["the order and number of its checkpoints", rearranging],
  ] as const)(
    Rest.of("many networks", "joins the true state when a peer changes %s"),
    async (_, lieOf) => {
      for (let seed = 1; seed <= runs; seed++) {
        // Vitest gives up on a worker that never yields.
        await turn()
        const { eve, honest } = join(seed, lieOf)
        const where = `seed ${seed}`
        expect(
          eve.outputs.some(({ _tag }) => _tag === "JoinStopped"),
          where,
        ).toBe(false)
        expect(
          eve.writes.some(({ _tag }) => _tag === "Joined"),
          where,
        ).toBe(true)
        expect(eve.replica.read.head.index, where).toBeGreaterThanOrEqual(honest.replica.read.head.index - 3)
        const blamed = eve.outputs.flatMap((output) => (output._tag === "Misbehaved" ? [output.peer] : []))
        expect(new Set(blamed).size, where).toBeLessThanOrEqual(1)
      }
    },
    LIMIT_MS,
  )
})
