/** The mutated parts of the program and the tests that judge them. */

/** Each starts with a copy of the repository and a first run of its tests, so a few subjects are faster than many. */
export interface Subject {
  /** Files and folders below `src`. */
  readonly paths: ReadonlyArray<string>
  /** Their test files below `test`, fastest first, because each survivor runs all of its tests. */
  readonly tests: ReadonlyArray<string>
}

const inFolder =
  (folder: string) =>
  (...names: ReadonlyArray<string>): ReadonlyArray<string> =>
    names.map((name) => `${folder}/${name}`)

const protocol = inFolder("protocol")
const ledger = inFolder("ledger")
const consensus = inFolder("consensus")
const replica = inFolder("replica")

export const subjects: ReadonlyArray<Subject> = [
  {
    paths: protocol("numbers", "encoding", "identity"),
    tests: protocol(
      ...[
        "Natural",
        "Element",
        "Words",
        "Parameters",
        "Name",
        "Network",
        "Hash",
        "Hex",
        "Json",
        "JsonProblem",
        "Text",
        "Bytes",
        "Binary",
        "Message",
        "Keys",
      ],
      ...["Slab", "JsonText", "Address", "Sats"],
    ),
  },
  { paths: ["protocol/crypto"], tests: protocol("crypto/Crypto", "crypto/Cofactored") },
  {
    paths: protocol("transaction"),
    tests: protocol(
      ...["Charges", "ProposalFailure", "ProposalPayload", "Operation", "TransactionJson", "Transaction"],
      "Verification",
    ),
  },
  {
    paths: protocol("vertex", "epoch"),
    tests: protocol(
      ...["Vertex", "Commit", "Heartbeat", "Header", "EpochRecord", "FirstEpoch", "Signers", "Evidence"],
      ...["Checkpoint", "Genesis"],
    ),
  },
  {
    paths: ["protocol/state"],
    tests: protocol("AccountRecord", "StateRecord", "StateTree", "StateProof"),
  },

  {
    paths: ledger(...["Batch", "Leaf", "TrieNode", "Span", "Trie", "Update"].map((name) => `trie/${name}.ts`)),
    tests: ledger("trie/Batch", "trie/Trie"),
  },
  {
    paths: ledger("trie/Position.ts", "trie/Subtree.ts", "trie/Assembly.ts"),
    tests: ledger("trie/Assembly"),
  },
  {
    paths: ledger("rules", "Ledger.ts", "Reads.ts", "ExecutionFault.ts"),
    tests: ledger(
      ...[
        "ExecutionFault",
        "transactions",
        "committee",
        "governance",
        "decisions",
        "delegatorList",
        "staking",
        "slashing",
        "leaving",
        "attacks",
        "ledger",
        "rejections",
      ],
    ),
  },
  {
    paths: ["ledger/tables"],
    tests: ledger(
      ...["Order", "NameIndex", "transactions", "committee", "Delegators", "Accounts", "AddressIndex", "HashIndex"],
      ...["Cells", "governance", "decisions", "staking", "slashing", "leaving", "records", "recount", "pool", "ledger"],
    ),
  },
  {
    paths: ["ledger/pending"],
    tests: ledger(
      ...["Inclusions", "PendingTransactions", "Unpaid", "Choice", "NaivePool"].map((name) => `pending/${name}`),
    ),
  },

  {
    paths: ["consensus/dag"],
    tests: consensus("Tally", "Dag", "Equivocation", "QuorumProgress", "Validity", "SeatSet", "Committee", "Proposal"),
  },
  { paths: ["consensus/commit"], tests: consensus("Committer", "CommitterEdges", "Linearizer", "CheckpointQuorum") },
  {
    paths: ["consensus/admission"],
    tests: consensus("EarlyVertices", "WaitingRoom", "Fetches", "Admission", "SecondVertices"),
  },
  {
    paths: consensus("CheckpointQuorum.ts", "SigningGuard.ts", "RoundClock.ts", "Heartbeats.ts"),
    tests: consensus("Heartbeats", "RoundClock", "SigningGuard", "CheckpointQuorum"),
  },
  { paths: consensus("Pace.ts", "Retries.ts"), tests: consensus("Pace", "Retries") },
  { paths: consensus("Epoch.ts"), tests: consensus("EpochSteps", "CoreSteps", "CoreRestart", "CoreCheckpoints") },
  {
    paths: consensus("Core.ts", "HighestHeaders.ts", "OwnRounds.ts", "StoredOwn.ts", "output"),
    tests: consensus("CoreSteps", "CoreRestart", "CoreCheckpoints", "Laggard", "HeaderUse"),
  },

  {
    paths: replica("joining/ProvenChain.ts", "joining/Histories.ts", "joining/Inquiry.ts"),
    tests: replica("ProvenChain", "Histories"),
  },
  { paths: ["replica/joining/StateDownload.ts"], tests: replica("StateDownload") },
  {
    paths: replica("signing", "asking", "messages", "live", "output", "disk/Agreement.ts", "disk/PageLimit.ts"),
    tests: replica(
      ...[
        "Outbox",
        "PageLimit",
        "Checks",
        "StateViews",
        "UnorderedVertices",
        "EvidencePool",
        "CatchingUp",
        "CommitteeClock",
        "Announcements",
        "Questions",
        "HeartbeatPool",
        "Signing",
        "CheckpointBuilding",
        "Peers",
      ],
      ...["VertexBody", "LiveState", "Agreement", "SignedGossip", "Relaying"],
    ),
  },
]
