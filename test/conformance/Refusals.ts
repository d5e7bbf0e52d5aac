/** Requests that must fail, each with its status, code and fields. */
import * as Address from "../../src/protocol/identity/Address.js"
import type { Shape } from "./Shape.js"
import * as Is from "./Shape.js"
import type { Mode } from "./TestNode.js"
import type { World } from "./World.js"

export interface Refusal {
  readonly method: string
  readonly route: string | undefined
  readonly because: string
  readonly path: (world: World) => string
  /** A JSON value, or text that is sent unchanged. */
  readonly body?: (world: World) => unknown
  readonly headers?: string
  readonly status: number
  readonly code: string
  readonly more?: Readonly<Record<string, Shape>>
  /** A pattern of the message. */
  readonly says?: RegExp
  readonly only?: Mode
  /** An `InvalidRequest` that parses, but violates a rule or does not fit this network. */
  readonly isReadable?: true
}

const COIN = 100_000_000
const ZEROS = "0".repeat(64)
const field = (name: string) => ({ field: Is.exactly(name) })

/** The rest of a case in which this field is invalid. */
const invalid = (name: string, rest: Partial<Refusal> = {}) =>
  [400, "InvalidRequest", { more: field(name), ...rest }] as const

/** The rest of a case that violates this rule, with the field that is to blame if there is one. */
const broken = (rule: string, name?: string, rest: Partial<Refusal> = {}) =>
  [
    400,
    "InvalidTransaction",
    { more: { ...(name !== undefined && field(name)), rule: Is.exactly(rule) }, ...rest },
  ] as const

const get = (
  route: string | undefined,
  because: string,
  path: string | ((world: World) => string),
  status: number,
  code: string,
  rest: Partial<Refusal> = {},
): Refusal => ({
  method: "GET",
  route,
  because,
  path: typeof path === "string" ? () => path : path,
  status,
  code,
  ...rest,
})

/** The same account on either network. */
const SOMEBODY = "9f3c1a2b4d5e6f708192a3b4c5d6e7f8091a2b3c" as Address.Address
const OTHER = { testnet: Address.toBech32(SOMEBODY, "tudg"), mainnet: Address.toBech32(SOMEBODY, "udg") }

const ofAccount = ["/balance/:address", "/stake/:address", "/delegation/:address", "/validator/:address/delegators"]
  .concat(
    ["/vote/1/:address", "/proof/:address", "/account/:address/transactions", "/account/:address/policy"].concat(
      "/validator/:address/rounds",
    ),
  )
  .flatMap((path): ReadonlyArray<Refusal> => {
    const route = path.replace("/vote/1/", "/vote/:id/")
    const named = (text: string) => path.replace(":address", text)
    const invalid = (because: string, text: (world: World) => string, says: RegExp) =>
      get(route, because, (world) => named(text(world)), 400, "InvalidRequest", { more: field("address"), says })
    return [
      invalid("39 characters", () => "a".repeat(39), /40 hex|address/),
      invalid("no hex", () => "g".repeat(40), /40 hex|address/),
      invalid(
        "a checksum that is wrong",
        ({ node }) => `${node.accounts.alice.addressBech32.slice(0, -1)}!`,
        /bech32m/,
      ),
      invalid(
        "an address of the other network",
        ({ node }) => (node.mode === "testnet" ? OTHER.mainnet : OTHER.testnet),
        /other network/,
      ),
      invalid("a secret key", ({ node }) => node.keys.alice.toSecretHex(), /a text of 64 characters is not/),
      invalid("no name", () => "@-x", /3 to 20 characters/),
      get(route, "a name that nobody has", named("@nobody-has-it"), 404, "NameNotFound"),
    ]
  })

