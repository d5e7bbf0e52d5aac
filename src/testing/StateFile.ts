/**
 * A development network as bytes, for another run: its genesis, keys, clock and databases. Its keys are worthless, so
 * they are not encrypted.
 */
import { gunzipSync, gzipSync } from "node:zlib"
import { Effect, Either, Option, Schema } from "effect"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Address from "../protocol/identity/Address.js"
import { SecretKey } from "../protocol/identity/Keys.js"
import { type ControlRefused, refused } from "./ControlRefused.js"

export interface Kept {
  readonly genesis: Genesis.Genesis
  readonly validator: SecretKey
  readonly reserve: Option.Option<SecretKey>
  /** The account whose coins set balances, if any: the faucet's or, in a fork, the richest one. */
  readonly purse: Address.Address | null
  readonly accounts: ReadonlyArray<SecretKey>
  /** How far the network's clock is ahead. */
  readonly aheadMs: number
  /** The data directory's files, by name. */
  readonly files: ReadonlyMap<string, Uint8Array>
}

const Key = Schema.String
const Form = Schema.Struct({
  udg_dev_state: Schema.Literal(1),
  genesis: Genesis.Json,
  validator: Key,
  reserve: Schema.NullOr(Key),
  purse: Schema.NullOr(Address.schema),
  accounts: Schema.Array(Key),
  ahead_ms: Schema.Number,
  files: Schema.Record({ key: Schema.String, value: Schema.Uint8ArrayFromBase64 }),
})

export const encode = ({ genesis, validator, reserve, purse, accounts, aheadMs, files }: Kept): Uint8Array => {
  const json = Schema.encodeSync(Form)({
    udg_dev_state: 1,
    genesis: Genesis.toJson(genesis),
    validator: validator.toSecretHex(),
    reserve: Option.getOrNull(Option.map(reserve, (key) => key.toSecretHex())),
    purse,
    accounts: accounts.map((key) => key.toSecretHex()),
    ahead_ms: aheadMs,
    files: Object.fromEntries(files),
  })
  return gzipSync(JSON.stringify(json))
}

/** A state has some megabytes. Larger results of unpacking are refused. */
const MOST_BYTES = 2 ** 30
const NAME = /^[a-z.]{1,40}$/

const notOne = refused("this is not the state of a network of udg dev, or it is damaged")

const parsed = (bytes: Uint8Array): Either.Either<typeof Form.Type, ControlRefused> =>
  Either.flatMap(
    Either.try({
      try: (): unknown => JSON.parse(gunzipSync(bytes, { maxOutputLength: MOST_BYTES }).toString("utf8")),
      catch: () => notOne,
    }),
    (json) => Either.mapLeft(Schema.decodeUnknownEither(Form)(json), () => notOne),
  )

export const decode = (bytes: Uint8Array): Effect.Effect<Kept, ControlRefused> =>
  Effect.gen(function* () {
    const { genesis, validator, reserve, purse, accounts, ahead_ms: aheadMs, files } = yield* parsed(bytes)
    const keyOf = (hex: string) => Effect.mapError(SecretKey.fromHex(hex), () => notOne)
    if (!Number.isSafeInteger(aheadMs) || !Object.keys(files).every((name) => NAME.test(name))) return yield* notOne
    return {
      genesis: yield* Either.mapLeft(Genesis.fromJson(genesis), () => notOne),
      validator: yield* keyOf(validator),
      reserve: reserve === null ? Option.none() : Option.some(yield* keyOf(reserve)),
      purse,
      accounts: yield* Effect.forEach(accounts, keyOf),
      aheadMs,
      files: new Map(Object.entries(files)),
    }
  })
