import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Trie from "../../src/ledger/trie/Trie.js"
import type { Checkpoint } from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import { type Built, CheckpointBuilding } from "../../src/replica/live/CheckpointBuilding.js"
import { Chain, type Person, person } from "../ledger/builders.js"

const alice = person("alice")
const interval = 10

/** A ledger with a checkpoint every ten rounds of forty, and its builder. */
class Life {
  readonly chain = new Chain({ accounts: { alice: 9_000 }, parameters: { checkpointIntervalRounds: interval } })
  readonly #building: CheckpointBuilding
  /** The root of the state after the commit of each round at which a checkpoint was due. */
  readonly roots = new Map<number, Hash.Hash>()

  constructor() {
    const { ledger } = this.chain
    const trie = Trie.apply(Trie.empty, ledger.entries())
    ledger.freeze()
    this.#building = new CheckpointBuilding(trie)
  }

  /** A payment, and then all members' vertices of this round, at which a checkpoint is due. */
  advanceTo(round: number): void {
    const { chain } = this
    chain.run(chain.transfer(alice, person(`whom alice pays in round ${round}`), 5))
    const execution = chain.advanceTo(round)
    if (!execution.isCheckpointDue) throw new Error(`no checkpoint is due at round ${round}`)
    this.#building.add(execution, Hash.ZERO, chain.ledger.freeze())
    this.roots.set(round, Trie.apply(Trie.empty, chain.ledger.entries()).hash)
  }

  /** The checkpoint of the last commit is due once more. */
  repeat(): void {
    const { chain } = this
    const execution = chain.advanceTo(chain.round + interval)
    this.#building.add(execution, Hash.ZERO, chain.ledger.freeze())
    this.#building.add(execution, Hash.ZERO, chain.ledger.freeze())
  }

  /** A payment whose commit makes no checkpoint, but which is put into the trie. */
  prepare(): void {
    const { chain } = this
    chain.run(chain.transfer(alice, person(`whom alice pays after round ${chain.round}`), 5))
    this.#building.prepare(chain.ledger.freeze())
  }

  get waiting(): number {
    return this.#building.size
  }

  work(mayContinue: () => boolean = () => true): Built | undefined {
    return Either.getOrThrow(this.#building.work(mayContinue))
  }

  /** Works until nothing is left to do. */
  buildAll(): ReadonlyArray<Checkpoint> {
    const built: Array<Checkpoint> = []
    while (this.#building.hasWork) {
      const next = this.work()
      if (next !== undefined) built.push(next.checkpoint)
    }
    return built
  }
}

/** A ledger with enough accounts for many leaves; one account can be missing in the trie. */
const crowd = (missing?: Person) => {
  const accounts = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`somebody ${i}`, 1]))
  const chain = new Chain({ accounts, parameters: { checkpointIntervalRounds: interval } })
  const whole = Trie.apply(Trie.empty, chain.ledger.entries())
  const trie = missing ? Trie.apply(whole, [{ key: StateKey.ofAccount(missing.address), value: null }]) : whole
  chain.ledger.freeze()
  return { chain, building: new CheckpointBuilding(trie), trie }
}

const rounds = (checkpoints: ReadonlyArray<Checkpoint>) => checkpoints.map(({ round }) => round)

describe("checkpoints in the making", () => {
  it("have the root of the state after their commit, although commits continue meanwhile", () => {
    const life = new Life()
    life.advanceTo(11)
    expect(life.work(() => false)).toBeUndefined()
    life.advanceTo(21)
    const built = life.buildAll()
    expect(rounds(built)).toEqual([11, 21])
    for (const { round, stateRoot } of built) expect(stateRoot).toBe(life.roots.get(round))
  })

  it("give way to the next one due while they wait, which includes the changes since", () => {
    const life = new Life()
    life.advanceTo(11)
    expect(life.work(() => false)).toBeUndefined()
    for (const round of [21, 31]) life.advanceTo(round)
    expect(life.waiting).toBe(3)
    const built = life.buildAll()
    expect(rounds(built)).toEqual([11, 31])
    expect(built[1]?.stateRoot).toBe(life.roots.get(31))
  })

  it("have the same root where changes entered the trie early, and those are not lost", () => {
    const life = new Life()
    life.prepare()
    expect(life.work(() => false)).toBeUndefined()
    life.prepare()
    life.advanceTo(11)
    life.prepare()
    life.prepare()
    life.advanceTo(40)
    life.prepare()
    const built = [...life.buildAll()]
    life.advanceTo(51)
    built.push(...life.buildAll())
    expect(rounds(built)).toEqual([40, 51])
    for (const { round, stateRoot } of built) expect(stateRoot).toBe(life.roots.get(round))
  })

  it("never skip the close of an epoch", () => {
    const life = new Life()
    for (const round of [11, 21, 31, 40]) life.advanceTo(round)
    life.advanceTo(51)
    life.advanceTo(61)
    const built = life.buildAll()
    expect(rounds(built)).toEqual([40, 61])
    expect(built.map(({ nextEpoch }) => nextEpoch !== null)).toEqual([true, false])
    for (const { round, stateRoot } of built) expect(stateRoot).toBe(life.roots.get(round))
  })

  it("do not give way to changes that make no checkpoint", () => {
    const life = new Life()
    life.advanceTo(11)
    life.prepare()
    expect(life.waiting).toBe(2)
    expect(rounds(life.buildAll())).toEqual([11])
  })

  it("can belong to the very first commit", () => {
    const { chain, building } = crowd()
    building.add(chain.advanceTo(11), Hash.ZERO, chain.ledger.freeze())
    expect(Either.getOrThrow(building.work(() => true))?.checkpoint.commitIndex).toBe(1)
  })

  it("pause before each change to the trie, and after every eight counted leaves", () => {
    const { chain, building, trie } = crowd()
    const execution = chain.advanceTo(11)
    const changes = [...chain.ledger.freeze()].map(({ key, value }) => ({
      key,
      value: value === null ? null : value.slice(),
    }))
    building.add(execution, Hash.ZERO, changes)
    const update = Trie.update(trie, changes)
    let updating = 0
    while (update.step(() => false) === undefined) updating++
    const leaves = [...Trie.leaves(Trie.apply(trie, changes))].length
    expect(leaves).toBeGreaterThan(16)
    let pauses = 0
    for (; Either.getOrThrow(building.work(() => false)) === undefined; pauses++);
    expect(pauses).toBe(updating + Math.floor(leaves / 8))
  })

  it("are recounted account by account, which finds coins missing in the trie", () => {
    const { chain, building } = crowd(person("somebody 7"))
    building.add(chain.advanceTo(11), Hash.ZERO, chain.ledger.freeze())
    const found = Option.getOrThrow(Either.getLeft(building.work(() => true)))
    expect(found._tag).toBe("SupplyInvariantViolated")
  })

  it("are made only if one is due", () => {
    expect(new Life().work()).toBeUndefined()
  })

  it("must come in the order of their commits", () => {
    expect(() => new Life().repeat()).toThrow(/comes after that of/)
  })
})
