/**
 * Arbitraries for every value of the protocol. Keys, hashes and signatures are random bytes: few tests verify them, and
 * real signatures would make all the others slow. `secretKey` makes real keys.
 */
import { Either, FastCheck as fc, Option } from "effect"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import type * as Address from "../../src/protocol/identity/Address.js"
import * as AddressModule from "../../src/protocol/identity/Address.js"
import type * as Hash from "../../src/protocol/identity/Hash.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as Name from "../../src/protocol/identity/Name.js"
import type * as Network from "../../src/protocol/identity/Network.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type * as Operation from "../../src/protocol/transaction/Operation.js"
import type * as ProposalPayload from "../../src/protocol/transaction/ProposalPayload.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import type * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as Numbers from "../edges/Numbers.js"

export const bytes = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length })

export const hex = (length: number): fc.Arbitrary<string> =>
  bytes(length).map((value) => Buffer.from(value).toString("hex"))

// Amounts and counters

export const satsBetween = (min: number, max: number): fc.Arbitrary<Sats.Sats> =>
  Numbers.arbitrary(min, max).map(Sats.make)

export const sats = satsBetween(0, Sats.MAX_SUPPLY)
export const positiveSats = satsBetween(1, Sats.MAX_SUPPLY)
export const stake = satsBetween(Sats.MIN_STAKE_SATS, Sats.MAX_SUPPLY)

export const counter = <A extends Natural.Natural>(max = Number.MAX_SAFE_INTEGER): fc.Arbitrary<A> =>
  Numbers.arbitrary(0, max) as fc.Arbitrary<number> as fc.Arbitrary<A>

export const percent = (max = 100): fc.Arbitrary<number> => Numbers.arbitrary(0, max)

// Hashes, keys, addresses

export const hash = hex(32) as fc.Arbitrary<string> as fc.Arbitrary<Hash.Hash>
export const publicKey = hex(32) as fc.Arbitrary<string> as fc.Arbitrary<Keys.PublicKey>
export const signature = hex(64) as fc.Arbitrary<string> as fc.Arbitrary<Keys.Signature>
export const address = hex(20) as fc.Arbitrary<string> as fc.Arbitrary<Address.Address>
export const secretKey = bytes(32).map((seed) => Option.getOrThrow(Keys.SecretKey.fromSeed(seed)))
/** Keys with a known secret key. */
export const realPublicKey = secretKey.map(({ publicKey }) => publicKey)

// Texts

const utf8Length = (text: string): number => Buffer.byteLength(text)

/** Well-formed Unicode of any kind, including the byte-order mark and the null byte, that fits into `max` bytes. */
export const text = (max: number, min = 0): fc.Arbitrary<string> => {
  const character = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom("\u{feff}", "\0", "é", "漢", "🪙", "\u{10ffff}"),
  )
  return fc
    .oneof(
      { weight: 9, arbitrary: fc.array(character, { maxLength: 40 }) },
      { weight: 1, arbitrary: fc.constantFrom(["x".repeat(max)], ["é".repeat(max >> 1)]) },
    )
    .map((characters) => characters.reduce((all, next) => (utf8Length(all + next) <= max ? all + next : all), ""))
    .filter((value) => utf8Length(value) >= min)
}

const alphabet = [..."abcdefghijklmnopqrstuvwxyz0123456789-"]

export const name = fc
  .string({ unit: fc.constantFrom(...alphabet), minLength: 3, maxLength: 20 })
  .filter(Name.isName) as fc.Arbitrary<Name.Name>

export const networkId = fc.string({
  unit: fc.constantFrom(...alphabet),
  minLength: 1,
  maxLength: 32,
}) as fc.Arbitrary<string> as fc.Arbitrary<Network.NetworkId>

export const mode = fc.constantFrom<Network.Mode>("testnet", "mainnet")

// Transactions

export const payload: fc.Arbitrary<ProposalPayload.ProposalPayload> = fc.oneof(
  fc.record({ _tag: fc.constant("Text" as const) }),
  fc.record({
    _tag: fc.constant("ParameterChange" as const),
    param: text(Limits.PARAMETER_NAME_BYTES, 1),
    value: Numbers.arbitrary(0, Number.MAX_SAFE_INTEGER),
  }),
  fc.record({
    _tag: fc.constant("CouncilMembership" as const),
    action: fc.constantFrom("add" as const, "remove" as const),
    address,
  }),
  fc.record({ _tag: fc.constant("TreasurySpend" as const), recipient: address, amount: positiveSats }),
)

const policy = fc
  .uniqueArray(publicKey, { minLength: 1, maxLength: Limits.POLICY_KEYS })
  .chain((keys) => fc.record({ keys: fc.constant(keys), threshold: Numbers.arbitrary(1, keys.length) }))

