/**
 * All attackers of one attack, in one process of low priority. Its input says when to attack and when to rest, its
 * output reports what it did, and it ends with its input or after its life.
 */
import { readFileSync } from "node:fs"
import { setPriority } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { Either, Option } from "effect"
import * as MessageCodec from "../../../src/network/MessageCodec.js"
import * as Genesis from "../../../src/protocol/epoch/Genesis.js"
import { SecretKey } from "../../../src/protocol/identity/Keys.js"
import * as WholeMessage from "../../support/WholeMessage.js"
import * as Ammunition from "./Ammunition.js"
import { type Bot, connect } from "./Bot.js"
import { kinds } from "./Kinds.js"
import { Scout } from "./Scout.js"
import type { Order } from "./Siege.js"

const order = JSON.parse(process.argv[2] ?? "{}") as Order
setPriority(order.niceness)
setTimeout(() => process.exit(0), order.lifeMs).unref()
process.on("uncaughtException", () => {})
process.on("unhandledRejection", () => {})

const genesis = Either.getOrThrow(Genesis.fromFile(JSON.parse(readFileSync(order.genesisFile, "utf8"))))
const network = { networkId: genesis.networkId, genesisHash: Genesis.hash(genesis) }

const AGAIN_MS = 500
const LEARNED = 256
const BETWEEN_MS = 20
const MOST_SPIN_MS = 20

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A stranger that is cut off returns with another key and address. */
let drawn = 0
const nextSource = (): string => {
  drawn++
  return `127.${1 + ((drawn >> 16) % 250)}.${(drawn >> 8) % 256}.${1 + (drawn % 250)}`
}

/** Vertices that the node serves. */
const learn = async (target: string): Promise<ReadonlyArray<Uint8Array>> => {
  const known: Array<Uint8Array> = []
  const bot = await connect(
    { ...network, target, source: nextSource() },
    {
      heard: (channel, bytes) => {
        if (channel !== "vertices" && channel !== "answers") return
        const message = WholeMessage.decode(network.networkId, bytes)
        if (Either.isLeft(message) || !("vertices" in message.right)) return
        for (const vertex of message.right.vertices) {
          known.push(MessageCodec.encode({ _tag: "Vertices", vertices: [vertex] }))
        }
      },
    },
  )
  for (let tries = 0; tries < 50 && known.length < LEARNED; tries++) {
    await bot.write("questions", [Ammunition.askRounds(1)])
    await pause(200)
  }
  bot.close()
  if (known.length === 0) throw new Error("the node has shown no vertices")
  return known.slice(0, LEARNED)
}

const kind = kinds[order.kind]
if (kind === undefined) throw new Error(`no attack ${order.kind}; there are ${Object.keys(kinds).join(", ")}`)
const [first = ""] = order.targets
const fire = kind.load({
  ...network,
  known: await learn(first),
  member: Option.getOrThrow(SecretKey.fromHex(readFileSync(join(dirname(order.genesisFile), "0.key"), "utf8").trim())),
  follow: () => Scout.follow({ ...network, target: first, source: nextSource() }),
})

let attack = 0
let duty = 0
const done = { messages: 0, bytes: 0, connections: 0, refusals: 0, breaches: 0 }
let cpu = process.cpuUsage()
let atRest = { at: performance.now(), cpu }

/** One stranger against one node, until this attack ends. */
const front = async (target: string, number: number, source: string | null): Promise<void> => {
  const isOver = () => attack !== number
  while (!isOver()) {
    let bot: Bot | null = null
    const place = { ...network, target, source: source ?? nextSource() }
    const count = (messages: number, bytes: number) => {
      done.messages += messages
      done.bytes += bytes
    }
    if (kind.strange !== undefined) {
      const others = order.targets.filter((each) => each !== target)
      const opened = () => void done.connections++
      const breached = () => void done.breaches++
      await kind.strange({ place, others, isOver, sent: count, opened, breached }).catch(() => void done.refusals++)
      await pause(1)
      continue
    }
    try {
      bot = await connect(place, kind.wish)
      done.connections++
      const opened = bot
      await fire({ bot: opened, isOver: () => isOver() || !opened.isOpen(), sent: count })
    } catch {
      done.refusals++
    }
    bot?.close()
    await pause(AGAIN_MS * (1 + Math.random()))
  }
}

/** Round-robin, so that all nodes are attacked alike; a few at a time, so that greetings do not take all the time. */
const begin = async (): Promise<void> => {
  const number = ++attack
  const { connections = 1 } = kind
  const sources = Array.from({ length: order.strangers }, () => (connections > 1 ? nextSource() : null))
  for (let n = 0; n < connections; n++) {
    for (const source of sources) {
      for (const target of order.targets) {
        if (attack !== number) return
        void front(target, number, source)
        if (connections > 1) await pause(BETWEEN_MS)
      }
    }
  }
}

/**
 * Uses as much processor time as the attack did, so that the comparison shows the effect of the attack only. On a busy
 * machine a span of time is not processor time, so it counts what it got.
 */
const spin = (): void => {
  if (duty > 0) {
    const { user, system } = process.cpuUsage(atRest.cpu)
    const owedMs = duty * (performance.now() - atRest.at) - (user + system) / 1_000
    const until = performance.now() + Math.min(MOST_SPIN_MS, owedMs)
    while (performance.now() < until);
  }
  setTimeout(spin, duty > 0 ? 1 : 100)
}

const say = (report: object): void => void process.stdout.write(`${JSON.stringify(report)}\n`)

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [word, value] = line.split(" ")
    if (word === "report") {
      const { user, system } = process.cpuUsage(cpu)
      say({ ...done, cpuMs: Math.round((user + system) / 1_000) })
      cpu = process.cpuUsage()
      Object.assign(done, { messages: 0, bytes: 0 })
    } else if (word === "attack") {
      duty = 0
      void begin()
    } else if (word === "rest") {
      attack++
      duty = Math.min(1, Number(value))
      atRest = { at: performance.now(), cpu: process.cpuUsage() }
    }
  })
  .on("close", () => process.exit(0))

spin()
say({ isReady: true })
