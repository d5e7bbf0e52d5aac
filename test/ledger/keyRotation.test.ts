/** A validator changes its key: who may, when it takes effect, and that nothing but the key changes. */
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import type { Signature } from "../../src/protocol/identity/Keys.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, type Person, person, told, type World } from "./builders.js"
import { alice, bob, carol, other, val } from "./People.js"
import { voting } from "./Proposals.js"

const PROOF = "5".repeat(128) as Signature
const toVersion3: ProposalPayload = { _tag: "ParameterChange", param: "protocol_version", value: 3 }
const [first, second, third] = [person("key 1"), person("key 2"), person("key 3")]

const world: World = {
  accounts: { alice: 9_000, bob: 900, carol: 9_000, val: 300, other: 300, "key 1": 5_000 },
  validators: { val: 6_000, other: 4_000 },
  parameters: { votingPeriodRounds: 10, executionDelayRounds: 5 },
}

const rotation = (chain: Chain, who: Person, to: Person, fee = 1_000) =>
  chain.tx(who, { _tag: "RotateKeyTx", validatorKey: to.publicKey, proof: PROOF }, { fee })

/** In version 3 from its second epoch on. */
const upgraded = (more: World = {}): Chain => {
  const chain = new Chain({ ...world, ...more })
  const operation = { _tag: "CreateProposalTx", title: "Upgrade", description: "", payload: toVersion3 } as const
  chain.run(chain.tx(val, operation, { fee: 1_000 }))
  chain.run(...[val, other].map((who) => voting(chain, who, true)))
  chain.closeEpoch()
  return chain
}

const addresses = (chain: Chain) => chain.committee.map(({ name }) => name).sort()

