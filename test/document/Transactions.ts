/** Transactions: bytes, JSON, signed bytes, and hash. */
import * as B from "./Bytes.js"
import { domain, isName, isValid, type Network, parseAddress, sign } from "./Identity.js"
import type { Json } from "./Json.js"
import { parse } from "./Json.js"

/** As in JSON, with addresses in hexadecimal and every field present. */
export type Transaction = { readonly [field: string]: Json }

type Fields = { readonly [name: string]: Json }

interface Kind {
  /** Reads the body. */
  readonly read: (reader: B.Reader) => Fields
  readonly write: (fields: Fields) => Uint8Array
  /** From JSON, with a reader for each field. */
  readonly json: { readonly [name: string]: (value: Json, field: string, network: Network) => Json | undefined }
  readonly isExempt: boolean
}

const rule = (holds: boolean, field = ""): void => {
  if (!holds) throw new B.Refused("rule", field)
}

const text = (value: Json, field: string): string => {
  if (typeof value !== "string") throw new B.Refused("json-type", field)
  return value
}

const integer = (most: number) => (value: Json, field: string) => {
  if (typeof value !== "number") throw new B.Refused("json-type", field)
  if (value < 0 || value > most) throw new B.Refused("range", field)
  return value
}

const amount = integer(B.MAX_SUPPLY)
const positive = (value: Json, field: string): number => {
  const found = amount(value, field)
  rule(found >= 1, field)
  return found
}

const bounded = (least: number, most: number) => (value: Json, field: string) => {
  const found = text(value, field)
  const length = B.utf8(found).length
  if (!found.isWellFormed() || length < least || length > most) throw new B.Refused("text", field)
  return found
}

const boolean = (value: Json, field: string): boolean => {
  if (typeof value !== "boolean") throw new B.Refused("json-type", field)
  return value
}

const address = (value: Json, field: string, network: Network): string => {
  try {
    return parseAddress(text(value, field), network)
  } catch (error) {
    throw error instanceof B.Refused && error.field === "" ? new B.Refused(error.reason, field) : error
  }
}

const hexadecimal = (length: number) => (value: Json, field: string) => {
  const found = text(value, field)
  if (!new RegExp(`^[0-9a-f]{${2 * length}}$`, "i").test(found)) throw new B.Refused("hex", field)
  return found.toLowerCase()
}

const list = (value: Json, field: string): ReadonlyArray<Json> => {
  if (!Array.isArray(value)) throw new B.Refused("json-type", field)
  return value
}

const object = (value: Json, field: string): Fields => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new B.Refused("json-type", field)
  return value as Fields
}

const PROPOSALS: ReadonlyArray<readonly [name: string, kind: Pick<Kind, "read" | "write" | "json">]> = [
  ["Text", { read: () => ({}), write: () => B.join(), json: {} }],
  [
    "ParameterChange",
    {
      read: (reader) => {
        const [param, value] = [reader.text8(64), reader.u64()]
        rule(param !== "")
        return { param, value }
      },
      write: ({ param, value }) => B.join(B.text8(String(param)), B.u64(Number(value))),
      json: { param: bounded(1, 64), value: integer(Number.MAX_SAFE_INTEGER) },
    },
  ],
  [
    "CouncilMembership",
    {
      read: (reader) => ({
        action: reader.atMost(reader.u8(), 1) === 0 ? "add" : "remove",
        address: reader.address(),
      }),
      write: ({ action, address }) => B.join(B.u8(action === "add" ? 0 : 1), B.bytes(String(address))),
      json: { action: text, address },
    },
  ],
  [
    "TreasurySpend",
    {
      read: (reader) => {
        const [recipient, amount] = [reader.address(), reader.amount()]
        rule(amount >= 1)
        return { recipient, amount }
      },
      write: ({ recipient, amount }) => B.join(B.bytes(String(recipient)), B.u64(Number(amount))),
      json: { recipient: address, amount: positive },
    },
  ],
]

export const readProposalType = (reader: B.Reader): Fields => {
  const [name, kind] = PROPOSALS[reader.u8()] ?? []
  if (name === undefined || kind === undefined) throw new B.Refused("range")
  return { [name]: kind.read(reader) }
}

const writeProposalType = (value: Json): Uint8Array => {
  const place = PROPOSALS.findIndex(([name]) => name in object(value, ""))
  const [name = "", kind] = PROPOSALS[place] ?? []
  const fields = object(value, "")[name]
  if (kind === undefined || fields === undefined) throw new B.Refused("json-type", "proposal_type")
  return B.join(B.u8(place), kind.write(object(fields, "")))
}

const proposalType = (value: Json, field: string, network: Network): Json => {
  const given = object(value, field)
  const [name = "", ...others] = Object.keys(given)
  const [, kind] = PROPOSALS.find(([known]) => known === name) ?? []
  if (kind === undefined || others.length > 0) throw new B.Refused("json-type", field)
  return { [name]: fieldsOf(object(given[name] ?? null, `${field}.${name}`), kind.json, `${field}.${name}.`, network) }
}

