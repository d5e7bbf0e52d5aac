/** Which peers are greeted, refused, banned, displaced and served, over wires without sockets. */

import { Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Conduct from "../../src/network/Conduct.js"
import * as ConnectionSlots from "../../src/network/ConnectionSlots.js"
import * as Hello from "../../src/network/Hello.js"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { Received, RelayDecision } from "../../src/network/Network.js"
import * as PeerAddress from "../../src/network/PeerAddress.js"
import * as Channel from "../../src/network/peers/Channel.js"
import * as Greeting from "../../src/network/peers/Greeting.js"
import { RATES, strangerShare } from "../../src/network/peers/Rates.js"
import { Switchboard } from "../../src/network/peers/Switchboard.js"
import type { Connection } from "../../src/network/peers/Wire.js"
import { Standings } from "../../src/network/Standing.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Chance } from "../simulation/Chance.js"
import { type FakeWire, SteppedNet } from "./FakeWire.js"
import { openPolicy } from "./OpenPolicy.js"

const genesisHash = "ab".repeat(32) as Hash
const networkId = "udg-peers" as NetworkId
const TEND_MS = 500

const named = (wire: FakeWire) => Option.getOrThrow(PeerAddress.parse(wire.address))

interface Changes {
  readonly dials?: ReadonlyArray<FakeWire>
  readonly genesisHash?: Hash
  readonly heard?: (received: Received) => void
  readonly key?: Hello.Prover
}

/** A node, as far as its peers go. */
const node = async (net: SteppedNet, wire: FakeWire, changes: Changes = {}) => {
  const { key = SecretKey.generate() } = changes
  const standings = new Standings()
  const log: Array<string> = []
  const board = await Switchboard.start({
    wire,
    hello: { networkId, genesisHash: changes.genesisHash ?? genesisHash, agent: wire.id },
    signer: key,
    standings,
    named: (changes.dials ?? []).map(named),
    remembered: [],
    clock: net.clock,
    listener: {
      heard: changes.heard ?? (({ release }) => release("known")),
      changed: () => {},
      logged: ({ level, message }) => void log.push(`${level} ${message}`),
    },
  })
  const tend = () => {
    board.tend()
    net.clock.after(TEND_MS, tend)
  }
  tend()
  const peers = () => board.peers.map(({ id }) => id).sort()
  return { board, wire, log, standings, validator: Address.fromPublicKey(key.publicKey), peers }
}

interface Guest {
  readonly connection: Connection
  readonly wire: FakeWire
  readonly say: (channel: Channel.Channel, ...messages: ReadonlyArray<Uint8Array>) => void
}

const greetings = new WeakMap<object, Promise<unknown>>()

/** Dials and greets, and does nothing on its own. */
const guest = async (net: SteppedNet, name: string, host: string, to: FakeWire, known?: FakeWire): Promise<Guest> => {
  const wire = known ?? net.wire(name, host)
  const hello = { version: Hello.PROTOCOL_VERSION, networkId, genesisHash, agent: name, port: 0 }
  const self = () => ({ id: wire.id, hello: { ...hello, challenge: Hello.drawChallenge() }, signer: null })
  if (known === undefined) {
    const opened = ({ peer, lanes }: Connection) => {
      const greeting = Greeting.greet(self(), peer, lanes)
      greetings.set(lanes, greeting)
      greeting.catch(() => {})
    }
    await wire.start({ ...openPolicy(net.clock), opened })
  }
  const join = async () => {
    await wire.dial(to.address, 10_000)
    const connection = wire.connections.find(({ peer, isOpen }) => peer === to.id && isOpen)
    if (connection === undefined) throw new Error("no connection")
    await greetings.get(connection.lanes)
    for (const channel of Channel.all.slice(1)) connection.lanes.accept(channel, 1_000_000, () => undefined)
    return connection
  }
  const connection = await net.until(join())
  const say = (channel: Channel.Channel, ...messages: ReadonlyArray<Uint8Array>) => {
    for (const message of messages) connection.lanes.send(channel, message)
  }
  return { connection, wire, say }
}

const rudeId = (n: number) => `rude-${n}` as PeerId
const guestsOf = (net: SteppedNet, count: number) =>
  Array.from({ length: count }, (_, n) => net.named(`guest-${n}` as PeerId)).filter((wire) => wire !== undefined)

const GARBAGE = Uint8Array.of(255)

/** A message as one frame, with or without credit for it. */
const pieceOf = (channel: Channel.Channel, message: Uint8Array) =>
  Uint8Array.of(Channel.all.indexOf(channel), message.length & 255, message.length >> 8, 0, ...message)
const QUESTION = MessageCodec.encode({
  _tag: "AskHighest",
  author: Address.fromPublicKey(SecretKey.generate().publicKey),
})
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8]

