/** A peer that speaks the protocol well enough to misuse it. */

import type * as Channel from "../../src/network/peers/Channel.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import { type Bot, connect, type Wish } from "./attacks/Bot.js"

export interface Stranger {
  /** Dials and greets; fails when it is not let in. */
  readonly connect: (hello?: Wish["hello"]) => Promise<Bot>
  /** Dials and says nothing. */
  readonly dial: () => Promise<Bot>
  /** What the node sent it on a channel. */
  readonly heard: (channel: Channel.Channel) => ReadonlyArray<Uint8Array>
  readonly stop: () => Promise<void>
}

/** One identity, over as many connections as it makes. */
export const stranger = async (genesis: Genesis.Genesis, target: string): Promise<Stranger> => {
  const place = { networkId: genesis.networkId, genesisHash: Genesis.hash(genesis), target }
  const key = SecretKey.generate()
  const messages: Array<readonly [Channel.Channel, Uint8Array]> = []
  const bots: Array<Bot> = []
  const heard = (channel: Channel.Channel, message: Uint8Array) => void messages.push([channel, message])
  const joined = async (wish: Wish) => {
    const bot = await connect(place, { key, heard, ...wish })
    bots.push(bot)
    return bot
  }
  return {
    connect: (hello = {}) => joined({ hello }),
    dial: () => joined({ isSilent: true }),
    heard: (channel) => messages.filter(([each]) => each === channel).map(([, message]) => message),
    stop: async () => {
      for (const bot of bots) bot.close()
    },
  }
}