const missing: ReadonlyArray<Refusal> = [
  get("/dag", "more rounds than one answer shows", "/dag?rounds=121", ...invalid("rounds")),
  get("/dag", "no rounds", "/dag?rounds=0", ...invalid("rounds")),
  get("/dag", "no round", "/dag?from=x", ...invalid("from")),
  get("/tx/:hash", "nobody sent it", `/tx/${ZEROS}`, 404, "TransactionNotFound"),
  get("/tx/:hash", "it had no effect", ({ withoutEffect }) => `/tx/${withoutEffect.hash}`, 404, "TransactionNotFound", {
    more: { vertex_hash: Is.hex32, round: Is.integer, reason: Is.words },
    says: /had no effect in vertex [0-9a-f]+\S* of round \d+, .*: .*smart account/,
  }),
  get("/tx/:hash", "no hash", "/tx/abc", ...invalid("hash")),
  get("/vertex/:hash", "there is none", `/vertex/${ZEROS}`, 404, "VertexNotFound"),
  get("/vertex/:hash", "no hash", "/vertex/5", ...invalid("hash")),
  get("/round/:round", "not reached", "/round/999999999", 404, "RoundNotFound", {
    more: { reason: Is.exactly("not_reached") },
  }),
  get("/round/:round", "negative", "/round/-1", ...invalid("round")),
  get("/round/:round", "a fraction", "/round/1.5", ...invalid("round")),
  get("/round/:round", "beyond what is exact", "/round/9007199254740993", ...invalid("round")),
  get("/proposal/:id", "there is none", "/proposal/77", 404, "ProposalNotFound"),
  get("/proposal/:id", "no number", "/proposal/x", ...invalid("id")),
  get("/vote/:id/:address", "no proposal", "/vote/77/@alice", 404, "ProposalNotFound"),
  get("/vote/:id/:address", "no number", "/vote/x/@alice", ...invalid("id")),
  get(
    "/delegation/:address",
    "delegates to nobody",
    ({ node }) => `/delegation/${node.accounts.erin.address}`,
    404,
    "DelegationNotFound",
  ),
  get(
    "/account/:address/policy",
    "one key signs",
    ({ node }) => `/account/${node.accounts.erin.address}/policy`,
    404,
    "PolicyNotFound",
  ),
  get("/checkpoint/:round", "there is none", "/checkpoint/999999999", 404, "CheckpointNotFound"),
  get("/checkpoint/:round", "no number", "/checkpoint/last", ...invalid("round")),
  get("/checkpoint/hash/:hash", "there is none", `/checkpoint/hash/${ZEROS}`, 404, "CheckpointNotFound"),
  get("/checkpoint/hash/:hash", "no hash", "/checkpoint/hash/5", ...invalid("hash")),
  get("/checkpoint/epoch/:epoch", "it has not closed", "/checkpoint/epoch/999999999", 404, "CheckpointNotFound"),
  get("/checkpoint/epoch/:epoch", "the genesis", "/checkpoint/epoch/0", 404, "CheckpointNotFound", { says: /genesis/ }),
  get("/checkpoint/epoch/:epoch", "no number", "/checkpoint/epoch/x", ...invalid("epoch")),
  get("/state/:root/:position", "there is none", `/state/${ZEROS}/${"00".repeat(33)}`, 404, "CheckpointNotFound"),
  get("/state/:root/:position", "no root", `/state/5/${"00".repeat(33)}`, ...invalid("root")),
  get("/state/:root/:position", "no place", `/state/${ZEROS}/00`, ...invalid("position")),
  get("/proof/tx/:hash", "unknown", `/proof/tx/${ZEROS}`, 404, "TransactionNotFound"),
  get("/proof/tx/:hash", "pending", ({ pending }) => `/proof/tx/${pending}`, 404, "TransactionNotFound", {
    says: /is pending/,
  }),
  get(
    "/proof/tx/:hash",
    "without effect",
    (world) => `/proof/tx/${world.withoutEffect.hash}`,
    404,
    "TransactionNotFound",
    {
      more: { vertex_hash: Is.hex32, round: Is.integer, reason: Is.words },
      says: /had no effect/,
    },
  ),
  get("/proof/tx/:hash", "no hash", "/proof/tx/5", ...invalid("hash")),
  get("/account/:address/transactions", "too many", "/account/@alice/transactions?limit=101", ...invalid("limit")),
  get("/account/:address/transactions", "none", "/account/@alice/transactions?limit=0", ...invalid("limit")),
  get("/account/:address/transactions", "no type", "/account/@alice/transactions?type=Gift", ...invalid("type")),
  get("/account/:address/transactions", "no cursor", "/account/@alice/transactions?cursor=%21", ...invalid("cursor")),
]

