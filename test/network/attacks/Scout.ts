/** Reads the network's progress for attackers, without attacking. */
import { Either } from "effect"
import * as MessageCodec from "../../../src/network/MessageCodec.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import type { Message } from "../../../src/replica/messages/Message.js"
import * as WholeMessage from "../../support/WholeMessage.js"
import { type Bot, connect, type Place } from "./Bot.js"

const EVERY_MS = 500
/** Rounds at the end that no commit has executed yet. */
const OPEN_ROUNDS = 4

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export class Scout {
  /** Commits per round, by the newest checkpoint. */
  #pace = 1
  #round = 0

  /** Reconnects when it is cut off. */
  static follow(place: Place): Scout {
    const scout = new Scout()
    void scout.#watch(place)
    return scout
  }

  async #watch(place: Place): Promise<void> {
    const ask = MessageCodec.encode({ _tag: "AskClosing", from: Natural.epoch(1) })
    for (;;) {
      let bot: Bot | null = null
      try {
        bot = await connect(place, {
          heard: (_, bytes) => {
            const message = WholeMessage.decode(place.networkId, bytes)
            if (Either.isRight(message)) this.#hear(message.right)
          },
        })
        for (; bot.isOpen(); await pause(EVERY_MS)) await bot.write("questions", [ask])
      } catch {
        // It is admitted later.
      }
      bot?.close()
      await pause(EVERY_MS)
    }
  }

  #hear(message: Message): void {
    if (message._tag === "Vertices") {
      for (const { header } of message.vertices) this.#round = Math.max(this.#round, header.round)
    }
    if (message._tag !== "Closing" || message.newest === null) return
    const { commitIndex, round } = message.newest.checkpoint
    if (round > 0) this.#pace = commitIndex / round
    this.#round = Math.max(this.#round, round)
  }

  /** About the index of the last executed commit. */
  get head(): number {
    return Math.floor(Math.max(0, this.#round - OPEN_ROUNDS) * this.#pace)
  }
}
