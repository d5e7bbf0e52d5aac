/** A joining node among honest peers and one that holds the keys of a former committee. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import { JoinStopped } from "../../src/node/lifecycle/Ending.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Check } from "../../src/protocol/transaction/Verification.js"
import { Joining } from "../../src/replica/joining/Joining.js"
import type { Pin } from "../../src/replica/joining/ProvenChain.js"
import type { Answer, Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Peers } from "../../src/replica/messages/Peers.js"
import { Outbox } from "../../src/replica/output/Outbox.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import * as Rest from "../support/Rest.js"
import { addressOf, Cluster, coins, type Machine, sign, signerOf } from "./Cluster.js"

type Closing = Extract<Answer, { _tag: "Closing" }>
type Signed = Checkpoint.SignedCheckpoint

const FORMER = ["ann", "ben", "cleo", "dan"]
const PRESENT = ["fay", "gil", "hal", "ivy"]

const founded = (): Cluster => {
  const cluster = new Cluster({
    validators: Object.fromEntries(FORMER.map((name) => [name, 10_000])),
    accounts: Object.fromEntries(PRESENT.map((name) => [name, 100_000])),
    epochRounds: 40,
  })
  for (const name of PRESENT) cluster.add(name)
  return cluster
}

const past = (): Cluster => {
  const cluster = founded()
  const machines = PRESENT.map((name) => cluster.machine(name))
  cluster.start()
  cluster.runRounds(2)
  for (const machine of machines) {
    const stake = sign(machine.name, 0, { _tag: "StakeTx", amount: coins(90_000) }, 0)
    expect(Either.isRight(machine.replica.submit(stake, cluster.now))).toBe(true)
  }
  cluster.runRounds(150)
  return cluster
}

let lived: Cluster | undefined

/** A network whose founders sold their keys: together with later stakers they are no quorum any more. */
const network = (): Cluster => {
  // One history for all tests, because making it takes longer than they do.
  lived ??= past()
  const cluster = founded()
  cluster.now = lived.now
  for (const machine of cluster.machines) machine.replaceDisk(lived.machine(machine.name).disk.copy())
  cluster.start()
  return cluster
}

const newestOf = (machine: Machine): Signed => {
  const newest = machine.disk.closings.at(-1)
  if (newest === undefined) throw new Error("no epoch closed")
  return newest
}

/** A checkpoint that the former committee signs instead of another one, with itself as the next committee. */
const forge = (
  { checkpoint }: Signed,
  committee: EpochRecord.EpochRecord,
  change: Partial<Checkpoint.Content>,
): Signed => {
  const { hash: _, ...content } = checkpoint
  const epoch = change.epoch ?? content.epoch
  const nextEpoch = { ...committee, epoch: Natural.epoch(epoch + 1), firstRound: Natural.round(content.round + 1) }
  const forged = Checkpoint.make({ ...content, nextEpoch, ...change })
  const signatures = FORMER.map((name) => Checkpoint.sign(forged, signerOf(name)))
  return { checkpoint: forged, signatures: signatures.sort((a, b) => (a.validator < b.validator ? -1 : 1)) }
}

/** The forger's version of the history, and its answer to a question. */
type Forgery = (
  history: ReadonlyArray<Signed>,
  committee: EpochRecord.EpochRecord,
) => (honest: Closing, said: number) => Closing | null

const after = (signed: Signed, epochs: number) => Natural.epoch(signed.checkpoint.epoch + epochs)

const lastOf = (history: ReadonlyArray<Signed>): Signed => {
  const last = history.at(-1)
  if (last === undefined) throw new Error("no history")
  return last
}

/** Further closing checkpoints by the former committee, on top of a forged one. */
const prolong = (from: Signed, epochs: number, committee: EpochRecord.EpochRecord): ReadonlyArray<Signed> => {
  const chain = [from]
  for (let i = 0; i < epochs; i++) {
    const previous = lastOf(chain)
    chain.push(forge(previous, committee, { epoch: after(previous, 1), previous: previous.checkpoint.hash }))
  }
  return chain
}

const upon: Forgery = (history, committee) => {
  const last = lastOf(history)
  const next = forge(last, committee, { epoch: after(last, 1), previous: last.checkpoint.hash })
  return (honest) => ({ ...honest, signed: [...honest.signed, next], newest: next })
}