/** Requests that need an archive; a node says so. */
export const archived: ReadonlyArray<Refusal> = [
  get("/account/:address/balances", "no archive", "/account/@alice/balances", 501, "NotServed", { says: /gateway/ }),
  get("/accounts", "no archive", "/accounts", 501, "NotServed", { says: /gateway/ }),
  get("/statistics", "no archive", "/statistics", 501, "NotServed", { says: /gateway/ }),
  get("/transactions", "no archive for words", "/transactions?words=rent", 501, "NotServed", { says: /gateway/ }),
]

const monitoring: ReadonlyArray<Refusal> = [
  get("/account/:address/balances", "no step", "/account/@alice/balances?step=0", ...invalid("step")),
  get("/account/:address/balances", "no commit", "/account/@alice/balances?commit=x", ...invalid("commit")),
  get("/accounts", "too many", "/accounts?limit=101", ...invalid("limit")),
  get("/statistics", "no interval", "/statistics?interval=week", ...invalid("interval")),
  get("/statistics", "too many", "/statistics?limit=501", ...invalid("limit")),
  get("/transactions", "no words", "/transactions?words=", ...invalid("words")),
  get("/transactions", "no moment", "/transactions?until=now", ...invalid("until")),
  get(
    "/account/:address/transactions",
    "no direction",
    "/account/@alice/transactions?direction=up",
    ...invalid("direction"),
  ),
  get("/account/:address/transactions", "no moment", "/account/@alice/transactions?from=now", ...invalid("from")),
  get("/checkpoints", "too many", "/checkpoints?limit=101", ...invalid("limit")),
  get("/checkpoints", "no round", "/checkpoints?before=-1", ...invalid("before")),
  get("/search", "too few characters", "/search?prefix=ab", ...invalid("prefix")),
  get("/search", "too many", `/search?prefix=${"a".repeat(65)}`, ...invalid("prefix")),
  get("/search", "no name and no digits", "/search?prefix=%25%25%25%25", ...invalid("prefix")),
  get("/search", "nothing", "/search", ...invalid("prefix")),
  get("/metrics/history", "a range that there is not", "/metrics/history?range=week", ...invalid("range")),
  get("/metrics/history", "no moment", "/metrics/history?since=1.5", ...invalid("since")),
  get("/metrics/validators", "a range that there is not", "/metrics/validators?range=", ...invalid("range")),
  get(
    "/validator/:address/rounds",
    "a range twice",
    "/validator/@alice/rounds?range=day&range=day",
    ...invalid("range"),
  ),
]

const lostKeys: ReadonlyArray<Refusal> = [
  get("/tx/:hash", "a secret key", ({ node }) => `/tx/${node.keys.bob.toSecretHex()}`, 404, "TransactionNotFound"),
  get("/vertex/:hash", "a secret key", ({ node }) => `/vertex/${node.keys.bob.toSecretHex()}`, 404, "VertexNotFound"),
  get(undefined, "a secret key in it", ({ node }) => `/nothing/${node.keys.bob.toSecretHex()}`, 404, "PathNotFound"),
  {
    method: "POST",
    route: "/balance/:address",
    because: "a secret key in it",
    path: ({ node }) => `/balance/${node.keys.bob.toSecretHex()}`,
    status: 405,
    code: "MethodNotAllowed",
    more: { allowed: Is.list(Is.words) },
  },
]

const paths: ReadonlyArray<Refusal> = ["/nothing", "/status/", "/balance", "/Status", "/%", "//status"].map((path) => ({
  method: "GET",
  route: undefined,
  because: "there is nothing",
  path: () => path,
  status: 404,
  code: "PathNotFound",
  says: /GET \/docs/,
}))