/** One arbitrary for each type. */
export const operationOf: { readonly [T in Operation.Type]: fc.Arbitrary<Extract<Operation.Operation, { _tag: T }>> } =
  {
    Transfer: fc.record({
      _tag: fc.constant("Transfer"),
      to: address,
      amount: positiveSats,
      memo: text(Limits.MEMO_BYTES),
    }),
    StakeTx: fc.record({ _tag: fc.constant("StakeTx"), amount: stake }),
    UnstakeTx: fc.record({ _tag: fc.constant("UnstakeTx") }),
    DelegateTx: fc.record({ _tag: fc.constant("DelegateTx"), validator: address, amount: positiveSats }),
    UndelegateTx: fc.record({ _tag: fc.constant("UndelegateTx") }),
    SetCommissionTx: fc.record({ _tag: fc.constant("SetCommissionTx"), commissionPercent: percent() }),
    CreateProposalTx: fc.record({
      _tag: fc.constant("CreateProposalTx"),
      title: text(Limits.TITLE_BYTES, 1),
      description: text(Limits.DESCRIPTION_BYTES),
      payload,
    }),
    VoteTx: fc.record({
      _tag: fc.constant("VoteTx"),
      proposalId: counter<Natural.ProposalId>(),
      vote: fc.boolean(),
    }),
    RegisterNameTx: fc.record({ _tag: fc.constant("RegisterNameTx"), name }),
    SetAccountPolicyTx: policy.map((keys) => ({ _tag: "SetAccountPolicyTx", ...keys })),
    RotateKeyTx: fc.record({ _tag: fc.constant("RotateKeyTx"), validatorKey: publicKey, proof: signature }),
  }

export const operation: fc.Arbitrary<Operation.Operation> = fc.oneof(...Object.values(operationOf))

export const unsignedOf = (operation: fc.Arbitrary<Operation.Operation>): fc.Arbitrary<Transaction.Unsigned> =>
  fc.record({ from: address, nonce: counter<Natural.Nonce>(), fee: sats, operation })

export const unsigned = unsignedOf(operation)

const keySignature = fc.record({ publicKey, signature })

export const singleKey: fc.Arbitrary<Transaction.Authorization> = keySignature.map((proof) => ({
  _tag: "SingleKey",
  ...proof,
}))

export const policySigned: fc.Arbitrary<Transaction.Authorization> = fc
  .uniqueArray(keySignature, { minLength: 1, maxLength: Limits.POLICY_KEYS, selector: (proof) => proof.publicKey })
  .map((signatures) => ({ _tag: "Policy", signatures }))

export const authorization = fc.oneof({ weight: 3, arbitrary: singleKey }, { weight: 1, arbitrary: policySigned })

/** Transactions of one network under random signatures; `parts` restricts their content or authorization. */
export const transaction = (
  networkId: Network.NetworkId,
  parts: { readonly unsigned?: typeof unsigned; readonly authorization?: typeof authorization } = {},
): fc.Arbitrary<Transaction.Transaction> =>
  fc
    .tuple(parts.unsigned ?? unsigned, parts.authorization ?? authorization)
    .map(([asked, signed]) => Transaction.make(networkId, asked, signed))

// The DAG

export const parent: fc.Arbitrary<Header.Parent> = fc.record({
  round: counter<Natural.Round>(1_000),
  author: address,
  hash,
})

const headerContent: fc.Arbitrary<Header.Content> = fc.record({
  base: hash,
  epoch: counter<Natural.Epoch>(),
  round: counter<Natural.Round>(),
  publicKey,
  parents: fc.uniqueArray(parent, { maxLength: 8, selector: ({ hash }) => hash }),
  timestamp: counter<Natural.Timestamp>(Natural.LATEST),
  coinbase: sats,
  bodyHash: hash,
})

export const header: fc.Arbitrary<Header.Header> = fc
  .tuple(headerContent, signature)
  .map(([content, proof]) => Header.make(content, () => proof))

export const evidence: fc.Arbitrary<Evidence.Evidence> = fc
  .tuple(header, header)
  .filter(([a, b]) => a.hash !== b.hash)
  .map(([a, b]) => {
    const rival = Header.make(
      { ...b, base: a.base, epoch: a.epoch, round: a.round, publicKey: a.publicKey },
      () => b.signature,
    )
    const found = Evidence.of(a, rival)
    if (found === undefined) throw new Error("two different headers of one slot are evidence")
    return found
  })

export const heartbeat: fc.Arbitrary<Heartbeat.Heartbeat> = fc
  .record({ publicKey, commitIndex: counter<Natural.CommitIndex>(), commitHash: hash, signature })
  .map((content) => ({ ...content, validator: AddressModule.fromPublicKey(content.publicKey) }))

/** Bodies with up to `most` entries of each kind. */
export const body = (networkId: Network.NetworkId, most = 3): fc.Arbitrary<Vertex.Body> =>
  fc.record({
    transactions: fc.array(transaction(networkId), { maxLength: most }),
    evidence: fc.array(evidence, { maxLength: most }),
    heartbeats: fc.array(heartbeat, { maxLength: most }),
  })

/** Vertices whose header commits to their body. */
export const vertex = (networkId: Network.NetworkId, most?: number): fc.Arbitrary<Vertex.Vertex> =>
  fc.tuple(headerContent, body(networkId, most), signature).map(([content, contents, proof]) =>
    Vertex.make(
      Header.make({ ...content, bodyHash: Vertex.bodyHash(contents) }, () => proof),
      contents,
    ),
  )

