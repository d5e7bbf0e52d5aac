/**
 * A genesis defines a network: the balances at round 0, the first validators, and the numbers that never change. The
 * network's identity is the hash of the canonical encoding, so neither the formatting of the file nor the order of its
 * lists matters.
 */
import { Data, Either, Schema } from "effect"
import * as Binary from "../encoding/Binary.js"
import * as JsonDecoder from "../encoding/Json.js"
import * as JsonProblem from "../encoding/JsonProblem.js"
import * as Address from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import * as Keys from "../identity/Keys.js"
import * as Name from "../identity/Name.js"
import * as Network from "../identity/Network.js"
import * as Limits from "../numbers/Limits.js"
import * as Natural from "../numbers/Natural.js"
import * as Parameters from "../numbers/Parameters.js"
import * as Sats from "../numbers/Sats.js"
import * as Protocol from "./Protocol.js"

export interface Allocation {
  readonly address: Address.Address
  readonly amount: Sats.Sats
}

export interface FirstValidator {
  readonly publicKey: Keys.PublicKey
  readonly stake: Sats.Sats
  readonly commissionPercent: number
}

export interface NamedAccount {
  readonly name: Name.Name
  readonly address: Address.Address
}

/** The faucet pays from an ordinary account. A mainnet has none. */
export interface Faucet {
  readonly address: Address.Address
  readonly maxRequest: Sats.Sats
}

export interface Genesis {
  readonly networkId: Network.NetworkId
  readonly mode: Network.Mode
  readonly time: Natural.Timestamp
  /** Every list is sorted by its key, without duplicates. */
  readonly allocations: ReadonlyArray<Allocation>
  readonly validators: ReadonlyArray<FirstValidator>
  readonly council: ReadonlyArray<Address.Address>
  readonly names: ReadonlyArray<NamedAccount>
  readonly treasury: Sats.Sats
  readonly faucet: Faucet | null
  readonly parameters: Parameters.Parameters
  readonly protocol: Protocol.Protocol
}

export const standardFaucetMaxRequest = Sats.make(100_000 * Sats.SATS_PER_COIN)

const MAX_ALLOCATIONS = 4_000_000

/** A genesis that cannot start a network. `field` is the place in the file, with validators named by their keys. */
export class InvalidGenesis extends Data.TaggedError("InvalidGenesis")<JsonProblem.JsonProblem> {
  override get message(): string {
    return JsonProblem.message(this)
  }
}

const violation = (holds: boolean, field: string, reason: string): ReadonlyArray<JsonProblem.JsonProblem> =>
  holds ? [] : [{ field, reason }]

const within = (value: number, min: number, max: number, field: string): ReadonlyArray<JsonProblem.JsonProblem> =>
  violation(value >= min && value <= max, field, `${value}; expected an integer from ${min} to ${max}`)

const counted = (count: number, min: number, max: number, field: string): ReadonlyArray<JsonProblem.JsonProblem> =>
  violation(count >= min && count <= max, field, `${count} entries; expected ${min} to ${max}`)

const ordered = <A>(
  items: ReadonlyArray<A>,
  key: (item: A) => string,
  field: string,
): ReadonlyArray<JsonProblem.JsonProblem> =>
  violation(Binary.isStrictlyAscending(items, key), field, "an entry appears twice or the order is not canonical")

const protocolViolations = (protocol: Protocol.Protocol): ReadonlyArray<JsonProblem.JsonProblem> =>
  Protocol.table.flatMap((entry) =>
    within(protocol[entry.key], entry.min, Protocol.maximumOf(entry, protocol), `protocol.${entry.name}`),
  )

const parameterViolations = ({ parameters, protocol }: Genesis): ReadonlyArray<JsonProblem.JsonProblem> =>
  Parameters.table.flatMap((entry) =>
    within(
      parameters[entry.key],
      Parameters.minimumOf(entry, protocol.epochRounds),
      entry.max,
      `parameters.${entry.name}`,
    ),
  )

