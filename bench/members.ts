/**
 * The cost of exchanging transactions among four committee members, all in this process and connected by real sockets:
 * the processor time of all four and every byte written, including encryption and framing. Received transactions are
 * neither decoded nor checked.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { Option } from "effect"
import * as PeerAddress from "../src/network/PeerAddress.js"
import { Switchboard } from "../src/network/peers/Switchboard.js"
import { Standings } from "../src/network/Standing.js"
import { nodeClock } from "../src/network/tls/NodeClock.js"
import { TlsWire } from "../src/network/tls/TlsWire.js"
import * as Address from "../src/protocol/identity/Address.js"
import * as Hash from "../src/protocol/identity/Hash.js"
import { SecretKey } from "../src/protocol/identity/Keys.js"
import type { NetworkId } from "../src/protocol/identity/Network.js"
import type { Transaction } from "../src/protocol/transaction/Transaction.js"
import * as world from "../test/storage/world.js"
import type { Figure, Suite } from "./Harness.js"

const MEMBERS = 4
const WARM_UP = 200
const BATCHES = 400
/** Between two batches of a member, so that no batch waits for another. */
const PAUSE_MS = 5
/** Checking signatures takes a while. */
const CHECKING_MS = 4
const SIZES = [1, 25]

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(2)
}

/** Every socket that this process opens or accepts from now on, with its bytes written. */
class Written {
  readonly #sockets: Array<Socket> = []
  readonly #add = (message: unknown) => {
    if (typeof message === "object" && message !== null && "socket" in message) {
      this.#sockets.push(message.socket as Socket)
    }
  }

  begin(): void {
    for (const name of ["net.client.socket", "net.server.socket"]) subscribe(name, this.#add)
  }

  end(): void {
    for (const name of ["net.client.socket", "net.server.socket"]) unsubscribe(name, this.#add)
  }

  get bytes(): number {
    return this.#sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
  }
}

interface Member {
  readonly board: Switchboard
  heard: number
}

const start = async (keys: ReadonlyArray<SecretKey>, n: number, known: ReadonlyArray<Member>): Promise<Member> => {
  const standings = new Standings()
  standings.setMembers(keys.map(({ publicKey }) => Address.fromPublicKey(publicKey)))
  const counted = { heard: 0 }
  const board = await Switchboard.start({
    wire: new TlsWire({ key: SecretKey.generate(), listen: { host: "127.0.0.1", port: 0 }, clock: nodeClock }),
    hello: { networkId: "bench" as NetworkId, genesisHash: Hash.ZERO, agent: "bench" },
    signer: keys[n] ?? null,
    standings,
    named: known.flatMap(({ board: { addresses } }) =>
      addresses.flatMap((address) => Option.toArray(PeerAddress.parse(address))),
    ),
    remembered: [],
    clock: nodeClock,
    listener: {
      // As the replica does with new transactions.
      heard: ({ release }) => {
        counted.heard++
        setTimeout(() => release("news"), CHECKING_MS)
      },
      changed: () => {},
      logged: () => {},
    },
  })
  board.tend()
  return Object.assign(counted, { board })
}

const tell = async (
  members: ReadonlyArray<Member>,
  batches: ReadonlyArray<ReadonlyArray<Transaction>>,
): Promise<void> => {
  const wanted = members.reduce((sum, { heard }) => sum + heard, 0) + batches.length * (MEMBERS - 1)
  for (const [i, transactions] of batches.entries()) {
    members[i % MEMBERS]?.board.broadcast({ _tag: "Transactions", transactions })
    if (i % MEMBERS === MEMBERS - 1) await sleep(PAUSE_MS)
  }
  await until(() => members.reduce((sum, { heard }) => sum + heard, 0) >= wanted)
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const written = new Written()
  written.begin()
  const keys = Array.from({ length: MEMBERS }, () => SecretKey.generate())
  const members: Array<Member> = []
  for (let n = 0; n < MEMBERS; n++) members.push(await start(keys, n, members))
  await until(() => members.every(({ board }) => board.sessions.length === MEMBERS - 1))
  let nonce = 0
  const batchesOf = (count: number, size: number) =>
    Array.from({ length: count }, () => {
      nonce++
      return Array.from({ length: size }, (_, n) => world.transfer(n, n + 1, nonce))
    })
  const all: Array<Figure> = []
  await tell(members, batchesOf(WARM_UP, 1))
  for (const size of SIZES) {
    const batches = batchesOf(BATCHES, size)
    const encoded = batches.flat().reduce((sum, transaction) => sum + transaction.encoded.length, 0)
    const before = { bytes: written.bytes, cpu: process.cpuUsage() }
    await tell(members, batches)
    const { user, system } = process.cpuUsage(before.cpu)
    const name = `batches of ${size}`
    const copies = (written.bytes - before.bytes) / (encoded * (MEMBERS - 1))
    all.push({ name, value: (user + system) / BATCHES, unit: "µs of processor a batch, all four" })
    all.push({ name, value: copies, unit: "of the encoded transfers × 3" })
  }
  for (const { board } of members) await board.stop()
  written.end()
  return all
}

export const suite: Suite = {
  about: "what it costs four members of a committee to tell each other of transactions, over sockets of this machine",
  figures,
}
