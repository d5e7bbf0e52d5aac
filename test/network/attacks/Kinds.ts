/** The attacks: what one stranger does to one node, over one connection, until it is over or the node ends it. */
import type { Allocation } from "../../../src/protocol/epoch/Genesis.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import type { NetworkId } from "../../../src/protocol/identity/Network.js"
import * as Ammunition from "./Ammunition.js"
import type { Bot, Bytes } from "./Bot.js"

export interface Arsenal {
  readonly networkId: NetworkId
  readonly genesisHash: Hash
  /** Vertices that every node knows, framed. */
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

const BURST_BYTES = 16_384

/** Again and again, as fast as the node reads; where each begins is chance. */
async function* cycle({ isOver, sent }: Front, frames: ReadonlyArray<Uint8Array>): AsyncGenerator<Uint8Array> {
  let at = Math.floor(Math.random() * frames.length)
  while (!isOver() && frames.length > 0) {
    const burst: Array<Uint8Array> = []
    for (let bytes = 0; bytes < BURST_BYTES; at++) {
      const frame = frames[at % frames.length] ?? new Uint8Array(0)
      burst.push(frame)
      bytes += frame.length
    }
    const bytes = Buffer.concat(burst)
    sent(burst.length, bytes.length)
    yield bytes
    await turn()
  }
}

const EVERY_MS = 100

async function* paced({ isOver, sent }: Front, frame: Uint8Array, perSecond: number): AsyncGenerator<Uint8Array> {
  const burst = Buffer.concat(Array.from({ length: (perSecond * EVERY_MS) / 1_000 }, () => frame))
  while (!isOver()) {
    sent(burst.length / frame.length, burst.length)
    yield burst
    await pause(EVERY_MS)
  }
}

/** Streams that the node ends are opened anew. */
const keepUp = async (front: Front, write: () => Promise<void>): Promise<void> => {
  while (!front.isOver() && front.bot.isOpen()) {
    await write().catch(() => {})
    await pause(200)
  }
}

const all = (front: Front, ...writes: ReadonlyArray<() => Promise<void>>): Promise<void> =>
  Promise.all(writes.map((write) => keepUp(front, write))).then(() => {})

const gossiping = (front: Front, bytes: () => Bytes) => () => front.bot.gossip(bytes())

const PIECES_BYTES = 100_000
const EMPTY_BYTES = 4_000_000
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
        return all(front, write, write)
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
  gossip: {
    says: "empty subscriptions, offers, wants, grafts and prunes by the million",
    load: () => {
      const rpcs = Ammunition.emptyGossip("/udg/nothing", EMPTY_BYTES)
      return (front) =>
        all(
          front,
          gossiping(front, () => cycle(front, rpcs)),
        )
    },
  },
  offers: {
    says: "offers of messages that do not exist, and requests for them",
    load: () => (front) => {
      const rpcs = Ammunition.vainOffers([front.bot.topic("votes"), front.bot.topic("transactions")])
      return all(
        front,
        gossiping(front, () => cycle(front, rpcs)),
      )
    },
  },
  streams: {
    says: "streams that are opened, ask for unknown protocols and are reset",
    load: () => (front) => {
      const sent = (bytes: number): boolean => {
        front.sent(1, bytes)
        return !front.isOver()
      }
      return all(front, () => front.bot.openStreams(sent))
    },
  },
  slow: {
    says: "headers, evidence and heartbeats by nobody under signatures that are slow to judge",
    load: () => {
      const highest = Ammunition.slowHighest(SLOW_MESSAGES / 4)
      const votes = Ammunition.slowVotes(SLOW_MESSAGES)
      return (front) => {
        const topic = front.bot.topic("votes")
        const rpcs = votes.map((vote) => Ammunition.published(topic, [vote]))
        return all(
          front,
          () => front.bot.write("answers", cycle(front, highest)),
          gossiping(front, () => cycle(front, rpcs)),
        )
      }
    },
  },
  known: {
    says: "known vertices again and again",
    load: ({ known }) => {
      return (front) => {
        const write = () => front.bot.write("vertices", cycle(front, known))
        return all(front, write, write)
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

/** One after the other, each to one node only: whoever relays it does so of its own accord. */
const transactions =
  (isRich: boolean): Kind["load"] =>
  ({ networkId }) => {
    const messages = Ammunition.unpaid(networkId, isRich)
    let at = 0
    const next = (topic: string): Uint8Array =>
      Ammunition.published(topic, [messages[at++ % messages.length] ?? NOTHING])
    return (front) => {
      const topic = front.bot.topic("transactions")
      async function* paced(): AsyncGenerator<Uint8Array> {
        while (!front.isOver()) {
          const burst = Array.from({ length: (TRANSACTIONS_A_SECOND * EVERY_MS) / 1_000 }, () => next(topic))
          const bytes = Buffer.concat(burst)
          front.sent(burst.length, bytes.length)
          yield bytes
          await pause(EVERY_MS)
        }
      }
      return all(front, gossiping(front, paced))
    }
  }

const NOTHING = new Uint8Array(0)

export const kinds: Readonly<Record<string, Kind>> = {
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
