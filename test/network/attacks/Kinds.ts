/** The attacks: what one stranger does to one node, over one connection, until it is over or the node ends it. */
import { connect as dial } from "node:net"
import { KIND } from "../../../src/network/peers/Lanes.js"
import * as Security from "../../../src/network/tls/Security.js"
import type { Allocation } from "../../../src/protocol/epoch/Genesis.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import type { NetworkId } from "../../../src/protocol/identity/Network.js"
import * as Ammunition from "./Ammunition.js"
import { type Bot, type Place, piece, told, type Wish } from "./Bot.js"

export interface Arsenal {
  readonly networkId: NetworkId
  readonly genesisHash: Hash
  /** Vertices that every node knows. */
  readonly known: ReadonlyArray<Uint8Array>
}

export interface Front {
  readonly bot: Bot
  readonly isOver: () => boolean
  readonly sent: (messages: number, bytes: number) => void
}

export interface Kind {
  readonly says: string
  /** Connections of each stranger to each node, all from one address; one each where nothing is said. */
  readonly connections?: number
  /** How each connects. */
  readonly wish?: Wish
  /** Attacks without a connection that greets: what one stranger does at one node, until it is over. */
  readonly strange?: (target: Place, isOver: () => boolean, sent: Front["sent"]) => Promise<void>
  /** How long it takes until the attack is what it is. */
  readonly settleMs?: number
  /** The kind that sends the same from a key of nobody, for comparison: it may cost half as much, and no less. */
  readonly control?: string
  /** Accounts that the attack needs. */
  readonly allocations?: ReadonlyArray<Allocation>
  /** Makes what is sent, once for all strangers, then gives what each does. */
  readonly load: (arsenal: Arsenal) => (front: Front) => Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Again and again, as fast as the node reads; where each begins is chance. */
async function* cycle({ isOver, sent }: Front, messages: ReadonlyArray<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let at = Math.floor(Math.random() * messages.length); !isOver() && messages.length > 0; at++) {
    const message = messages[at % messages.length] ?? new Uint8Array(0)
    sent(1, message.length)
    yield message
    if (at % TURN === 0) await turn()
  }
}

/** Messages between two turns of the event loop. */
const TURN = 64

const EVERY_MS = 100

async function* paced({ isOver, sent }: Front, message: Uint8Array, perSecond: number): AsyncGenerator<Uint8Array> {
  while (!isOver()) {
    for (let n = 0; n < (perSecond * EVERY_MS) / 1_000; n++) {
      sent(1, message.length)
      yield message
    }
    await pause(EVERY_MS)
  }
}

/** What breaks off is begun anew. */
const keepUp = async (front: Front, write: () => Promise<void>): Promise<void> => {
  while (!front.isOver() && front.bot.isOpen()) {
    await write().catch(() => {})
    await pause(200)
  }
}

const all = (front: Front, ...writes: ReadonlyArray<() => Promise<void>>): Promise<void> =>
  Promise.all(writes.map((write) => keepUp(front, write))).then(() => {})

const PIECES_BYTES = 100_000
/** Frames or records that are written together. */
const AT_ONCE = 500
const SLOW_MESSAGES = 800

const single = {
  pieces: {
    says: "messages in pieces of one byte",
    load: () => {
      const frame = Ammunition.unaskedState(PIECES_BYTES)
      return (front) => {
        const sent = (bytes: number): boolean => {
          front.sent(bytes / frame.length, bytes)
          return !front.isOver()
        }
        const write = () => front.bot.writePieces("answers", frame, sent)
        return all(front, write)
      }
    },
  },
  foreign: {
    says: "vertices of an old epoch by nobody, ten thousand good signatures each",
    load: ({ networkId }) => {
      const frames = Ammunition.foreignVertices(networkId, 0)
      return (front) => all(front, () => front.bot.write("vertices", cycle(front, frames)))
    },
  },
  questions: {
    says: "a hundred questions a second for whole epochs",
    load: () => {
      const frame = Ammunition.askRounds(1)
      return (front) => all(front, () => front.bot.write("questions", paced(front, frame, 100)))
    },
  },
  records: {
    says: "records of one byte, each a part of a message",
    load: () => {
      const frames = piece("answers", new Uint8Array(1_000))
      return (front) =>
        all(front, () =>
          front.bot.writeRaw(
            (function* () {
              for (let at = 0; !front.isOver(); at = (at + 1) % frames.length) {
                front.sent(1 / frames.length, 1)
                yield frames.subarray(at, at + 1)
              }
            })(),
          ),
        )
    },
  },
  controls: {
    says: "pings, and credit of nothing, by the million",
    load: () => {
      const frame = (kind: number) => piece("greeting", new Uint8Array(0), kind)
      const burst = Buffer.concat(Array.from({ length: AT_ONCE }, () => [frame(KIND.ping), frame(KIND.credit)]).flat())
      return (front) =>
        all(front, () =>
          front.bot.writeRaw(
            (async function* () {
              for (; !front.isOver(); await turn()) {
                front.sent(2 * AT_ONCE, burst.length)
                yield burst
              }
            })(),
          ),
        )
    },
  },
  empty: {
    says: "empty messages for everybody, and ones with long lists of members",
    load: () => {
      const list = Uint8Array.of(34, ...new Uint8Array(34 * 20), 2, 0, 0, 0, 0)
      return (front) =>
        all(
          front,
          () => front.bot.write("votes", cycle(front, [told(new Uint8Array(0))])),
          () => front.bot.write("transactions", cycle(front, [list])),
        )
    },
  },
  deaf: {
    says: "questions whose answers nobody reads",
    load: () => {
      const message = Ammunition.askRounds(1)
      return (front) => all(front, () => front.bot.write("questions", cycle(front, [message])))
    },
    wish: { heard: "deaf" },
  },
  slow: {
    says: "headers, evidence and heartbeats by nobody under signatures that are slow to judge",
    load: () => {
      const highest = Ammunition.slowHighest(SLOW_MESSAGES / 4)
      const votes = Ammunition.slowVotes(SLOW_MESSAGES)
      return (front) => {
        return all(
          front,
          () => front.bot.write("answers", cycle(front, highest)),
          () => front.bot.write("votes", cycle(front, votes.map(told))),
        )
      }
    },
  },
  known: {
    says: "known vertices again and again",
    load: ({ known }) => {
      return (front) => {
        return all(front, () => front.bot.write("vertices", cycle(front, known)))
      }
    },
  },
} satisfies Readonly<Record<string, Kind>>