/** The allowed methods, in the body and in the header. */
const methods: ReadonlyArray<Refusal> = (
  [
    ["POST", "/status", ["GET", "HEAD", "OPTIONS"]],
    ["DELETE", "/balance/@alice", ["GET", "HEAD", "OPTIONS"]],
    ["GET", "/tx", ["POST", "OPTIONS"]],
    ["GET", "/tx/submit", ["POST", "OPTIONS"]],
    ["PUT", "/stake", ["POST", "OPTIONS"]],
    ["PATCH", "/metrics", ["GET", "HEAD", "OPTIONS"]],
    ["POST", "/keygen", ["GET", "HEAD", "OPTIONS"]],
    ["GET", "/faucet", ["POST", "OPTIONS"]],
  ] as const
).map(([method, path, allowed]) => ({
  method,
  route: path.replace("@alice", ":address"),
  because: "it is asked for otherwise",
  path: () => path,
  status: 405,
  code: "MethodNotAllowed",
  more: { allowed: Is.list(Is.exactly(...allowed), { least: allowed.length, most: allowed.length }) },
}))

const post = (
  route: string,
  because: string,
  body: (world: World) => unknown,
  status: number,
  code: string,
  rest: Partial<Refusal> = {},
): Refusal => ({ method: "POST", route, because, path: () => route, body, status, code, ...rest })

/** The ten endpoints that a mainnet lacks, with the alternative to each. */
export const gated = [
  ["POST", "/tx", "Transfer"],
  ["POST", "/stake", "StakeTx"],
  ["POST", "/unstake", "UnstakeTx"],
  ["POST", "/delegate", "DelegateTx"],
  ["POST", "/undelegate", "UndelegateTx"],
  ["POST", "/set-commission", "SetCommissionTx"],
  ["POST", "/proposal", "CreateProposalTx"],
  ["POST", "/vote", "VoteTx"],
  ["POST", "/faucet", "Transfer"],
  ["GET", "/keygen", "Transfer"],
] as const

const gone: ReadonlyArray<Refusal> = gated.flatMap(([method, path, type]): ReadonlyArray<Refusal> => {
  const refusal = {
    method,
    route: path,
    path: () => path,
    status: 410,
    code: "TestnetOnly",
    only: "mainnet",
    says: new RegExp(`(?=.*/tx/submit)(?=.*${type})`),
  } as const
  if (method === "GET") return [{ ...refusal, because: "this is a mainnet" }]
  return [
    { ...refusal, because: "this is a mainnet", body: () => ({ secret_key: "00".repeat(32), amount: 1 }) },
    {
      ...refusal,
      because: "this is a mainnet, whatever the body is",
      body: () => "{broken",
      headers: "Content-Type: text/plain\r\n",
    },
  ]
})

const secret = (world: World, name: keyof World["node"]["keys"]): string => world.node.keys[name].toSecretHex()

/** A valid body for each endpoint that signs by itself. Cases change one field. */
const convenience: ReadonlyArray<readonly [string, (world: World) => object, ReadonlyArray<string>]> = [
  ["/tx", () => ({ to: "@alice", amount: 1, fee: 1_000 }), ["to", "amount", "fee"]],
  ["/stake", () => ({ amount: 2_000 * COIN }), ["amount"]],
  ["/unstake", () => ({}), []],
  ["/delegate", () => ({ validator: "@alice", amount: COIN }), ["validator", "amount"]],
  ["/undelegate", () => ({}), []],
  ["/set-commission", () => ({ commission_percent: 5 }), ["commission_percent"]],
  [
    "/proposal",
    () => ({ title: "t", description: "", proposal_type: { Text: {} }, fee: 1_000 }),
    ["title", "description", "proposal_type", "fee"],
  ],
  ["/vote", () => ({ proposal_id: 1, vote: true, fee: 1_000 }), ["proposal_id", "vote", "fee"]],
]

const amounts = [-1, 1.5, "5", null, 2_100_000_000_000_001, true, [], 1e300]

