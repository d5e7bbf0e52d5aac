/**
 * Logs the node's events under the module each concerns: epochs at `info`; commits, rounds, checkpoints and decisions
 * at `debug`; vertices and transactions at `trace`.
 */
import { Effect, Option } from "effect"
import type { Event, Outcome } from "../../ledger/rules/Execution.js"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import * as Log from "../log/Log.js"
import type { NodeEvent } from "./NodeEvent.js"

type Executed = Extract<NodeEvent, { readonly _tag: "Executed" }>
/** The account of the validator that signs with a key. */
type AccountOf = (key: Address) => Address
type Record = Effect.Effect<void>

const log = {
  checkpoints: Log.for("checkpoints"),
  consensus: Log.for("consensus"),
  dag: Log.for("dag"),
  governance: Log.for("governance"),
  mempool: Log.for("mempool"),
  staking: Log.for("staking"),
  state: Log.for("state"),
  storage: Log.for("storage"),
  sync: Log.for("sync"),
  validator: Log.for("validator"),
}

const ofTransaction = ({ id, from, nonce, fee, operation }: Transaction): Log.Fields => ({
  tx: id,
  type: operation._tag,
  from,
  nonce,
  fee,
})

const ofOutcome = (outcome: Outcome | undefined): string | undefined =>
  outcome?._tag === undefined || outcome._tag === "Applied" ? outcome?._tag : `${outcome._tag}: ${outcome.reason._tag}`

const ofEvent = (event: Event): Record => {
  const { _tag, ...fields } = event
  switch (_tag) {
    case "Slashed":
      return log.staking.debug("slashed", fields)
    case "Unlocked":
      return log.staking.debug("unlocked", fields)
    case "ProposalDecided":
      return log.governance.debug("proposal decided", fields)
    case "ProposalCarriedOut":
      return log.governance.debug("proposal carried out", fields)
  }
}

const ownVertices = ({ execution }: Executed, self: Option.Option<Address>): Record =>
  Effect.forEach(
    execution.vertices.filter(({ author }) => Option.contains(self, author)),
    ({ vertex, minted, transactions }) =>
      log.validator.debug("own vertex finalized", { vertex, minted, transactions: transactions.length }),
    { discard: true },
  )

const ordered = ({ vertices }: Executed, accountOf: AccountOf): Record =>
  log.dag.traceEach(() =>
    vertices.map(({ header: { hash, round, author, parents }, body: { transactions } }) => [
      "vertex ordered",
      { vertex: hash, round, author: accountOf(author), parents: parents.length, transactions: transactions.length },
    ]),
  )

const executed = ({ vertices, execution }: Executed): Record =>
  log.state.traceEach(() =>
    vertices.flatMap(({ body }, i) =>
      body.transactions.map((transaction, j) => [
        "transaction executed",
        { ...ofTransaction(transaction), outcome: ofOutcome(execution.vertices[i]?.transactions[j]) },
      ]),
    ),
  )

/** Governance and staking requests, as opposed to events the ledger causes itself. */
const MODULE_OF: { readonly [T in Transaction["operation"]["_tag"]]: "governance" | "staking" | undefined } = {
  Transfer: undefined,
  StakeTx: "staking",
  UnstakeTx: "staking",
  DelegateTx: "staking",
  UndelegateTx: "staking",
  SetCommissionTx: "staking",
  CreateProposalTx: "governance",
  VoteTx: "governance",
  RegisterNameTx: undefined,
  SetAccountPolicyTx: undefined,
  RotateKeyTx: "staking",
}

const subjects = ({ vertices, execution }: Executed): Record =>
  Effect.forEach(
    vertices.flatMap(({ body }, i) =>
      body.transactions.flatMap((transaction, j) => {
        const module = MODULE_OF[transaction.operation._tag]
        return module === undefined ? [] : [{ module, transaction, outcome: execution.vertices[i]?.transactions[j] }]
      }),
    ),
    ({ module, transaction, outcome }) =>
      log[module].debug("transaction executed", () => ({ ...ofTransaction(transaction), outcome: ofOutcome(outcome) })),
    { discard: true },
  )

/** A vote for it would stop this node. */
const unknownVersions = ({ vertices, execution }: Executed): Record =>
  Effect.forEach(
    vertices.flatMap(({ body }, i) =>
      body.transactions.flatMap(({ operation }, j) => {
        const isApplied = execution.vertices[i]?.transactions[j]?._tag === "Applied"
        return isApplied && operation._tag === "CreateProposalTx" ? [operation.payload] : []
      }),
    ),
    (payload) =>
      payload._tag === "ParameterChange" &&
      payload.param === ProtocolVersion.PARAMETER &&
      payload.value > ProtocolVersion.NEWEST
        ? log.governance.warn("a proposal names a protocol version that this program does not know", {
            version: payload.value,
            known: ProtocolVersion.NEWEST,
          })
        : Effect.void,
    { discard: true },
  )

const commit = (event: Executed, self: Option.Option<Address>, accountOf: AccountOf): Record => {
  const { commit, vertices, events, changes, totals } = event.execution
  const { index, leaderRound } = commit
  const count = (): number => vertices.reduce((sum, { transactions }) => sum + transactions.length, 0)
  return Effect.all(
    [
      log.consensus.debug("commit", () => ({
        commit: index,
        round: leaderRound,
        vertices: vertices.length,
        transactions: count(),
      })),
      ordered(event, accountOf),
      log.state.debug("executed", { commit: index, changes: changes.size, supply: totals.total }),
      executed(event),
      subjects(event),
      unknownVersions(event),
      Effect.forEach(events, ofEvent, { discard: true }),
      ownVertices(event, self),
      log.storage.debug("commit is on disk", { commit: index }),
    ],
    { discard: true },
  )
}

export const write = (event: NodeEvent, self: Option.Option<Address>, accountOf: AccountOf): Record => {
  switch (event._tag) {
    case "Executed":
      return commit(event, self, accountOf)
    case "RoundReached":
      return log.dag.debug("round reached", { round: event.round })
    case "TakenIn":
      return Effect.zipRight(
        log.mempool.debug("taken in", { transactions: event.received.length }),
        log.mempool.traceEach(() => event.received.map(({ transaction }) => ["taken in", ofTransaction(transaction)])),
      )
    case "CheckpointBuilt": {
      const { checkpoint, bytes, isCosigned } = event
      return log.checkpoints.debug("built", { round: checkpoint.round, checkpoint: checkpoint.hash, bytes, isCosigned })
    }
    case "CheckpointFinal": {
      const { checkpoint, signatures } = event.signed
      return log.checkpoints.debug("signed by a quorum", { round: checkpoint.round, signatures: signatures.length })
    }
    case "EpochStarted": {
      const { epoch, firstRound, members } = event.opening.record
      const account = Option.map(self, accountOf)
      const hasSeat = members.some(({ address }) => Option.contains(account, accountOf(address)))
      return log.staking.info("epoch begins", { epoch, round: firstRound, members: members.length, hasSeat })
    }
    case "Joining":
      return log.sync.debug("joining", () => ({ ...event.progress }))
    case "Joined":
      return log.sync.debug("joined", { epoch: event.opening.record.epoch, checkpoint: event.target.checkpoint.hash })
    case "ForeignOwnHeader":
      return log.validator.debug("a header with this node's key that it has not signed", { round: event.header.round })
  }
}
