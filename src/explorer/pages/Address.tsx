import { Checked } from "../checked/Checked.js"
import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import { type Answer, isMissing, node } from "../live/Node.js"
import { type Resource, useResource } from "../live/Resource.js"
import { Amount } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import { Facts, LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Suspended } from "../show/Suspended.js"
import * as Words from "../show/Words.js"
import { History } from "../statement/History.js"
import { delegationFacts, stakeFacts } from "../validators/Stake.js"
import { PrivateLabel } from "./PrivateLabel.js"

/** The account's delegation; undefined without one, which is no failure. */
const readDelegation = (account: string) =>
  node.delegation.delegationOf({ path: { address: account } }).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

/** The value if it was loaded. Sections without one are left out, because the account itself is the subject. */
const ready = <A,>(resource: Resource<A>): A | undefined => (resource.state === "ready" ? resource.value : undefined)

/** The keys of a smart account. */
const Signers = ({ account }: { readonly account: string }) => {
  const policy = ready(useResource(`policy ${account}`, () => node.core.policy({ path: { address: account } })))
  return policy === undefined ? null : (
    <Section title="Signers" aside={`${policy.threshold} of ${policy.keys.length} must sign`}>
      <Facts
        of={policy.keys.map((key, i) => [`Key ${i + 1}`, <Reference.Text text={key} what="public key" isWhole />])}
      />
    </Section>
  )
}

const POINTS = 100

const chart = () => import("../charts/BalanceChart.js").then(({ BalanceChart }) => BalanceChart)

/** The archive's whole range, in steps that give this many points. */
const readBalances = async (address: string) => {
  const path = { address }
  const { balances } = await node.archive.balances({ path, urlParams: { limit: 1, step: 1 } })
  const step = Math.max(1, Math.ceil(((balances[0]?.commit ?? 0) + 1) / POINTS))
  return node.archive.balances({ path, urlParams: { limit: POINTS, step } })
}

/** Needs an archive. */
const BalanceOverTime = ({ account }: { readonly account: string }) => {
  const course = ready(useResource(`balances ${account}`, () => readBalances(account), Live.slowBeat))
  return course === undefined ? null : (
    <Section title="Balance over time">
      <Suspended load={chart} what="the balance over time">
        {(BalanceChart) => <BalanceChart balances={course.balances} />}
      </Suspended>
    </Section>
  )
}

const kindOf = ({ exists, is_smart_account: isSmart }: Answer<"core", "balance">): string =>
  isSmart ? "smart account" : exists ? "single key" : "no account yet"

export const Address = ({ account }: { readonly account: string }) => {
  const path = { address: account }
  const balance = useResource(`balance ${account}`, () => node.core.balance({ path }))
  const stake = ready(useResource(`stake ${account}`, () => node.staking.stakeOf({ path })))
  const delegation = ready(useResource(`delegation ${account}`, () => readDelegation(account)))
  const known = ready(balance)
  const name = known?.name ?? null
  const title = name === null ? Words.abbreviated(known?.address_bech32 ?? account) : `@${name}`
  return (
    <LoadedPage kind={title.startsWith("@") ? "Account" : "Address"} title={title} of={balance} what="this account">
      {(record) => (
        <>
          <p class="headline">
            <Amount sats={record.balance} />
          </p>
          <Checked account={account} claim={record} />
          <Facts
            of={[
              ["Name", record.name === null ? undefined : <b>@{record.name}</b>],
              ["Private label", <PrivateLabel address={record.address} />],
              ["Address", <Reference.Text text={record.address_bech32} what="address" isWhole />],
              ["In hex", <Reference.Text text={record.address} what="address in hex" isWhole />],
              [
                "Nonce",
                record.next_nonce === record.nonce
                  ? Words.count(record.nonce)
                  : `${Words.count(record.nonce)}, ${Words.counted(record.next_nonce - record.nonce, "transaction")} pending`,
              ],
              [
                "Kind",
                <span class="badges">
                  {record.is_council_member ? <Badge tone="good">council member</Badge> : undefined}
                  <Badge tone="quiet">{kindOf(record)}</Badge>
                </span>,
              ],
            ]}
          />
          {record.is_smart_account ? <Signers account={account} /> : undefined}
          <div class="columns">
            {stake !== undefined && stake.effective_stake + stake.staked_amount > 0 ? (
              <Section title="Stake">
                <Facts of={stakeFacts(stake)} />
              </Section>
            ) : undefined}
            {delegation === undefined ? undefined : (
              <Section title="Delegation">
                <Facts of={delegationFacts(delegation)} />
              </Section>
            )}
          </div>
          {Network.network.value?.has_archive === true ? <BalanceOverTime account={account} /> : undefined}
          <History account={account} />
        </>
      )}
    </LoadedPage>
  )
}
