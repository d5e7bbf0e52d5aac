/** The package as its users import it: a separate project, compiled strictly, calls every endpoint of a live node. */
import { transformSync } from "esbuild"
import { expect, it } from "vitest"
import * as Definition from "../../src/effect3/http/Definition.js"
import { Api } from "../../src/rpc/api/Api.js"
import { forTests } from "../support/forTests.js"
import * as Rest from "../support/Rest.js"
import * as Stranger from "../testing/Stranger.js"
import * as RealNode from "./RealNode.js"

const ADDRESS = "http://127.0.0.1:10333"

/** `Every` makes the compiler reject a missing endpoint, and `Said` a missing failure. */
const PROGRAM = `
import { FetchHttpClient, HttpApiClient, HttpClient, HttpClientResponse } from "@effect/platform"
import { type HttpClientError } from "@effect/platform"
import { Effect, type ParseResult, Schema, Stream } from "effect"
import { Api, Event, type Failure } from "udg-node/api"
import { Address, Epoch, Hash, ProposalId, Round, Sats } from "udg-node/client"
import * as Wallet from "udg-node/wallet"

const baseUrl = "${ADDRESS}"
const connected = HttpApiClient.make(Api, { baseUrl })
type Client = Effect.Effect.Success<typeof connected>
type Known = Failure.Failure | HttpClientError.HttpClientError | ParseResult.ParseError
type Every = { readonly [G in keyof Client]: { readonly [E in keyof Client[G]]: Effect.Effect<unknown, Known> } }

const program = Effect.gen(function* () {
  const http = yield* HttpClient.HttpClient
  const client = yield* connected
  const { address, secret_key } = yield* client.core.keygen()
  const network = Wallet.network(yield* client.core.network())
  const ofWallet = Wallet.generate()
  const wallet = Wallet.account(network, ofWallet)
  const transfer = wallet.transfer({ to: address, amount: 1, fee: 1000, nonce: 0 })
  if (transfer.type !== "Transfer") throw new Error("it is a transfer")
  const hash = Hash("00".repeat(32))
  const amount = Sats(1)
  const fee = Sats(1000)
  const round = Round(1)
  const firstEvent = http.get(baseUrl + "/events?type=round").pipe(
    HttpClientResponse.stream,
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line.startsWith("data: ")),
    Stream.mapEffect((line) => Schema.decode(Schema.parseJson(Event))(line.slice("data: ".length))),
    Stream.runHead,
  )

  const every: Every = {
    core: {
      status: client.core.status(),
      balance: client.core.balance({ path: { address } }),
      policy: client.core.policy({ path: { address } }),
      names: client.core.names({ urlParams: { addresses: address } }),
      search: client.core.search({ urlParams: { prefix: "00000000" } }),
      health: client.core.health(),
      ready: client.core.ready(),
      healthReport: client.core.healthReport(),
      keygen: client.core.keygen(),
      faucet: client.core.faucet({ payload: { address, amount: Sats(100) } }),
      mempool: client.core.mempool(),
      peers: client.core.peers(),
      network: client.core.network(),
    },
    transactions: {
      // One key comes from the API, the other from the wallet, which has a key class of its own.
      send: client.transactions.send({ payload: { secret_key, to: address, amount, fee } }),
      submit: client.transactions.submit({ payload: transfer }),
      lookup: client.transactions.lookup({ path: { hash } }),
      history: client.transactions.history({ path: { address }, urlParams: {} }),
      latest: client.transactions.latest({ urlParams: { limit: 2 } }),
      statement: client.transactions.statement({ path: { address }, urlParams: {} }),
    },
    archive: {
      balances: client.archive.balances({ path: { address }, urlParams: {} }),
      richest: client.archive.richest({ urlParams: {} }),
      statistics: client.archive.statistics({ urlParams: { interval: "hour" } }),
    },
    staking: {
      stake: client.staking.stake({ payload: { secret_key: ofWallet, amount: Sats(200_000_000_000) } }),
      unstake: client.staking.unstake({ payload: { secret_key } }),
      stakeOf: client.staking.stakeOf({ path: { address } }),
      validators: client.staking.validators(),
    },
    delegation: {
      delegate: client.delegation.delegate({ payload: { secret_key, validator: Address("11".repeat(20)), amount } }),
      undelegate: client.delegation.undelegate({ payload: { secret_key } }),
      setCommission: client.delegation.setCommission({ payload: { secret_key, commission_percent: 5 } }),
      delegationOf: client.delegation.delegationOf({ path: { address } }),
      delegators: client.delegation.delegators({ path: { address } }),
    },
    governance: {
      propose: client.governance.propose({
        payload: { secret_key, title: "Rest", description: "", proposal_type: { Text: {} }, fee },
      }),
      vote: client.governance.vote({ payload: { secret_key, proposal_id: ProposalId(1), vote: true, fee } }),
      proposals: client.governance.proposals(),
      proposal: client.governance.proposal({ path: { id: ProposalId(1) } }),
      voteOf: client.governance.voteOf({ path: { id: ProposalId(1), address } }),
      config: client.governance.config(),
    },
    dag: {
      round: client.dag.round({ path: { round: Round(1_000_000_000) } }),
      vertex: client.dag.vertex({ path: { hash } }),
      columns: client.dag.columns({ urlParams: { rounds: 3 } }),
    },
    checkpoints: {
      latest: client.checkpoints.latest(),
      list: client.checkpoints.list({ urlParams: { closing: "only", limit: 3 } }),
      checkpoint: client.checkpoints.checkpoint({ path: { round } }),
      byHash: client.checkpoints.byHash({ path: { hash } }),
      closing: client.checkpoints.closing({ path: { epoch: Epoch(0) } }),
      state: client.checkpoints.state({ path: { root: hash, position: "00".repeat(33) } }),
      transactionProof: client.checkpoints.transactionProof({ path: { hash } }),
      proof: client.checkpoints.proof({ path: { address: "@nobody-has-it" } }),
    },
    monitoring: {
      metrics: client.monitoring.metrics(),
      metricsJson: client.monitoring.metricsJson(),
      history: client.monitoring.history({ urlParams: {} }),
      attendance: client.monitoring.attendance({ urlParams: { range: "day" } }),
      validatorRounds: client.monitoring.validatorRounds({ path: { address }, urlParams: {} }),
    },
    // The stream never ends, so code that reads whole responses cannot read it.
    events: { stream: firstEvent },
    documents: { openapi: client.documents.openapi(), reference: client.documents.reference() },
  }
  for (const [group, endpoints] of Object.entries(every)) {
    for (const [name, call] of Object.entries<Effect.Effect<unknown, Known>>(endpoints)) {
      const said = yield* Effect.match(call, { onSuccess: () => "answers", onFailure: ({ _tag }) => _tag })
      console.log(group + "." + name, said)
    }
  }
})

await Effect.runPromise(program.pipe(Effect.provide(FetchHttpClient.layer)))
`

