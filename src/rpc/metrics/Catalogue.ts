/**
 * All series of a node; the documentation's page of metrics is made from this list. Names and types follow Prometheus'
 * conventions, except for those that the interface fixes.
 */
import type { Figures, Measured } from "../../node/reads/Metrics.js"
import { counter, type Family, gauge, histogram, labelled } from "./Family.js"
import type { Latencies } from "./Latencies.js"

export interface OfHttp {
  readonly latencies: Latencies
  readonly defects: ReadonlyMap<string, number>
}

type Of<M> = ReadonlyArray<Family<M>>

/** The series without a prefix, whose names the specification fixes. */
const specified: Of<Measured> = [
  counter(
    "checkpoint_produced_total",
    "Checkpoints produced by this node",
    (m) => m.counters.counts.checkpointsProduced,
  ),
  gauge(
    "checkpoint_production_duration_ms",
    "Duration of the last checkpoint production in milliseconds",
    (m) => m.counters.counts.checkpointProductionMs,
  ),
  gauge("checkpoint_size_bytes", "Size of the last checkpoint in bytes", (m) => m.counters.counts.checkpointBytes),
  counter(
    "checkpoint_cosigned_total",
    "Checkpoints co-signed by this node",
    (m) => m.counters.counts.checkpointsCosigned,
  ),
  counter(
    "checkpoint_quorum_reached_total",
    "Checkpoints that reached a quorum",
    (m) => m.counters.counts.checkpointQuorums,
  ),
  counter(
    "checkpoint_validation_failures_total",
    "Invalid checkpoints, and invalid signatures under checkpoints",
    (m) => m.counters.counts.checkpointValidationFailures,
  ),
  counter("fast_sync_success_total", "Fast syncs that succeeded", (m) => m.counters.counts.fastSyncs),
  counter(
    "checkpoint_persist_success_total",
    "Checkpoints written to the disk",
    (m) => m.counters.counts.checkpointsPersisted,
  ),
]

/** A node exposes these about itself, `udg exporter` about a remote node. */
const shared: Of<{ readonly figures: Figures }> = [
  gauge("udg_dag_round", "Highest round seen in the DAG", (m) => m.figures.dagRound),
  gauge("udg_finalized_round", "Round of the last committed leader", (m) => m.figures.finalizedRound),
  gauge("udg_finality_lag", "Rounds between the highest and the last finalized one", (m) => m.figures.finalityLag),
  gauge("udg_peer_count", "Connected nodes", (m) => m.figures.peers),
  gauge("udg_mempool_size", "Pending transactions", (m) => m.figures.mempoolSize),
  gauge("udg_checkpoint_latest", "Round of the latest quorum checkpoint", (m) => m.figures.latestCheckpoint),
  gauge("udg_total_supply_sats", "Total supply in sats", (m) => m.figures.totalSupply),
  gauge("udg_total_staked_sats", "Own stakes and delegations, in sats", (m) => m.figures.totalStaked),
  gauge(
    "udg_active_validators",
    "Validators with an active stake among the 100 largest",
    (m) => m.figures.activeValidators,
  ),
  gauge("udg_dag_vertices", "Vertices that the node holds", (m) => m.figures.vertices),
  gauge("udg_uptime_seconds", "Seconds since the node started", (m) => m.figures.uptimeSeconds),
]

const ofTransactions: Of<Measured> = [
  counter(
    "udg_transactions_final_total",
    "Final transactions that were applied, or failed for a fee",
    (m) => m.counters.counts.transactions,
  ),
  labelled(
    "counter",
    "udg_transactions_ordered_total",
    "Transactions in final vertices; outcome NoEffect: another vertex had it first, or a rule forbade it",
    ["outcome"],
    (m) => Object.entries(m.counters.outcomes),
  ),
  labelled(
    "counter",
    "udg_transactions_refused_total",
    "Clients' rejected transactions by error code",
    ["reason"],
    (m) => [...m.counters.refusals],
  ),
  counter("udg_mempool_admitted_total", "Transactions that entered the mempool", (m) => m.mempool.admitted),
  labelled(
    "counter",
    "udg_mempool_removed_total",
    "Transactions that left the mempool: executed, replaced by one with a higher fee, evicted from a full pool, expired, " +
      "or invalid since their sender's account changed",
    ["reason"],
    (m) => Object.entries(m.mempool.departed),
  ),
]

