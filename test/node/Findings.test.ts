import { Option } from "effect"
import { expect, it } from "vitest"
import * as Findings from "../../src/node/reads/Findings.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"

const well: Findings.Seen = {
  dag: { status: "healthy", quietMs: 0, isForeign: false },
  finality: { status: "healthy", lag: 0 },
  state: { status: "healthy" },
  seat: { status: "healthy", epoch: 3, hitch: null },
  signer: Option.none(),
  upgrade: { status: "healthy", decided: 2, known: 2 },
  directory: { status: "healthy", lost: null },
  mempool: { status: "healthy", size: 0, capacity: 10_000 },
  network: { ofPeers: "healthy", peers: 3, enough: 3, ofLayer: "healthy", failures: 0 },
  checkpoints: { status: "healthy", age: 0 },
  clock: Option.none(),
  sync: Option.none(),
  catchUp: Option.none(),
  recovery: Option.none(),
  components: [{ name: "feed", status: "running", restarts: 0 }],
}

const key = Address.fromPublicKey(SecretKey.generate().publicKey)
const ALERTS = "docs/operations/alerts.md"
const MONITORING = "docs/operations/monitoring.md"

it("is empty for a healthy node", () => {
  expect(Findings.of(well)).toEqual([])
})

it.each<readonly [component: string, status: string, wrong: Partial<Findings.Seen>, reason: string, page: string]>([
  [
    "dag",
    "warning",
    { dag: { status: "warning", quietMs: 5_400, isForeign: false } },
    "no new round for 5 seconds",
    `${ALERTS}#udgfinalitystands`,
  ],
  [
    "dag",
    "unhealthy",
    { dag: { status: "unhealthy", quietMs: 0, isForeign: true } },
    "this validator's key has signed vertices that are not on this disk",
    `${ALERTS}#udgvalidatorsilent`,
  ],
  [
    "finality",
    "warning",
    { finality: { status: "warning", lag: 4 } },
    "4 rounds are not final yet",
    `${ALERTS}#udgfinalitylag`,
  ],
  [
    "state",
    "unhealthy",
    { state: { status: "unhealthy" } },
    "the ledger has stopped, and the node is ending",
    "docs/operations.md#exit-codes",
  ],
  [
    "signer",
    "warning",
    { signer: Option.some({ status: "warning", silentMs: 4_200, refusal: null }) },
    "the signer has not answered for 4 seconds: this validator cannot sign until it does; the log of module validator names the cause",
    `${ALERTS}#udgsigneraway`,
  ],
  [
    "signer",
    "unhealthy",
    { signer: Option.some({ status: "unhealthy", silentMs: 64_000, refusal: "it is on another network" }) },
    "the signer has refused to sign for 64 seconds: it is on another network",
    `${ALERTS}#udgsigneraway`,
  ],
  [
    "seat",
    "warning",
    { seat: { status: "warning", epoch: 3, hitch: null } },
    "this validator has stake and no seat in epoch 3: it neither signs nor earns until an epoch's close gives it a seat",
    `${ALERTS}#udgvalidatorwithoutseat`,
  ],
  [
    "seat",
    "warning",
    { seat: { status: "warning", epoch: 3, hitch: { key, isInForce: true, why: "it is nowhere" } } },
    `this validator cannot sign: its key is now the one with the address ${key}, and it is nowhere`,
    "docs/operations/keys.md#changing-a-validators-key",
  ],
  [
    "seat",
    "warning",
    { seat: { status: "warning", epoch: 3, hitch: { key, isInForce: false, why: "it is nowhere" } } },
    `this validator cannot sign once its key changes to the one with the address ${key}: it is nowhere`,
    "docs/operations/keys.md#changing-a-validators-key",
  ],
  [
    "data_directory",
    "unhealthy",
    { directory: { status: "unhealthy", lost: "/var/lib/udg/udg.db is gone" } },
    "/var/lib/udg/udg.db is gone; the node is ending",
    "docs/operations/backup.md#a-data-directory-that-vanished",
  ],
  [
    "mempool",
    "unhealthy",
    { mempool: { status: "unhealthy", size: 9_000, capacity: 10_000 } },
    "9000 of 10000 places are taken",
    `${ALERTS}#udgmempoolsize`,
  ],
  [
    "network",
    "unhealthy",
    { network: { ...well.network, ofPeers: "unhealthy", peers: 0 } },
    "no peer is connected; expected 3 or more",
    `${ALERTS}#udgpeercount`,
  ],
  [
    "network",
    "unhealthy",
    // Too few peers are more serious than a bug, which is reported once there are enough.
    { network: { ofPeers: "unhealthy", peers: 1, enough: 2, ofLayer: "warning", failures: 2 } },
    "only 1 peer is connected; expected 2, since the committee has no more",
    `${ALERTS}#udgpeercount`,
  ],
  [
    "network",
    "warning",
    { network: { ...well.network, ofLayer: "warning", failures: 1 } },
    "a bug ended work for a peer 1 time; see the causes in the log of module network",
    `${MONITORING}#a-bug-in-the-network-layer`,
  ],
  [
    "network",
    "warning",
    { network: { ...well.network, ofLayer: "warning" } },
    "all places for strangers that dial in are taken",
    `${MONITORING}#no-free-place`,
  ],
  [
    "checkpoints",
    "warning",
    { checkpoints: { status: "warning", age: 501 } },
    "the latest quorum checkpoint is 501 rounds old",
    `${ALERTS}#udgcheckpointage`,
  ],
  [
    "clock",
    "warning",
    { clock: Option.some({ status: "warning", aheadMs: -3_000 }) },
    "the wall clock is 3000 ms behind the committee's",
    `${ALERTS}#udgclockoff`,
  ],
  [
    "clock",
    "warning",
    { clock: Option.some({ status: "warning", aheadMs: 3_000 }) },
    "the wall clock is 3000 ms ahead of the committee's",
    `${ALERTS}#udgclockoff`,
  ],
  [
    "sync",
    "degraded",
    { sync: Option.some({ status: "degraded", percent: 40 }) },
    "the node is fetching an epoch's closing state: 40 percent has arrived",
    "docs/recovery.md",
  ],
  [
    "catch_up",
    "degraded",
    { catchUp: Option.some({ status: "degraded", round: 10, reachedRound: 40 }) },
    "30 rounds are missing and being fetched",
    "docs/recovery.md",
  ],
  [
    "recovery",
    "degraded",
    { recovery: Option.some({ status: "degraded", waitsFor: ["peers", "signatures"] }) },
    "waiting for peers; signatures",
    "docs/recovery.md",
  ],
  [
    "feed",
    "degraded",
    { components: [{ name: "feed", status: "restarting", restarts: 1 }] },
    "it failed and is being restarted; see the log for the cause",
    `${MONITORING}#what-is-healthy`,
  ],
])("names the problem of %s, %s, and the page to read", (component, status, wrong, reason, page) => {
  expect(Findings.of({ ...well, ...wrong })).toEqual([{ component, status, reason, page }])
})
