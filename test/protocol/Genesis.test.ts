import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import { addressPrefix, type NetworkId } from "../../src/protocol/identity/Network.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"
import { mixedOrder, smallOrderEncodings } from "./crypto/published.js"

itObeysTheLawsOfACodec("geneses", {
  values: arbitrary.genesis,
  encode: Genesis.encode,
  decode: Genesis.decode,
})

const reversed = <A>(list: ReadonlyArray<A> | undefined): ReadonlyArray<A> => [...(list ?? [])].reverse()

describe("a genesis file", () => {
  it("decodes to the genesis it was written from", () => {
    fc.assert(
      fc.property(arbitrary.genesis, (genesis) => {
        const file = JSON.parse(JSON.stringify(Genesis.toJson(genesis)))
        expect(Either.getOrThrow(Genesis.fromFile(file))).toStrictEqual(genesis)
      }),
    )
  })

  it("has a hash that formatting, the order of lists and the form of addresses do not change", () => {
    fc.assert(
      fc.property(arbitrary.genesis, (genesis) => {
        const json = Genesis.toJson(genesis)
        const prefix = addressPrefix(genesis.mode)
        const rewritten = {
          ...Object.fromEntries(reversed(Object.entries(json))),
          allocations: reversed(json.allocations).map(({ amount, address }) => ({
            address: Address.toBech32(address as Address.Address, prefix),
            amount,
          })),
          validators: reversed(json.validators).map((one) => ({ ...one, pub_key: one.pub_key.toUpperCase() })),
          council: reversed(json.council).map((address) => address.toUpperCase()),
          names: reversed(json.names),
        }
        const file = JSON.parse(JSON.stringify(rewritten, null, 7))
        expect(Genesis.hash(Either.getOrThrow(Genesis.fromFile(file)))).toBe(Genesis.hash(genesis))
      }),
    )
  })

  it("has another hash as soon as any value differs", () => {
    fc.assert(
      fc.property(arbitrary.genesis, arbitrary.genesis, (a, b) => {
        for (const field of ["networkId", "time", "treasury", "faucet"] as const) {
          const changed = { ...a, [field]: b[field] }
          const same = JSON.stringify(a[field]) === JSON.stringify(b[field])
          expect(Genesis.hash(changed) === Genesis.hash(a)).toBe(same)
        }
      }),
    )
  })

  it("states only what differs from a solo network", () => {
    const genesis = Either.getOrThrow(Genesis.fromFile(smallest))
    expect(genesis.protocol).toStrictEqual(Protocol.standard)
    expect(genesis.parameters.minFee).toBe(1_000)
    expect(genesis.validators[0]?.commissionPercent).toBe(10)
    expect([genesis.treasury, genesis.faucet, genesis.council, genesis.names]).toStrictEqual([0, null, [], []])
    const frugal = { ...smallest, protocol: { default_commission_percent: 3 } }
    expect(Either.getOrThrow(Genesis.fromFile(frugal)).validators[0]?.commissionPercent).toBe(3)
  })
})

const key = (digit: number): string =>
  Option.getOrThrow(SecretKey.fromHex(digit.toString(16).padStart(64, "0"))).publicKey
/** The bytes of no point. */
const NO_POINT = `02${"00".repeat(31)}`
const address = (digit: number): string => digit.toString(16).padStart(40, "0")
const validator = { pub_key: key(1), stake: Sats.MIN_STAKE_SATS }
const smallest = { network_id: "udg-test", mode: "testnet", time: 0, allocations: [], validators: [validator] }
const allocation = { address: address(1), amount: 1 }

describe("a genesis may", () => {
  it.each<[string, object]>([
    [
      "have 100 validators",
      { ...smallest, validators: Array.from({ length: 100 }, (_, i) => ({ ...validator, pub_key: key(i + 1) })) },
    ],
    ["have 21 council seats", { ...smallest, council: Array.from({ length: 21 }, (_, i) => address(i)) }],
    [
      "hand out the whole supply",
      { ...smallest, allocations: [{ ...allocation, amount: Sats.MAX_SUPPLY - Sats.MIN_STAKE_SATS }] },
    ],
  ])("%s", (_, file) => {
    const genesis = Either.getOrThrow(Genesis.fromFile(file))
    expect(Genesis.decode(Genesis.encode(genesis))).toStrictEqual(Either.right(genesis))
  })
})

