/** The unlocked wallet: the account's balance and everything it can do. */
import { useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import { Checked } from "../checked/Checked.js"
import type { NetworkInfo } from "../live/Network.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Amount } from "../show/Amount.js"
import { Complaint, useAttempt } from "../show/Attempt.js"
import { Copy } from "../show/Copy.js"
import { Loaded } from "../show/Loaded.js"
import { Section } from "../show/Page.js"
import { actions } from "./Action.js"
import { ActionForm } from "./ActionForm.js"
import { Receipt } from "./Receipt.js"
import * as Session from "./Session.js"
import * as Submission from "./Submission.js"

interface Sent {
  readonly hash: string
  readonly what: string
}

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
      onSent({ hash, what: `${Wallet.coins(amount)} UDG from the faucet` })
    })
  return (
    <div class="faucet">
      <button type="button" class="button" disabled={isBusy} onClick={ask}>
        Get {Wallet.coins(amount)} UDG from the faucet
      </button>
      <Complaint text={complaint} />
    </div>
  )
}

/** The key itself, shown on request. */
const Backup = ({ secret }: { readonly secret: Wallet.SecretKey }) => {
  const [isShown, setIsShown] = useState(false)
  return (
    <div class="backup">
      <button type="button" class="button" onClick={() => setIsShown(!isShown)} aria-expanded={isShown}>
        {isShown ? "Hide the secret key" : "Show the secret key, to keep a copy"}
      </button>
      {isShown ? (
        <p class="notice failed">
          <span class="mono">{secret.toSecretHex()}</span> <Copy text={secret.toSecretHex()} what="secret key" />
          <br />
          Anybody who has this key has the coins.
        </p>
      ) : undefined}
    </div>
  )
}

export const Desk = ({ info, session }: { readonly info: NetworkInfo; readonly session: Session.Session }) => {
  const { account, key } = session
  const [sent, setSent] = useState<ReadonlyArray<Sent>>([])
  const [chosen, setChosen] = useState(actions[0])
  const balance = useResource(`wallet ${account.address}`, () =>
    node.core.balance({ path: { address: account.addressBech32 } }),
  )
  const note = (one: Sent): void => setSent((before) => [one, ...before])
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
            </>
          )}
        </Loaded>
        <p>
          <a class="mono" href={Route.subject("address", account.addressBech32)}>
            {account.addressBech32}
          </a>{" "}
          <Copy text={account.addressBech32} what="address" />
        </p>
        <div class="buttons">
          <Faucet info={info} address={account.addressBech32} onSent={note} />
          <button type="button" class="button" onClick={Session.lock}>
            Lock
          </button>
          <Backup secret={key} />
        </div>
      </div>
      <div class="columns">
        <Section title="Actions">
          <fieldset class="choices">
            <legend class="unseen">Action</legend>
            {actions.map((action) => (
              <button key={action.id} type="button" aria-pressed={action === chosen} onClick={() => setChosen(action)}>
                {action.title}
              </button>
            ))}
          </fieldset>
          {chosen === undefined ? undefined : (
            <ActionForm
              key={chosen.id}
              action={chosen}
              info={info}
              account={account}
              onSent={(hash, what) => note({ hash, what })}
            />
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