const ahead: Forgery = (history, committee) => {
  const newest = forge(lastOf(history), committee, { epoch: after(lastOf(history), 5) })
  return (honest) => ({ ...honest, signed: [], newest })
}

const ofTwo: Forgery = (history, committee) => {
  const second = history[1]
  if (second === undefined) throw new Error("two epochs expected")
  const forged = prolong(forge(second, committee, {}), history.length - 1, committee)
  const chain = [...history.slice(0, 1), ...forged]
  return ({ signed }) => {
    const from = signed[0]?.checkpoint.epoch ?? chain.length
    return {
      _tag: "Closing",
      signed: chain.filter(({ checkpoint }) => checkpoint.epoch >= from),
      newest: lastOf(chain),
    }
  }
}

/** Ends in epoch 2, with the forger's own committee after it. */
const below: Forgery = (history, committee) => {
  const second = history[1]
  if (second === undefined) throw new Error("two epochs expected")
  const { publicKey } = signerOf("mallory")
  const members = [{ publicKey, address: addressOf("mallory"), weight: EpochRecord.totalWeight(committee) }]
  const newest = forge(second, { ...committee, members }, {})
  return (honest) => ({ ...honest, signed: [], newest })
}

/** The same, but it names the committee that signed the true newest checkpoint. */
const belowOfFounders: Forgery = (history, committee) => {
  const second = history[1]
  if (second === undefined) throw new Error("two epochs expected")
  const newest = forge(second, committee, {})
  return (honest) => ({ ...honest, signed: [], newest })
}

const silent: Forgery = (history, committee) => {
  const newest = forge(lastOf(history), committee, { epoch: after(lastOf(history), 5) })
  return (honest, said) => (said > 1 ? null : { ...honest, signed: [], newest })
}

/** A joining node that knows three honest members and the forger, whose id comes first. */
const newcomer = (cluster: Cluster, forgery: Forgery, pin: Pin | null = null, firstMs = 0) => {
  const honest = ["fay", "gil", "hal"].map((name) => cluster.machine(name))
  const forger = cluster.add("aaa", { isValidator: false })
  forger.replaceDisk(cluster.machine("ivy").disk.copy())
  const eve = cluster.add("eve", { isValidator: false, pin })
  let isLate = firstMs > 0
  const isFriend = (other: Machine) => other === forger || (!isLate && honest.includes(other))
  cluster.isLinked = (a, b) => (a !== eve || isFriend(b)) && (b !== eve || isFriend(a))
  cluster.start()
  const founders = forger.disk.closings[0]?.checkpoint.nextEpoch ?? null
  if (founders === null) throw new Error("an epoch should be closed")
  const members = founders.members.filter(({ address }) => FORMER.some((name) => addressOf(name) === address))
  const lie = forgery(forger.disk.closings, { ...founders, members })
  let said = 0
  forger.says = (_, message: Message) => {
    if (message._tag !== "Closing") return [message]
    const told = lie(message, ++said)
    return told === null ? [] : [told]
  }
  if (isLate) {
    cluster.run(firstMs)
    isLate = false
    cluster.reconnect()
  }
  cluster.runRounds(60)
  return { eve, forger, honest }
}

const stopOf = (machine: Machine) =>
  machine.outputs.flatMap((output) => (output._tag === "JoinStopped" ? [output.problem] : []))[0]

const hasJoined = (machine: Machine): boolean => machine.writes.some(({ _tag }) => _tag === "Joined")

/** Whether a machine has reached the state of the honest ones. */
const isWith = (machine: Machine, honest: ReadonlyArray<Machine>): boolean =>
  honest.every(({ replica }) => machine.replica.read.head.index >= replica.read.head.index - 3)

const blamed = (machine: Machine, other: Machine): boolean =>
  machine.outputs.some((output) => output._tag === "Misbehaved" && output.peer === other.peer)

