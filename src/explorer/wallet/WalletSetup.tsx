/** Ways into the wallet: make a key, import one, or unlock those stored in this browser. */
import { Option } from "effect"
import { useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import type { NetworkInfo } from "../live/Network.js"
import { Problem, Section } from "../show/Page.js"
import * as Words from "../show/Words.js"
import { Secret } from "./Input.js"
import * as KeySource from "./KeySource.js"
import * as Passphrase from "./Passphrase.js"
import { SecretForm } from "./SecretForm.js"
import * as Session from "./Session.js"
import * as Vault from "./Vault.js"

interface Props {
  readonly info: NetworkInfo
}

/** Stores the key encrypted, then unlocks it. */
const keep = async (info: NetworkInfo, key: Wallet.SecretKey, passphrases: Passphrase.Passphrases): Promise<void> => {
  const owned = Session.owning(info, key)
  const lock = await Vault.lockWith(Passphrase.read(passphrases))
  await Vault.add(lock, key, owned.account.addressBech32)
  Session.unlock([owned], lock)
}

const Create = ({ info }: Props) => {
  const [passphrases, setPassphrases] = useState(Passphrase.NONE)
  return (
    <Section title="Make a key">
      <p class="quiet">It is made in this browser, encrypted with your passphrase, and never sent anywhere.</p>
      <SecretForm label="Make a key" onSubmit={() => keep(info, Wallet.generate(), passphrases)}>
        <Passphrase.NewPassphrase id="new-passphrase" value={passphrases} onChange={setPassphrases} />
      </SecretForm>
    </Section>
  )
}

const Import = ({ info }: Props) => {
  const [source, setSource] = useState(KeySource.NOTHING)
  const [passphrases, setPassphrases] = useState(Passphrase.NONE)
  return (
    <Section title="Import a key">
      <p class="quiet">A secret key that you already have, such as a validator's.</p>
      <SecretForm label="Import the key" onSubmit={async () => keep(info, await KeySource.keyOf(source), passphrases)}>
        <KeySource.KeySource id="secret-key" value={source} onChange={setSource} />
        <Passphrase.NewPassphrase id="import-passphrase" value={passphrases} onChange={setPassphrases} />
      </SecretForm>
    </Section>
  )
}

/** Shown before anyone imports a key that cannot sign alone. */
const SeveralKeys = () => (
  <p class="quiet aside-note">
    Do several keys sign for your account? This page signs with one. Use <code>udg policy</code> to set who signs, and{" "}
    <code>udg multisig</code> to sign, to collect the signatures and to send.
  </p>
)

/** On a mainnet a key is used but not stored. */
const Borrow = ({ info }: Props) => {
  const [source, setSource] = useState(KeySource.NOTHING)
  const borrow = async () => Session.unlock([Session.owning(info, await KeySource.keyOf(source))], undefined)
  return (
    <Section title="Sign">
      <p class="quiet">
        This is a mainnet, so this page neither makes nor stores keys. It signs with a key that you enter, holds it in
        memory until you leave, and sends only signed transactions. For anything of value use the udg command on your
        own machine.
      </p>
      <SecretForm label="Use the key" onSubmit={borrow}>
        <KeySource.KeySource id="borrowed-key" value={source} onChange={setSource} />
      </SecretForm>
      <SeveralKeys />
    </Section>
  )
}

interface UnlockProps extends Props {
  readonly vault: Vault.Sealed
  readonly onForget: () => void
}

const Unlock = ({ info, vault, onForget }: UnlockProps) => {
  const [passphrase, setPassphrase] = useState("")
  const open = async (): Promise<void> => {
    const opened = Option.getOrUndefined(await Vault.open(vault, passphrase))
    if (opened === undefined) throw new Wallet.InvalidInput("this passphrase is wrong")
    Session.unlock(
      opened.keys.map((key) => Session.owning(info, key)),
      opened.lock,
    )
  }
  const keys = Words.counted(vault.accounts.length, "key")
  return (
    <Section title="Unlock">
      <p>This browser stores {vault.accounts.length === 1 ? "the key of" : `the ${keys} of`}</p>
      <ul class="hashes">
        {vault.accounts.map(({ address }) => (
          <li key={address} class="mono">
            {address}
          </li>
        ))}
      </ul>
      <SecretForm label="Unlock" onSubmit={open}>
        <Secret id="passphrase" label="Passphrase" value={passphrase} onChange={setPassphrase} />
      </SecretForm>
      <details class="raw forget">
        <summary>Delete {keys}…</summary>
        <p>Without a copy of a key its coins are lost.</p>
        <button type="button" class="button danger" onClick={onForget}>
          Delete {keys}
        </button>
      </details>
    </Section>
  )
}

export const WalletSetup = ({ info }: Props) => {
  const kept = Vault.kept.value
  if (info.mode === "mainnet") return <Borrow info={info} />
  if (!Vault.isPossible()) {
    return (
      <Problem>
        Browsers encrypt only on pages from https or localhost, so no key can be stored here. Open this page through
        http://localhost or behind https.
      </Problem>
    )
  }
  if (Option.isSome(kept)) {
    const forget = (): void => {
      Vault.remove(kept.value.accounts.map(({ address }) => address))
      document.querySelector("h1")?.focus({ preventScroll: true })
    }
    return <Unlock info={info} vault={kept.value} onForget={forget} />
  }
  return (
    <>
      <div class="columns">
        <Create info={info} />
        <Import info={info} />
      </div>
      <SeveralKeys />
    </>
  )
}
