/** Read-only verbs: `status`, `balance`, `tx`, `validators`, `proposals`. */
import { Effect, Option } from "effect"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import type * as Natural from "../../protocol/numbers/Natural.js"
import type * as Sats from "../../protocol/numbers/Sats.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import * as Figure from "../terminal/Figure.js"
import * as Out from "../terminal/Out.js"
import * as Paint from "../terminal/Paint.js"
import type { Line } from "../terminal/Sheet.js"
import * as Abbreviations from "./Abbreviations.js"
import * as Describe from "./Describe.js"
import * as Finality from "./Finality.js"
import type * as Node from "./Node.js"
import * as Verb from "./Verb.js"
import * as VerifiedBalance from "./VerifiedBalance.js"

const settings = { node: Verb.node, json: Verb.json }

export const status = Verb.make({
  name: "status",
  about: "shows the state of a node and its network",
  settings,
  examples: [
    ["of the node on this machine, and of another", "udg status; udg status --node https://node.example"],
    ["one figure for a script", "udg status --json | jq .last_finalized_round"],
  ],
  run: (given) =>
    Effect.gen(function* () {
      const { node, info } = yield* Verb.contact(given)
      const { network_id, genesis_hash, mode, version } = info
      const status = yield* node.ask((client) => client.core.status())
      const { status: health } = yield* node.ask((client) => client.core.healthReport())
      yield* Out.lines(given.json, { ...status, network_id, genesis_hash, mode, version, health }, () => [
        ["network", `${network_id} (${mode})`],
        ["genesis", genesis_hash, Paint.quiet],
        ["node", `${node.url}, udg ${version}, ${health}`, Paint.endingInState],
        ["round", `${Figure.count(status.dag_round)}, final up to ${Figure.count(status.last_finalized_round)}`],
        ["peers", Figure.count(status.peers)],
        ["supply", Describe.coins(status.total_supply), Paint.strong],
        ["staked", `${Describe.coins(status.total_staked)} by ${Figure.counted(status.active_stakers, "validator")}`],
        ["pending", Figure.counted(status.mempool_size, "transaction")],
      ])
    }),
})

const leaving = (unlockAt: number | null): string =>
  unlockAt === null ? "" : `, leaving, paid out at round ${Figure.count(unlockAt)}`

/** Everything that an account holds, fetched in sequence. */
const holdings = (node: Node.Node, address: string) =>
  Effect.gen(function* () {
    const path = { path: { address } }
    const balance = yield* node.ask((client) => client.core.balance(path))
    const stake = yield* node.ask((client) => client.staking.stakeOf(path))
    const delegation = yield* node.find((client) => client.delegation.delegationOf(path))
    const policy = balance.is_smart_account ? yield* node.find((client) => client.core.policy(path)) : Option.none()
    return { balance, stake, delegation: Option.getOrNull(delegation), policy: Option.getOrNull(policy) }
  })

type Holdings = Effect.Effect.Success<ReturnType<typeof holdings>>

const stakeLines = ({ stake }: Holdings): ReadonlyArray<Line> => {
  if (stake.staked_amount === 0) return []
  const activity = stake.is_active_validator ? "active" : "not active"
  return [
    ["staked", `${Describe.coins(stake.staked_amount)}${leaving(stake.unlock_at_round)}`],
    [
      "validator",
      `${activity}, ${Figure.counted(stake.delegator_count, "delegator")}, commission ${stake.commission_percent} %`,
    ],
  ]
}

const delegationLine = ({ delegation }: Holdings, prefix: AddressPrefix): string | null => {
  if (delegation === null) return null
  const { amount, validator, unlock_at_round } = delegation
  return `${Describe.coins(amount)} to ${Describe.account(validator, prefix)}${leaving(unlock_at_round)}`
}

const policyLines = ({ policy }: Holdings): ReadonlyArray<string> =>
  policy === null ? [] : [`${policy.threshold} of ${Figure.counted(policy.keys.length, "key")}`, ...policy.keys]

const nonceLine = ({ balance: { next_nonce, nonce } }: Holdings): string =>
  next_nonce === nonce
    ? Figure.count(nonce)
    : `${Figure.count(next_nonce)}, ${Figure.counted(next_nonce - nonce, "transaction")} pending`

export const balance = Verb.make({
  name: "balance",
  about: "shows an account's balance, stake and delegation",
  settings: { account: Verb.account, key: Verb.key, ...VerifiedBalance.settings, ...settings },
  examples: [
    ["of your account, and of another", "udg balance; udg balance @alice"],
    ["in sats, for a script", "udg balance --json | jq .balance"],
    ["verified by the light client", "udg balance @alice --verify --genesis genesis.json"],
  ],
  run: (given) =>
    Effect.gen(function* () {
      if (given.verify) return yield* VerifiedBalance.balance(given)
      const contact = yield* Verb.contact(given)
      const held = yield* holdings(contact.node, yield* Verb.addressOf(given.account, given, contact))
      const { balance, ...others } = held
      return yield* Out.lines(given.json, { ...balance, ...others }, () => [
        ["account", [balance.address_bech32, balance.address], Paint.quiet],
        ["name", balance.name === null ? null : `@${balance.name}`],
        ["balance", Describe.coins(balance.balance), Paint.strong],
        ...stakeLines(held),
        ["delegated", delegationLine(held, contact.prefix)],
        ["council", balance.is_council_member ? "has a seat" : null],
        ["signed by", policyLines(held)],
        ["next nonce", nonceLine(held)],
      ])
    }),
})

