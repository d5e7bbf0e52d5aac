/** The state: records of every kind, the states of genesis files, and what a few commits change. */
import { Either } from "effect"
import { fromHex } from "#crypto"
import { Ledger } from "../../src/ledger/Ledger.js"
import * as Outcomes from "../../src/ledger/rules/Outcomes.js"
import * as Effects from "../../src/ledger/tables/Effects.js"
import * as HalfSipHash from "../../src/ledger/tables/HalfSipHash.js"
import * as Records from "../../src/ledger/tables/Records.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as GenesisState from "../../src/replica/disk/GenesisState.js"
import { checkpointFields, files, record as someEpoch } from "./consensus.js"
import * as Fields from "./fields.js"
import { alice, bob, carol, hex, madeUpHash } from "./people.js"

const vectorOf = (kind: StateKey.Kind, key: string, content: Uint8Array) => {
  const record = { kind, key: fromHex(key), value: content }
  return {
    kind,
    key,
    content: hex(content),
    value: hex(StateRecord.encode(record)),
    key_hash: StateRecord.placeOf(record),
  }
}

const upgradedEpoch = { ...someEpoch, rules: { ...someEpoch.rules, protocolVersion: 3 } }

const { counter } = StateKey
const sats = Sats.make
const round = Natural.round
const epoch = Natural.epoch

const leaving = { epoch: epoch(3), unlockAtRound: round(960) }
const leavingFields = { epoch: 3, unlock_at_round: 960 }

const account = (about: string, record: AccountRecord.AccountRecord, fields: object) => ({
  about,
  ...vectorOf("Account", bob.address, AccountRecord.encode(record)),
  fields: { balance: record.balance, nonce: record.nonce, ...fields },
})

const none = { pub_key: null, stake: null, delegation: null, policy: null, name: null, council_seat: false }

const accounts = [
  account("an account with coins alone", { ...AccountRecord.empty, balance: sats(150_000_000) }, none),
  account(
    "a validator that leaves, with a name and a council seat",
    {
      ...AccountRecord.empty,
      balance: sats(5),
      nonce: Natural.nonce(7),
      publicKey: bob.publicKey,
      stake: { amount: sats(200_000_000_000), leaving },
      name: "bob" as Name,
      isCouncilMember: true,
    },
    {
      ...none,
      pub_key: bob.publicKey,
      stake: { amount: 200_000_000_000, leaving: leavingFields },
      name: "bob",
      council_seat: true,
    },
  ),
  account(
    "a smart account that delegates more shares than 64 bits hold",
    {
      ...AccountRecord.empty,
      nonce: Natural.nonce(1),
      publicKey: bob.publicKey,
      delegation: { validator: alice.address, generation: 2, shares: 2n ** 64n + 5n, leaving: null },
      policy: { threshold: 2, keys: [carol.publicKey, alice.publicKey] },
    },
    {
      ...none,
      pub_key: bob.publicKey,
      delegation: { validator: alice.address, generation: 2, shares: "18446744073709551621", leaving: null },
      policy: { threshold: 2, keys: [carol.publicKey, alice.publicKey] },
    },
  ),
]

const proposal: Records.Proposal = {
  proposer: alice.address,
  transaction: madeUpHash("66"),
  texts: { title: "Pay Carol", description: "For the explorer." },
  payload: { _tag: "TreasurySpend", recipient: carol.address, amount: sats(2_500_000_000) },
  bond: sats(1_000_000),
  bondStatus: "held",
  createdAtRound: round(100),
  votingEndsAtRound: round(340),
  executesAtRound: round(400),
  snapshotTotalStake: sats(600_000_000_000),
  votesFor: sats(400_000_000_000),
  votesAgainst: Sats.ZERO,
  status: "Active",
  failure: null,
}

const proposalFields = {
  proposer: alice.address,
  tx_hash: madeUpHash("66"),
  title: "Pay Carol",
  description: "For the explorer.",
  payload: { type: "TreasurySpend", recipient: carol.address, amount: 2_500_000_000 },
  bond: 1_000_000,
  bond_status: "held",
  created_at_round: 100,
  voting_ends_at_round: 340,
  executes_at_round: 400,
  snapshot_total_stake: 600_000_000_000,
  votes_for: 400_000_000_000,
  votes_against: 0,
  status: "Active",
  failure: null,
}

