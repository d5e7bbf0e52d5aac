/** A node among hostile peers keeps finalizing, and gets rid of them. */
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import { KIND } from "../../src/network/peers/Frame.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as TestCommittee from "../consensus/TestCommittee.js"
import * as Rest from "../support/Rest.js"
import { piece } from "./attacks/Bot.js"
import { type Stranger, stranger } from "./Hostile.js"
import * as Processes from "./Processes.js"

const EPOCH_ROUNDS = 240

let network: Processes.Founded
let node: Processes.Started
const strangers: Array<Stranger> = []

const somebody = async (): Promise<Stranger> => {
  const one = await stranger(network.genesis, node.p2p)
  strangers.push(one)
  return one
}

beforeAll(async () => {
  network = Processes.found({ validators: 1, roundMs: 200, epochRounds: EPOCH_ROUNDS })
  node = await Processes.startValidator(network, 0, [])
})

afterAll(async () => {
  await Promise.all(strangers.map((one) => one.stop()))
  await Processes.removeAll()
})

const goesOn = () => {
  const now = Processes.finalizedRound(node)
  return Processes.until("the node goes on finalizing", () => Processes.finalizedRound(node) > now + 3)
}

/** Repeats this over new connections until it is no longer let in. */
const untilBanned = async (one: Stranger, act: (line: Awaited<ReturnType<Stranger["connect"]>>) => Promise<void>) => {
  const bans = node.log().split("peer banned").length
  await Processes.until("it is banned", async () => {
    const line = await one.connect().catch(() => null)
    if (line === null) return node.log().split("peer banned").length > bans
    // A write to a cut line may wait for ever; a quick write may not be read yet.
    act(line).catch(() => {})
    await Processes.until("the line is cut", () => !line.isOpen())
    return node.log().split("peer banned").length > bans
  })
  await Processes.until("it is not let in", () =>
    one.connect().then(
      () => false,
      () => true,
    ),
  )
}

/** False closes of this epoch and the next, from a peer that claims to be the committee. */
const closesBy = (key: SecretKey, running: number): ReadonlyArray<Checkpoint.SignedCheckpoint> =>
  [running, running + 1].map((epoch) => {
    const address = Address.fromPublicKey(key.publicKey)
    const members = [{ address, publicKey: key.publicKey, weight: Sats.MIN_STAKE_SATS }]
    const next = { epoch: Natural.epoch(epoch + 1), firstRound: Natural.round(epoch * EPOCH_ROUNDS + 1), members }
    const checkpoint = Checkpoint.make({
      epoch: Natural.epoch(epoch),
      round: Natural.round(epoch * EPOCH_ROUNDS),
      commitIndex: Natural.commitIndex(epoch * EPOCH_ROUNDS),
      commitHash: Hash.of("udg/commit", randomBytes(8)),
      effectsDigest: Hash.ZERO,
      stateRoot: Hash.ZERO,
      totalSupply: Sats.ZERO,
      nextEpoch: TestCommittee.recordOf([1], next),
      previous: Hash.ZERO,
    })
    return { checkpoint, signatures: [Checkpoint.sign(checkpoint, key)] }
  })

/** Of the epoch that runs and the next. */
const claimBy = (key: SecretKey): Uint8Array => {
  const forged = closesBy(key, Math.floor(Processes.finalizedRound(node) / EPOCH_ROUNDS) + 1)
  const [, newest = null] = forged
  return MessageCodec.encode({ _tag: "Closing", signed: forged, newest })
}

const offencesOf = (what: string): number => node.log().split(`what=${what} `).length - 1

/** How often this peer was asked for its closing checkpoints. */
const closingQuestions = (one: Stranger): number =>
  one.heard("questions").filter((bytes) => MessageCodec.tagOf(bytes) === "AskClosing").length