const hash = Setting.argument(
  "HASH",
  "a transaction's hash, or at least its first four digits",
  Reader.shownTransaction,
)

export const transaction = Verb.make({
  name: "tx",
  about: "shows a transaction and its outcome",
  settings: { hash, ...settings },
  examples: [
    ["by its hash", "udg tx 946a22cccd29cac66aaead74fd32b6d3733055c3a45b0ded26defb47831f2981"],
    ["by its first digits, or as a list shows it", "udg tx 946a22; udg tx 946a22cccd…fb47831f2981"],
  ],
  run: (given) =>
    Effect.gen(function* () {
      const { node, prefix } = yield* Verb.contact(given)
      const hash = yield* Abbreviations.hash(node, "transactions", given.hash)
      const outcome = yield* node.ask((client) => client.transactions.lookup({ path: { hash } }))
      yield* Out.lines(given.json, outcome, () => [
        ...Finality.lines(outcome),
        ...Describe.transaction(outcome.transaction, prefix),
      ])
    }),
})

const share = (part: number, whole: number): string => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`)

export const validators = Verb.make({
  name: "validators",
  about: "lists all validators, largest first",
  settings,
  examples: [["before you delegate", "udg validators"]],
  run: (given) =>
    Effect.gen(function* () {
      const { node, prefix } = yield* Verb.contact(given)
      const list = yield* node.ask((client) => client.staking.validators())
      const addresses = list.validators.map(({ address }) => address)
      const names = yield* Abbreviations.namesOf(given.json, node, addresses)
      yield* Out.table(given.json, list, () => ({
        none: "there are no validators",
        columns: [
          { title: "VALIDATOR", cutAt: "middle", paint: Paint.quiet },
          { title: "STAKE", align: "right", paint: Paint.strong },
          { title: "SHARE", align: "right" },
          { title: "COMMISSION", align: "right" },
          { title: "DELEGATORS", align: "right" },
          { title: "STATE", paint: Paint.state },
        ],
        rows: list.validators.map((validator) => [
          Abbreviations.account(validator.address, prefix, names),
          Describe.coins(validator.effective_stake),
          share(validator.effective_stake, list.total_staked),
          `${validator.commission_percent} %`,
          Figure.count(validator.delegator_count),
          validator.in_committee ? "in committee" : validator.is_active ? "active" : "not active",
        ]),
      }))
    }),
})

const proposal = Setting.optionalArgument(
  "ID",
  "the number of one proposal",
  Reader.proposalId,
  "all of them, newest first",
)

type Votes = {
  readonly votes_for: Sats.Sats
  readonly votes_against: Sats.Sats
  readonly snapshot_total_stake: Sats.Sats
}

const votesOf = ({ votes_for, votes_against, snapshot_total_stake: all }: Votes): string =>
  `${share(votes_for, all)} for, ${share(votes_against, all)} against`

/** The ledger drops old texts, but the proposal's transaction keeps them. */
const titleOf = ({ title, texts_pruned }: { readonly title: string; readonly texts_pruned: boolean }): string =>
  texts_pruned ? "(text no longer kept)" : title

export const proposals = Verb.make({
  name: "proposals",
  about: "lists proposals, or shows one with its votes",
  settings: { proposal, ...settings },
  examples: [["all, and one", "udg proposals; udg proposals 3"]],
  run: (given) =>
    Effect.gen(function* () {
      const contact = yield* Verb.contact(given)
      if (Option.isSome(given.proposal)) return yield* showProposal(contact, given.proposal.value, given.json)
      const list = yield* contact.node.ask((client) => client.governance.proposals())
      return yield* Out.table(given.json, list, () => ({
        none: "there are no proposals",
        columns: [
          { title: "ID", align: "right" },
          { title: "STATUS", paint: Paint.state },
          { title: "FOR", align: "right" },
          { title: "AGAINST", align: "right" },
          { title: "UNTIL ROUND", align: "right" },
          { title: "TYPE" },
          { title: "TITLE", cutAt: "end" },
        ],
        rows: list.proposals.map((each) => [
          String(each.id),
          each.status,
          share(each.votes_for, each.snapshot_total_stake),
          share(each.votes_against, each.snapshot_total_stake),
          Figure.count(each.voting_ends_at_round),
          each.proposal_type,
          titleOf(each),
        ]),
      }))
    }),
})

const showProposal = ({ node, prefix }: Verb.Contact, id: Natural.ProposalId, asJson: boolean) =>
  Effect.gen(function* () {
    const found = yield* node.ask((client) => client.governance.proposal({ path: { id } }))
    const { created_at_round: from, voting_ends_at_round: end, executes_at_round: execution } = found
    yield* Out.lines(asJson, found, () => [
      ["proposal", String(found.id)],
      ["title", titleOf(found)],
      ["description", found.description === "" ? null : found.description],
      ["effect", Describe.proposal(found.payload, prefix)],
      ["status", found.status],
      ["failure", found.failure],
      ["votes", votesOf(found)],
      [
        "voting",
        `from round ${Figure.count(from)} to ${Figure.count(end)}, carried out from ${Figure.count(execution)}`,
      ],
      ["bond", `${Describe.coins(found.bond)}, ${found.bond_status}`],
      ["transaction", found.tx_hash],
      ["proposer", Describe.account(found.proposer, prefix)],
      ...found.voters.map(
        ({ address, vote, weight }) =>
          [vote, `${Describe.account(address, prefix)} (${Describe.coins(weight)})`] as const,
      ),
    ])
  })
