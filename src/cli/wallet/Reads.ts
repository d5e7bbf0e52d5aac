/** The verbs that only look: `status`, `balance`, `tx`, `validators`, `proposals`. */
import { Effect, Option } from "effect"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import type * as Natural from "../../protocol/numbers/Natural.js"
import type * as Sats from "../../protocol/numbers/Sats.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import * as Account from "./Account.js"
import * as Describe from "./Describe.js"
import * as Finality from "./Finality.js"
import type * as Node from "./Node.js"
import * as Out from "./Out.js"
import type { Line } from "./Sheet.js"
import * as Verb from "./Verb.js"
import { fail } from "./WalletFailure.js"

const where = { node: Verb.node, json: Verb.json }

export const status = Verb.make({
  name: "status",
  about: "shows how a node and its network are",
  settings: where,
  examples: [
    ["of the node on this machine, and of another", "udg status; udg status --node https://node.example"],
    ["one figure for a script", "udg status --json | jq .last_finalized_round"],
  ],
  run: (given) =>
    Effect.gen(function* () {
      const node = Verb.nodeOf(given)
      const { network_id, genesis_hash, mode, version } = yield* node.ask((client) => client.core.network())
      const status = yield* node.ask((client) => client.core.status())
      const { status: health } = yield* node.ask((client) => client.core.healthReport())
      const { dag_round: round, last_finalized_round: final } = status
      yield* Out.lines(given.json, { ...status, network_id, genesis_hash, mode, version, health }, () => [
        ["network", `${network_id} (${mode})`],
        ["genesis", genesis_hash],
        ["node", `${node.url}, udg ${version}, ${health}`],
        ["round", `${round}, final up to ${final}`],
        ["peers", String(status.peers)],
        ["supply", Describe.coins(status.total_supply)],
        ["staked", `${Describe.coins(status.total_staked)} by ${counted(status.active_stakers, "validator")}`],
        ["waiting", counted(status.mempool_size, "transaction")],
      ])
    }),
})

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

const account = Setting.optionalArgument(
  "account",
  { placeholder: "ACCOUNT", about: "an address or a @name", otherwise: "the account of the key" },
  Reader.text,
)

const yesOrNothing = (holds: boolean, label: string, value: string): ReadonlyArray<Line> =>
  holds ? [[label, value]] : []

const leaving = (unlockAt: number | null): string =>
  unlockAt === null ? "" : `, leaving, paid out at round ${unlockAt}`

/** All that an account has, in one question after the other. */
const holdings = (node: Node.Node, address: string) =>
  Effect.gen(function* () {
    const path = { path: { address } }
    const balance = yield* node.ask((client) => client.core.balance(path))
    const stake = yield* node.ask((client) => client.staking.stakeOf(path))
    const delegation = yield* node.find((client) => client.delegation.delegationOf(path))
    const policy = balance.is_smart_account ? yield* node.find((client) => client.core.policy(path)) : Option.none()
    return { balance, stake, delegation, policy }
  })

const describeHoldings = (
  { balance, stake, delegation, policy }: Effect.Effect.Success<ReturnType<typeof holdings>>,
  prefix: AddressPrefix,
): ReadonlyArray<Line> => [
  ["account", balance.address_bech32],
  ["", balance.address],
  ...(balance.name === null ? [] : [["name", `@${balance.name}`] as const]),
  ["balance", Describe.coins(balance.balance)],
  ...yesOrNothing(
    stake.staked_amount > 0,
    "staked",
    `${Describe.coins(stake.staked_amount)}${leaving(stake.unlock_at_round)}`,
  ),
  ...yesOrNothing(
    stake.staked_amount > 0,
    "validator",
    `${stake.is_active_validator ? "active" : "not active"}, ${counted(stake.delegator_count, "delegator")}, commission ${stake.commission_percent} %`,
  ),
  ...Option.match(delegation, {
    onNone: () => [],
    onSome: ({ amount, validator, unlock_at_round }) => [
      [
        "delegated",
        `${Describe.coins(amount)} to ${Describe.account(validator, prefix)}${leaving(unlock_at_round)}`,
      ] as const,
    ],
  }),
  ...yesOrNothing(balance.is_council_member, "council", "has a seat"),
  ...Option.match(policy, {
    onNone: () => [],
    onSome: ({ threshold, keys }) => [
      ["signed by", `${threshold} of ${counted(keys.length, "key")}`] as const,
      ...keys.map((key) => ["", key] as const),
    ],
  }),
  ["next nonce", `${balance.next_nonce}${pending(balance.next_nonce - balance.nonce)}`],
]

const pending = (count: number): string => (count === 0 ? "" : `, ${counted(count, "transaction")} pending`)

export const balance = Verb.make({
  name: "balance",
  about: "shows what an account has: balance, stake, delegation",
  settings: { account, key: Verb.key, ...where },
  examples: [
    ["of the wallet, and of somebody else", "udg balance; udg balance @alice"],
    ["in sats, for a script", "udg balance --json | jq .balance"],
  ],
  run: (given) =>
    Effect.gen(function* () {
      const node = Verb.nodeOf(given)
      const { address_prefix: prefix } = yield* node.ask((client) => client.core.network())
      const address = yield* Option.match(given.account, {
        onNone: () => Effect.map(Verb.keyOf(given), (held) => held.address),
        onSome: (text) => Account.resolve(node, prefix, text),
      })
      const found = yield* holdings(node, address)
      const { balance, stake, delegation, policy } = found
      const json = { ...balance, stake, delegation: Option.getOrNull(delegation), policy: Option.getOrNull(policy) }
      yield* Out.lines(given.json, json, () => describeHoldings(found, prefix))
    }),
})