const validatorViolations = (validators: ReadonlyArray<FirstValidator>): ReadonlyArray<JsonProblem.JsonProblem> => [
  ...counted(validators.length, 1, Limits.COMMITTEE_MEMBERS, "validators"),
  ...validators.flatMap(({ publicKey, stake, commissionPercent }) => [
    ...within(stake, Sats.MIN_STAKE_SATS, Sats.MAX_SUPPLY, `validators[${publicKey}].stake`),
    ...within(commissionPercent, 0, 100, `validators[${publicKey}].commission_percent`),
  ]),
  ...ordered(validators, ({ publicKey }) => publicKey, "validators"),
]

const supplyOf = ({ allocations, validators, treasury }: Genesis): number =>
  treasury +
  allocations.reduce((total, { amount }) => total + amount, 0) +
  validators.reduce((total, { stake }) => total + stake, 0)

const faucetViolations = ({ faucet, mode }: Genesis): ReadonlyArray<JsonProblem.JsonProblem> =>
  faucet === null
    ? []
    : [
        ...violation(mode === "testnet", "faucet", "a mainnet cannot have a faucet"),
        ...violation(faucet.maxRequest > 0, "faucet.max_request", "must be at least 1"),
      ]

const violations = (genesis: Genesis): ReadonlyArray<JsonProblem.JsonProblem> => {
  const supply = supplyOf(genesis)
  const { allocations, council, names } = genesis
  return [
    ...protocolViolations(genesis.protocol),
    ...parameterViolations(genesis),
    ...validatorViolations(genesis.validators),
    ...counted(allocations.length, 0, MAX_ALLOCATIONS, "allocations"),
    ...ordered(allocations, ({ address }) => address, "allocations"),
    ...counted(council.length, 0, Limits.COUNCIL_SEATS, "council"),
    ...ordered(council, (address) => address, "council"),
    ...counted(names.length, 0, MAX_ALLOCATIONS, "names"),
    ...ordered(names, ({ name }) => name, "names"),
    ...violation(
      new Set(names.map(({ address }) => address)).size === names.length,
      "names",
      "an account can have only one name",
    ),
    ...faucetViolations(genesis),
    ...violation(
      supply <= Sats.MAX_SUPPLY,
      "allocations",
      `${supply} sats in total, at most ${Sats.MAX_SUPPLY} can exist`,
    ),
  ]
}

const checked = (genesis: Genesis): Either.Either<Genesis, InvalidGenesis> => {
  const [first] = violations(genesis)
  return first === undefined ? Either.right(genesis) : Either.left(new InvalidGenesis(first))
}

/**
 * Refuses validators whose keys have no secret key: either nobody could sign for them, or anybody could. Not a rule of
 * the encoding, but checked once for input from a person or another machine.
 */
export const withRealKeys = (genesis: Genesis): Either.Either<Genesis, InvalidGenesis> => {
  const unusable = genesis.validators.find(({ publicKey }) => !Keys.hasSecretKey(publicKey))
  return unusable === undefined
    ? Either.right(genesis)
    : Either.left(
        new InvalidGenesis({
          field: `validators[${unusable.publicKey}].pub_key`,
          reason: "no secret key belongs to it; use the key that `udg genesis key` shows",
        }),
      )
}

/** Skips sorting files that are already in order, which may be long. Duplicates are refused in any order. */
const sortedBy = <A>(items: ReadonlyArray<A>, key: (item: A) => string): ReadonlyArray<A> =>
  Binary.isStrictlyAscending(items, key) ? items : [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1))

/** Puts the lists into canonical order and checks every rule. */
export const make = (genesis: Genesis): Either.Either<Genesis, InvalidGenesis> =>
  checked({
    ...genesis,
    allocations: sortedBy(genesis.allocations, ({ address }) => address),
    validators: sortedBy(genesis.validators, ({ publicKey }) => publicKey),
    council: sortedBy(genesis.council, (address) => address),
    names: sortedBy(genesis.names, ({ name }) => name),
  })