describe("a changed validator key", () => {
  it("is in force from the first round of the next epoch, with the weight of the old one", () => {
    const chain = upgraded()
    const before = chain.epoch
    expect(chain.run(rotation(chain, val, first)).map(told)).toEqual(["applied"])
    expect(chain.epoch).toEqual(before)
    chain.closeEpoch()
    expect(addresses(chain)).toEqual(["key 1", "other"])
    const weights = (members: typeof before.members) => members.map(({ weight }) => weight).sort()
    expect(weights(chain.epoch.members)).toEqual(weights(before.members))
    expect(chain.epoch.members.map(({ address }) => address)).toEqual(
      [first, other].map(({ address }) => address).sort(),
    )
  })

  it("leaves rewards, fees, stake and seat with the account", () => {
    const chain = upgraded()
    chain.run(rotation(chain, val, first), chain.delegate(alice, val, coins(1_000)))
    chain.closeEpoch()
    const [balance, idle, shares] = [
      chain.balance(val),
      chain.balance(first),
      chain.ledger.read.delegation(alice.address),
    ]
    const { vertices } = chain.commit([{ by: first, transactions: [chain.transfer(bob, carol, 5, 7_000)] }])
    expect(vertices[0]?.minted).toBeGreaterThan(0)
    expect(chain.balance(val)).toBeGreaterThan(balance + 7_000)
    expect(chain.balance(first)).toBe(idle)
    expect(chain.ledger.read.delegation(alice.address)?.amount).toBeGreaterThan(shares?.amount ?? 0)
    expect(chain.ledger.read.stake(val.address)).toMatchObject({ stakedAmount: coins(6_000), isInCommittee: true })
    expect(chain.ledger.read.accountOf(first.address)).toBe(val.address)
  })

  it("belongs to one validator forever", () => {
    const chain = upgraded()
    const tell = (...transactions: ReturnType<typeof rotation>[]) => chain.run(...transactions).map(told)
    expect(tell(rotation(chain, val, other), rotation(chain, val, val))).toEqual([
      "failed: key_in_use",
      "failed: key_in_use",
    ])
    expect(tell(rotation(chain, val, first), rotation(chain, other, first))).toEqual(["applied", "failed: key_in_use"])
    expect(tell(chain.stake(first, coins(2_500)))).toEqual(["failed: key_in_use"])
    for (let epoch = 0; epoch < 2; epoch++) chain.closeEpoch()
    expect(tell(rotation(chain, val, second))).toEqual(["applied"])
    for (let epoch = 0; epoch < 2; epoch++) chain.closeEpoch()
    expect(addresses(chain)).toEqual(["key 2", "other"])
    expect(tell(...[val, first, second].flatMap((to) => [rotation(chain, other, to)]))).toEqual(
      Array(3).fill("failed: key_in_use"),
    )
    expect(tell(rotation(chain, val, first), rotation(chain, val, val))).toEqual(Array(2).fill("failed: key_in_use"))
    chain.run(chain.unstake(val))
    chain.closeEpoch()
    chain.closeEpoch()
    chain.closeEpoch()
    expect(tell(rotation(chain, other, second))).toEqual(["failed: key_in_use"])
  })

  it("takes a stake that stays, and two epochs between changes, in version 3 or later", () => {
    const early = new Chain(world)
    expect(early.run(rotation(early, val, first)).map(told)).toEqual(["failed: not_in_force"])
    const chain = upgraded()
    expect(
      chain.run(rotation(chain, val, first), rotation(chain, val, second), rotation(chain, alice, third)).map(told),
    ).toEqual(["applied", "failed: key_changed_recently", "failed: not_staking"])
    chain.closeEpoch()
    expect(chain.run(rotation(chain, val, second)).map(told)).toEqual(["failed: key_changed_recently"])
    chain.run(chain.unstake(other))
    expect(chain.run(rotation(chain, other, second)).map(told)).toEqual(["failed: leaving"])
    chain.commit([{ by: first, evidence: [chain.evidence(first, chain.round)] }])
    expect(chain.run(rotation(chain, val, second)).map(told)).toEqual(["failed: barred"])
  })

  it("does not protect the stake: evidence counts by the old key for its epochs, by the new one for later ones", () => {
    for (const [key, inForce] of [
      [val, false],
      [first, true],
    ] as const) {
      const chain = upgraded()
      const before = chain.epoch
      chain.run(rotation(chain, val, first), chain.delegate(alice, val, coins(1_000)))
      chain.closeEpoch()
      chain.commit([{ by: other }])
      const [old, now] = [chain.evidence(key, before.firstRound + 1, before), chain.evidence(key, chain.round)]
      expect([old, now].map((each) => chain.ledger.read.isPunishable(each))).toEqual([!inForce, inForce])
      const { events } = chain.commit([{ by: other, evidence: [old, now] }])
      expect(events).toMatchObject([{ _tag: "Slashed", validator: val.address, ownStake: coins(3_000) }])
      expect(chain.ledger.read.stake(val.address)).toMatchObject({
        stakedAmount: coins(3_000),
        isActiveValidator: false,
      })
      expect(Either.isRight(chain.ledger.recount())).toBe(true)
      chain.closeEpoch()
      expect(addresses(chain)).toEqual(["other"])
    }
  })

  it("beats for a seat from the change on, and the old key does not", () => {
    const seated = [[val, carol], [first]].map(([beating = first]) => {
      const chain = upgraded()
      chain.run(chain.stake(carol, coins(4_000)))
      chain.closeEpoch([val, other])
      chain.run(rotation(chain, carol, first))
      chain.closeEpoch([val, other], [beating])
      return addresses(chain)
    })
    expect(seated).toEqual([
      ["other", "val"],
      ["key 1", "other", "val"],
    ])
  })

  it("replaces the old one even if all members are kept on", () => {
    const chain = upgraded()
    chain.run(rotation(chain, val, first))
    chain.commit([{ by: other, round: chain.round }], chain.lastRound)
    expect(addresses(chain)).toEqual(["key 1", "other"])
  })

  it("is the same for a ledger that is rebuilt from its records at any moment", () => {
    const chain = upgraded()
    chain.run(rotation(chain, val, first), chain.delegate(alice, val, coins(1_000)))
    chain.closeEpoch()
    chain.run(rotation(chain, other, second))
    chain.commit([{ by: other, evidence: [chain.evidence(first, chain.round)] }])
    chain.closeEpoch()
    const start = chain.inputs.findIndex(({ commit }) => commit.epoch === 2)
    for (let at = start; at < chain.inputs.length; at++) {
      const before = new Chain(chain.genesis)
      for (const input of chain.inputs.slice(0, at)) Either.getOrThrowWith(before.ledger.execute(input), (left) => left)
      const key = { low: 5, high: 6 }
      const { ledger } = before
      const again = Either.getOrThrow(fromRecords(chain.genesis.protocol, key, ledger.records(), ledger.effectsDigest))
      for (const input of chain.inputs.slice(at)) Either.getOrThrowWith(again.execute(input), (left) => left)
      expect(again.effectsDigest).toBe(chain.ledger.effectsDigest)
    }
  })
})

