/** The attacks: what one stranger does to one node over one connection, until the attack or the connection ends. */
import { KIND, PIECE_BYTES } from "../../../src/network/peers/Frame.js"
import type { Allocation } from "../../../src/protocol/epoch/Genesis.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import * as Keys from "../../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../../src/protocol/identity/Network.js"
import * as Ammunition from "./Ammunition.js"
import { type Bot, piece, told, type Wish } from "./Bot.js"
import * as Handshakes from "./Handshakes.js"
import type { Scout } from "./Scout.js"

export interface Arsenal {
  readonly networkId: NetworkId
  readonly genesisHash: Hash
  /** Vertices that every node knows. */
  readonly known: ReadonlyArray<Uint8Array>
  /** The key of a committee member. */
  readonly member: Keys.Signer
  readonly follow: () => Scout
}

export interface Front {
  readonly bot: Bot
  readonly isOver: () => boolean
  readonly sent: (messages: number, bytes: number) => void
}

export interface Kind {
  readonly says: string
  /** Connections per stranger and node, all from one address; one by default. */
  readonly connections?: number
  /** How each connects. */
  readonly wish?: Wish
  /** Attacks without a greeting: what one stranger does at one node until the attack ends. */
  readonly strange?: (assault: Handshakes.Assault) => Promise<void>
  /** Messages a second of all strangers together, below which the test has shown nothing. */
  readonly least?: number
  /** How long it takes until the attack is in full force. */
  readonly settleMs?: number
  /** How much more memory a node may use, if it differs from the general limit. */
  readonly mostGrowthMiB?: number
  /** The same attack with an unknown key, for comparison: this one may cost at most twice as much. */
  readonly control?: string
  /** Accounts that the attack needs. */
  readonly allocations?: ReadonlyArray<Allocation>
  /** Prepares the messages once for all strangers. Returns what each of them does. */
  readonly load: (arsenal: Arsenal) => (front: Front) => Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Sends these repeatedly, as fast as the node reads, from a random start. */
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

/** Sends a fixed number per second on any machine, and makes up for late turns. */
async function* paced({ isOver, sent }: Front, next: () => Uint8Array, perSecond: number): AsyncGenerator<Uint8Array> {
  let due = 0
  for (let at = performance.now(); !isOver(); await pause(EVERY_MS)) {
    const now = performance.now()
    due = Math.min(perSecond, due + ((now - at) * perSecond) / 1_000)
    for (at = now; due >= 1; due--) {
      const message = next()
      sent(1, message.length)
      yield message
    }
  }
}

/** Reopens broken connections. */
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
    least: 1_000,
    load: () => {
      const frame = Ammunition.unaskedState(PIECES_BYTES)
      return (front) => {
        const sent = (bytes: number): boolean => {
          front.sent(bytes, bytes)
          return !front.isOver()
        }
        const write = () => front.bot.writePieces("answers", frame, sent)
        return all(front, write)
      }
    },
  },
  foreign: {
    says: "vertices of an old epoch by nobody, ten thousand good signatures each",
    least: 5,
    load: ({ networkId }) => {
      const frames = Ammunition.foreignVertices(networkId, 0)
      return (front) => all(front, () => front.bot.write("vertices", cycle(front, frames)))
    },
  },
  questions: {
    says: "a hundred questions a second for whole epochs",
    least: 200,
    load: () => {
      const frame = Ammunition.askRounds(1)
      return (front) =>
        all(front, () =>
          front.bot.write(
            "questions",
            paced(front, () => frame, 100),
          ),
        )
    },
  },
  records: {
    says: "records of one byte, each a part of a message",
    least: 1_000,
    load: () => {
      const frames = piece("answers", new Uint8Array(1_000))
      return (front) =>
        all(front, () =>
          front.bot.writeRaw(
            (function* () {
              for (let at = 0; !front.isOver(); at = (at + 1) % frames.length) {
                front.sent(1, 1)
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
  lane: {
    says: "one lane full of the longest messages, beside questions",
    least: 20,
    load: () => {
      const longest = Ammunition.unaskedState(500_000)
      const question = Ammunition.askRounds(1)
      return (front) =>
        all(
          front,
          () => front.bot.write("answers", cycle(front, [longest])),
          () =>
            front.bot.write(
              "questions",
              paced(front, () => question, 20),
            ),
        )
    },
  },
  frames: {
    says: "frames that are cut short, too long, or without credit",
    least: 10,
    load: () => async (front) => {
      const wrong = wrongFrames[Math.floor(Math.random() * wrongFrames.length)] ?? NOTHING
      front.sent(1, wrong.length)
      await front.bot.writeRaw([wrong])
      await pause(TRUNCATED_MS)
    },
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

/** Holds a connection as long as the node allows. */
const hold = async ({ isOver, bot }: Front): Promise<void> => {
  while (!isOver() && bot.isOpen()) await pause(EVERY_MS)
}

/** Per stranger and node. For votes, fewer than cost points. */
const A_SECOND = { transactions: 70, votes: 30 }

/** Each to one node only, in sequence: nodes relay them on their own, if at all. */
const tells = (front: Front, lane: keyof typeof A_SECOND, next: () => Uint8Array): Promise<void> =>
  all(front, () =>
    front.bot.write(
      lane,
      paced(front, () => told(next()), A_SECOND[lane]),
    ),
  )

const NOTHING = new Uint8Array(0)

const transactions =
  (isRich: boolean): Kind["load"] =>
  ({ networkId }) => {
    const messages = Ammunition.unpaid(networkId, isRich)
    let at = 0
    return (front) => tells(front, "transactions", () => messages[at++ % messages.length] ?? NOTHING)
  }

/** As far ahead of its executed commits as a node accepts. */
const COMMITS_AHEAD = 12

const heartbeats =
  (isStaker: boolean): Kind["load"] =>
  ({ networkId, follow }) => {
    const scout = follow()
    const stake = Ammunition.stake(networkId)
    let at = 0
    return async (front) => {
      if (isStaker) await front.bot.write("transactions", [told(stake)])
      await tells(front, "votes", () => Ammunition.inventedHeartbeat(scout.head + (at++ % COMMITS_AHEAD), isStaker))
    }
  }

/** Fewer, because the senders are soon cut off and spend most of their time reconnecting. */
const CUT_OFF = 200

const FAR_AHEAD = 1_000_000

const signatures =
  (isMember: boolean): Kind["load"] =>
  ({ member }) => {
    const key = isMember ? member : Keys.SecretKey.generate()
    let at = FAR_AHEAD
    return (front) => tells(front, "votes", () => Ammunition.inventedSignature(at++, key))
  }

/** Frames that our program never writes, each the last one of its connection. */
const wrongFrames: ReadonlyArray<Uint8Array> = [
  // An unknown kind, an unknown lane, and a lane without credit.
  Uint8Array.of(0xf0, 0, 0, 0),
  Uint8Array.of(0x0f, 1, 0, 0, 0),
  piece("greeting", new Uint8Array(PIECE_BYTES)),
  // Longer than a piece, and parts longer than a message.
  Uint8Array.of(0x01, 255, 255, 255),
  Buffer.concat(Array.from({ length: 3 }, () => piece("votes", new Uint8Array(PIECE_BYTES), KIND.part))),
  // An empty part, more credit than possible, and half a frame.
  piece("votes", NOTHING, KIND.part),
  Buffer.concat(Array.from({ length: 200 }, () => Uint8Array.of(KIND.credit * 16 + 1, 255, 255, 255))),
  piece("votes", new Uint8Array(1_000)).subarray(0, 500),
]

const TRUNCATED_MS = 300

/** Kinds that begin with the handshake. */
const strange = {
  handshakes: {
    says: "handshakes from everywhere that end before they prove anything",
    load: () => hold,
    least: 80,
    strange: Handshakes.unproven,
  },
  halves: {
    says: "connections from everywhere that say nothing, half a hello, or a byte now and then",
    load: () => hold,
    least: 200,
    strange: Handshakes.halves,
  },
  updates: {
    says: "new keys in each record, before and after the proof, with the wish for new ones in return",
    load: () => hold,
    least: 1_000,
    strange: Handshakes.updates,
  },
  garbage: {
    says: "records that are cut short, too long, or wrong, behind a handshake",
    load: () => hold,
    least: 20,
    strange: Handshakes.garbage,
  },
  proofs: {
    says: "proofs that held on another connection, or that another node gave",
    load: () => hold,
    least: 20,
    strange: Handshakes.proofs,
  },
} satisfies Readonly<Record<string, Kind>>

/** From 130 strangers per node. */
const unreadAnswers = (says: string, heard: "deaf" | "slow"): Kind => ({
  says,
  connections: 13,
  settleMs: 45_000,
  least: 100,
  wish: { heard },
  load: () => {
    const frame = Ammunition.askRounds(1)
    const frames = (front: Front) => paced(front, () => frame, 20)
    return (front) => all(front, () => front.bot.write("questions", frames(front)))
  },
})

export const kinds: Readonly<Record<string, Kind>> = {
  ...strange,
  ...single,
  places: { says: "all places held, from ten addresses", connections: 32, settleMs: 45_000, load: () => hold },
  unpaid: {
    says: "transactions after a missing nonce, from accounts with coins, whose fees rise and rise",
    control: "nobodys",
    least: 1_000,
    allocations: Ammunition.payers,
    load: transactions(true),
  },
  nobodys: { says: "the same transactions, from accounts without coins", least: 1_000, load: transactions(false) },
  heartbeats: {
    says: "heartbeats for invented commits, from a staker without a seat",
    control: "nobodysHeartbeats",
    least: CUT_OFF,
    allocations: Ammunition.stakers,
    load: heartbeats(true),
  },
  nobodysHeartbeats: {
    says: "the same heartbeats, from somebody without stake",
    least: CUT_OFF,
    load: heartbeats(false),
  },
  signatures: {
    says: "signatures under invented checkpoints, from one member",
    control: "nobodysSignatures",
    least: 1_000,
    load: signatures(true),
  },
  nobodysSignatures: { says: "the same signatures, from nobody", least: 1_000, load: signatures(false) },
  deaf: unreadAnswers("questions for whole epochs, from 130 strangers that read none of the answers", "deaf"),
  unread: unreadAnswers("the same from 130 strangers that hardly read", "slow"),
  mix: {
    says: "all of these at once",
    load: (arsenal) => {
      const attacks = Object.values(single).map((kind: Kind) => kind.load(arsenal))
      let next = 0
      return (front) => attacks[next++ % attacks.length]?.(front) ?? Promise.resolve()
    },
  },
}