describe("a newcomer that is shown a forged history beside the true one", () => {
  it(Rest.of("epochs of a network", "finds that the founders alone are no longer a quorum"), () => {
    const { record } = network().machine("fay").replica.core.epoch.opening
    const former = record.members.filter(({ address }) => FORMER.some((name) => addressOf(name) === address))
    const weight = former.reduce((sum, member) => sum + member.weight, 0)
    expect(EpochRecord.isQuorum(weight, EpochRecord.totalWeight(record))).toBe(false)
  })

  it("does not follow a checkpoint on top of the honest newest that its committee did not sign", () => {
    const { eve, forger, honest } = newcomer(network(), upon)
    expect(stopOf(eve)).toBeUndefined()
    expect(blamed(eve, forger)).toBe(true)
    expect(isWith(eve, honest)).toBe(true)
  })

  it("stops when the forged one is ahead and nothing leads to it from the honest newest", () => {
    const { eve, forger, honest } = newcomer(network(), ahead)
    const stopped = stopOf(eve)
    if (stopped?._tag !== "TwoChains") throw new Error("it should have stopped")
    expect(hasJoined(eve)).toBe(false)
    expect(stopped.secondClaimants).toEqual([forger.peer])
    expect([...stopped.firstClaimants].sort()).toEqual(honest.map(({ peer }) => peer).sort())
  })

  it("stops when two complete histories diverge, names both hashes of one epoch, and explains how to decide", () => {
    const cluster = network()
    const { eve, forger } = newcomer(cluster, ofTwo)
    const stopped = stopOf(eve)
    if (stopped?._tag !== "TwoChains") throw new Error("it should have stopped")
    expect(hasJoined(eve)).toBe(false)
    const { first, second, secondClaimants } = stopped
    expect(second.checkpoint.epoch).toBe(first.checkpoint.epoch)
    expect(second.checkpoint.hash).not.toBe(first.checkpoint.hash)
    expect(secondClaimants).toEqual([forger.peer])
    const { message } = new JoinStopped({ problem: stopped })
    expect(message).not.toContain("\n")
    for (const { checkpoint } of [first, second])
      expect(message).toContain(`--trust ${checkpoint.epoch}:${checkpoint.hash}`)
    expect(message).toContain("aaa says")
  })

  it("stops when the forged one ends below the honest newest", () => {
    const { eve } = newcomer(network(), below)
    expect(stopOf(eve)?._tag).toBe("TwoChains")
    expect(hasJoined(eve)).toBe(false)
  })

  it("follows the honest newest if both histories vouch for it", () => {
    const { eve, honest } = newcomer(network(), belowOfFounders)
    expect(stopOf(eve)).toBeUndefined()
    expect(isWith(eve, honest)).toBe(true)
  })

  it("does not wait for a forger that answers no question about its claim", () => {
    const { eve, honest } = newcomer(network(), silent)
    expect(stopOf(eve)).toBeUndefined()
    expect(isWith(eve, honest)).toBe(true)
  })

  it("listens before it follows the first claim", () => {
    const { eve } = newcomer(network(), ahead, null, 300)
    expect(hasJoined(eve)).toBe(false)
    expect(stopOf(eve)?._tag).toBe("TwoChains")
  })

  it("follows the checkpoint that its operator names", () => {
    const cluster = network()
    const { epoch, hash } = newestOf(cluster.machine("fay")).checkpoint
    for (const forgery of [ahead, ofTwo, below]) {
      const again = network()
      const { eve, honest } = newcomer(again, forgery, { epoch, hash })
      expect(stopOf(eve)).toBeUndefined()
      expect(isWith(eve, honest)).toBe(true)
    }
  })
})

/** Delays answers about closed epochs. */
const slowly = (cluster: Cluster) => {
  const queue: Array<{ readonly at: number; readonly send: () => void }> = []
  const answers = (machine: Machine, ms: number, reword: (closing: Closing) => Closing | null = (honest) => honest) => {
    machine.says = (to, message) => {
      const said = message._tag === "Closing" ? reword(message) : message
      if (said !== message || (said._tag === "Closing" && ms > 0)) {
        if (said !== null) queue.push({ at: cluster.now + ms, send: () => cluster.send(machine, to, said) })
        return []
      }
      return [said]
    }
  }
  const run = (forMs: number, until: () => boolean = () => false) => {
    for (const end = cluster.now + forMs; cluster.now < end && !until(); ) {
      cluster.run(20)
      for (const each of queue.splice(0)) {
        if (each.at <= cluster.now) each.send()
        else queue.push(each)
      }
    }
  }
  return { answers, run }
}

const hasBegun = (machine: Machine): boolean => machine.writes.some(({ _tag }) => _tag === "JoinBegun")