const conveniences: ReadonlyArray<Refusal> = convenience.flatMap(([route, body, fields]): ReadonlyArray<Refusal> => {
  const good = (world: World) => ({ secret_key: secret(world, "dave"), ...body(world) })
  const testnet = (
    because: string,
    body: (world: World) => unknown,
    status: number,
    code: string,
    rest: Partial<Refusal> = {},
  ) => post(route, because, body, status, code, { only: "testnet", ...rest })
  return [
    testnet("no body", () => "", ...invalid("body")),
    testnet("broken JSON", () => '{"amount": 1', ...invalid("body")),
    testnet("no object", () => [1], 400, "InvalidRequest", { more: { field: Is.words } }),
    testnet("no secret key", (world) => ({ ...good(world), secret_key: undefined }), ...invalid("secret_key")),
    testnet(
      "a secret key that is none",
      (world) => ({ ...good(world), secret_key: "abc" }),
      ...invalid("secret_key", { says: /64 hex/ }),
    ),
    testnet("an unknown field", (world) => ({ ...good(world), more: 1 }), ...invalid("more")),
    ...fields.map((name) =>
      testnet(`no ${name}`, (world) => ({ ...good(world), [name]: undefined }), ...invalid(name)),
    ),
    ...fields
      .filter((name) => name === "amount" || name === "fee")
      .flatMap((name) =>
        amounts.map((amount) =>
          testnet(
            `${name} ${JSON.stringify(amount)}`,
            (world) => ({ ...good(world), [name]: amount }),
            ...invalid(name),
          ),
        ),
      ),
    testnet("a body of another type", good, 415, "UnsupportedMediaType", { headers: "Content-Type: text/plain\r\n" }),
    testnet("a body of no type", good, 415, "UnsupportedMediaType", { headers: "" }),
    testnet("a body that is too large", () => `"${"x".repeat(65_536)}"`, 413, "BodyTooLarge", {
      more: { limit: Is.exactly(65_536) },
    }),
    testnet("a smart account", (world) => ({ ...good(world), secret_key: secret(world, "carol") }), 403, "NotAllowed", {
      says: /smart account/,
    }),
  ]
})

/** A body that this account signs. */
const by =
  (name: keyof World["node"]["keys"], fields: object = {}) =>
  (world: World) => ({ secret_key: secret(world, name), ...fields })

const proposal = (change: object, name: keyof World["node"]["keys"] = "alice") =>
  by(name, { title: "t", description: "", proposal_type: { Text: {} }, fee: 1_000, ...change })