describe.each(SEEDS)("over late lines, seed %i,", (seed) => {
  const netOf = () => new SteppedNet(new Chance(seed))

  describe("a peer is greeted", () => {
    it("again, once its signer is back, after it could not prove its validator", async () => {
      const net = netOf()
      const [a, b] = [net.wire("a", "10.1.0.1"), net.wire("b", "10.2.0.1")]
      const held = SecretKey.generate()
      let isAway = true
      const key: Hello.Prover = {
        publicKey: held.publicKey,
        sign: (bytes) => (isAway ? Promise.resolve(null) : held.sign(bytes)),
        isAway: () => isAway,
      }
      const ann = await node(net, a, { dials: [b], key })
      const ben = await node(net, b)
      const arrivals = (): number => ben.log.filter((line) => line.includes("peer connected")).length
      await net.pass(60_000)
      expect(ben.board.peers.map(({ validator }) => validator)).toEqual([null])
      const before = arrivals()
      isAway = false
      await net.pass(20_000)
      expect(ben.board.peers.map(({ validator }) => validator)).toEqual([ann.validator])
      // Both may dial now.
      expect(arrivals() - before).toBeLessThanOrEqual(2)
    })

    it("seldom again while its signer refuses every proof", async () => {
      const net = netOf()
      const [a, b] = [net.wire("a", "10.1.0.1"), net.wire("b", "10.2.0.1")]
      const { publicKey } = SecretKey.generate()
      await node(net, a, { dials: [b], key: { publicKey, sign: () => Promise.resolve(null), isAway: () => false } })
      const ben = await node(net, b)
      await net.pass(600_000)
      expect(ben.log.filter((line) => line.includes("peer connected")).length).toBeLessThanOrEqual(12)
    })

    it("by both ends, once, although both dial at the same time; each proves its validator", async () => {
      const net = netOf()
      const [a, b] = [net.wire("a", "10.1.0.1"), net.wire("b", "10.2.0.1")]
      const ann = await node(net, a, { dials: [b] })
      const ben = await node(net, b, { dials: [a] })
      await net.pass(20_000)
      expect([ann.board.peers, ben.board.peers].map((all) => all.map(({ id, validator }) => [id, validator]))).toEqual([
        [["b", ben.validator]],
        [["a", ann.validator]],
      ])
      // Both keep the same connection.
      expect([ann, ben].map(({ board }) => board.sessions.map(({ facts }) => facts.connection.direction))).toEqual(
        expect.arrayContaining([["inbound"], ["outbound"]]),
      )
      for (const { log } of [ann, ben]) expect(log).not.toContain("info peer disconnected")
    })

    it("again after the connection broke, and after it fell silent", async () => {
      const net = netOf()
      const [a, b] = [net.wire("a", "10.1.0.1"), net.wire("b", "10.2.0.1")]
      const ann = await node(net, a, { dials: [b] })
      const ben = await node(net, b)
      await net.pass(5_000)
      a.connections[0]?.abort(new Error("broken"))
      await net.pass(10_000)
      expect([ann.peers(), ben.peers()]).toEqual([["b"], ["a"]])
      // Each end notices only when it cannot send.
      const send = () => {
        for (const [{ board }, to] of [
          [ann, b.id],
          [ben, a.id],
        ] as const)
          board.send(to, { _tag: "State", root: genesisHash, subtree: new Uint8Array(400_000) })
      }
      send()
      await net.pass(1_000)
      for (const { line } of a.connections) line.isCut = true
      send()
      await net.pass(29_000)
      expect([ann.peers(), ben.peers()]).toEqual([["b"], ["a"]])
      await net.pass(20_000)
      expect([ann.peers(), ben.peers()]).toEqual([["b"], ["a"]])
      expect([...a.connections, ...b.connections].map(({ line }) => line.isCut)).toEqual([false, false])
    })
  })

  it("a peer that does not greet is disconnected after ten seconds, or at once if it sends something else", async () => {
    const net = netOf()
    const received: Array<Received> = []
    const ann = await node(net, net.wire("a", "10.1.0.1"), { heard: (each) => void received.push(each) })
    const dialled = async (name: string, host: string) => {
      const wire = net.wire(name, host)
      await wire.start(openPolicy(net.clock))
      await net.until(wire.dial(ann.wire.address, 10_000))
      return wire.connections[0]
    }
    const silent = await dialled("silent", "10.2.0.1")
    const hasty = await dialled("hasty", "10.3.0.1")
    hasty?.write(pieceOf("questions", QUESTION))
    // A message without credit stays in the queue.
    silent?.lanes.send("questions", QUESTION)
    await net.pass(9_000)
    expect([silent?.isOpen, hasty?.isOpen]).toEqual([true, false])
    await net.pass(2_000)
    expect([silent?.isOpen, received.length, ann.peers()]).toEqual([false, 0, []])
  })

  it("a node of another network is refused with the reason in both logs, and dialled ever less often", async () => {
    const net = netOf()
    const [a, b] = [net.wire("a", "10.1.0.1"), net.wire("b", "10.2.0.1")]
    const ben = await node(net, b, { genesisHash: "cd".repeat(32) as Hash })
    const ann = await node(net, a, { dials: [b] })
    await net.pass(600_000)
    expect([ann.peers(), ben.peers()]).toEqual([[], []])
    for (const { log } of [ann, ben]) expect(log.filter((line) => /^warn .*genesis/.test(line))).toHaveLength(1)
    const tries = ben.log.filter((line) => /refused: .*genesis/.test(line)).length
    expect(tries).toBeGreaterThan(600 / 40)
    expect(tries).toBeLessThan(10 + 600 / 20)
  })

  it("a node that dials itself forgets the address", async () => {
    const net = netOf()
    const a = net.wire("a", "10.1.0.1")
    const ann = await node(net, a, { dials: [a] })
    await net.pass(20_000)
    const dials = ann.log.length
    await net.pass(120_000)
    expect([ann.peers(), ann.log.length]).toEqual([[], dials])
    expect(ann.log).toContain("debug connection refused: the peer is this node itself")
  })

  it("a peer that sends garbage loses its connection, then is banned, and returns once the ban is over", async () => {
    const net = netOf()
    const ann = await node(net, net.wire("a", "10.1.0.1"))
    let rude = await guest(net, "rude", "10.2.0.1", ann.wire)
    rude.say("answers", GARBAGE)
    await net.pass(3_000)
    expect([rude.connection.isOpen, ann.peers()]).toEqual([true, ["rude"]])
    rude.say("answers", GARBAGE)
    await net.pass(5_000)
    expect([rude.connection.isOpen, ann.peers()]).toEqual([false, []])
    // Not banned yet: it greets again and continues.
    for (let offences = 2; offences < 4; offences++) {
      rude = await guest(net, "rude", "10.2.0.1", ann.wire, rude.wire)
      rude.say("answers", GARBAGE)
      await net.pass(5_000)
      expect(rude.connection.isOpen).toBe(false)
    }
    const bannedAt = net.now()
    expect(ann.log.filter((line) => line.startsWith("warn peer banned"))).toHaveLength(1)
    await expect(guest(net, "rude", "10.2.0.1", ann.wire, rude.wire)).rejects.toThrow("no handshake")
    await net.pass(bannedAt + Conduct.BAN_MS - net.now() - 10_000)
    await expect(guest(net, "rude", "10.2.0.1", ann.wire, rude.wire)).rejects.toThrow("no handshake")
    await net.pass(10_000)
    rude = await guest(net, "rude", "10.2.0.1", ann.wire, rude.wire)
    await net.pass(1_000)
    expect([rude.connection.isOpen, ann.peers()]).toEqual([true, ["rude"]])
  })

  it("on a host with five banned peers, only peers that behaved before can return", async () => {
    const net = netOf()
    const ann = await node(net, net.wire("a", "10.1.0.1"))
    const good = await guest(net, "good", "10.2.0.1", ann.wire)
    await net.pass(61_000)
    good.connection.close()
    await net.pass(5_000)
    for (let n = 0; n < Conduct.BANS_PER_ADDRESS; n++) {
      const { connection } = await guest(net, `rude-${n}`, "10.2.0.1", ann.wire)
      await net.pass(1_000)
      for (let offences = 0; offences < 2; offences++) ann.board.misbehaved(rudeId(n), "a test says so", "misframed")
      expect(connection.isOpen).toBe(true)
      await net.pass(1_000)
      expect(connection.isOpen).toBe(false)
    }
    await guest(net, "fresh", "10.2.0.1", ann.wire).catch(() => {})
    await guest(net, "good", "10.2.0.1", ann.wire, good.wire)
    await guest(net, "elsewhere", "10.3.0.1", ann.wire)
    await net.pass(5_000)
    expect(ann.peers()).toEqual(["elsewhere", "good"])
    expect(ann.log.filter((line) => line.includes("several other peers from 10.2.0.1 are banned"))).toHaveLength(1)
  })

  it("in a full crowd, each newcomer from elsewhere displaces only the worst peer", async () => {
    const net = netOf()
    const ann = await node(net, net.wire("a", "10.1.0.1"))
    const guests: Array<Guest> = []
    for (let n = 0; n < ConnectionSlots.STRANGERS; n++) {
      guests.push(await guest(net, `crowd-${n}`, `10.2.0.${1 + (n % 4)}`, ann.wire))
      if (n % 8 === 7) await net.pass(1_000)
    }
    await net.pass(5_000)
    expect(ann.board.strangers).toBe(ConnectionSlots.STRANGERS)
    const rude = [3, 50, 100]
    for (const n of rude) guests[n]?.say("answers", GARBAGE)
    await net.pass(3_000)
    expect(ann.peers()).toHaveLength(ConnectionSlots.STRANGERS)
    // They come at once: the end of the first departure is not reported yet when the next one needs a place.
    const names = rude.map((n) => `newcomer-${n}`)
    const joined = rude.map((n, i) => guest(net, names[i] ?? "", `10.${n + 10}.0.1`, ann.wire))
    await Promise.all(joined)
    await net.pass(5_000)
    expect(ann.board.strangers).toBe(ConnectionSlots.STRANGERS)
    expect(guests.flatMap(({ connection }, n) => (connection.isOpen ? [] : [n]))).toEqual(rude)
    expect(ann.peers()).toEqual(expect.arrayContaining(names))
    // A neighbour displaces nobody, and members need no place.
    await guest(net, "neighbour", "10.2.0.2", ann.wire).catch(() => {})
    const ben = await node(net, net.wire("b", "10.2.0.8"), { dials: [ann.wire] })
    ann.standings.setMembers([ben.validator])
    await net.pass(5_000)
    expect(ann.peers()).not.toContain("neighbour")
    expect(ann.peers()).toContain("b")
    expect(ann.board.strangers).toBe(ConnectionSlots.STRANGERS)
  })

  it("two nodes with a member's key are members, and further ones strangers until one of the two leaves", async () => {
    const net = netOf()
    const ann = await node(net, net.wire("a", "10.1.0.1"))
    const key = SecretKey.generate()
    const ben = ["b1", "b2", "b3", "b4"].map((name, n) => net.wire(name, `10.2.0.${n + 1}`))
    for (const wire of ben) {
      await node(net, wire, { dials: [ann.wire], key })
      await net.pass(5_000)
    }
    // In the epoch before it gets a seat, and in the next.
    expect([ann.board.sessions.length, ann.board.strangers]).toEqual([4, 4])
    ann.standings.setMembers([Address.fromPublicKey(key.publicKey)])
    expect([ann.board.sessions.length, ann.board.strangers]).toEqual([4, 2])
    const late = net.wire("b5", "10.2.0.5")
    await node(net, late, { dials: [ann.wire], key })
    await net.pass(5_000)
    expect([ann.board.sessions.length, ann.board.strangers]).toEqual([5, 3])
    await ben[0]?.stop()
    await net.pass(3_000)
    expect(ann.board.sessions.filter(({ meter }) => meter.standing() === "member")).toHaveLength(2)
  })

  it("strangers share a rate; members and named peers do not", async () => {
    const net = netOf()
    const [a, c] = [net.wire("a", "10.1.0.1"), net.wire("c", "10.4.0.1")]
    const carl = await node(net, c)
    const ann = await node(net, a, { dials: [c] })
    const ben = await node(net, net.wire("b", "10.3.0.1"), { dials: [a] })
    ann.standings.setMembers([ben.validator])
    const count = 20
    for (let n = 0; n < count; n++) await guest(net, `guest-${n}`, `10.2.${n}.1`, a)
    await net.pass(5_000)
    expect(ann.peers()).toHaveLength(count + 2)
    const share = strangerShare(count).pieces.perSecond
    expect(share).toBe(200)
    const isHeldUpAt = async (peer: string, perSecond: number) => {
      const meter = a.policy.meterOf(peer as PeerId)
      const held: Array<boolean> = []
      for (let tenths = 0; tenths < 300; tenths++) {
        await net.pass(100)
        held.push(meter.charge(perSecond / 10, 0) !== undefined)
      }
      return held.slice(-10).filter(Boolean).length > 5
    }
    expect(await isHeldUpAt("guest-0", 0.9 * share)).toBe(false)
    expect(await isHeldUpAt("guest-0", 1.5 * share)).toBe(true)
    for (const peer of ["b", "c"]) expect(await isHeldUpAt(peer, 5 * share)).toBe(false)
    expect(carl.peers()).toEqual(["a"])
    // The others' shares grow when some leave.
    for (const { connections } of guestsOf(net, count).slice(1)) connections[0]?.close()
    await net.pass(10_000)
    expect(ann.peers()).toHaveLength(3)
    expect(await isHeldUpAt("guest-0", 0.9 * RATES.stranger.pieces.perSecond)).toBe(false)
  })

  it("gossip is relayed once to peers that did not hear it, and invalid gossip is not", async () => {
    const net = netOf()
    const [a, b, c] = [net.wire("a", "10.1.0.1"), net.wire("b", "10.2.0.1"), net.wire("c", "10.3.0.1")]
    const heard: Array<string> = []
    const hearing = (name: string, decision: RelayDecision) => (received: Received) => {
      heard.push(`${name} ${received.tag} from ${received.from}`)
      received.release(decision)
    }
    await node(net, c, { heard: hearing("c", "news") })
    const ben = await node(net, b, { dials: [c], heard: hearing("b", "news") })
    const ann = await node(net, a, { dials: [b] })
    await net.pass(5_000)
    ann.board.broadcast({ _tag: "Transactions", transactions: [] })
    await net.pass(5_000)
    expect(heard).toEqual(["b Transactions from a", "c Transactions from b"])
    expect(ben.board.sessions.map(({ news }) => news).sort()).toEqual([0, 1])
    for (const { lanes } of a.connections) lanes.send("votes", Uint8Array.of(0, 255))
    await net.pass(5_000)
    expect(heard).toHaveLength(2)
    expect(ben.log.filter((line) => line.includes("peer broke the protocol"))).toHaveLength(1)
  })

  it("a node's own gossip reaches its named peers in a crowd of strangers", async () => {
    const net = netOf()
    const heard: Array<string> = []
    const networks = new Set<string>()
    const hearing = (name: string) => (received: Received) => {
      heard.push(name)
      networks.add(received.network)
      received.release("known")
    }
    const b = net.wire("b", "10.2.0.1")
    await node(net, b, { heard: hearing("named") })
    const ann = await node(net, net.wire("a", "10.1.0.1"), { dials: [b] })
    for (let n = 0; n < 40; n++) {
      await node(net, net.wire(`s${n}`, `${11 + n}.0.0.1`), { dials: [ann.wire], heard: hearing("stranger") })
    }
    await net.pass(5_000)
    expect(ann.peers()).toHaveLength(41)
    for (let n = 0; n < 20; n++) {
      ann.board.broadcast({ _tag: "Transactions", transactions: [] })
      await net.pass(5_000)
      const named = heard.filter((name) => name === "named").length
      expect([named, heard.length - named]).toEqual([1, 32])
      heard.length = 0
    }
    expect([...networks]).toEqual(["10.1"])
  })

  describe("transactions of a member", () => {
    const NEWS = { _tag: "Transactions", transactions: [] } as const

    /** Three members, fully connected, and the copies that arrived: at whom, from whom. */
    const committee = async () => {
      const net = netOf()
      const wires = [net.wire("a", "10.1.0.1"), net.wire("b", "10.2.0.1"), net.wire("c", "10.3.0.1")]
      const heard: Array<string> = []
      const hearing = (name: string) => (received: Received) => {
        heard.push(`${name} from ${received.from}`)
        received.release("news")
      }
      const nodes: Array<Awaited<ReturnType<typeof node>>> = []
      for (const [n, wire] of wires.entries()) {
        nodes.push(await node(net, wire, { dials: wires.slice(0, n), heard: hearing(wire.id) }))
      }
      const sit = (members: typeof nodes) => {
        for (const { standings } of nodes) standings.setMembers(members.map(({ validator }) => validator))
      }
      sit(nodes)
      await net.pass(5_000)
      const [ann, ben] = nodes
      if (ann === undefined || ben === undefined) throw new Error("no nodes")
      /** Messages that each of them sent to others, as often as they went out. */
      const sent = () =>
        nodes.map(({ board: { volume } }) =>
          volume.amounts
            .filter(({ direction, kind }) => direction === "sent" && kind === "Transactions")
            .reduce((sum, { messages }) => sum + messages, 0),
        )
      return { net, wires, nodes, ann, ben, heard, hearing, sit, sent }
    }

    it("go once to each other member, and to strangers besides, where all members are connected", async () => {
      const { net, wires, ann, heard, hearing, sent } = await committee()
      ann.board.broadcast(NEWS)
      await net.pass(5_000)
      expect([heard.sort(), sent()]).toEqual([
        ["b from a", "c from a"],
        [2, 0, 0],
      ])
      // A stranger changes nothing between members.
      await node(net, net.wire("d", "10.4.0.1"), { dials: wires.slice(0, 1), heard: hearing("d") })
      await net.pass(5_000)
      ann.board.broadcast(NEWS)
      await net.pass(5_000)
      expect(heard.slice(2).sort()).toEqual(["b from a", "c from a", "d from a"])
      expect(sent()).toEqual([5, 0, 0])
    })

    it("are relayed to strangers that their node does not know, and to no member again", async () => {
      const { net, wires, nodes, ann, heard, hearing, sit, sent } = await committee()
      const [d, e, f] = [net.wire("d", "10.4.0.1"), net.wire("e", "10.5.0.1"), net.wire("f", "10.6.0.1")]
      const followers = [
        await node(net, d, { dials: wires.slice(1), heard: hearing("d") }),
        await node(net, e, { dials: wires.slice(2), heard: hearing("e") }),
        await node(net, f, { dials: [e], heard: hearing("f") }),
      ]
      sit(nodes)
      for (const { standings } of followers) standings.setMembers(nodes.map(({ validator }) => validator))
      await net.pass(5_000)
      ann.board.broadcast(NEWS)
      await net.pass(5_000)
      // The same transactions from two members count once.
      expect(heard.map((line) => line.replace(/^d from .$/, "d")).sort()).toEqual([
        "b from a",
        "c from a",
        "d",
        "e from c",
        "f from e",
      ])
      expect(sent()).toEqual([2, 1, 2])
    })

    it("that a stranger sends reach all members through the only member it is connected to", async () => {
      const { net, wires, nodes, heard, sent } = await committee()
      const follower = await node(net, net.wire("d", "10.4.0.1"), { dials: wires.slice(0, 1) })
      for (const committed of [nodes.map(({ validator }) => validator), []]) {
        heard.length = 0
        follower.standings.setMembers(committed)
        await net.pass(5_000)
        follower.board.broadcast(NEWS)
        await net.pass(5_000)
        expect(heard.sort()).toEqual(["a from d", "b from a", "c from a"])
      }
      expect(sent()).toEqual([4, 0, 0])
    })

    it("reach a member without a connection to their author through another member", async () => {
      const { net, wires, nodes, ann, heard, hearing, sit, sent } = await committee()
      const fourth = net.wire("e", "10.5.0.1")
      const ely = await node(net, fourth, { dials: wires.slice(1), heard: hearing("e") })
      sit([...nodes, ely])
      ely.standings.setMembers([...nodes, ely].map(({ validator }) => validator))
      await net.pass(1_000)
      // It has not learned of the first one yet.
      expect(ely.peers()).toEqual(["b", "c"])
      ann.board.broadcast(NEWS)
      await net.pass(5_000)
      expect(heard.map((line) => line.replace(/^e from .$/, "e")).sort()).toEqual(["b from a", "c from a", "e"])
      expect(sent()).toEqual([2, 1, 1])
    })

    it("are not relayed for a member without connections", async () => {
      const { net, nodes, ann, heard, sit, sent } = await committee()
      const absent = { ...ann, validator: Address.fromPublicKey(SecretKey.generate().publicKey) }
      sit([...nodes, absent])
      ann.board.broadcast(NEWS)
      await net.pass(5_000)
      expect([heard.sort(), sent()]).toEqual([
        ["b from a", "c from a"],
        [2, 0, 0],
      ])
    })

    it("are relayed by a node that takes their sender for a stranger, and counted once", async () => {
      const { net, ann, ben, heard } = await committee()
      // One of them is an epoch ahead.
      ben.standings.setMembers([ben.validator])
      ann.board.broadcast(NEWS)
      await net.pass(5_000)
      expect(heard.map((line) => line.slice(0, 1)).sort()).toEqual(["b", "c"])
    })
  })
})
