import { isMissing, node } from "../live/Node.js"
import { type Resource, useResource } from "../live/Resource.js"
import { Amount } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import { Copy } from "../show/Copy.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Page, Section } from "../show/Page.js"
import * as Words from "../show/Words.js"
import { History } from "./History.js"
import { DelegationFacts, stakeFacts } from "./Stake.js"

/** What it delegates; undefined for who delegates nothing, which is no failure. */
const readDelegation = (account: string) =>
  node.delegation.delegationOf({ path: { address: account } }).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

/** Shown where it is there, left out where it is not or cannot be read: the account itself is the subject. */
const ready = <A,>(resource: Resource<A>): A | undefined => (resource.state === "ready" ? resource.value : undefined)

/** Who signs for a smart account. */
const Signers = ({ account }: { readonly account: string }) => {
  const policy = ready(useResource(`policy ${account}`, () => node.core.policy({ path: { address: account } })))
  return policy === undefined ? null : (
    <Section title="Signers" aside={`${policy.threshold} of ${policy.keys.length} must sign`}>
      <Facts
        of={policy.keys.map((key, i) => [
          `Key ${i + 1}`,
          <span class="reference">
            <span class="mono">{key}</span>
            <Copy text={key} what="public key" />
          </span>,
        ])}
      />
    </Section>
  )
}

export const Address = ({ account }: { readonly account: string }) => {
  const path = { address: account }
  const balance = useResource(`balance ${account}`, () => node.core.balance({ path }))
  const stake = ready(useResource(`stake ${account}`, () => node.staking.stakeOf({ path })))
  const delegation = ready(useResource(`delegation ${account}`, () => readDelegation(account)))
  return (
    <Page kind={account.startsWith("@") ? "Name" : "Address"} title={Words.abbreviated(account, 12, 6)}>
      <Loaded of={balance} what="this account">
        {(record) => (
          <>
            <p class="headline">
              <Amount sats={record.balance} />
            </p>
            <Facts
              of={[
                ...(record.name === null ? [] : [["Name", <b>@{record.name}</b>] as const]),
                [
                  "Address",
                  <span class="reference">
                    <span class="mono">{record.address_bech32}</span>
                    <Copy text={record.address_bech32} what="address" />
                  </span>,
                ],
                [
                  "In hex",
                  <span class="reference">
                    <span class="mono">{record.address}</span>
                    <Copy text={record.address} what="address in hex" />
                  </span>,
                ],
                [
                  "Nonce",
                  record.next_nonce === record.nonce
                    ? Words.count(record.nonce)
                    : `${Words.count(record.nonce)}, ${Words.counted(record.next_nonce - record.nonce, "transaction")} pending`,
                ],
                [
                  "Is",
                  <span class="badges">
                    {record.is_council_member ? <Badge tone="good">council member</Badge> : undefined}
                    <Badge tone="quiet">{record.is_smart_account ? "smart account" : "single key"}</Badge>
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
                  <Facts of={DelegationFacts(delegation)} />
                </Section>
              )}
            </div>
            <History account={account} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