/** A joining node connected only to `friends`, and forgers of a checkpoint ahead of the network. */
const alone = (forgers: number, followers: number) => {
  const cluster = network()
  const { disk } = cluster.machine("ivy")
  const added = Array.from({ length: forgers + followers }, (_, n) => cluster.add(`a${n + 10}`, { isValidator: false }))
  for (const machine of added.slice(0, forgers)) machine.replaceDisk(disk.copy())
  const eve = cluster.add("eve", { isValidator: false })
  const friends = new Set<Machine>()
  cluster.isLinked = (a, b) => {
    if (added.slice(forgers).some((each) => (each === a && b !== eve) || (each === b && a !== eve))) return false
    return (a !== eve || friends.has(b)) && (b !== eve || friends.has(a))
  }
  cluster.start()
  const founders = disk.closings[0]?.checkpoint.nextEpoch ?? null
  if (founders === null) throw new Error("an epoch should be closed")
  const members = founders.members.filter(({ address }) => FORMER.some((name) => addressOf(name) === address))
  const lie = ahead(disk.closings, { ...founders, members })
  const befriend = (...others: ReadonlyArray<Machine>) => {
    for (const other of others) friends.add(other)
    cluster.reconnect()
  }
  const honest = ["fay", "gil", "hal"].map((name) => cluster.machine(name))
  const [liars, silent] = [added.slice(0, forgers), added.slice(forgers)]
  return { cluster, eve, honest, liars, silent, befriend, reword: (closing: Closing) => lie(closing, 1) }
}

describe("a newcomer that has proven one claim", () => {
  it("does not follow it while a timely peer still has to answer", () => {
    const { cluster, eve, honest, liars, befriend, reword } = alone(1, 0)
    const { answers, run } = slowly(cluster)
    for (const liar of liars) answers(liar, 0, reword)
    for (const machine of honest) answers(machine, 800)
    befriend(...liars)
    run(10_000, () => hasBegun(eve))
    expect(hasBegun(eve)).toBe(true)
    run(600)
    befriend(...honest)
    run(6_000)
    expect(hasJoined(eve)).toBe(false)
    expect(stopOf(eve)?._tag).toBe("TwoChains")
  })

  it(
    Rest.of(
      "epochs of a network",
      "does not wait for ever for strangers that arrive one after the other and stay silent",
    ),
    () => {
      const { cluster, eve, honest, silent, befriend } = alone(0, 30)
      const { run } = slowly(cluster)
      for (const machine of silent) machine.says = () => []
      befriend(...honest, ...silent.slice(0, 1))
      for (const machine of silent.slice(1)) {
        run(600)
        befriend(machine)
      }
      expect(hasJoined(eve)).toBe(true)
    },
  )
})