/** Holds a connection as long as the node lets it. */
const hold = async ({ isOver, bot }: Front): Promise<void> => {
  while (!isOver() && bot.isOpen()) await pause(EVERY_MS)
}

/** Of each stranger to each node. */
const TRANSACTIONS_A_SECOND = 70

/** One after the other, each to one node only: whoever passes it on does so of its own accord. */
const transactions =
  (isRich: boolean): Kind["load"] =>
  ({ networkId }) => {
    const messages = Ammunition.unpaid(networkId, isRich).map(told)
    let at = 0
    return (front) => {
      async function* next(): AsyncGenerator<Uint8Array> {
        while (!front.isOver()) {
          for (let n = 0; n < (TRANSACTIONS_A_SECOND * EVERY_MS) / 1_000; n++) {
            const message = messages[at++ % messages.length] ?? new Uint8Array(0)
            front.sent(1, message.length)
            yield message
          }
          await pause(EVERY_MS)
        }
      }
      return all(front, () => front.bot.write("transactions", next()))
    }
  }

/** A socket from there that never fails loudly. */
const socketTo = ({ target, source = "" }: Place) => {
  const [host = "", port = ""] = (target.split("@").at(-1) ?? "").split(":")
  return dial({ host, port: Number(port), localAddress: source }).on("error", () => {})
}

const HANDSHAKES_AT_ONCE = 8

const strange = {
  handshakes: {
    says: "handshakes from everywhere that end before they prove anything",
    load: () => hold,
    strange: async (place, isOver, sent) => {
      const one = async () => {
        while (!isOver()) {
          const raw = socketTo({ ...place, source: anySource() })
          const socket = Security.dialling(raw)
          await new Promise<void>((resolve) => {
            socket.on("error", () => {})
            socket.once("secureConnect", () => socket.destroy())
            socket.once("close", () => {
              raw.destroy()
              resolve()
            })
          })
          sent(1, 0)
        }
      }
      await Promise.all(Array.from({ length: HANDSHAKES_AT_ONCE }, one))
    },
  },
  halves: {
    says: "connections from everywhere that say nothing, or half a hello",
    load: () => hold,
    strange: async (place, isOver, sent) => {
      while (!isOver()) {
        const raw = socketTo({ ...place, source: anySource() })
        raw.write(Uint8Array.of(22, 3, 1, 2, 0, 1, 0, 1))
        sent(1, 8)
        await pause(2)
      }
    },
  },
} satisfies Readonly<Record<string, Kind>>

const anySource = (): string => {
  const byte = () => 1 + Math.floor(Math.random() * 250)
  return `127.${byte()}.${byte()}.${byte()}`
}

export const kinds: Readonly<Record<string, Kind>> = {
  ...strange,
  ...single,
  places: { says: "all places held, from ten addresses", connections: 32, settleMs: 45_000, load: () => hold },
  unpaid: {
    says: "transactions after a missing nonce, from accounts with coins, whose fees rise and rise",
    control: "nobodys",
    allocations: Ammunition.payers,
    load: transactions(true),
  },
  nobodys: { says: "the same transactions, from accounts without coins", load: transactions(false) },
  mix: {
    says: "all of these at once",
    load: (arsenal) => {
      const attacks = Object.values(single).map((kind: Kind) => kind.load(arsenal))
      let next = 0
      return (front) => attacks[next++ % attacks.length]?.(front) ?? Promise.resolve()
    },
  },
}