// Epochs and checkpoints

export const rules: fc.Arbitrary<EpochRecord.Rules> = fc.record({
  epochRounds: Numbers.arbitrary(1, 10_000_000),
  protocolVersion: Numbers.arbitrary(ProtocolVersion.FIRST, ProtocolVersion.FIRST + 0xffff_ffff),
  collectionDepthRounds: Numbers.arbitrary(1, 10_000_000),
  checkpointIntervalRounds: Numbers.arbitrary(1, 10_000_000),
  roundReward: sats,
  halvingRounds: Numbers.arbitrary(1, 1_000_000_000),
  treasuryPercent: percent(50),
  councilPercent: percent(30),
})

const byAddress = <A extends { readonly address: Address.Address }>(members: ReadonlyArray<A>): ReadonlyArray<A> =>
  [...members].sort((a, b) => (a.address < b.address ? -1 : 1))

export const members: fc.Arbitrary<ReadonlyArray<EpochRecord.Member>> = fc
  .uniqueArray(fc.record({ publicKey, weight: satsBetween(1, Sats.MAX_SUPPLY / Limits.COMMITTEE_MEMBERS) }), {
    minLength: 1,
    maxLength: 7,
    selector: ({ publicKey }) => publicKey,
  })
  .map((list) =>
    byAddress(list.map((member) => ({ ...member, address: AddressModule.fromPublicKey(member.publicKey) }))),
  )

export const epochRecord: fc.Arbitrary<EpochRecord.EpochRecord> = fc.record({
  epoch: counter<Natural.Epoch>(),
  firstRound: Numbers.arbitrary(1, 2 ** 52) as fc.Arbitrary<number> as fc.Arbitrary<Natural.Round>,
  seed: hash,
  rules,
  members,
})

export const checkpoint: fc.Arbitrary<Checkpoint.Checkpoint> = fc
  .record({
    epoch: counter<Natural.Epoch>(),
    round: counter<Natural.Round>(),
    commitIndex: counter<Natural.CommitIndex>(),
    commitHash: hash,
    effectsDigest: hash,
    stateRoot: hash,
    totalSupply: sats,
    nextEpoch: fc.option(epochRecord),
    previous: hash,
  })
  .map(Checkpoint.make)

export const signedCheckpoint: fc.Arbitrary<Checkpoint.SignedCheckpoint> = fc.record({
  checkpoint,
  signatures: fc
    .uniqueArray(fc.record({ validator: address, signature }), { maxLength: 7, selector: ({ validator }) => validator })
    .map((list) => [...list].sort((a, b) => (a.validator < b.validator ? -1 : 1))),
})

// Genesis

const protocol = Numbers.arbitrary(Protocol.MIN_EPOCH_ROUNDS, 100_000).chain((epochRounds) =>
  fc.record({
    roundIntervalMs: Numbers.arbitrary(1, 60_000),
    epochRounds: fc.constant(epochRounds),
    collectionDepthRounds: Numbers.arbitrary(1, epochRounds - 1),
    roundReward: sats,
    halvingRounds: Numbers.arbitrary(1, 1_000_000_000),
    defaultCommissionPercent: percent(),
  }),
)

const parameters = (epochRounds: number): fc.Arbitrary<Parameters.Parameters> =>
  fc
    .tuple(...Parameters.table.map((entry) => Numbers.arbitrary(Parameters.minimumOf(entry, epochRounds), entry.max)))
    .map((values) => Parameters.make((entry) => values[Parameters.table.indexOf(entry)] ?? entry.min))

/** A share of the supply small enough that any genesis made here stays below the maximum. */
const share = satsBetween(0, Sats.MAX_SUPPLY / 20)

export const genesis: fc.Arbitrary<Genesis.Genesis> = protocol
  .chain((protocol) =>
    fc.record({
      networkId,
      mode,
      time: counter<Natural.Timestamp>(Natural.LATEST),
      allocations: fc.uniqueArray(fc.record({ address, amount: share }), {
        maxLength: 5,
        selector: ({ address }) => address,
      }),
      validators: fc.uniqueArray(
        fc.record({
          publicKey: realPublicKey,
          stake: satsBetween(Sats.MIN_STAKE_SATS, Sats.MAX_SUPPLY / 20),
          commissionPercent: percent(),
        }),
        { minLength: 1, maxLength: 4, selector: ({ publicKey }) => publicKey },
      ),
      council: fc.uniqueArray(address, { maxLength: Limits.COUNCIL_SEATS }),
      names: fc
        .tuple(fc.uniqueArray(name, { maxLength: 4 }), fc.uniqueArray(address, { minLength: 4, maxLength: 4 }))
        .map(([names, owners]) => names.map((name, i) => ({ name, address: owners[i] as Address.Address }))),
      treasury: share,
      faucet: fc.option(fc.record({ address, maxRequest: positiveSats })),
      parameters: parameters(protocol.epochRounds),
      protocol: fc.constant(protocol),
    }),
  )
  .map((genesis) =>
    Either.getOrThrow(Genesis.make(genesis.mode === "mainnet" ? { ...genesis, faucet: null } : genesis)),
  )