const rules: ReadonlyArray<Refusal> = [
  post(
    "/tx",
    "an amount of 0",
    by("dave", { to: "@alice", amount: 0, fee: 1_000 }),
    ...invalid("amount", { isReadable: true }),
  ),
  post(
    "/tx",
    "a memo of 257 bytes",
    by("dave", { to: "@alice", amount: 1, fee: 1_000, memo: "x".repeat(257) }),
    ...invalid("memo"),
  ),
  post(
    "/tx",
    "a memo that is no text",
    (world) => `{"secret_key":"${secret(world, "dave")}","to":"@alice","amount":1,"fee":1000,"memo":"\\ud800"}`,
    400,
    "InvalidRequest",
    { more: { field: Is.words } },
  ),
  post(
    "/tx",
    "too low a fee",
    by("dave", { to: "@alice", amount: 1, fee: 999 }),
    ...broken("fee_below_minimum", "fee", { says: /^the fee is 0\.00000999 UDG \(999 sats\)/ }),
  ),
  post(
    "/tx",
    "more than there is",
    by("dave", { to: "@alice", amount: 1_000_000 * COIN, fee: 1_000 }),
    400,
    "InsufficientBalance",
    { more: { balance: Is.integer, required: Is.exactly(1_000_000 * COIN + 1_000), pending: Is.integer } },
  ),
  post(
    "/tx",
    "a name that nobody has",
    by("dave", { to: "@nobody-has-it", amount: 1, fee: 1_000 }),
    404,
    "NameNotFound",
  ),
  post(
    "/tx",
    "an address of the other network",
    by("dave", { to: OTHER.mainnet, amount: 1, fee: 1_000 }),
    ...invalid("to", { says: /other network/, isReadable: true }),
  ),
  post(
    "/stake",
    "less than the minimum",
    by("erin", { amount: 199_999_999_999 }),
    ...invalid("amount", { says: /2000 UDG \(200000000000 sats\)/, isReadable: true }),
  ),
  post("/stake", "it leaves", by("dave", { amount: 2_000 * COIN }), ...broken("leaving")),
  post("/stake", "it delegates", by("frank", { amount: 2_000 * COIN }), ...broken("delegates_already")),
  post("/stake", "more than there is", by("erin", { amount: 200_000 * COIN }), 400, "InsufficientBalance", {
    more: { balance: Is.integer, required: Is.integer, pending: Is.integer },
  }),
  post("/unstake", "nothing staked", by("erin"), ...broken("not_staking")),
  post(
    "/delegate",
    "to itself",
    by("alice", { validator: "@alice", amount: COIN }),
    ...broken("own_validator", "validator"),
  ),
  post(
    "/delegate",
    "to no validator",
    (world) => ({
      secret_key: secret(world, "erin"),
      validator: world.node.accounts.carol.addressBech32,
      amount: COIN,
    }),
    ...broken("validator_not_active", "validator"),
  ),
  post("/delegate", "to nobody", by("erin", { validator: "@nobody-has-it", amount: COIN }), 404, "NameNotFound"),
  post(
    "/delegate",
    "too little",
    by("erin", { validator: "@alice", amount: COIN - 1 }),
    ...broken("delegation_below_minimum", "amount", { says: /1 UDG \(100000000 sats\)/ }),
  ),
  post(
    "/delegate",
    "nothing at all",
    by("erin", { validator: "@alice", amount: 0 }),
    ...invalid("amount", { isReadable: true }),
  ),
  post("/undelegate", "nothing delegated", by("erin"), ...broken("not_delegating")),
  post("/set-commission", "no stake", by("erin", { commission_percent: 5 }), ...broken("not_staking")),
  ...[101, -1, 0.5, "5"].map((percent) =>
    post(
      "/set-commission",
      `${JSON.stringify(percent)} percent`,
      by("alice", { commission_percent: percent }),
      ...invalid("commission_percent"),
    ),
  ),
  post("/proposal", "no stake", proposal({}, "erin"), 403, "NotAllowed"),
  post("/proposal", "no title", proposal({ title: "" }), ...invalid("title")),
  post("/proposal", "a title of 129 bytes", proposal({ title: `${"\u00e9".repeat(64)}x` }), ...invalid("title")),
  post(
    "/proposal",
    "a description of 4097 bytes",
    proposal({ description: "x".repeat(4_097) }),
    ...invalid("description"),
  ),
  post(
    "/proposal",
    "no such type",
    proposal({ proposal_type: { Burn: {} } }),
    ...invalid("proposal_type", { says: /Text, ParameterChange, CouncilMembership, TreasurySpend/ }),
  ),
  post(
    "/proposal",
    "no such parameter",
    proposal({ proposal_type: { ParameterChange: { param: "max_supply", value: 1 } } }),
    ...broken("unknown_parameter", "proposal_type.ParameterChange.param"),
  ),
  post(
    "/proposal",
    "a value out of bounds",
    proposal({ proposal_type: { ParameterChange: { param: "slash_percent", value: 101 } } }),
    ...broken("parameter_out_of_bounds", "proposal_type.ParameterChange.value", { says: /from 10 to 100/ }),
  ),
  post(
    "/proposal",
    "a recipient of the other network",
    proposal({ proposal_type: { TreasurySpend: { recipient: OTHER.mainnet, amount: 1 } } }),
    ...invalid("proposal_type.TreasurySpend.recipient", { isReadable: true }),
  ),
  post("/vote", "voted already", by("alice", { proposal_id: 1, vote: false, fee: 1_000 }), 409, "AlreadyVoted"),
  post("/vote", "no vote", by("erin", { proposal_id: 1, vote: true, fee: 1_000 }), 403, "NotAllowed"),
  post("/vote", "no proposal", by("alice", { proposal_id: 77, vote: true, fee: 1_000 }), 404, "ProposalNotFound"),
  post("/vote", "neither yes nor no", by("alice", { proposal_id: 1, vote: "yes", fee: 1_000 }), ...invalid("vote")),
  ...[-1, 0.5, "1", 0, 100_000 * COIN + 1].map((amount) =>
    post(
      "/faucet",
      `${JSON.stringify(amount)} sats`,
      (world) => ({ address: world.node.accounts.erin.address, amount }),
      400,
      "InvalidRequest",
      // Numbers that parse, but that the faucet refuses.
      { more: field("amount"), ...(amount === 0 || Number(amount) > COIN ? { isReadable: true } : {}) },
    ),
  ),
  post("/faucet", "to nobody", () => ({ address: "@nobody-has-it", amount: 1 }), 404, "NameNotFound"),
  post(
    "/faucet",
    "to the other network",
    () => ({ address: OTHER.mainnet, amount: 1 }),
    ...invalid("address", { says: /other network/, isReadable: true }),
  ),
].map((refusal): Refusal => ({ ...refusal, only: "testnet" }))