const write = (writer: Binary.Writer, genesis: Genesis): void => {
  const { faucet } = genesis
  writer
    .text8(genesis.networkId)
    .u8(genesis.mode === "testnet" ? 0 : 1)
    .u64(genesis.time)
    .list32(genesis.allocations, ({ address, amount }) => writer.hex(address).u64(amount))
    .list8(genesis.validators, ({ publicKey, stake, commissionPercent }) =>
      writer.hex(publicKey).u64(stake).u8(commissionPercent),
    )
    .list8(genesis.council, (address) => writer.hex(address))
    .list32(genesis.names, ({ name, address }) => writer.text8(name).hex(address))
    .u64(genesis.treasury)
    .boolean(faucet !== null)
  if (faucet !== null) writer.hex(faucet.address).u64(faucet.maxRequest)
  for (const entry of Parameters.table) writer.u64(genesis.parameters[entry.key])
  Protocol.write(writer, genesis.protocol)
}

const readNetworkId = (reader: Binary.Reader): Network.NetworkId => {
  const text = reader.text8(Network.NETWORK_ID_BYTES)
  if (Network.isNetworkId(text)) return text
  reader.fail("not a network id")
  return "" as Network.NetworkId
}

const readMode = (reader: Binary.Reader): Network.Mode => {
  const mode = reader.u8()
  reader.require(mode <= 1, `network mode ${mode}`)
  return mode === 0 ? "testnet" : "mainnet"
}

const read = (reader: Binary.Reader): Genesis => {
  const genesis: Genesis = {
    networkId: readNetworkId(reader),
    mode: readMode(reader),
    time: reader.time(),
    allocations: reader.list32(MAX_ALLOCATIONS, () => ({ address: Address.read(reader), amount: reader.sats() })),
    validators: reader.list8(Limits.COMMITTEE_MEMBERS, () => ({
      publicKey: Keys.readPublicKey(reader),
      stake: reader.sats(),
      commissionPercent: reader.u8(),
    })),
    council: reader.list8(Limits.COUNCIL_SEATS, () => Address.read(reader)),
    names: reader.list32(MAX_ALLOCATIONS, () => ({ name: Name.read(reader), address: Address.read(reader) })),
    treasury: reader.sats(),
    faucet: reader.boolean() ? { address: Address.read(reader), maxRequest: reader.sats() } : null,
    parameters: Parameters.make(() => reader.u64()),
    protocol: Protocol.read(reader),
  }
  const [first] = reader.failure === undefined ? violations(genesis) : []
  if (first !== undefined) reader.fail(`${first.field}: ${first.reason}`)
  return genesis
}

export const { encode, decode } = Binary.codec("genesis", write, read)

/** Cached, because many callers need it, and a genesis with many accounts means hashing megabytes. */
const hashes = new WeakMap<Genesis, Hash.Hash>()

export const hash = (genesis: Genesis): Hash.Hash => {
  const known = hashes.get(genesis)
  if (known !== undefined) return known
  const found = Hash.of("udg/genesis", encode(genesis))
  hashes.set(genesis, found)
  return found
}

const Count = Natural.count("a number")

/** The genesis file. Omitted fields take the standard values. */
export const Json = Schema.Struct({
  network_id: Network.NetworkId,
  mode: Network.Mode,
  time: Natural.time("when the network began, in milliseconds since 1970"),
  allocations: Schema.Array(Schema.Struct({ address: Address.text, amount: Sats.schema })),
  validators: Schema.Array(
    Schema.Struct({
      pub_key: Keys.PublicKey,
      stake: Sats.schema,
      commission_percent: Schema.optionalWith(Count, { exact: true }),
    }),
  ),
  council: Schema.optionalWith(Schema.Array(Address.text), { default: () => [] }),
  names: Schema.optionalWith(Schema.Array(Schema.Struct({ name: Name.schema, address: Address.text })), {
    default: () => [],
  }),
  treasury: Schema.optionalWith(Sats.schema, { default: () => Sats.ZERO }),
  faucet: Schema.optionalWith(Schema.NullOr(Schema.Struct({ address: Address.text, max_request: Sats.schema })), {
    default: () => null,
  }),
  parameters: Schema.optionalWith(Parameters.FileJson, { default: () => ({}) }),
  protocol: Schema.optionalWith(Protocol.Json, { default: () => Protocol.toJson(Protocol.standard) }),
})