/** Reads every field of the object. Unknown or missing fields are rejected. */
const fieldsOf = (given: Fields, readers: Kind["json"], prefix: string, network: Network): Fields => {
  for (const name of Object.keys(given)) {
    if (readers[name] === undefined) throw new B.Refused("unknown-field", prefix + name)
  }
  const found: { [name: string]: Json } = {}
  for (const [name, read] of Object.entries(readers)) {
    const value = given[name]
    const isOptional = name === "memo"
    if (value === undefined && !isOptional) throw new B.Refused("missing-field", prefix + name)
    if (value !== undefined) found[name] = read(value, prefix + name, network) ?? null
  }
  return found
}

const kind = (json: Kind["json"], read: Kind["read"], write: Kind["write"], isExempt = false): Kind => ({
  json,
  read,
  write,
  isExempt,
})

const LEAST_STAKE = 200_000_000_000

const stake = (value: Json, field: string): number => {
  const found = amount(value, field)
  rule(found >= LEAST_STAKE, field)
  return found
}

const keys = (value: Json, field: string): Json =>
  list(value, field).map((key, i) => hexadecimal(32)(key, `${field}[${i}]`))

const nothing = kind(
  {},
  () => ({}),
  () => B.join(),
  true,
)

const policyHolds = ({ threshold, keys }: Fields): void => {
  const found = list(keys ?? [], "keys")
  rule(found.length >= 1 && found.length <= 16 && new Set(found).size === found.length, "keys")
  rule(Number(threshold) >= 1 && Number(threshold) <= found.length, "threshold")
}

/** By their type bytes, from 1. */
const KINDS: ReadonlyArray<readonly [type: string, kind: Kind]> = [
  [
    "Transfer",
    kind(
      { to: address, amount: positive, memo: bounded(0, 256) },
      (reader) => {
        const [to, amount, memo] = [reader.address(), reader.amount(), reader.text16(256)]
        rule(amount >= 1)
        return { to, amount, ...(memo === "" ? {} : { memo }) }
      },
      ({ to, amount, memo }) => B.join(B.bytes(String(to)), B.u64(Number(amount)), B.text16(String(memo ?? ""))),
    ),
  ],
  [
    "StakeTx",
    kind(
      { amount: stake },
      (reader) => ({ amount: stake(reader.amount(), "") }),
      ({ amount }) => B.u64(Number(amount)),
      true,
    ),
  ],
  ["UnstakeTx", nothing],
  [
    "DelegateTx",
    kind(
      { validator: address, amount: positive },
      (reader) => ({ validator: reader.address(), amount: positive(reader.amount(), "") }),
      ({ validator, amount }) => B.join(B.bytes(String(validator)), B.u64(Number(amount))),
      true,
    ),
  ],
  ["UndelegateTx", nothing],
  [
    "SetCommissionTx",
    kind(
      { commission_percent: integer(100) },
      (reader) => ({ commission_percent: reader.atMost(reader.u8(), 100) }),
      ({ commission_percent }) => B.u8(Number(commission_percent)),
      true,
    ),
  ],
  [
    "CreateProposalTx",
    kind(
      { title: bounded(1, 128), description: bounded(0, 4096), proposal_type: proposalType },
      (reader) => {
        const [title, description] = [reader.text16(128), reader.text16(4096)]
        rule(title !== "")
        return { title, description, proposal_type: readProposalType(reader) }
      },
      ({ title, description, proposal_type }) =>
        B.join(B.text16(String(title)), B.text16(String(description)), writeProposalType(proposal_type ?? null)),
    ),
  ],
  [
    "VoteTx",
    kind(
      { proposal_id: integer(Number.MAX_SAFE_INTEGER), vote: boolean },
      (reader) => ({ proposal_id: reader.u64(), vote: reader.bool() }),
      ({ proposal_id, vote }) => B.join(B.u64(Number(proposal_id)), B.bool(vote === true)),
    ),
  ],
  [
    "RegisterNameTx",
    kind(
      {
        name: (value, field) => {
          if (!isName(text(value, field))) throw new B.Refused("text", field)
          return value
        },
      },
      (reader) => {
        const name = reader.text8(20)
        rule(isName(name))
        return { name }
      },
      ({ name }) => B.text8(String(name)),
    ),
  ],
  [
    "SetAccountPolicyTx",
    kind(
      { threshold: integer(255), keys },
      (reader) => {
        const policy = { threshold: reader.u8(), keys: reader.list8(16, reader.key) }
        policyHolds(policy)
        return policy
      },
      ({ threshold, keys }) =>
        B.join(
          B.u8(Number(threshold)),
          B.list8(list(keys ?? [], "keys"), (key) => B.bytes(String(key))),
        ),
    ),
  ],
  [
    "RotateKeyTx",
    kind(
      { validator_key: hexadecimal(32), proof: hexadecimal(64) },
      (reader) => ({ validator_key: reader.key(), proof: reader.signature() }),
      ({ validator_key, proof }) => B.join(B.bytes(String(validator_key)), B.bytes(String(proof))),
    ),
  ],
]