/** The calls that fail for an account without coins on a node without an archive. All others succeed. */
const FAILURES = {
  "core.policy": "PolicyNotFound",
  "transactions.send": "InsufficientBalance",
  "transactions.submit": "InsufficientBalance",
  "transactions.lookup": "TransactionNotFound",
  "archive.balances": "NotServed",
  "archive.richest": "NotServed",
  "archive.statistics": "NotServed",
  "staking.stake": "InsufficientBalance",
  "staking.unstake": "InvalidTransaction",
  "delegation.delegate": "InvalidTransaction",
  "delegation.undelegate": "InvalidTransaction",
  "delegation.setCommission": "InvalidTransaction",
  "delegation.delegationOf": "DelegationNotFound",
  "governance.propose": "NotAllowed",
  "governance.vote": "ProposalNotFound",
  "governance.proposal": "ProposalNotFound",
  "governance.voteOf": "ProposalNotFound",
  "dag.round": "RoundNotFound",
  "dag.vertex": "VertexNotFound",
  "checkpoints.checkpoint": "CheckpointNotFound",
  "checkpoints.byHash": "CheckpointNotFound",
  "checkpoints.closing": "CheckpointNotFound",
  "checkpoints.state": "CheckpointNotFound",
  "checkpoints.transactionProof": "TransactionNotFound",
  "checkpoints.proof": "NameNotFound",
} as const

const node = forTests(() => RealNode.start())

it("calls every endpoint through HttpApiClient and receives each failure by its tag", async () => {
  const { code: program } = transformSync(PROGRAM.replaceAll(ADDRESS, node().url), { loader: "ts", format: "esm" })
  const { code, said } = await Stranger.run(program)
  const endpoints = Definition.all(Api).map(({ group, name }) => `${group}.${name}`)
  const failures = new Map<string, string>(Object.entries(FAILURES))
  // A young node may have no checkpoint yet.
  const calm = said.replace("checkpoints.latest CheckpointNotFound", "checkpoints.latest answers")
  expect(calm.trim().split("\n").sort()).toEqual(
    endpoints.map((name) => `${name} ${failures.get(name) ?? "answers"}`).sort(),
  )
  expect(code).toBe(0)
})

it(Rest.of("the compiler", "compiles strictly with every declaration of the package"), async () => {
  expect(await Stranger.compile([PROGRAM], "nodenext")).toEqual({ code: 0, said: "" })
}, 240_000)