const residentMegabytes = () =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${node.pid}/status`, "utf8"))?.[1]) / 1_024

describe("a peer", () => {
  it("that sends garbage loses the connection, then is banned", async () => {
    const one = await somebody()
    await untilBanned(one, ({ write }) =>
      write(
        "vertices",
        [1, 2, 3].map(() => randomBytes(300)),
      ),
    )
    await goesOn()
  })

  it("that announces more than it sends is disconnected before it is read", async () => {
    const one = await somebody()
    const announced = piece("answers", new Uint8Array(0))
    announced[3] = 64
    await untilBanned(one, ({ writeRaw }) => writeRaw([announced]))
    expect(node.log()).toContain("a piece of 4194304 bytes")
    await goesOn()
  })

  it(
    Rest.of("ten thousand questions", "that asks ten thousand questions is banned, and memory stays bounded"),
    async () => {
      const before = residentMegabytes()
      const one = await somebody()
      const author = Address.fromPublicKey(SecretKey.generate().publicKey)
      const question = MessageCodec.encode({ _tag: "AskHighest", author })
      await untilBanned(one, ({ write }) =>
        write(
          "questions",
          Array.from({ length: 10_000 }, () => question),
        ),
      )
      await goesOn()
      expect(residentMegabytes() - before).toBeLessThan(300)
    },
  )

  it("of another network is refused, and the log names that network", async () => {
    const one = await somebody()
    const genesisHash = "ab".repeat(32) as Hash.Hash
    await one.connect({ genesisHash, networkId: "elsewhere" as NetworkId }).catch(() => {})
    await Processes.until("the log says so", () =>
      new RegExp(`WARN .*refused: it is on network elsewhere \\(genesis ${genesisHash}\\)`).test(node.log()),
    )
  })

  it("of another protocol version is refused, and the log names that version", async () => {
    const one = await somebody()
    await one.connect({ version: 9 }).catch(() => {})
    await Processes.until("the log says so", () => /WARN .*refused: it speaks version 9/.test(node.log()))
  })

  it("that is named and speaks an old wire protocol is logged once", async () => {
    const old = createServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.end())
    }).listen(0, "127.0.0.1")
    onTestFinished(() => void old.close())
    await once(old, "listening")
    const at = `127.0.0.1:${(old.address() as AddressInfo).port}`
    const follower = await Processes.start(network, "names", ["--no-validate", "--peer", at, "--peer", node.p2p])
    let dialled = 0
    old.on("connection", () => dialled++)
    await Processes.until("it is dialled again", () => dialled >= 2)
    await Processes.until("it follows the other one", () => Processes.finalizedRound(follower) > 3)
    const lines = follower
      .log()
      .split("\n")
      .filter((line) => line.includes("peer not connected"))
    expect(lines.filter((line) => line.includes("WARN"))).toEqual([
      expect.stringContaining(`no handshake with ${at}: it closed the connection before it proved a key`),
    ])
    await follower.stop()
  })

  it(Rest.of("many lines", "that holds connections and sends nothing does not keep others out"), async () => {
    const port = Number(node.p2p.split(":").at(-1))
    const sockets: Array<Socket> = []
    for (let n = 0; n < 100; n++) {
      const socket = createConnection({ host: "127.0.0.1", port })
      socket.on("error", () => {})
      sockets.push(socket)
    }
    const silent = await somebody()
    await silent.dial().catch(() => {})
    const follower = await Processes.start(network, "follower", ["--no-validate", "--peer", node.p2p])
    await Processes.until("a follower follows", () => Processes.finalizedRound(follower) > 3)
    for (const socket of sockets) socket.destroy()
    await follower.stop()
  })

  it("that shows closes under outdated keys is banned and changes nothing", async () => {
    const one = await somebody()
    const retired = SecretKey.generate()
    await untilBanned(one, async (line) => {
      const claim = claimBy(retired)
      const offences = offencesOf("WrongState")
      let answered = 0
      // The node asks every newcomer for its checkpoints, and after this claim for those in between.
      await Processes.until("the claim is judged", () => {
        const asked = closingQuestions(one)
        if (answered < asked) line.write("answers", [claim]).catch(() => {})
        answered = asked
        return offencesOf("WrongState") > offences || !line.isOpen()
      })
      line.close()
    })
    await goesOn()
    expect(node.log()).not.toContain("fetching the state")
  })

  it(Rest.of("many lines", "that stops in the middle of messages does not keep others out"), async () => {
    const before = residentMegabytes()
    const one = await somebody()
    for (let lines = 0; lines < 5; lines++) {
      const line = await one.connect().catch(() => null)
      for (const channel of ["vertices", "questions", "answers"] as const) {
        await line?.writeRaw([piece(channel, randomBytes(1_000), KIND.part)]).catch(() => {})
      }
      await line?.writeRaw([piece("answers", randomBytes(1_000)).subarray(0, 500)]).catch(() => {})
    }
    const follower = await Processes.start(network, "beside", ["--no-validate", "--peer", node.p2p])
    await Processes.until("a follower follows", () => Processes.finalizedRound(follower) > 3)
    await follower.stop()
    await goesOn()
    expect(residentMegabytes() - before).toBeLessThan(300)
  })

  it("that repeats true statements a thousand times stays connected", async () => {
    const one = await somebody()
    const line = await one.connect()
    const question = {
      _tag: "AskRounds",
      epoch: Natural.epoch(1),
      fromRound: Natural.round(1),
      toRound: Natural.round(3),
      after: null,
    } as const
    await line.write("questions", [MessageCodec.encode(question)])
    await Processes.until("it is answered", () => one.heard("answers").length > 0)
    const again = one.heard("answers")
    await line.write("answers", Array.from({ length: 1_000 }, () => again).flat())
    await goesOn()
    expect(line.isOpen()).toBe(true)
  })

  // The last test: after five bans, no new peer of this machine is admitted.
  it(Rest.of("an epoch", "that keeps offering unrequested closing checkpoints is banned"), async () => {
    const offer = MessageCodec.encode({ _tag: "Closing", signed: [], newest: null })
    await untilBanned(await somebody(), ({ write }) =>
      write(
        "answers",
        Array.from({ length: 100 }, () => offer),
      ),
    )
    await goesOn()
  })
})