const hash = Setting.argument("hash", { placeholder: "HASH", about: "the hash of a transaction" }, Reader.hash)

export const transaction = Verb.make({
  name: "tx",
  about: "shows a transaction and what became of it",
  settings: { hash, ...where },
  examples: [
    ["by the hash that it was sent under", "udg tx 946a22cccd29cac66aaead74fd32b6d3733055c3a45b0ded26defb47831f2981"],
  ],
  run: (given) =>
    Effect.gen(function* () {
      const node = Verb.nodeOf(given)
      const { address_prefix: prefix } = yield* node.ask((client) => client.core.network())
      const outcome = yield* node.ask((client) => client.transactions.lookup({ path: { hash: given.hash } }))
      if (outcome.hash !== given.hash)
        return yield* Effect.fail(fail("node", `${node.url} answers for another transaction`))
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
  settings: where,
  examples: [["who there is to delegate to", "udg validators"]],
  run: (given) =>
    Effect.gen(function* () {
      const node = Verb.nodeOf(given)
      const { address_prefix: prefix } = yield* node.ask((client) => client.core.network())
      const list = yield* node.ask((client) => client.staking.validators())
      yield* Out.table(given.json, list, () => ({
        none: "there are no validators",
        columns: [
          { title: "VALIDATOR", gives: "middle" },
          { title: "STAKE", align: "right" },
          { title: "SHARE", align: "right" },
          { title: "COMMISSION", align: "right" },
          { title: "DELEGATORS", align: "right" },
          { title: "STATE" },
        ],
        rows: list.validators.map((validator) => [
          Describe.account(validator.address, prefix),
          Describe.coins(validator.effective_stake),
          share(validator.effective_stake, list.total_staked),
          `${validator.commission_percent} %`,
          String(validator.delegator_count),
          validator.in_committee ? "in committee" : validator.is_active ? "active" : "not active",
        ]),
      }))
    }),
})

const proposal = Setting.optionalArgument(
  "id",
  { placeholder: "ID", about: "the number of one proposal", otherwise: "all of them, newest first" },
  Reader.proposalId,
)

type Votes = {
  readonly votes_for: Sats.Sats
  readonly votes_against: Sats.Sats
  readonly snapshot_total_stake: Sats.Sats
}

const votesOf = ({ votes_for, votes_against, snapshot_total_stake: all }: Votes): string =>
  `${share(votes_for, all)} for, ${share(votes_against, all)} against`

/** The transaction still has what the ledger has dropped. */
const titleOf = ({ title, texts_pruned }: { readonly title: string; readonly texts_pruned: boolean }): string =>
  texts_pruned ? "(text no longer kept)" : title

export const proposals = Verb.make({
  name: "proposals",
  about: "lists proposals, or shows one with its votes",
  settings: { proposal, ...where },
  examples: [["all, and one", "udg proposals; udg proposals 3"]],
  run: (given) =>
    Effect.gen(function* () {
      const node = Verb.nodeOf(given)
      if (Option.isSome(given.proposal)) return yield* showProposal(node, given.proposal.value, given.json)
      const list = yield* node.ask((client) => client.governance.proposals())
      return yield* Out.table(given.json, list, () => ({
        none: "there are no proposals",
        columns: [
          { title: "ID", align: "right" },
          { title: "STATUS" },
          { title: "VOTES" },
          { title: "ENDS AT ROUND", align: "right" },
          { title: "TYPE" },
          { title: "TITLE", gives: "end" },
        ],
        rows: list.proposals.map((each) => [
          String(each.id),
          each.status,
          votesOf(each),
          String(each.voting_ends_at_round),
          each.proposal_type,
          titleOf(each),
        ]),
      }))
    }),
})

const showProposal = (node: Node.Node, id: Natural.ProposalId, asJson: boolean) =>
  Effect.gen(function* () {
    const { address_prefix: prefix } = yield* node.ask((client) => client.core.network())
    const found = yield* node.ask((client) => client.governance.proposal({ path: { id } }))
    yield* Out.lines(asJson, found, () => [
      ["proposal", String(found.id)],
      ["title", titleOf(found)],
      ...(found.description === "" ? [] : [["description", found.description] as const]),
      ["effect", Describe.payload(found.payload, prefix)],
      ["status", found.status],
      ...(found.failure === null ? [] : [["failure", found.failure] as const]),
      ["votes", votesOf(found)],
      [
        "voting",
        `from round ${found.created_at_round} to ${found.voting_ends_at_round}, carried out from ${found.executes_at_round}`,
      ],
      ["bond", `${Describe.coins(found.bond)}, ${found.bond_status}`],
      ["made by", found.tx_hash],
      ["proposer", Describe.account(found.proposer, prefix)],
      ...found.voters.map(
        ({ address, vote, weight }) =>
          [vote, `${Describe.account(address, prefix)} (${Describe.coins(weight)})`] as const,
      ),
    ])
  })
