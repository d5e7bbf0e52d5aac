import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import type * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

const leaving: fc.Arbitrary<AccountRecord.Leaving | null> = fc.option(
  fc.record({ epoch: arbitrary.counter<Natural.Epoch>(), unlockAtRound: arbitrary.counter<Natural.Round>() }),
)

const extras: fc.Arbitrary<AccountRecord.Extras> = fc.record({
  publicKey: fc.option(arbitrary.publicKey),
  stake: fc.option(fc.record({ amount: arbitrary.sats, leaving })),
  delegation: fc.option(
    fc.record({
      validator: arbitrary.address,
      generation: fc.nat(2 ** 31 - 1),
      shares: fc.bigInt(0n, 2n ** 128n - 1n),
      leaving,
    }),
  ),
  policy: fc.option(
    fc.record({ threshold: fc.nat(16), keys: fc.array(arbitrary.publicKey, { minLength: 1, maxLength: 16 }) }),
  ),
  name: fc.option(arbitrary.name),
  isCouncilMember: fc.boolean(),
})

const record: fc.Arbitrary<AccountRecord.AccountRecord> = fc
  .tuple(fc.oneof(extras, fc.constant(AccountRecord.noExtras)), arbitrary.sats, arbitrary.counter<Natural.Nonce>())
  .map(([rest, balance, nonce]) => ({ ...rest, balance, nonce }))
  .filter((account) => !AccountRecord.isEmpty(account))

itObeysTheLawsOfACodec("account records", {
  values: record,
  encode: AccountRecord.encode,
  decode: AccountRecord.decode,
})

itObeysTheLawsOfACodec("the extras of accounts", {
  values: extras,
  encode: AccountRecord.encodeExtras,
  decode: AccountRecord.decodeExtras,
})

const { empty } = AccountRecord
const [full] = fc.sample(
  extras.filter((each) => Object.values(each).every((value) => value !== null)),
  { numRuns: 1, seed: 1 },
)
if (full === undefined) throw new Error("no sample")
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Each optional part of an account, alone. */
const alone: ReadonlyArray<[string, Partial<AccountRecord.AccountRecord>]> = [
  ["a balance", { balance: Sats.make(1) }],
  ["a nonce", { nonce: 1 as Natural.Nonce }],
  ["a public key", { publicKey: full.publicKey }],
  ["a stake", { stake: full.stake }],
  ["a delegation", { delegation: full.delegation }],
  ["a policy", { policy: full.policy }],
  ["a name", { name: full.name }],
  ["a council seat", { isCouncilMember: true }],
]

describe("an account", () => {
  it("that was never seen holds nothing", () => {
    expect(empty).toStrictEqual({
      balance: 0,
      nonce: 0,
      publicKey: null,
      stake: null,
      delegation: null,
      policy: null,
      name: null,
      isCouncilMember: false,
    })
    expect(AccountRecord.isEmpty(empty)).toBe(true)
  })

  it.each(alone)("with nothing but %s has a record", (_, part) => {
    const account = { ...empty, ...part }
    expect(AccountRecord.isEmpty(account)).toBe(false)
    expect(AccountRecord.hasExtras(account)).toBe(!("balance" in part || "nonce" in part))
    expect(AccountRecord.decode(AccountRecord.encode(account))).toStrictEqual(Either.right(account))
  })

  it("is written as balance, nonce, and the mask of its six optional parts", () => {
    const head = (part: Partial<AccountRecord.AccountRecord>) =>
      hex(AccountRecord.encode({ ...empty, ...part })).slice(0, 2 * AccountRecord.PLAIN_BYTES)
    expect(alone.map(([, part]) => head(part).slice(32))).toEqual(["00", "00", "01", "02", "04", "08", "10", "20"])
    expect(head({ balance: Sats.make(258), nonce: 3 as Natural.Nonce })).toBe("0201000000000000030000000000000000")
  })

  const reasonOf = (digits: string): string =>
    Option.getOrThrow(Either.getLeft(AccountRecord.decode(Buffer.from(digits, "hex")))).message

  it("without anything has no record, so an empty record is refused", () => {
    expect(reasonOf("00".repeat(17))).toBe("account record: an account that holds nothing has no record at byte 17")
  })

  it("with an unknown part is refused", () => {
    expect(reasonOf(`01${"00".repeat(15)}40`)).toBe("account record: presence byte 64 at byte 17")
  })
})

describe("the balance read from the bytes alone", () => {
  it("is the record's at any position, unless other coins are in the record", () => {
    fc.assert(
      fc.property(record, fc.nat(40), (account, start) => {
        const encoded = AccountRecord.encode(account)
        const bytes = new Uint8Array(start + encoded.length + 5).fill(0xff)
        bytes.set(encoded, start)
        const isAlone = account.stake === null && account.delegation === null
        const expected = isAlone ? account.balance : undefined
        expect(AccountRecord.balanceAlone(bytes, start, start + encoded.length)).toBe(expected)
      }),
    )
  })

  it("is undefined where the record ends early, or the balance is impossible", () => {
    const plain = AccountRecord.encode({ ...empty, balance: Sats.MAX_SUPPLY })
    expect(AccountRecord.balanceAlone(plain, 0, 17)).toBe(Sats.MAX_SUPPLY)
    expect(AccountRecord.balanceAlone(plain, 0, 16)).toBeUndefined()
    expect(AccountRecord.balanceAlone(new Uint8Array(3), 0, 3)).toBeUndefined()
    plain[0] = (plain[0] ?? 0) + 1
    expect(AccountRecord.balanceAlone(plain, 0, 17)).toBeUndefined()
  })
})