const ofConsensus: Of<Measured> = [
  histogram(
    "udg_finality_seconds",
    "Time from a vertex's arrival until it is final; excludes vertices fetched later",
    (m) => m.counters.finality,
  ),
  counter("udg_commits_total", "Committed leaders", (m) => m.counters.counts.commits),
  counter(
    "udg_leaders_skipped_total",
    "Leaders skipped because their vertex was missing or late",
    (m) => m.counters.participation.leadersSkipped,
  ),
  counter("udg_vertices_final_total", "Vertices that became final", (m) => m.counters.counts.finalVertices),
  gauge("udg_epoch", "The running epoch", (m) => m.epoch.number),
  gauge("udg_epoch_remaining_rounds", "Rounds until the nominal end of the epoch", (m) => m.epoch.roundsLeft),
  gauge("udg_protocol_version", "The protocol version in force", (m) => m.protocol.version),
  gauge(
    "udg_protocol_version_decided",
    "The protocol version after every upgrade that has passed",
    (m) => m.protocol.decided,
  ),
  gauge("udg_protocol_version_known", "The newest protocol version that the program knows", (m) => m.build.protocol),
  gauge("udg_committee_members", "Members of the committee", (m) => m.epoch.members),
  gauge(
    "udg_validator_in_committee",
    "1 if this validator has a seat in the running epoch, 0 if not; missing on a node without a validator key",
    (m) => (m.seat === null ? null : Number(m.seat.isTaken)),
  ),
  gauge(
    "udg_validator_weight_ratio",
    "This validator's share of the committee's weight, from 0 to 1",
    (m) => m.seat?.weightRatio ?? null,
  ),
  gauge(
    "udg_validator_active_stake_sats",
    "This validator's stake with its delegations, in sats; 0 while it is inactive and cannot get a seat",
    (m) => m.seat?.activeStake ?? null,
  ),
  gauge(
    "udg_signer_quiet_seconds",
    "How long the remote signer has been away or has left a statement unanswered; missing on a node without one",
    (m) => (m.signerQuietMs === null ? null : m.signerQuietMs / 1_000),
  ),
  counter("udg_validator_rounds_made_total", "Vertices that this node signed", (m) => m.counters.counts.ownVertices),
  counter(
    "udg_validator_rounds_missed_total",
    "Rounds in which this validator had a seat and none of its vertices became final",
    (m) => m.counters.participation.ownMissed,
  ),
  labelled(
    "counter",
    "udg_member_rounds_made_total",
    "Rounds in which a vertex of this member became final, since it got its seat; counted once the round is settled",
    ["validator"],
    (m) => [...m.counters.participation.members].map(([address, { made }]) => [address, made] as const),
  ),
  labelled(
    "counter",
    "udg_member_rounds_missed_total",
    "Rounds in which no vertex of this member became final, since it got its seat",
    ["validator"],
    (m) => [...m.counters.participation.members].map(([address, { missed }]) => [address, missed] as const),
  ),
  counter(
    "udg_equivocations_total",
    "Proofs found by this node that a member signed two vertices for one round",
    (m) => m.counters.counts.equivocations,
  ),
  counter("udg_slashings_total", "Slashed validators", (m) => m.counters.counts.slashings),
  gauge("udg_checkpoint_latest_timestamp_seconds", "Time of the commit under the latest quorum checkpoint", (m) =>
    m.checkpointTime === null ? null : m.checkpointTime / 1_000,
  ),
  gauge(
    "udg_clock_ahead_seconds",
    "How far the wall clock is ahead of the committee's median; missing until a quorum has been heard",
    (m) => (m.clockAheadMs === null ? null : m.clockAheadMs / 1_000),
  ),
  counter(
    "udg_pauses_total",
    "Times the process stalled for four intervals and at least two seconds, for example on a busy machine",
    (m) => m.pauses,
  ),
  gauge("udg_catch_up_rounds", "Rounds that this node is behind a quorum", (m) => m.roundsBehind),
  gauge(
    "udg_sync_records",
    "Records of the state fetched so far; missing while none is fetched",
    (m) => m.sync?.records ?? null,
  ),
  gauge(
    "udg_sync_ratio",
    "Share of the state fetched so far, from 0 to 1; missing while none is fetched",
    (m) => m.sync?.ratio ?? null,
  ),
]

