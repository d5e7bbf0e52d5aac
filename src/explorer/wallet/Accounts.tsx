/** Selects, adds and removes unlocked accounts. */
import { useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import * as AccountName from "../live/AccountName.js"
import type { NetworkInfo } from "../live/Network.js"
import * as Words from "../show/Words.js"
import * as KeySource from "./KeySource.js"
import { SecretForm } from "./SecretForm.js"
import * as Session from "./Session.js"
import * as Vault from "./Vault.js"

const Title = ({ account: { address, addressBech32 } }: { readonly account: Wallet.Account }) => (
  <>{AccountName.of(address) ?? Words.abbreviated(addressBech32)}</>
)

interface AddProps {
  readonly info: NetworkInfo
  readonly session: Session.Session
  readonly lock: Vault.Lock
  readonly onAdded: () => void
}

/** The wallet's passphrase also protects the new key. */
const Add = ({ info, session, lock, onAdded }: AddProps) => {
  const [source, setSource] = useState(KeySource.NOTHING)
  const add = async (key: Wallet.SecretKey): Promise<void> => {
    const owned = Session.owning(info, key)
    const { address, addressBech32 } = owned.account
    await Vault.add(lock, key, addressBech32)
    const others = session.owned.filter(({ account }) => account.address !== address)
    onAdded()
    Session.unlock([...others, owned], lock, owned)
  }
  return (
    <div class="columns">
      <div>
        <p class="quiet">The passphrase that unlocks the wallet protects the new key, too.</p>
        <SecretForm label="Make another key" name="Make another key" onSubmit={() => add(Wallet.generate())} />
      </div>
      <SecretForm
        label="Import the key"
        name="Import another key"
        onSubmit={async () => add(await KeySource.keyOf(source))}
      >
        <KeySource.KeySource id="another-key" value={source} onChange={setSource} />
      </SecretForm>
    </div>
  )
}

interface Props {
  readonly info: NetworkInfo
  readonly session: Session.Session
}

/** Empty for a borrowed key. */
export const Accounts = ({ info, session }: Props) => {
  const [isAdding, setIsAdding] = useState(false)
  const { lock, owned, current } = session
  if (lock === undefined) return null
  return (
    <>
      <fieldset class="choices accounts">
        <legend class="unseen">Account</legend>
        {owned.map((one) => (
          <button
            key={one.account.address}
            type="button"
            aria-pressed={one === current}
            title={one.account.addressBech32}
            onClick={() => Session.choose(one)}
          >
            <Title account={one.account} />
          </button>
        ))}
        <button type="button" class="another" aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
          Add an account
        </button>
      </fieldset>
      {isAdding ? <Add info={info} session={session} lock={lock} onAdded={() => setIsAdding(false)} /> : undefined}
    </>
  )
}

/** Deletes the shown account's key. */
export const Remove = ({ session: { owned, current, lock } }: Pick<Props, "session">) => {
  if (lock === undefined) return null
  const { address, addressBech32 } = current.account
  const remove = (): void => {
    Vault.remove([addressBech32])
    const others = owned.filter(({ account }) => account.address !== address)
    if (others.length === 0) Session.lock()
    else Session.unlock(others, lock)
  }
  return (
    <details class="raw">
      <summary>Remove this account…</summary>
      <p>This browser then no longer has its key. Without a copy of it the coins are lost.</p>
      <button type="button" class="button danger" onClick={remove}>
        Remove {Words.abbreviated(addressBech32)}
      </button>
    </details>
  )
}