const signed = (world: World, name: "dave" | "erin" | "alice", change: object = {}, nonce = 50) => ({
  ...world.node.accounts[name].transfer({ to: world.node.accounts.bob.address, amount: 1, fee: 2_000, nonce }),
  ...change,
})

/** In both modes: the only endpoint for signed transactions. */
const submissions: ReadonlyArray<Refusal> = [
  post("/tx/submit", "no body", () => "", ...invalid("body")),
  post("/tx/submit", "broken JSON", () => "{]", ...invalid("body")),
  post("/tx/submit", "no such type", (world) => signed(world, "dave", { type: "Burn" }), ...invalid("type")),
  post("/tx/submit", "an unknown field", (world) => signed(world, "dave", { more: 1 }), ...invalid("more")),
  post("/tx/submit", "no nonce", (world) => signed(world, "dave", { nonce: undefined }), ...invalid("nonce")),
  post(
    "/tx/submit",
    "no signature",
    (world) => signed(world, "dave", { signature: undefined }),
    ...invalid("signature"),
  ),
  post("/tx/submit", "no key", (world) => signed(world, "dave", { pub_key: undefined }), ...invalid("pub_key")),
  ...amounts.map((amount) =>
    post(
      "/tx/submit",
      `amount ${JSON.stringify(amount)}`,
      (world) => signed(world, "dave", { amount }),
      ...invalid("amount"),
    ),
  ),
  post("/tx/submit", "another's signature", (world) => signed(world, "dave", { amount: 2 }), 400, "InvalidSignature"),
  post(
    "/tx/submit",
    "another's signature, and a used nonce",
    (world) => signed(world, "dave", { amount: 2 }, 0),
    400,
    "NonceTooLow",
    { more: { next_nonce: Is.exactly(2) } },
  ),
  post(
    "/tx/submit",
    "another's key",
    (world) => signed(world, "dave", { pub_key: world.node.accounts.erin.publicKey }),
    400,
    "InvalidSignature",
  ),
  post(
    "/tx/submit",
    "a smart account by one key",
    ({ node: { accounts } }) => accounts.carol.transfer({ to: accounts.bob.address, amount: 1, fee: 1_000, nonce: 2 }),
    400,
    "InvalidSignature",
  ),
  post("/tx/submit", "a used nonce", (world) => signed(world, "dave", {}, 0), 400, "NonceTooLow", {
    more: { next_nonce: Is.exactly(2) },
  }),
  post("/tx/submit", "a nonce too far ahead", (world) => signed(world, "dave", {}, 66), 400, "NonceTooHigh", {
    more: { next_nonce: Is.exactly(2), max_nonce: Is.exactly(65) },
  }),
  post("/tx/submit", "a pending nonce", (world) => signed(world, "erin", {}, 7), 409, "NoncePending", {
    more: { min_fee: Is.exactly(2_200) },
  }),
  post(
    "/tx/submit",
    "too low a fee",
    ({ node: { accounts } }) => accounts.dave.transfer({ to: accounts.bob.address, amount: 1, fee: 999, nonce: 2 }),
    ...broken("fee_below_minimum", "fee", { says: /^the fee is 0\.00000999 UDG \(999 sats\)/ }),
  ),
  post(
    "/tx/submit",
    "more than there is",
    ({ node: { accounts } }) =>
      accounts.dave.transfer({ to: accounts.bob.address, amount: 1_000_000 * COIN, fee: 1_000, nonce: 2 }),
    400,
    "InsufficientBalance",
    { more: { balance: Is.integer, required: Is.exactly(1_000_000 * COIN + 1_000), pending: Is.integer } },
  ),
  post(
    "/tx/submit",
    "a name that is taken",
    ({ node: { accounts } }) => accounts.dave.registerName({ name: "alice", fee: 100_000, nonce: 2 }),
    409,
    "NameTaken",
  ),
  post(
    "/tx/submit",
    "voted already",
    ({ node: { accounts } }) => accounts.alice.vote({ proposal_id: 1, vote: false, fee: 1_000, nonce: 5 }),
    409,
    "AlreadyVoted",
  ),
  post(
    "/tx/submit",
    "no vote",
    ({ node: { accounts } }) => accounts.dave.vote({ proposal_id: 1, vote: false, fee: 1_000, nonce: 2 }),
    403,
    "NotAllowed",
  ),
  post(
    "/tx/submit",
    "no proposal",
    ({ node: { accounts } }) => accounts.alice.vote({ proposal_id: 77, vote: true, fee: 1_000, nonce: 5 }),
    404,
    "ProposalNotFound",
  ),
  post("/tx/submit", "an empty array", () => [], ...invalid("body")),
  post("/tx/submit", "1001 of them", () => Array.from({ length: 1_001 }, () => 1), ...invalid("body")),
  post("/tx/submit", "one that is too large", () => `{"a":"${"x".repeat(65_536)}"}`, 413, "BodyTooLarge", {
    more: { limit: Is.exactly(65_536) },
  }),
  post("/tx/submit", "an array that is too large", () => `[${" ".repeat(1_048_576)}]`, 413, "BodyTooLarge", {
    more: { limit: Is.exactly(1_048_576) },
  }),
  post("/tx/submit", "a body of another type", () => "x", 415, "UnsupportedMediaType", {
    headers: "Content-Type: text/plain\r\n",
  }),
]