describe("two networks that differ in keys alone", () => {
  type Act = "rotate" | "undelegate" | "equivocate" | "silent" | "unstake" | "close"
  const acts: ReadonlyArray<Act> = [
    "rotate",
    "rotate",
    "undelegate",
    "equivocate",
    "silent",
    "unstake",
    "close",
    "close",
  ]
  const step = fc.record({ act: fc.constantFrom(...acts), who: fc.nat(4) })
  const validators = ["v0", "v1", "v2", "v3", "v4"].map(person)
  const crowd = ["d0", "d1", "d2", "d3", "d4"].map(person)

  /** Changes of a key are real, or payments to oneself for the same fee. Weights only shrink, as there are no rewards. */
  class Twin {
    readonly chain = new Chain({
      ...world,
      accounts: Object.fromEntries([...validators, ...crowd].map(({ name }) => [name, 500])),
      validators: Object.fromEntries(validators.map(({ name }, i) => [name, 5_000 + i])),
      protocol: { roundReward: coins(0) },
    })
    readonly #isReal: boolean
    readonly #keys = new Map(validators.map((who) => [who, [who]]))
    readonly #silent = new Set<Person>()
    #serial = 0

    constructor(isReal: boolean) {
      this.#isReal = isReal
      const { chain } = this
      const operation = { _tag: "CreateProposalTx", title: "Upgrade", description: "", payload: toVersion3 } as const
      chain.run(chain.tx(validators[0] ?? val, operation, { fee: 1_000 }))
      chain.run(...validators.map((who) => voting(chain, who, true)))
      chain.run(...crowd.map((who, i) => chain.delegate(who, validators[i] ?? val, coins(100 + i))))
      for (let epoch = 1; epoch <= 4; epoch++) chain.closeEpoch()
    }

    /** The key with which somebody signs in the running epoch. */
    #key(who: Person): Person {
      const seated = this.chain.epoch.members.map(({ address }) => address)
      return this.#keys.get(who)?.find(({ address }) => seated.includes(address)) ?? who
    }

    get #present(): ReadonlyArray<Person> {
      const seated = validators.filter((who) => this.chain.committee.includes(this.#key(who)))
      const awake = seated.filter((who) => !this.#silent.has(who))
      return (awake.length === 0 ? seated : awake).map((who) => this.#key(who))
    }

    #run(transaction: ReturnType<Chain["tx"]>, evidence: ReadonlyArray<ReturnType<Chain["evidence"]>> = []): string {
      const [by] = this.#present
      if (by === undefined) throw new Error("nobody is there")
      const { vertices } = this.chain.commit([{ by, transactions: [transaction], evidence }])
      return told(vertices[0]?.transactions[0])
    }

    #rotate(who: Person): void {
      const next = person(`${who.name} ${++this.#serial}`)
      if (!this.#isReal) this.#run(this.chain.transfer(who, who, 1))
      else if (this.#run(rotation(this.chain, who, next)) === "applied") this.#keys.get(who)?.push(next)
    }

    step(act: Act, who: Person, from: Person): void {
      const { chain } = this
      if (chain.round >= chain.lastRound - 2) chain.advanceTo(chain.lastRound, this.#present)
      if (act === "rotate") this.#rotate(who)
      else if (act === "undelegate") this.#run(chain.undelegate(from))
      else if (act === "unstake") this.#run(chain.unstake(who))
      else if (act === "silent") this.#silent.add(who)
      else if (act === "equivocate") {
        this.#run(chain.transfer(from, from, 1), [chain.evidence(this.#key(who), chain.round)])
      } else chain.closeEpoch(this.#present)
    }

    /** Everything but keys. */
    get told() {
      const { read } = this.chain.ledger
      const accounts = [...validators, ...crowd].map(({ address }) => {
        const { publicKey: _, ...account } = read.account(address)
        return { account, stake: read.stake(address), delegation: read.delegation(address) }
      })
      const members = this.chain.epoch.members.map(({ address, weight }) => [read.accountOf(address), weight])
      return { accounts, totals: read.totals, members: members.sort() }
    }
  }

  it("have the same balances, stakes, delegations, seats and weights", () => {
    let changed = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 50 }), (steps) => {
        const twins = [new Twin(true), new Twin(false)]
        for (const { act, who } of steps) {
          for (const twin of twins) twin.step(act, validators[who] ?? val, crowd[who] ?? alice)
          const [real, plain] = twins.map((twin) => twin.told)
          expect(real).toEqual(plain)
        }
        for (const { chain } of twins) {
          expect(Either.isRight(chain.ledger.recount())).toBe(true)
          const { read } = chain.ledger
          changed += read.epoch.members.filter(({ address }) => read.accountOf(address) !== address).length
        }
      }),
      { numRuns: 60 },
    )
    expect(changed).toBeGreaterThan(30)
  })
})