describe("the bytes of a genesis are refused when", () => {
  const genesis = Either.getOrThrow(Genesis.fromFile(smallest))
  const [first] = genesis.validators
  if (first === undefined) throw new Error("no validator")
  const reasonOf = (bytes: Uint8Array): string => Option.getOrThrow(Either.getLeft(Genesis.decode(bytes))).reason

  it.each<[string, Partial<Genesis.Genesis>, string]>([
    ["nobody validates", { validators: [] }, "validators: 0 entries; expected 1 to 100"],
    [
      "a list is out of order",
      { council: ["bb", "aa"].map((digits) => digits.repeat(20) as Address.Address) },
      "council: an entry appears twice or the order is not canonical",
    ],
    [
      "a stake is below the minimum",
      { validators: [{ ...first, stake: Sats.ZERO }] },
      `validators[${first.publicKey}].stake: 0; expected an integer from 200000000000 to`,
    ],
    ["more exists than may", { treasury: Sats.MAX_SUPPLY }, "allocations: "],
    ["the network has no name", { networkId: "" as NetworkId }, "not a network id"],
  ])("%s", (_, changes, reason) => {
    expect(reasonOf(Genesis.encode({ ...genesis, ...changes }))).toContain(reason)
  })

  it("the network is of a third kind", () => {
    const bytes = Genesis.encode(genesis)
    bytes[1 + genesis.networkId.length] = 2
    expect(reasonOf(bytes)).toBe("network mode 2")
  })

  it("they end early", () => {
    expect(reasonOf(Genesis.encode(genesis).subarray(0, 40))).toMatch(/expected \d+ bytes, \d+ left/)
  })
})

describe("a genesis file is refused with the expectation when", () => {
  it.each<[string, object, string]>([
    ["a number is out of bounds", { protocol: { epoch_rounds: 39 } }, "39; expected an integer from 40 to 10000000"],
    ["there are too few or too many", { validators: [] }, "0 entries; expected 1 to 100"],
    ["somebody stands twice", { allocations: [allocation, allocation] }, "an entry appears twice"],
    [
      "a mainnet has a faucet",
      { mode: "mainnet", faucet: { address: address(1), max_request: 1 } },
      "cannot have a faucet",
    ],
    ["a faucet pays nothing", { faucet: { address: address(1), max_request: 0 } }, "must be at least 1"],
    [
      "an account has two names",
      { names: ["alice", "bob"].map((name) => ({ name, address: address(1) })) },
      "an account can have only one name",
    ],
    [
      "there is too much",
      { treasury: Sats.MAX_SUPPLY },
      `${Sats.MAX_SUPPLY + Sats.MIN_STAKE_SATS} sats in total, at most ${Sats.MAX_SUPPLY} can exist`,
    ],
    [
      "a key belongs to nobody",
      { validators: [{ ...validator, pub_key: NO_POINT }] },
      "no secret key belongs to it; use the key that `udg genesis key` shows",
    ],
  ])("%s", (_, changes, words) => {
    const refused = Genesis.fromFile({ ...smallest, ...changes })
    expect(Option.getOrThrow(Either.getLeft(refused)).reason).toContain(words)
  })
})