describe("a newcomer to which many strangers claim checkpoints", () => {
  /** A node that knows the founders. The test controls every answer. */
  const joining = (names: ReadonlyArray<string>) => {
    const cluster = new Cluster({ validators: Object.fromEntries(FORMER.map((name) => [name, 10_000])) }).start()
    const { record } = cluster.machine("ann").replica.core.epoch.opening
    const outbox = new Outbox()
    const peers = new Peers(500, () => 0)
    peers.connect(names.map((peer) => ({ peer: peer as PeerId, validator: null, isDialled: false })))
    let checked = 0
    const isValid = (check: Check) => {
      checked++
      return FakeKeys.isValid(check)
    }
    const ledgerOf = () => {
      throw new Error("there is no state")
    }
    const trust = { record, pin: null, isValid }
    const join = new Joining(
      { peers, outbox, patienceMs: 500, ledgerOf, unknownIn: () => null },
      trust,
      null,
      Natural.timestamp(0),
    )
    const content = {
      round: Natural.round(40),
      commitIndex: Natural.commitIndex(9),
      commitHash: Hash.ZERO,
      effectsDigest: Hash.ZERO,
      stateRoot: Hash.ZERO,
      totalSupply: Sats.ZERO,
      previous: Hash.ZERO,
    }
    /** Closes a later epoch, under these keys. */
    const closing = (epochs: number, signers: ReadonlyArray<string>): Signed => {
      const epoch = Natural.epoch(record.epoch + epochs)
      const nextEpoch = { ...record, epoch: Natural.epoch(epoch + 1), firstRound: Natural.round(41) }
      const checkpoint = Checkpoint.make({ ...content, epoch, nextEpoch })
      const signatures = signers.map((name) => Checkpoint.sign(checkpoint, signerOf(name)))
      return { checkpoint, signatures: signatures.sort((a, b) => (a.validator < b.validator ? -1 : 1)) }
    }
    const offer = (peer: string, signed: ReadonlyArray<Signed>, newest: Signed) =>
      join.offered(peer as PeerId, { _tag: "Closing", signed, newest }, Natural.timestamp(1))
    const work = () => {
      for (let n = 0; n < 100 && join.hasWork; n++) join.work(() => true, Natural.timestamp(1))
      return outbox.drain()
    }
    return { closing, offer, work, checked: () => checked }
  }
  const asked = (outputs: ReturnType<ReturnType<typeof joining>["work"]>) =>
    outputs.flatMap((output) => (output._tag === "Send" && output.message._tag === "AskClosing" ? [output.to] : []))

  it("asks no other peer about an unproven one, and blames the peer that shows a false one", () => {
    const { closing, offer, work } = joining(["aaa", "bbb"])
    const newest = closing(4, ["mallory"])
    offer("aaa", [], newest)
    const blamed: Array<string> = []
    let questions = 0
    for (let n = 0; n < 10; n++) {
      const outputs = work()
      const [from] = outputs.flatMap((output) =>
        output._tag === "Send" && output.message._tag === "AskClosing" ? [output.message.from] : [],
      )
      expect(asked(outputs)).not.toContain("bbb")
      blamed.push(...outputs.flatMap((output) => (output._tag === "Misbehaved" ? [output.peer] : [])))
      if (from === undefined) break
      questions++
      const shown = [0, 1, 2, 3].map((epochs) => closing(epochs, ["mallory"]))
      offer(
        "aaa",
        shown.filter(({ checkpoint }) => checkpoint.epoch >= from),
        newest,
      )
    }
    expect(questions).toBeGreaterThan(0)
    expect(blamed).toEqual(["aaa"])
  })

  it("does not take the late answer to an earlier question for the open one's", () => {
    const { closing, offer, work } = joining(["aaa", "bbb"])
    const newest = closing(8, ["mallory"])
    const questions = () =>
      work().flatMap((output) =>
        output._tag === "Send" && output.message._tag === "AskClosing" ? [output.message.from] : [],
      )
    offer("aaa", [], newest)
    const [first = 0] = questions()
    // A close from before the epoch of the question answers another one, so the question stays open.
    offer("aaa", [closing(1, ["mallory"])], newest)
    expect(questions()).toEqual([])
    // So the true answer still counts when it arrives. It proves nothing more, and the next step is smaller.
    offer("aaa", [], newest)
    const [second = first] = questions()
    expect(second).toBeLessThan(first)
  })

  it("verifies each signature once, even if many claim the same, and reads each peer's claim once", () => {
    const names = ["aaa", "bbb", "ccc", "ddd", "eee"]
    const { closing, offer, work, checked } = joining(names)
    const newest = closing(1, FORMER)
    for (const name of names) offer(name, [], newest)
    work()
    expect(checked()).toBe(FORMER.length)
    // A second claim of the same peer does not replace its first one.
    for (let n = 2; n < 10; n++) offer("aaa", [], closing(n, FORMER))
    work()
    expect(checked()).toBe(FORMER.length)
  })

  it("proves first what members of the known committee claim", () => {
    const cluster = network()
    const ann = cluster.machine("ann")
    const eve = cluster.add("eve", { isValidator: false })
    cluster.isLinked = (a, b) => a !== eve && b !== eve
    cluster.start()
    const newest = newestOf(ann)
    const { record } = eve.replica.core.epoch.opening
    const strangers = Array.from({ length: 20 }, (_, n) => ({
      peer: `a${n}` as PeerId,
      claim: forge(newest, record, { epoch: after(newest, n + 1) }),
    }))
    const connections = strangers.map(({ peer }) => ({ peer, validator: null, isDialled: false }))
    const member = { peer: ann.peer, validator: ann.validator, isDialled: false }
    eve.handle(eve.replica.connected([...connections, member], cluster.now))
    for (const { peer, claim } of strangers) eve.receive(peer, { _tag: "Closing", signed: [], newest: claim })
    eve.receive(ann.peer, { _tag: "Closing", signed: [], newest })
    const checked: Array<string> = []
    eve.isStrictlyValid = ({ message }) => {
      checked.push(toHex(message))
      return true
    }
    eve.handle(eve.replica.work(() => false, cluster.now))
    expect(new Set(checked)).toEqual(new Set([toHex(Checkpoint.signedBytes(newest.checkpoint))]))
  })
})
