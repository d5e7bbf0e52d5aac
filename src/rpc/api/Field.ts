/** The fields of bodies and paths, each with its description for the reference. */
import { Option, Schema } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Name from "../../protocol/identity/Name.js"
import type * as Kinds from "../../protocol/numbers/Kinds.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"

/** A field of this schema with its own description; the schema keeps its name and rules. */
export const of = <A, I>(schema: Schema.Schema<A, I>, about: string) =>
  Schema.propertySignature(schema).annotations({ description: about })

/** A field that is left out if it has no meaning. */
export const optional = <A, I>(schema: Schema.Schema<A, I>, about: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description: about })

const Coin = Schema.Number.annotations({
  identifier: "Coin",
  description: "an amount in coins with up to eight decimals (1 coin = 100,000,000 sats)",
})
const Count = Natural.count("a number of things")
const Change = Natural.between(
  -Sats.MAX_SUPPLY,
  Sats.MAX_SUPPLY,
  "a change of a balance in sats, negative when it falls",
)
const Round = Natural.schema<Natural.Round>("a round of the DAG")
const Nonce = Natural.schema<Natural.Nonce>("a nonce")
const Timestamp = Natural.time("milliseconds since 1970")
const Percent = Natural.between(0, 100, "percent")

export const text = (about: string) => of(Schema.String, about)
export const boolean = (about: string) => of(Schema.Boolean, about)
export const sats = (about: string) => of(Sats.schema, about)
export const change = (about: string) => of(Change, about)
export const coin = (about: string) => of(Coin, about)
export const count = (about: string) => of(Count, about)
export const percent = (about: string) => of(Percent, about)
export const round = (about: string) => of(Round, about)
export const roundOrNull = (about: string) => of(Schema.NullOr(Round), about)
export const nonce = (about: string) => of(Nonce, about)
export const timestamp = (about: string) => of(Timestamp, about)
export const timestampOrNull = (about: string) => of(Schema.NullOr(Timestamp), about)
export const hash = (about: string) => of(Hash.schema, about)
export const hashOrNull = (about: string) => of(Schema.NullOr(Hash.schema), about)
export const address = (about: string) => of(Address.schema, about)
export const addressOrNull = (about: string) => of(Schema.NullOr(Address.schema), about)
export const textOrNull = (about: string) => of(Schema.NullOr(Schema.String), about)
export const proposalId = (about: string) => of(Natural.schema<Natural.ProposalId>("a proposal's number"), about)

const ABOUT_ACCOUNT =
  "an account: 40 hex characters, bech32m (tudg1… on testnet, udg1… on mainnet) with a valid checksum, or a registered @name"

/** An account as users name it. The handler parses it, since only the node knows the network's prefix and names. */
export const AccountText = Schema.String.pipe(
  Schema.filter((text) => text.length > 0 && text.length <= 100, {
    identifier: "AccountText",
    description: ABOUT_ACCOUNT,
    jsonSchema: {
      type: "string",
      pattern: `^(${Address.TEXT_PATTERN}|@${Name.PATTERN})$`,
      description: ABOUT_ACCOUNT,
    },
    message: () => "an account (40 hex characters, tudg1… or udg1…, or @name)",
  }),
)
export const account = (about: string) => of(AccountText, about)

/** A secret key on a testnet's wire: 64 hex characters. In the program it is an object that never prints. */
export const SecretKey: Schema.Schema<Kinds.SecretKey, string> = Schema.transform(
  Schema.String.pipe(
    Schema.filter((text) => Option.isSome(Keys.SecretKey.fromHex(text)), {
      identifier: "SecretKey",
      description: "an Ed25519 secret key (the 32-byte seed); testnet only",
      jsonSchema: { type: "string", pattern: "^[0-9a-fA-F]{64}$" },
      message: () => "64 hex characters",
    }),
  ),
  Schema.declare((value: unknown): value is Kinds.SecretKey => Keys.SecretKey.isSecretKey(value)),
  {
    strict: true,
    decode: (text) => Option.getOrThrow(Keys.SecretKey.fromHex(text)),
    encode: (key) => key.toSecretHex(),
  },
)
export const secretKey = of(SecretKey, "secret key of the account that acts, 64 hex characters")

interface Range {
  readonly minimum: number
  readonly maximum: number
}

const ANY: Range = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

/** A decimal integer in a path or query, without sign, spaces or leading zeros. `range`: the schema's bounds. */
const inUrl = <A extends number>(
  schema: Schema.Schema<A, number>,
  about: string,
  range: Range = ANY,
): Schema.Schema<A, string> =>
  Schema.transform(
    Schema.String.pipe(
      Schema.filter((text) => /^(0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(Number(text)), {
        description: about,
        jsonSchema: { type: "integer", ...range },
        message: () => "an integer from 0 to 2^53 - 1",
      }),
    ),
    schema,
    { strict: true, decode: (text) => Number(text), encode: (value) => String(value) },
  )

export const CommitIndex = Natural.schema<Natural.CommitIndex>("index of a commit")
export const CommitInUrl = inUrl(CommitIndex, "index of a commit")
export const StepInUrl = inUrl(Natural.between(1, Number.MAX_SAFE_INTEGER, "how many commits"), "how many commits", {
  ...ANY,
  minimum: 1,
})
export const RoundInUrl = inUrl(Round, "a round of the DAG")
/** Any number is accepted: one beyond the last possible time means that time. */
export const TimestampInUrl = inUrl(
  Schema.transform(Natural.count("milliseconds since 1970"), Schema.typeSchema(Timestamp), {
    strict: true,
    decode: Natural.nearestTimestamp,
    encode: (time) => time,
  }),
  "milliseconds since 1970",
)
export const EpochInUrl = inUrl(Natural.schema<Natural.Epoch>("an epoch"), "an epoch")
export const ProposalIdInUrl = inUrl(Natural.schema<Natural.ProposalId>("a proposal's number"), "a proposal's number")
export const limitInUrl = (most: number) =>
  inUrl(Natural.between(1, most, "how many"), `how many entries, 1 to ${most}`, { minimum: 1, maximum: most })

export const pageLimit = optional(limitInUrl(100), "how many, 1 to 100; defaults to 50")
export const cursor = optional(
  Schema.String.pipe(Schema.maxLength(100, { message: () => "a next_cursor from the previous page" })),
  "the next_cursor of the previous page; any other text is rejected",
)
export const nextCursor = textOrNull("pass it as ?cursor= to get the next page; null on the last page")
export const until = optional(TimestampInUrl, "only before this moment")

/** A body with its own name in the reference, and an example that is checked when it is defined. */
export const record = <A, I>(
  identifier: string,
  about: string,
  schema: Schema.Schema<A, I>,
  example: NoInfer<I>,
): Schema.Schema<A, I> =>
  schema.annotations({ identifier, description: about, examples: [Schema.decodeUnknownSync(schema)(example)] })

export const example = {
  address: "9f3c1a2b4d5e6f708192a3b4c5d6e7f8091a2b3c",
  addressBech32: "tudg1nu7p526dtehhpqvj5w6vt4h8lqy352eud263hw",
  other: "1b2c3d4e5f60718293a4b5c6d7e8f9000a1b2c3d",
  hash: "3f9a5c7e1b2d4f6081a3c5e7092b4d6f8fa1c3e50728496bad0f1e2d3c4b5a69",
  otherHash: "a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90",
  publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  secretKey: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
  signature:
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  timestamp: 1_767_225_600_000,
} as const