export type Json = typeof Json.Type

const decodeJson = JsonDecoder.decoder(Json, "genesis")

/** The genesis of a parsed file, or its first invalid field. Unknown fields are refused. */
export const fromFile = (input: unknown): Either.Either<Genesis, InvalidGenesis> =>
  Either.flatMap(
    Either.flatMap(
      Either.mapLeft(decodeJson(input), (problem) => new InvalidGenesis(problem)),
      fromJson,
    ),
    withRealKeys,
  )

/** A separate loop, since there may be millions of them. */
const allocationsOf = (
  { allocations }: Json,
  prefix: Network.AddressPrefix,
): Either.Either<ReadonlyArray<Allocation>, InvalidGenesis> => {
  const read: Array<Allocation> = []
  for (const { address, amount } of allocations) {
    const parsed = Address.parse(address, prefix)
    if (Either.isLeft(parsed)) {
      const { message } = parsed.left
      return Either.left(new InvalidGenesis({ field: `allocations[${read.length}].address`, reason: message }))
    }
    read.push({ address: parsed.right, amount })
  }
  return Either.right(read)
}

/** The genesis that a file describes, in canonical order, with every rule checked. */
export const fromJson = (json: Json): Either.Either<Genesis, InvalidGenesis> =>
  Either.gen(function* () {
    const prefix = Network.addressPrefix(json.mode)
    const address = (field: string, text: string): Either.Either<Address.Address, InvalidGenesis> =>
      Either.mapLeft(Address.parse(text, prefix), (error) => new InvalidGenesis({ field, reason: error.message }))

    const allocations = yield* allocationsOf(json, prefix)
    const council: Array<Address.Address> = []
    for (const [i, text] of json.council.entries()) council.push(yield* address(`council[${i}]`, text))
    const names: Array<NamedAccount> = []
    for (const [i, entry] of json.names.entries()) {
      names.push({ name: entry.name, address: yield* address(`names[${i}].address`, entry.address) })
    }
    const faucet =
      json.faucet === null
        ? null
        : { address: yield* address("faucet.address", json.faucet.address), maxRequest: json.faucet.max_request }
    const protocol = Protocol.fromJson(json.protocol)
    const validators = json.validators.map(({ pub_key, stake, commission_percent }) => ({
      publicKey: pub_key,
      stake,
      commissionPercent: commission_percent ?? protocol.defaultCommissionPercent,
    }))
    const { network_id: networkId, mode, time, treasury } = json
    const parameters = Parameters.fromFile(json.parameters, protocol.epochRounds)
    return yield* make({
      networkId,
      mode,
      time,
      allocations,
      validators,
      council,
      names,
      treasury,
      faucet,
      parameters,
      protocol,
    })
  })

/** The file of a genesis, with every value written out. */
export const toJson = (genesis: Genesis): Json => ({
  network_id: genesis.networkId,
  mode: genesis.mode,
  time: genesis.time,
  allocations: genesis.allocations,
  validators: genesis.validators.map(({ publicKey, stake, commissionPercent }) => ({
    pub_key: publicKey,
    stake,
    commission_percent: commissionPercent,
  })),
  council: genesis.council,
  names: genesis.names,
  treasury: genesis.treasury,
  faucet: genesis.faucet && { address: genesis.faucet.address, max_request: genesis.faucet.maxRequest },
  parameters: Parameters.toJson(genesis.parameters),
  protocol: Protocol.toJson(genesis.protocol),
})
