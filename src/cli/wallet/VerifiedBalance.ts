/** `udg balance --verify`: verifies the node's answer with the light client. */
import { Effect, Either, Option } from "effect"
import * as Visible from "../../client/Visible.js"
import * as Light from "../../light/Light.js"
import * as Address from "../../protocol/identity/Address.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import * as GenesisFile from "../../storage/files/GenesisFile.js"
import { fail } from "../keys/WalletFailure.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { quote, wrongUsage } from "../settings/WrongUsage.js"
import * as Figure from "../terminal/Figure.js"
import * as Out from "../terminal/Out.js"
import * as Paint from "../terminal/Paint.js"
import { Terminal } from "../terminal/Terminal.js"
import * as Describe from "./Describe.js"
import * as Verb from "./Verb.js"

const checking = Setting.group("Verification")

export const settings = {
  verify: checking.flag("--verify", "verify the node's answer with the light client, from --genesis or --trust"),
  genesis: checking.optional("--genesis FILE", "the file that defines the network", Reader.file),
  trust: checking.optional(
    "--trust EPOCH:HASH",
    "a closing checkpoint from a source you trust",
    Reader.trustedCheckpoint,
  ),
  also: checking.repeated("--also URL", "another node to ask as well; may be repeated", Reader.url),
}

interface Given {
  readonly account: Option.Option<string>
  readonly key: Option.Option<string>
  readonly node: string
  readonly genesis: Option.Option<string>
  readonly trust: Option.Option<{ readonly epoch: number; readonly hash: string }>
  readonly also: ReadonlyArray<string>
  readonly json: boolean
}

/** Asks the node for the network's kind, which checkpoints do not contain; only the form of addresses depends on it. */
const trustOf = (given: Given) =>
  Effect.gen(function* () {
    if (Option.isSome(given.trust)) {
      const { epoch, hash } = given.trust.value
      const { info } = yield* Verb.contact(given)
      return yield* Effect.try({
        try: () => Light.checkpoint(epoch, hash, info.mode),
        catch: () => wrongUsage(`--trust ${epoch}:${hash} is not the checkpoint of an epoch from 1`),
      })
    }
    if (Option.isNone(given.genesis)) {
      return yield* wrongUsage(
        "--verify needs a trusted start; name the network's --genesis FILE, or --trust EPOCH:HASH",
      )
    }
    const genesis = yield* Effect.mapError(GenesisFile.load(given.genesis.value), ({ message }) => wrongUsage(message))
    return Light.ofGenesis(genesis)
  })

const wantedOf = (given: Given, prefix: AddressPrefix) =>
  Effect.gen(function* () {
    if (Option.isNone(given.account)) {
      const { address } = yield* Verb.keyOf(given)
      return { _tag: "Address", address } as const
    }
    const text = given.account.value
    return yield* Effect.mapError(Address.parseReference(text, prefix), ({ reason }) =>
      wrongUsage(`${quote(text)} is not an account: ${reason}`),
    )
  })

const refusalsOf = (nodes: ReadonlyArray<Light.Judged>) =>
  nodes.flatMap(({ node, outcome }) => (Either.isLeft(outcome) ? [{ node, refusal: outcome.left }] : []))

const notProven = (failure: Light.NotProven) => {
  const refusals = refusalsOf(failure.nodes)
  const isUnjudged = refusals.every(({ refusal: { verdict } }) => verdict === "absent" || verdict === "ahead")
  return failure.conflict === null && isUnjudged
    ? fail("node", `nothing could be checked: ${failure.message}`)
    : fail("unproven", `DO NOT RELY ON THIS NODE, its answer does not hold: ${failure.message}`)
}

const WARNINGS = {
  absent: "gave no answer",
  behind: "is behind",
  ahead: "cannot be verified",
  false: "LIES OR IS BROKEN",
} as const satisfies Record<Light.Verdict, string>

/** Warnings about the other nodes. */
const warn = ({ nodes }: Light.Report) =>
  Effect.map(Terminal, (terminal) => {
    for (const { node, refusal } of refusalsOf(nodes)) {
      terminal.writeError(`${Visible.line(`udg: ${node} ${WARNINGS[refusal.verdict]}: ${refusal.message}`)}\n`)
    }
  })

const signedBy = ({ signed, checkpoint }: Light.Proven): string =>
  signed === null
    ? `against checkpoint ${Figure.count(checkpoint.round)}, the trusted one`
    : `against checkpoint ${Figure.count(checkpoint.round)}, signed by ${signed.by} of ${signed.of}`

const jsonOf = ({ proven, trust, node }: Light.Report) => {
  const { address, account, checkpoint, signed } = proven
  return {
    address,
    address_bech32: Address.toBech32(address, trust.prefix),
    balance: account.balance,
    nonce: account.nonce,
    staked: account.stake?.amount ?? 0,
    delegated_to: account.delegation?.validator ?? null,
    is_council_member: account.isCouncilMember,
    name: account.name,
    checked: {
      node,
      round: checkpoint.round,
      epoch: checkpoint.epoch,
      hash: checkpoint.hash,
      signed_by: signed?.by ?? null,
      members: signed?.of ?? null,
    },
    trust: Light.pinOf(trust),
  }
}

const linesOf = ({ proven, trust }: Light.Report) => {
  const { address, account } = proven
  const { stake, delegation, policy } = account
  const pin = Light.pinOf(trust)
  return [
    ["account", [Address.toBech32(address, trust.prefix), address], Paint.quiet],
    ["name", account.name === null ? null : `@${account.name}`],
    ["balance", Describe.coins(account.balance), Paint.strong],
    ["staked", stake === null ? null : `${Describe.coins(stake.amount)}${stake.leaving === null ? "" : ", leaving"}`],
    ["delegated", delegation === null ? null : `to ${Describe.account(delegation.validator, trust.prefix)}`],
    ["council", account.isCouncilMember ? "has a seat" : null],
    ["signed by", policy === null ? [] : [`${policy.threshold} of ${policy.keys.length} keys`, ...policy.keys]],
    ["nonce", Figure.count(account.nonce)],
    ["checked", signedBy(proven)],
    // One word, so that it can be copied whole at 80 columns.
    ["--trust", pin === null ? null : `${pin.epoch}:${pin.hash}`],
  ] as const
}

export const balance = (given: Given) =>
  Effect.gen(function* () {
    const trust = yield* trustOf(given)
    const wanted = yield* wantedOf(given, trust.prefix)
    const report = yield* Effect.mapError(Light.check(trust, [given.node, ...given.also], wanted), notProven)
    yield* warn(report)
    yield* Out.lines(given.json, jsonOf(report), () => linesOf(report))
  })