const ofNetwork: Of<Measured> = [
  labelled(
    "counter",
    "udg_network_messages_total",
    "Messages between nodes, by kind and by the standing of the peer (member, named, stranger)",
    ["direction", "kind", "class"],
    (m) =>
      m.network.volume.amounts.map(({ direction, kind, of, messages }) => [direction, kind, of, messages] as const),
  ),
  labelled(
    "counter",
    "udg_network_message_bytes_total",
    "Bytes of messages between nodes, without framing and encryption",
    ["direction", "kind", "class"],
    (m) => m.network.volume.amounts.map(({ direction, kind, of, bytes }) => [direction, kind, of, bytes] as const),
  ),
  gauge("udg_questions_waiting", "Peers' requests waiting for an answer", (m) => m.load.questions.waiting),
  counter(
    "udg_answers_held_back_total",
    "Times all of peers' requests waited because the answer budget was exhausted",
    (m) => m.load.questions.heldBack,
  ),
  labelled(
    "counter",
    "udg_answers_refused_total",
    "Peers' requests dropped because too many of the same peer were waiting",
    ["class"],
    (m) => Object.entries(m.load.questions.dropped),
  ),
  counter(
    "udg_signature_checks_total",
    "Signatures checked; one that also needs the slow check counts twice",
    (m) => m.load.signatures.checked,
  ),
  gauge("udg_signature_checks_waiting", "Signatures waiting to be checked", (m) => m.load.signatures.waiting),
  counter(
    "udg_judging_failures_total",
    "Peers' messages and requests that a bug prevented the node from checking",
    (m) => m.counters.counts.judgingFailures,
  ),
  counter("udg_network_failures_total", "Times a bug ended a peer's message or connection", (m) => m.network.failures),
  gauge("udg_network_free_places", "Free places for strangers' connections", (m) => m.network.freePlaces),
]

const ofMachine: Of<Measured> = [
  labelled(
    "gauge",
    "udg_database_size_bytes",
    "Size of each database and its write-ahead log; missing with --ephemeral",
    ["file"],
    (m) => m.disk?.files ?? [],
  ),
  gauge(
    "udg_data_directory_free_bytes",
    "Free space on the disk of the data directory; missing with --ephemeral",
    (m) => m.disk?.freeBytes ?? null,
  ),
  labelled(
    "gauge",
    "udg_build_info",
    "Always 1; the labels are the versions of the program, the protocol, the wire and the database",
    ["version", "protocol", "wire", "database"],
    ({ build: { version, protocol, wire, database } }) => [
      [version, String(protocol), String(wire), String(database), 1],
    ],
  ),
  labelled(
    "gauge",
    "udg_info",
    "Always 1; the labels are the program's version, the network and its mode",
    ["version", "network_id", "mode"],
    ({ build: { version, networkId, mode } }) => [[version, networkId, mode, 1]],
  ),
]

const ofArchive: Of<Measured> = [
  gauge(
    "udg_archive_commit",
    "The last commit in the archive's database; only of udg archive",
    (m) => m.recording?.commit ?? null,
  ),
  gauge(
    "udg_archive_lag_commits",
    "Commits that the archive has executed and its database lacks; only of udg archive",
    (m) => m.recording?.lag ?? null,
  ),
]

const ofHttp: Of<OfHttp> = [
  labelled(
    "histogram",
    "udg_http_request_duration_seconds",
    "Time from a request's headers to its answer; method is other if no endpoint has it",
    ["route", "method", "status"],
    (m) => m.latencies.rows,
  ),
  labelled(
    "counter",
    "udg_http_defects_total",
    "Requests that failed through a bug of the node; the log names each cause once",
    ["route"],
    (m) => [...m.defects],
  ),
]

/** A gateway's measurements of its backends. */
interface OfGateway {
  readonly commit: number
  readonly nodes: number
  readonly healthy: number
}

/** Series that no node has. */
export const ofGatewayAlone: Of<OfGateway> = [
  gauge(
    "udg_gateway_commit",
    "The last commit that the gateway has seen in its archive; only of udg gateway",
    (m) => m.commit,
  ),
  gauge("udg_gateway_nodes", "Nodes that the gateway is configured with; only of udg gateway", (m) => m.nodes),
  gauge(
    "udg_gateway_nodes_healthy",
    "Nodes that answered the gateway's last request; only of udg gateway",
    (m) => m.healthy,
  ),
]

export const ofGateway: Of<OfGateway & OfHttp> = [...ofGatewayAlone, ...ofHttp]

export const ofElsewhere = shared

export const all: Of<Measured & OfHttp> = [
  ...specified,
  ...shared,
  ...ofTransactions,
  ...ofConsensus,
  ...ofNetwork,
  ...ofMachine,
  ...ofArchive,
  ...ofHttp,
]
