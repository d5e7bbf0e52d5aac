/** A newcomer among honest peers and one that holds the keys of a former committee. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import type { Answer, Message } from "../../../src/consensus/replica/Message.js"
import type { PeerId } from "../../../src/consensus/replica/Peer.js"
import type { Pin } from "../../../src/consensus/replica/ProvenChain.js"
import { JoinStopped } from "../../../src/node/Ending.js"
import * as Checkpoint from "../../../src/protocol/Checkpoint.js"
import * as Counter from "../../../src/protocol/Counter.js"
import * as EpochRecord from "../../../src/protocol/EpochRecord.js"
import { addressOf, Cluster, coins, type Machine, sign, signerOf } from "./Cluster.js"

type Closing = Extract<Answer, { _tag: "Closing" }>
type Signed = Checkpoint.SignedCheckpoint

const FORMER = ["ann", "ben", "cleo", "dan"]
const PRESENT = ["fay", "gil", "hal", "ivy"]

/** A network whose founders have sold their keys: with those who staked since they are no quorum any more. */
const network = (): Cluster => {
  const cluster = new Cluster({
    validators: Object.fromEntries(FORMER.map((name) => [name, 10_000])),
    accounts: Object.fromEntries(PRESENT.map((name) => [name, 100_000])),
    epochRounds: 40,
  })
  const machines = PRESENT.map((name) => cluster.add(name))
  cluster.start()
  cluster.runRounds(2)
  for (const machine of machines) {
    const stake = sign(machine.name, 0, { _tag: "StakeTx", amount: coins(90_000) }, 0)
    expect(Either.isRight(machine.replica.submit(stake, cluster.now))).toBe(true)
  }
  cluster.runRounds(150)
  return cluster
}

const newestOf = (machine: Machine): Signed => {
  const newest = machine.disk.closings.at(-1)
  if (newest === undefined) throw new Error("no epoch closed")
  return newest
}

/** What the former committee signs in place of another checkpoint, with itself as the committee after it. */
const forge = (
  { checkpoint }: Signed,
  committee: EpochRecord.EpochRecord,
  change: Partial<Checkpoint.Content>,
): Signed => {
  const { hash: _, ...content } = checkpoint
  const epoch = change.epoch ?? content.epoch
  const nextEpoch = { ...committee, epoch: Counter.epoch(epoch + 1), firstRound: Counter.round(content.round + 1) }
  const forged = Checkpoint.make({ ...content, nextEpoch, ...change })
  const signatures = FORMER.map((name) => Checkpoint.sign(forged, signerOf(name)))
  return { checkpoint: forged, signatures: signatures.sort((a, b) => (a.validator < b.validator ? -1 : 1)) }
}

/** What the forger has made of the true history, and how it answers a question. */
type Forgery = (
  history: ReadonlyArray<Signed>,
  committee: EpochRecord.EpochRecord,
) => (honest: Closing, said: number) => Closing | null

const after = (signed: Signed, epochs: number) => Counter.epoch(signed.checkpoint.epoch + epochs)

const lastOf = (history: ReadonlyArray<Signed>): Signed => {
  const last = history.at(-1)
  if (last === undefined) throw new Error("no history")
  return last
}

/** Further closings by the former committee upon a forged one. */
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

/** Ends in epoch 2, with a committee of the forger's own after it. */
const below: Forgery = (history, committee) => {
  const second = history[1]
  if (second === undefined) throw new Error("two epochs expected")
  const { publicKey } = signerOf("mallory")
  const members = [{ publicKey, address: addressOf("mallory"), weight: EpochRecord.totalWeight(committee) }]
  const newest = forge(second, { ...committee, members }, {})
  return (honest) => ({ ...honest, signed: [], newest })
}

/** The same, but it names a committee that did sign the true newest. */
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

/** A newcomer that knows three honest members and the forger, whose id comes first. */
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

const hasJoined = (machine: Machine): boolean => machine.outputs.some(({ _tag }) => _tag === "Joined")

/** Whether a machine has come to the state that the honest ones are in. */
const isWith = (machine: Machine, honest: ReadonlyArray<Machine>): boolean =>
  honest.every(({ replica }) => machine.replica.read.head.index >= replica.read.head.index - 3)

const blamed = (machine: Machine, other: Machine): boolean =>
  machine.outputs.some((output) => output._tag === "Misbehaved" && output.peer === other.peer)

describe("a newcomer that is shown a forged history beside the true one", () => {
  it("finds that the founders alone are no quorum any more", () => {
    const { record } = network().machine("fay").replica.core.epoch.opening
    const former = record.members.filter(({ address }) => FORMER.some((name) => addressOf(name) === address))
    const weight = former.reduce((sum, member) => sum + member.weight, 0)
    expect(EpochRecord.isQuorum(weight, EpochRecord.totalWeight(record))).toBe(false)
  })

  it("does not follow a checkpoint upon the honest newest that its committee did not sign", () => {
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
    expect(stopped.toldSecond).toEqual([forger.peer])
    expect([...stopped.toldFirst].sort()).toEqual(honest.map(({ peer }) => peer).sort())
  })

  it("stops when two complete histories part, names both hashes of one epoch, and says how to decide", () => {
    const cluster = network()
    const { eve, forger } = newcomer(cluster, ofTwo)
    const stopped = stopOf(eve)
    if (stopped?._tag !== "TwoChains") throw new Error("it should have stopped")
    expect(hasJoined(eve)).toBe(false)
    const { first, second, toldSecond } = stopped
    expect(second.checkpoint.epoch).toBe(first.checkpoint.epoch)
    expect(second.checkpoint.hash).not.toBe(first.checkpoint.hash)
    expect(toldSecond).toEqual([forger.peer])
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

  it("listens before it follows the first that it hears", () => {
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

describe("a newcomer to which many strangers claim checkpoints", () => {
  it("proves what members of the committee it knows claim first", () => {
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
    eve.isValidAtDoor = ({ message }) => {
      checked.push(toHex(message))
      return true
    }
    eve.handle(eve.replica.work(() => false, cluster.now))
    expect(new Set(checked)).toEqual(new Set([toHex(Checkpoint.signedBytes(newest.checkpoint))]))
  })
})