const proposals = [
  { about: "a proposal on which votes are cast", change: {}, fields: {} },
  {
    about: "a proposal that failed",
    change: { status: "Failed", bondStatus: "returned", failure: "treasury_too_small" },
    fields: { status: "Failed", bond_status: "returned", failure: "treasury_too_small" },
  },
  {
    about: "a rejected proposal without its texts",
    change: { status: "Rejected", bondStatus: "forfeited", texts: null },
    fields: { status: "Rejected", bond_status: "forfeited", title: null, description: null },
  },
].map(({ about, change, fields }) => ({
  about,
  ...vectorOf("Proposal", counter(7), Records.encode(Records.proposal, { ...proposal, ...change } as Records.Proposal)),
  fields: { ...proposalFields, ...fields },
}))

const pool = { amount: sats(100_000_005), shares: 100_000_000n, generation: 1 }
const poolFields = { amount: 100_000_005, shares: "100000000", generation: 1 }

const others = [
  {
    about: "a validator",
    ...vectorOf(
      "Validator",
      alice.address,
      Records.encode(Records.validator, {
        commissionPercent: 10,
        commissionEpoch: epoch(2),
        isBarred: false,
        working: pool,
        departing: 3n,
      }),
    ),
    fields: { commission_percent: 10, commission_epoch: 2, barred: false, working: poolFields, departing: "3" },
  },
  ...proposals,
  ...[
    { vote: null, word: null },
    { vote: false, word: "no" },
    { vote: true, word: "yes" },
  ].map(({ vote, word }) => ({
    about: `a ballot: ${word ?? "not cast yet"}`,
    ...vectorOf(
      "Ballot",
      counter(7) + alice.address,
      Records.encode(Records.ballot, { weight: sats(200_000_000_000), vote }),
    ),
    fields: { weight: 200_000_000_000, vote: word },
  })),
  {
    about: "the parameters",
    ...vectorOf("Parameters", "", Records.encode(Records.parameters, Parameters.solo)),
    fields: Parameters.toJson(Parameters.solo),
  },
  {
    about: "the totals",
    ...vectorOf(
      "Totals",
      "",
      Records.encode(Records.totals, {
        liquid: sats(1),
        staked: sats(2),
        delegated: sats(3),
        treasury: sats(4),
        total: sats(10),
      }),
    ),
    fields: { liquid: 1, staked: 2, delegated: 3, treasury: 4, total: 10 },
  },
  {
    about: "the last commit",
    ...vectorOf(
      "Head",
      "",
      Records.encode(Records.head, {
        index: Natural.commitIndex(118),
        hash: madeUpHash("22"),
        leaderRound: round(480),
        time: Natural.timestamp(1_700_000_240_000),
        nextProposalId: Natural.proposalId(8),
      }),
    ),
    fields: {
      commit_index: 118,
      commit_hash: madeUpHash("22"),
      leader_round: 480,
      time: 1_700_000_240_000,
      next_proposal_id: 8,
    },
  },
  {
    about: "an epoch",
    ...vectorOf(
      "Epoch",
      counter(someEpoch.epoch),
      Records.encode(Records.epoch, { weighedIn: epoch(2), base: madeUpHash("11"), record: someEpoch }),
    ),
    fields: { weighed_in: 2, base: madeUpHash("11"), record: Fields.ofEpoch(someEpoch) },
  },
  {
    about: "an epoch of version 3",
    ...vectorOf(
      "Epoch",
      counter(upgradedEpoch.epoch),
      Records.encode(Records.epoch, { weighedIn: epoch(2), base: madeUpHash("11"), record: upgradedEpoch }),
    ),
    fields: { weighed_in: 2, base: madeUpHash("11"), record: Fields.ofEpoch(upgradedEpoch) },
  },
  {
    about: "the presence of a validator in the first quarter and the second half",
    ...vectorOf("Presence", alice.address, Records.encode(Records.presence, 0b10001)),
    fields: { quarters: [true, false, false, false], second_half: true },
  },
  {
    about: "the coinbases minted of a round",
    ...vectorOf("Minted", counter(479), Records.encode(Records.minted, [0, 2])),
    fields: { positions: [0, 2] },
  },
  {
    about: "a commit that heartbeats may name",
    ...vectorOf(
      "RecentCommit",
      counter(117),
      Records.encode(Records.recentCommit, { hash: madeUpHash("22"), leaderRound: round(478) }),
    ),
    fields: { commit_hash: madeUpHash("22"), leader_round: 478 },
  },
  {
    about: "a slashed author",
    ...vectorOf("Slashed", counter(2) + alice.address, Records.encode(Records.slashed, true)),
    fields: {},
  },
  {
    about: "what left a validator in an epoch",
    ...vectorOf("LeavingPool", alice.address + counter(2), Records.encode(Records.leavingPool, pool)),
    fields: poolFields,
  },
  {
    about: "a version that the next close puts in force",
    ...vectorOf("Upgrade", "", Records.encode(Records.upgrade, 3)),
    fields: { protocol_version: 3 },
  },
  {
    about: "a key that a validator changed to",
    ...vectorOf(
      "SigningKey",
      bob.address,
      Records.encode(Records.signingKey, { account: alice.address, since: epoch(3) }),
    ),
    fields: { account: alice.address, changed_in_epoch: 3 },
  },
]