export const refusals: ReadonlyArray<Refusal> = [
  ...ofAccount,
  ...missing,
  ...monitoring,
  ...lostKeys,
  ...paths,
  ...methods,
  ...gone,
  ...conveniences,
  ...rules,
  ...submissions,
]

/** Valid requests to every endpoint that signs by itself. */
const signedByNode: ReadonlyArray<Refusal> = [
  ...convenience.map(([route, body]): Refusal => {
    const good = (world: World) => ({ secret_key: secret(world, "dave"), ...body(world) })
    return post(route, "a gateway takes no secret keys", good, 501, "NotServed", { says: /secret.*\/tx\/submit/ })
  }),
  post(
    "/faucet",
    "a gateway has no coins",
    ({ node }) => ({ address: node.accounts.erin.address, amount: 1 }),
    501,
    "NotServed",
    { says: /faucet/ },
  ),
  get("/keygen", "a gateway makes no keys", "/keygen", 501, "NotServed"),
].map((refusal): Refusal => ({ ...refusal, only: "testnet" }))

/** Detected in a request before the state is read. */
const UNREADABLE: ReadonlyArray<string> = ["InvalidRequest", "BodyTooLarge", "UnsupportedMediaType", "MethodNotAllowed"]

/**
 * A gateway does not serve what a node checks with its state before it signs. It reads the body of such a request
 * first, so invalid ones are refused as elsewhere.
 */
export const ofGateway: ReadonlyArray<Refusal> = [
  ...signedByNode,
  ...refusals.map((refusal): Refusal => {
    const { method, route, code, only, isReadable = false } = refusal
    const isSigned = only === "testnet" && gated.some(([verb, path]) => verb === method && path === route)
    if (!isSigned || (UNREADABLE.includes(code) && !isReadable)) return refusal
    return { ...refusal, status: 501, code: "NotServed", more: {}, says: /./ }
  }),
]
