/** Describes the problem of each unhealthy part of the node. */
import { Option } from "effect"
import * as Words from "../../protocol/numbers/Words.js"
import type { Component } from "../lifecycle/Supervisor.js"
import type { Hitch } from "./KeyWatch.js"
import { type Found, PAGES } from "./Problems.js"

type Status = "healthy" | Found["status"]

interface Part {
  readonly status: Status
}

export interface Seen {
  readonly dag: Part & { readonly quietMs: number; readonly isForeign: boolean }
  readonly finality: Part & { readonly lag: number }
  readonly state: Part
  readonly seat: Part & { readonly epoch: number; readonly hitch: Hitch | null }
  /** None for a node that holds its own key, or none. */
  readonly signer: Option.Option<Part & { readonly silentMs: number; readonly refusal: string | null }>
  /** A vote has passed for a version of the protocol that this program does not know. */
  readonly upgrade: Part & { readonly decided: number; readonly known: number }
  readonly directory: Part & { readonly lost: string | null }
  readonly mempool: Part & { readonly size: number; readonly capacity: number }
  /** `ofPeers`: whether there are enough peers. `ofLayer`: this node's own problem, full places or a bug. */
  readonly network: {
    readonly ofPeers: Status
    readonly peers: number
    /** How many peers are healthy. */
    readonly enough: number
    readonly ofLayer: Status
    readonly failures: number
  }
  readonly checkpoints: Part & { readonly age: number }
  readonly clock: Option.Option<Part & { readonly aheadMs: number }>
  readonly sync: Option.Option<Part & { readonly percent: number }>
  readonly catchUp: Option.Option<Part & { readonly round: number; readonly reachedRound: number }>
  readonly recovery: Option.Option<Part & { readonly waitsFor: ReadonlyArray<string> }>
  readonly components: ReadonlyArray<Component>
}

const wrong = (component: string, status: Status, page: string, reason: string): ReadonlyArray<Found> =>
  status === "healthy" ? [] : [{ component, status, reason, page }]

const dag = ({ status, quietMs, isForeign }: Seen["dag"]) =>
  isForeign
    ? wrong("dag", status, PAGES.silent, "this validator's key has signed vertices that are not on this disk")
    : wrong("dag", status, PAGES.standing, `no new round for ${Words.counted(Math.round(quietMs / 1_000), "second")}`)

const peersOf = (peers: number): string =>
  peers === 0 ? "no peer is connected" : peers === 1 ? "only 1 peer is connected" : `only ${peers} peers are connected`

/** With fewer than four validators, there are no more to connect to. */
const expectedOf = (enough: number): string =>
  enough < 3 ? `expected ${enough}, since the committee has no more` : `expected ${enough} or more`

const network = ({ ofPeers, peers, enough, ofLayer, failures }: Seen["network"]) => {
  if (ofPeers !== "healthy") return wrong("network", ofPeers, PAGES.peers, `${peersOf(peers)}; ${expectedOf(enough)}`)
  return failures > 0
    ? wrong(
        "network",
        ofLayer,
        PAGES.failures,
        `a bug ended work for a peer ${Words.counted(failures, "time")}; see the causes in the log of module network`,
      )
    : wrong("network", ofLayer, PAGES.places, "all places for strangers that dial in are taken")
}

const seat = ({ status, epoch, hitch }: Seen["seat"]) =>
  hitch !== null
    ? wrong(
        "seat",
        status,
        PAGES.keys,
        hitch.isInForce
          ? `this validator cannot sign: its key is now the one with the address ${hitch.key}, and ${hitch.why}`
          : `this validator cannot sign once its key changes to the one with the address ${hitch.key}: ${hitch.why}`,
      )
    : wrong(
        "seat",
        status,
        PAGES.seat,
        `this validator has stake and no seat in epoch ${epoch}: it neither signs nor earns until an epoch's close gives it a seat`,
      )

/** Only the log names another cause than the signer's own words: it may hold the signer's address. */
const signer = ({ status, silentMs, refusal }: Option.Option.Value<Seen["signer"]>) => {
  const long = Words.counted(Math.round(silentMs / 1_000), "second")
  const reason =
    refusal === null
      ? `the signer has not answered for ${long}: this validator cannot sign until it does; the log of module validator names the cause`
      : `the signer has refused to sign for ${long}: ${refusal}`
  return wrong("signer", status, PAGES.signer, reason)
}

export const upgrade = ({ status, decided, known }: Seen["upgrade"]) =>
  wrong(
    "upgrade",
    status,
    PAGES.upgrade,
    `the network upgrades to protocol version ${decided}, but this program knows only up to ${known}: it exits before the first ` +
      "round of the new version",
  )

const roundsAre = (rounds: number, are: string): string =>
  `${Words.counted(rounds, "round")} ${rounds === 1 ? "is" : "are"} ${are}`

const checkpoints = ({ status, age }: Seen["checkpoints"]) =>
  wrong("checkpoints", status, PAGES.checkpoints, `the latest quorum checkpoint is ${Words.counted(age, "round")} old`)

const clock = ({ status, aheadMs }: Option.Option.Value<Seen["clock"]>) =>
  wrong(
    "clock",
    status,
    PAGES.clock,
    `the wall clock is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? "behind" : "ahead of"} the committee's`,
  )

export const of = (seen: Seen): ReadonlyArray<Found> => {
  const { finality, state, directory, mempool, components } = seen
  return [
    ...dag(seen.dag),
    ...wrong("finality", finality.status, PAGES.lag, roundsAre(finality.lag, "not final yet")),
    ...wrong("state", state.status, PAGES.stopped, "the ledger has stopped, and the node is ending"),
    ...seat(seen.seat),
    ...Option.toArray(seen.signer).flatMap(signer),
    ...upgrade(seen.upgrade),
    ...wrong("data_directory", directory.status, PAGES.directory, `${directory.lost ?? ""}; the node is ending`),
    ...wrong("mempool", mempool.status, PAGES.mempool, `${mempool.size} of ${mempool.capacity} places are taken`),
    ...network(seen.network),
    ...checkpoints(seen.checkpoints),
    ...Option.toArray(seen.clock).flatMap(clock),
    ...Option.toArray(seen.sync).flatMap(({ status, percent }) =>
      wrong(
        "sync",
        status,
        PAGES.recovery,
        `the node is fetching an epoch's closing state: ${percent} percent has arrived`,
      ),
    ),
    ...Option.toArray(seen.catchUp).flatMap(({ status, round, reachedRound }) =>
      wrong("catch_up", status, PAGES.recovery, roundsAre(reachedRound - round, "missing and being fetched")),
    ),
    ...Option.toArray(seen.recovery).flatMap(({ status, waitsFor }) =>
      wrong("recovery", status, PAGES.recovery, `waiting for ${waitsFor.join("; ")}`),
    ),
    ...components.flatMap(({ name, status }) =>
      wrong(
        name,
        status === "restarting" ? "degraded" : "healthy",
        PAGES.restarting,
        "it failed and is being restarted; see the log for the cause",
      ),
    ),
  ]
}