const tableKey = HalfSipHash.keyFrom(new Uint8Array(HalfSipHash.KEY_BYTES))

const genesisOf = (file: unknown): Genesis.Genesis => Either.getOrThrow(Genesis.fromFile(file))

const stateOf = (ledger: Ledger) =>
  [...ledger.records()]
    .map(({ kind, key, value }) => vectorOf(kind, hex(key), value))
    .sort((a, b) => (a.value < b.value ? -1 : 1))

const rootOf = (ledger: Ledger): Hash => Trie.apply(Trie.empty, ledger.entries()).hash

const genesisVector = (file: unknown) => {
  const genesis = genesisOf(file)
  const ledger = Ledger.fromGenesis(genesis, tableKey)
  const checkpoint = GenesisState.checkpointOf(genesis, ledger)
  return {
    genesis_hash: Genesis.hash(genesis),
    records: stateOf(ledger),
    effects_digest: ledger.effectsDigest,
    state_root: rootOf(ledger),
    checkpoint: checkpointFields(checkpoint),
  }
}

const operations: ReadonlyArray<ReadonlyArray<readonly [fee: number, operation: Operation]>> = [
  [],
  [
    [1_000, { _tag: "Transfer", to: carol.address, amount: sats(150_000_000), memo: "" }],
    [100_000, { _tag: "RegisterNameTx", name: "bob" as Name }],
  ],
  [[0, { _tag: "DelegateTx", validator: alice.address, amount: sats(500_000_000_000) }]],
  // Fails because the account already has a name, and only its fee is taken.
  [[100_000, { _tag: "RegisterNameTx", name: "bobby" as Name }]],
]

/** The network of `with_faucet`, whose only validator leads every round; Bob sends everything. */
const commits = () => {
  const genesis = genesisOf(files.with_faucet)
  const ledger = Ledger.fromGenesis(genesis, tableKey)
  const base = GenesisState.checkpointOf(genesis, ledger).hash
  const record = ledger.read.epoch
  const weight = EpochRecord.totalWeight(record)
  let nonce = 0
  let previous = ledger.read.head.hash
  let before: Vertex.Vertex | undefined
  return operations.map((sent, i) => {
    const at = round(i + 1)
    const transactions = sent.map(([fee, operation]) =>
      Transaction.sign(
        genesis.networkId,
        { from: bob.address, nonce: Natural.nonce(nonce++), fee: sats(fee), operation },
        bob.key,
      ),
    )
    const parents =
      before === undefined
        ? []
        : [{ round: before.header.round, author: before.header.author, hash: before.header.hash }]
    const vertex = Vertex.sign(
      {
        base,
        epoch: epoch(1),
        round: at,
        parents,
        timestamp: Natural.timestamp(500 * at),
        coinbase: EpochRecord.coinbase(record.rules, at, weight, weight),
      },
      { ...Vertex.emptyBody, transactions },
      alice.key,
    )
    const commit = Commit.make({
      index: Natural.commitIndex(i + 1),
      epoch: epoch(1),
      leaderRound: at,
      leaderHash: vertex.header.hash,
      previous,
    })
    const time = Natural.timestamp(500 * i)
    const { effectsDigest } = ledger
    const execution = Either.getOrThrow(ledger.execute({ commit, time, vertices: [vertex] }))
    previous = commit.hash
    before = vertex
    return {
      index: commit.index,
      hash: commit.hash,
      time,
      vertices: [hex(vertex.encoded)],
      outcomes: execution.vertices.map((outcome) => outcome.transactions.map(({ _tag }) => _tag)),
      changes: hex(execution.changes.encoded),
      effects_digest: execution.effectsDigest,
      effects_digest_in_version_3: Effects.digestWith(
        Outcomes.digest([vertex], execution.vertices),
        effectsDigest,
        execution.changes,
      ),
      state_root: rootOf(ledger),
    }
  })
}

export const state = {
  records: [...accounts, ...others],
  genesis: {
    smallest: genesisVector(files.smallest),
    full: genesisVector(files.full),
    with_faucet: genesisVector(files.with_faucet),
  },
  commits: { genesis: "with_faucet", commits: commits() },
}
