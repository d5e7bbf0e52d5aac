/** The ways in: make a key, bring one, or unlock the one that this browser keeps. */
import { Option } from "effect"
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import type { NetworkInfo } from "../live/Network.js"
import { Section } from "../show/Page.js"
import * as Session from "./Session.js"
import * as Vault from "./Vault.js"

interface SecretProps {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isNew?: boolean
  readonly hint?: string
}

const Secret = ({ id, label, value, onChange, isNew = false, hint }: SecretProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      type="password"
      value={value}
      required
      autocomplete={isNew ? "new-password" : "current-password"}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
      aria-describedby={hint === undefined ? undefined : `${id}-hint`}
    />
    {hint === undefined ? undefined : (
      <p class="quiet hint-text" id={`${id}-hint`}>
        {hint}
      </p>
    )}
  </div>
)

interface FormProps {
  readonly label: string
  readonly onSubmit: () => Promise<string | undefined>
  readonly children: ComponentChildren
}

/** A form whose work takes a moment and may be refused with a sentence. */
const Form = ({ label, onSubmit, children }: FormProps) => {
  const [isBusy, setIsBusy] = useState(false)
  const [complaint, setComplaint] = useState<string | undefined>(undefined)
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    setIsBusy(true)
    onSubmit().then(
      (refusal) => {
        setComplaint(refusal)
        setIsBusy(false)
      },
      () => {
        setComplaint("this browser could not do it")
        setIsBusy(false)
      },
    )
  }
  return (
    <form class="form" onSubmit={submit}>
      {children}
      {complaint === undefined ? undefined : (
        <p class="complaint" role="alert">
          {complaint}
        </p>
      )}
      <button type="submit" class="button primary" disabled={isBusy}>
        {isBusy ? "One moment…" : label}
      </button>
    </form>
  )
}

const tooShort = `a passphrase has ${Vault.SHORTEST_PASSPHRASE} characters at least`

/** Keeps the key encrypted, then unlocks it. */
const keep = async (info: NetworkInfo, key: Wallet.SecretKey, passphrase: string): Promise<string | undefined> => {
  if (passphrase.length < Vault.SHORTEST_PASSPHRASE) return tooShort
  const { addressBech32 } = Wallet.account(Wallet.network(info), key)
  Vault.keep(await Vault.seal(key, addressBech32, passphrase))
  Session.unlock(info, key)
  return undefined
}

const Create = ({ info }: { readonly info: NetworkInfo }) => {
  const [passphrase, setPassphrase] = useState("")
  return (
    <Section title="Make a key">
      <p class="quiet">It is made in this browser, encrypted with your passphrase, and never sent anywhere.</p>
      <Form label="Make a key" onSubmit={() => keep(info, Wallet.generate(), passphrase)}>
        <Secret
          id="new-passphrase"
          label="Passphrase"
          value={passphrase}
          onChange={setPassphrase}
          isNew
          hint={`${Vault.SHORTEST_PASSPHRASE} characters or more. Nobody can give it back to you.`}
        />
      </Form>
    </Section>
  )
}

const Import = ({ info }: { readonly info: NetworkInfo }) => {
  const [hex, setHex] = useState("")
  const [passphrase, setPassphrase] = useState("")
  const bring = async (): Promise<string | undefined> => {
    try {
      return await keep(info, Wallet.secretKey(hex.trim()), passphrase)
    } catch (error) {
      if (error instanceof Wallet.InvalidInput) return error.message
      throw error
    }
  }
  return (
    <Section title="Bring a key">
      <p class="quiet">A secret key that you have already, such as a validator's.</p>
      <Form label="Bring the key" onSubmit={bring}>
        <Secret id="secret-key" label="Secret key, 64 hex characters" value={hex} onChange={setHex} />
        <Secret id="import-passphrase" label="Passphrase" value={passphrase} onChange={setPassphrase} isNew />
      </Form>
    </Section>
  )
}

/** A key that is used and not kept: what a mainnet is given. */
const Borrow = ({ info }: { readonly info: NetworkInfo }) => {
  const [hex, setHex] = useState("")
  const use = async (): Promise<string | undefined> => {
    try {
      Session.unlock(info, Wallet.secretKey(hex.trim()))
      return undefined
    } catch (error) {
      if (error instanceof Wallet.InvalidInput) return error.message
      throw error
    }
  }
  return (
    <Section title="Sign">
      <p class="quiet">
        This is a mainnet, so this page makes and keeps no keys. It signs with one that you bring, holds it in memory
        until you leave, and sends only what is signed. For anything of value use the udg command on your own machine.
      </p>
      <Form label="Use the key" onSubmit={use}>
        <Secret id="borrowed-key" label="Secret key, 64 hex characters" value={hex} onChange={setHex} />
      </Form>
    </Section>
  )
}

const Unlock = ({
  info,
  sealed,
  onForget,
}: {
  readonly info: NetworkInfo
  readonly sealed: Vault.Sealed
  readonly onForget: () => void
}) => {
  const [passphrase, setPassphrase] = useState("")
  const [isForgetting, setIsForgetting] = useState(false)
  const open = async (): Promise<string | undefined> => {
    const key = await Vault.open(sealed, passphrase)
    if (Option.isNone(key)) return "that is not the passphrase"
    Session.unlock(info, key.value)
    return undefined
  }
  return (
    <Section title="Unlock">
      <p>
        This browser keeps the key of <span class="mono">{sealed.address}</span>.
      </p>
      <Form label="Unlock" onSubmit={open}>
        <Secret id="passphrase" label="Passphrase" value={passphrase} onChange={setPassphrase} />
      </Form>
      <p class="forget">
        {isForgetting ? (
          <>
            Without a copy of the key its coins are lost.{" "}
            <button type="button" class="button danger" onClick={onForget}>
              Forget the key for good
            </button>{" "}
            <button type="button" class="button" onClick={() => setIsForgetting(false)}>
              Keep it
            </button>
          </>
        ) : (
          <button type="button" class="button" onClick={() => setIsForgetting(true)}>
            Forget this key…
          </button>
        )}
      </p>
    </Section>
  )
}

export const Doors = ({ info }: { readonly info: NetworkInfo }) => {
  const [kept, setKept] = useState(Vault.kept)
  if (info.mode === "mainnet") return <Borrow info={info} />
  if (!Vault.isPossible()) {
    return (
      <p class="notice failed">
        Browsers encrypt only on pages from https or localhost, so no key can be kept here. Open this page through
        http://localhost or behind https.
      </p>
    )
  }
  if (Option.isSome(kept)) {
    const forget = (): void => {
      Vault.forget()
      setKept(Option.none())
    }
    return <Unlock info={info} sealed={kept.value} onForget={forget} />
  }
  return (
    <div class="columns">
      <Create info={info} />
      <Import info={info} />
    </div>
  )
}
