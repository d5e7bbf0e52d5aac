/** The unlocked wallet: the account's balance and everything it can do. */
import { useState } from "preact/hooks"
import { Checked } from "../checked/Checked.js"
import type { NetworkInfo } from "../live/Network.js"
import { isMissing, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Amount } from "../show/Amount.js"
import { Complaint, useAttempt } from "../show/Attempt.js"
import { Copy } from "../show/Copy.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import * as Words from "../show/Words.js"
import { leavingFact } from "../validators/Stake.js"
import { Accounts, Remove } from "./Accounts.js"
import { actions } from "./Action.js"
import { ActionForm } from "./ActionForm.js"
import { Backup } from "./Backup.js"
import { Receipt } from "./Receipt.js"
import { Receive } from "./Receive.js"
import * as Session from "./Session.js"
import * as Submission from "./Submission.js"

interface Sent {
  readonly hash: string
  readonly what: string
}

/** The action that the link names; else the first one. */
const chosenBy = () => {
  const id = new URLSearchParams(location.search).get("action")
  return actions.find((action) => action.id === id) ?? actions[0]
}

/** A missing delegation is not a failure. */
const delegationOf = (address: string) =>
  node.delegation.delegationOf({ path: { address } }).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

const FAUCET_SATS = 100_000_000_000

interface FaucetProps {
  readonly info: NetworkInfo
  readonly address: string
  readonly onSent: (sent: Sent) => void
}

const Faucet = ({ info, address, onSent }: FaucetProps) => {
  const { isBusy, complaint, attempt } = useAttempt(Submission.complaint)
  const most = info.parameters.faucet_max_sats
  if (most === null) return null
  const amount = Math.min(most, FAUCET_SATS)
  const ask = () =>
    attempt(async () => {
      const hash = await Submission.faucet(address, amount)
      onSent({ hash, what: `${Words.coins(amount)} UDG from the faucet` })
    })
  return (
    <div class="faucet">
      <button type="button" class="button" aria-disabled={isBusy} onClick={ask}>
        Get {Words.coins(amount)} UDG from the faucet
      </button>
      <Complaint text={complaint} />
    </div>
  )
}

/** Stake and delegation; empty for an account without either. */
const Holdings = ({ balance, address }: { readonly balance: number; readonly address: string }) => {
  const holdings = useResource(`holdings ${address}`, async () => {
    const path = { address }
    const [stake, delegation] = await Promise.all([node.staking.stakeOf({ path }), delegationOf(address)])
    return { stake, delegation }
  })
  if (holdings.state !== "ready") return null
  const { stake, delegation } = holdings.value
  const delegated = delegation?.amount ?? 0
  if (stake.staked_amount + delegated === 0) return null
  return (
    <Facts
      of={[
        ["Available", <Amount sats={balance} />],
        ["Staked", stake.staked_amount === 0 ? undefined : <Amount sats={stake.staked_amount} />],
        leavingFact("Stake leaves", stake.unlock_at_round),
        [
          "Delegated",
          delegation === undefined ? undefined : (
            <>
              <Amount sats={delegation.amount} /> to <Reference.Address address={delegation.validator} as="validator" />
            </>
          ),
        ],
        leavingFact("Delegation leaves", delegation?.unlock_at_round ?? null),
        ["Together", <Amount sats={balance + stake.staked_amount + delegated} />],
      ]}
    />
  )
}

/** Shown first, because this page signs with one key. */
const SharedAccount = ({ address }: { readonly address: string }) => {
  const policy = useResource(`policy ${address}`, () => node.core.policy({ path: { address } }))
  return (
    <div class="notice failed">
      <p>
        {policy.state === "ready"
          ? `${policy.value.threshold} of ${policy.value.keys.length} keys must sign for this account.`
          : "Several keys sign for this account."}{" "}
        This page signs with one. Write the transaction with <code>udg send TO AMOUNT --out FILE</code>, have each
        signer run <code>udg multisig sign FILE</code>, and send it with <code>udg multisig submit FILE</code>.
      </p>
    </div>
  )
}

interface ActionsProps {
  readonly info: NetworkInfo
  readonly account: Session.Owned["account"]
  readonly onSent: (hash: string, what: string) => void
}

const Actions = ({ info, account, onSent }: ActionsProps) => {
  const [chosen, setChosen] = useState(chosenBy)
  return (
    <>
      <fieldset class="choices">
        <legend class="unseen">Action</legend>
        {actions.map((action) => (
          <button key={action.id} type="button" aria-pressed={action === chosen} onClick={() => setChosen(action)}>
            {action.title}
          </button>
        ))}
      </fieldset>
      {chosen === undefined ? undefined : (
        <ActionForm key={chosen.id} action={chosen} info={info} account={account} onSent={onSent} />
      )}
    </>
  )
}

const LOCKS = `The wallet locks after ${Session.IDLE_MINUTES} minutes without use, and when you leave the page.`

interface DeskProps {
  readonly info: NetworkInfo
  readonly session: Session.Session
  readonly sent: ReadonlyArray<Sent>
  readonly onSent: (sent: Sent) => void
}

/** The forms of one account. */
const Desk = ({ info, session, sent, onSent }: DeskProps) => {
  const { account } = session.current
  const balance = useResource(`wallet ${account.address}`, () =>
    node.core.balance({ path: { address: account.addressBech32 } }),
  )
  const name = balance.state === "ready" ? balance.value.name : null
  const isShared = balance.state === "ready" && balance.value.is_smart_account
  return (
    <>
      <div class="purse">
        <Loaded of={balance} what="the balance" lines={1}>
          {(record) => (
            <>
              <p class="headline">
                <Amount sats={record.balance} />
              </p>
              <Checked account={account.address} claim={record} />
              <Holdings balance={record.balance} address={account.addressBech32} />
            </>
          )}
        </Loaded>
        <p>
          {name === null ? undefined : <b>@{name} </b>}
          <span class="reference">
            <a class="mono" href={Route.subject("address", account.addressBech32)}>
              {account.addressBech32}
            </a>
            <Copy text={account.addressBech32} what="address" />
          </span>
        </p>
        <div class="buttons">
          <Faucet info={info} address={account.addressBech32} onSent={onSent} />
          <button type="button" class="button" onClick={Session.lock} title={LOCKS}>
            Lock
          </button>
          <Backup account={account} />
        </div>
        <Receive address={account.addressBech32} />
        <Remove session={session} />
        <p class="quiet hint-text">{LOCKS}</p>
      </div>
      <div class="columns">
        <Section title="Actions">
          {isShared ? (
            <SharedAccount address={account.addressBech32} />
          ) : (
            <Actions info={info} account={account} onSent={(hash, what) => onSent({ hash, what })} />
          )}
        </Section>
        <Section title="Sent from here">
          {sent.length === 0 ? (
            <p class="notice empty">Nothing yet. Each transaction you send appears here, and shows when it is final.</p>
          ) : (
            <ul class="receipts" aria-live="polite">
              {sent.map(({ hash, what }) => (
                <Receipt key={hash} hash={hash} what={what} />
              ))}
            </ul>
          )}
        </Section>
      </div>
    </>
  )
}

/** The unlocked wallet: the selected account, and what any of them has sent. */
export const UnlockedWallet = ({ info, session }: Pick<DeskProps, "info" | "session">) => {
  const [sent, setSent] = useState<ReadonlyArray<Sent>>([])
  const note = (one: Sent): void => setSent((before) => [one, ...before])
  return (
    <>
      <Accounts info={info} session={session} />
      <Desk key={session.current.account.address} info={info} session={session} sent={sent} onSent={note} />
    </>
  )
}