interface Signed {
  readonly pub_key: string
  readonly signature: string
}

const readSigned = (reader: B.Reader): Signed => ({ pub_key: reader.key(), signature: reader.signature() })
const writeSigned = ({ pub_key, signature }: Signed): Uint8Array => B.join(B.bytes(pub_key), B.bytes(signature))

export const signaturesOf = (transaction: Transaction): ReadonlyArray<Signed> =>
  Array.isArray(transaction["signatures"])
    ? transaction["signatures"]
    : [{ pub_key: String(transaction["pub_key"]), signature: String(transaction["signature"]) }]

const distinctSigners = (signatures: ReadonlyArray<Signed>): void =>
  rule(new Set(signatures.map(({ pub_key }) => pub_key)).size === signatures.length, "signatures")

export const read = (reader: B.Reader): Transaction => {
  const [type, kind] = KINDS[reader.u8() - 1] ?? []
  if (type === undefined || kind === undefined) throw new B.Refused("unknown-type")
  const [from, nonce, fee] = [reader.address(), reader.u64(), reader.amount()]
  const body = kind.read(reader)
  const count = reader.u8()
  if (count > 16) throw new B.Refused("limit")
  if (count === 0) return { type, from, nonce, fee, ...body, ...readSigned(reader) }
  const signatures = Array.from({ length: count }, () => readSigned(reader))
  distinctSigners(signatures)
  return { type, from, nonce, fee, ...body, signatures: signatures.map((each) => ({ ...each })) }
}

export const unsignedBytes = (transaction: Transaction): Uint8Array => {
  const { type, from, nonce, fee } = transaction
  const place = KINDS.findIndex(([known]) => known === type)
  const [, kind] = KINDS[place] ?? []
  if (kind === undefined) throw new B.Refused("unknown-type", "type")
  const head = [B.u8(place + 1), B.bytes(String(from)), B.u64(Number(nonce)), B.u64(Number(fee))]
  return B.join(...head, kind.write(transaction))
}

export const write = (transaction: Transaction): Uint8Array => {
  const signed = signaturesOf(transaction)
  const count = transaction["signatures"] === undefined ? 0 : signed.length
  return B.join(unsignedBytes(transaction), B.u8(count), ...signed.map(writeSigned))
}

export const signedBytes = (networkId: string, transaction: Transaction): Uint8Array =>
  B.join(domain("udg/tx"), B.text8(networkId), unsignedBytes(transaction))

export const hashOf = (networkId: string, transaction: Transaction): string =>
  B.H("udg/tx-id", signedBytes(networkId, transaction))

export const signaturesHold = (networkId: string, transaction: Transaction): boolean =>
  signaturesOf(transaction).every(({ pub_key, signature }) =>
    isValid(pub_key, signedBytes(networkId, transaction), signature),
  )

/** Signs with the single key of an account. */
export const signWith = (networkId: string, seed: string, pub_key: string, unsigned: Transaction): Transaction => ({
  ...unsigned,
  pub_key,
  signature: sign(seed, signedBytes(networkId, unsigned)),
})

const authorization = (given: Fields): Fields => {
  const { pub_key, signature, signatures } = given
  if (signatures !== undefined) {
    rule(pub_key === undefined && signature === undefined, "signatures")
    const readers = { pub_key: hexadecimal(32), signature: hexadecimal(64) }
    const found = list(signatures, "signatures").map((each, i): Signed => {
      const field = `signatures[${i}]`
      const { pub_key, signature } = fieldsOf(object(each, field), readers, `${field}.`, "testnet")
      return { pub_key: String(pub_key), signature: String(signature) }
    })
    rule(found.length >= 1 && found.length <= 16, "signatures")
    distinctSigners(found)
    return { signatures: found.map((each) => ({ ...each })) }
  }
  if (pub_key === undefined) throw new B.Refused("missing-field", "pub_key")
  if (signature === undefined) throw new B.Refused("missing-field", "signature")
  return { pub_key: hexadecimal(32)(pub_key, "pub_key"), signature: hexadecimal(64)(signature, "signature") }
}

/** Parses a JSON text into a transaction of this network. */
export const fromJson = (source: string, network: Network): Transaction => {
  const given = object(parse(source), "transaction")
  const [type, kind] = KINDS.find(([known]) => known === given["type"]) ?? []
  if (type === undefined || kind === undefined) throw new B.Refused("unknown-type", "type")
  const { type: _type, pub_key: _key, signature: _signature, signatures: _signatures, ...rest } = given
  const withFee = kind.isExempt && rest["fee"] === undefined ? { ...rest, fee: 0 } : rest
  const envelope = { from: address, nonce: integer(Number.MAX_SAFE_INTEGER), fee: amount }
  const fields = fieldsOf(withFee, { ...envelope, ...kind.json }, "", network)
  if (type === "SetAccountPolicyTx") policyHolds(fields)
  const { memo, ...others } = fields
  return { type, ...others, ...(memo === undefined || memo === "" ? {} : { memo }), ...authorization(given) }
}