describe("a genesis file is refused with the field's name when", () => {
  it.each<[string, unknown, string]>([
    ["it is no object", 7, "genesis"],
    ["a field is unknown", { ...smallest, chain_id: 1 }, "chain_id"],
    ["a parameter is unknown", { ...smallest, parameters: { max_fee: 1 } }, "parameters.max_fee"],
    ["the network has no name", { ...smallest, network_id: "" }, "network_id"],
    ["the network's name is too long", { ...smallest, network_id: "x".repeat(33) }, "network_id"],
    ["the mode is unknown", { ...smallest, mode: "devnet" }, "mode"],
    ["the time is negative", { ...smallest, time: -1 }, "time"],
    ["the time is after the year 9999", { ...smallest, time: 253_402_300_800_000 }, "time"],
    ["an address is wrong", { ...smallest, allocations: [{ ...allocation, address: "me" }] }, "allocations[0].address"],
    ["an amount is a text", { ...smallest, allocations: [{ ...allocation, amount: "1" }] }, "allocations[0].amount"],
    ["somebody is allotted twice", { ...smallest, allocations: [allocation, allocation] }, "allocations"],
    [
      "there is more than the maximum supply",
      { ...smallest, allocations: [{ ...allocation, amount: Sats.MAX_SUPPLY }] },
      "allocations",
    ],
    ["nobody validates", { ...smallest, validators: [] }, "validators"],
    [
      "there are 101 validators",
      { ...smallest, validators: Array.from({ length: 101 }, (_, i) => ({ ...validator, pub_key: key(i) })) },
      "validators",
    ],
    ["a validator stands twice", { ...smallest, validators: [validator, validator] }, "validators"],
    [
      "a stake is below the minimum",
      { ...smallest, validators: [{ ...validator, stake: Sats.MIN_STAKE_SATS - 1 }] },
      `validators[${key(1)}].stake`,
    ],
    [
      "a commission is above 100",
      { ...smallest, validators: [{ ...validator, commission_percent: 101 }] },
      `validators[${key(1)}].commission_percent`,
    ],
    ["a council seat is no address", { ...smallest, council: [address(1), "x"] }, "council[1]"],
    ...[NO_POINT, ...smallOrderEncodings, mixedOrder].map((pub_key): [string, unknown, string] => [
      `no secret key belongs to a validator's key ${pub_key}`,
      { ...smallest, validators: [validator, { ...validator, pub_key }] },
      `validators[${pub_key}].pub_key`,
    ]),
    ["somebody sits twice", { ...smallest, council: [address(1), address(1)] }, "council"],
    ["the council has 22 seats", { ...smallest, council: Array.from({ length: 22 }, (_, i) => address(i)) }, "council"],
    ["a name is none", { ...smallest, names: [{ name: "X", address: address(1) }] }, "names[0].name"],
    ["a named account is none", { ...smallest, names: [{ name: "alice", address: "x" }] }, "names[0].address"],
    [
      "a name is taken twice",
      { ...smallest, names: [1, 2].map((digit) => ({ name: "alice", address: address(digit) })) },
      "names",
    ],
    [
      "an account has two names",
      { ...smallest, names: ["alice", "bob"].map((name) => ({ name, address: address(1) })) },
      "names",
    ],
    ["the treasury is a fraction", { ...smallest, treasury: 0.5 }, "treasury"],
    [
      "a mainnet has a faucet",
      { ...smallest, mode: "mainnet", faucet: { address: address(1), max_request: 1 } },
      "faucet",
    ],
    ["a faucet pays nothing", { ...smallest, faucet: { address: address(1), max_request: 0 } }, "faucet.max_request"],
    ["the faucet is no address", { ...smallest, faucet: { address: "x", max_request: 1 } }, "faucet.address"],
    ["a parameter is out of bounds", { ...smallest, parameters: { quorum_percent: 0 } }, "parameters.quorum_percent"],
    ["a parameter is minus zero", { ...smallest, parameters: { treasury_percent: -0 } }, "parameters.treasury_percent"],
    [
      "the cooldown is below an epoch",
      { ...smallest, parameters: { cooldown_rounds: 239 } },
      "parameters.cooldown_rounds",
    ],
    ["rounds take no time", { ...smallest, protocol: { round_interval_ms: 0 } }, "protocol.round_interval_ms"],
    ["an epoch is too short", { ...smallest, protocol: { epoch_rounds: 39 } }, "protocol.epoch_rounds"],
    // One longer than the longest cooldown could never have a valid cooldown.
    ["an epoch is too long", { ...smallest, protocol: { epoch_rounds: 10_000_001 } }, "protocol.epoch_rounds"],
    [
      "the depth is the epoch's length",
      { ...smallest, protocol: { collection_depth_rounds: 1_200 } },
      "protocol.collection_depth_rounds",
    ],
    ["the reward never halves", { ...smallest, protocol: { halving_rounds: 0 } }, "protocol.halving_rounds"],
    [
      "the default commission is above 100",
      { ...smallest, protocol: { default_commission_percent: 101 } },
      "protocol.default_commission_percent",
    ],
    ["the reward is above the supply", { ...smallest, protocol: { round_reward: 2 ** 52 } }, "protocol.round_reward"],
  ])("%s", (_, file, field) => {
    const refused = Option.getOrThrow(Either.getLeft(Genesis.fromFile(file)))
    expect(refused._tag).toBe("InvalidGenesis")
    expect(refused.field).toBe(field)
    expect(refused.message).toMatch(/^[^\n]+$/)
  })

  it("an address is of the other network", () => {
    const text = Address.toBech32(address(1) as Address.Address, "udg")
    const refused = Genesis.fromFile({ ...smallest, council: [text] })
    expect(Option.getOrThrow(Either.getLeft(refused)).message).toContain("an address of the other network")
  })
})