describe("how many keys change at once", () => {
  const names = ["v0", "v1", "v2", "v3"]
  const four: World = {
    accounts: { ...Object.fromEntries(names.map((name) => [name, 500])), carol: 9_000 },
    validators: Object.fromEntries(names.map((name) => [name, 5_000])),
  }
  const upgradedFour = (): Chain => {
    const chain = new Chain({ ...world, ...four })
    const operation = { _tag: "CreateProposalTx", title: "Upgrade", description: "", payload: toVersion3 } as const
    chain.run(chain.tx(person("v0"), operation, { fee: 1_000 }))
    chain.run(...names.map((name) => voting(chain, person(name), true)))
    for (let epoch = 1; epoch <= 3; epoch++) chain.closeEpoch()
    return chain
  }

  it("stays below a third of the weight, so the others can begin the next epoch", () => {
    const chain = upgradedFour()
    const [v0, v1] = [person("v0"), person("v1")]
    expect(chain.run(rotation(chain, v0, first), rotation(chain, v1, second)).map(told)).toEqual(["applied", "applied"])
    chain.closeEpoch()
    expect(addresses(chain).filter((name) => name.startsWith("key"))).toHaveLength(1)
    chain.closeEpoch()
    expect(addresses(chain)).toEqual(["key 1", "key 2", "v2", "v3"])
  })

  it("counts against the weight that newcomers may add", () => {
    const weightOfCarol = [false, true].map((rotates) => {
      const chain = upgradedFour()
      chain.run(chain.stake(carol, coins(8_000)))
      if (rotates) chain.run(rotation(chain, person("v0"), first))
      chain.closeEpoch(chain.committee, [carol])
      return chain.epoch.members.find(({ address }) => address === carol.address)?.weight ?? 0
    })
    expect(weightOfCarol[0]).toBeGreaterThan(coins(6_000))
    expect(weightOfCarol[1]).toBeLessThan(coins(1))
  })
})
