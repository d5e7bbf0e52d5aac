/** The ways into the wallet: make a key, import one, or unlock the one stored in this browser. */
import { Option } from "effect"
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import type { NetworkInfo } from "../live/Network.js"
import { Complaint, useAttempt } from "../show/Attempt.js"
import { Problem, Section } from "../show/Page.js"
import { Secret } from "./Input.js"
import * as Session from "./Session.js"
import * as Vault from "./Vault.js"

interface FormProps {
  readonly label: string
  readonly onSubmit: () => Promise<void>
  readonly children: ComponentChildren
}

const explain = (error: unknown): string =>
  error instanceof Wallet.InvalidInput ? error.message : "this browser could not do it"

const Form = ({ label, onSubmit, children }: FormProps) => {
  const { isBusy, complaint, attempt } = useAttempt(explain)
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    void attempt(onSubmit)
  }
  return (
    <form class="form" onSubmit={submit}>
      {children}
      <Complaint text={complaint} />
      <button type="submit" class="button primary" disabled={isBusy}>
        {isBusy ? "One moment…" : label}
      </button>
    </form>
  )
}

/** Typed twice: nobody can restore one that was mistyped. */
interface Passphrases {
  readonly first: string
  readonly again: string
}

const NO_PASSPHRASES: Passphrases = { first: "", again: "" }

interface NewPassphraseProps {
  readonly id: string
  readonly value: Passphrases
  readonly onChange: (passphrases: Passphrases) => void
}

const NewPassphrase = ({ id, value, onChange }: NewPassphraseProps) => (
  <>
    <Secret
      id={id}
      label="Passphrase"
      value={value.first}
      onChange={(first) => onChange({ ...value, first })}
      isNew
      hint={`At least ${Vault.SHORTEST_PASSPHRASE} characters. Nobody can restore it for you.`}
    />
    <Secret
      id={`${id}-again`}
      label="Passphrase again"
      value={value.again}
      onChange={(again) => onChange({ ...value, again })}
      isNew
    />
  </>
)

/** Stores the key encrypted, then unlocks it. */
const keep = async (info: NetworkInfo, key: Wallet.SecretKey, { first, again }: Passphrases): Promise<void> => {
  if (first.length < Vault.SHORTEST_PASSPHRASE) {
    throw new Wallet.InvalidInput(`a passphrase needs at least ${Vault.SHORTEST_PASSPHRASE} characters`)
  }
  if (first !== again) throw new Wallet.InvalidInput("the two passphrases differ")
  const { addressBech32 } = Wallet.account(Wallet.network(info), key)
  Vault.keep(await Vault.seal(key, addressBech32, first))
  Session.unlock(info, key)
}

const Create = ({ info }: { readonly info: NetworkInfo }) => {
  const [passphrases, setPassphrases] = useState(NO_PASSPHRASES)
  return (
    <Section title="Make a key">
      <p class="quiet">It is made in this browser, encrypted with your passphrase, and never sent anywhere.</p>
      <Form label="Make a key" onSubmit={() => keep(info, Wallet.generate(), passphrases)}>
        <NewPassphrase id="new-passphrase" value={passphrases} onChange={setPassphrases} />
      </Form>
    </Section>
  )
}

const SecretKey = (props: {
  readonly id: string
  readonly value: string
  readonly onChange: (hex: string) => void
}) => <Secret label="Secret key, 64 hex characters" {...props} />

const Import = ({ info }: { readonly info: NetworkInfo }) => {
  const [hex, setHex] = useState("")
  const [passphrases, setPassphrases] = useState(NO_PASSPHRASES)
  return (
    <Section title="Import a key">
      <p class="quiet">A secret key that you already have, such as a validator's.</p>
      <Form label="Import the key" onSubmit={async () => keep(info, Wallet.secretKey(hex.trim()), passphrases)}>
        <SecretKey id="secret-key" value={hex} onChange={setHex} />
        <NewPassphrase id="import-passphrase" value={passphrases} onChange={setPassphrases} />
      </Form>
    </Section>
  )
}

/** On a mainnet a key is used but not stored. */
const Borrow = ({ info }: { readonly info: NetworkInfo }) => {
  const [hex, setHex] = useState("")
  return (
    <Section title="Sign">
      <p class="quiet">
        This is a mainnet, so this page neither makes nor stores keys. It signs with a key that you enter, holds it in
        memory until you leave, and sends only signed transactions. For anything of value use the udg command on your
        own machine.
      </p>
      <Form label="Use the key" onSubmit={async () => Session.unlock(info, Wallet.secretKey(hex.trim()))}>
        <SecretKey id="borrowed-key" value={hex} onChange={setHex} />
      </Form>
    </Section>
  )
}

interface UnlockProps {
  readonly info: NetworkInfo
  readonly sealed: Vault.Sealed
  readonly onForget: () => void
}

const Unlock = ({ info, sealed, onForget }: UnlockProps) => {
  const [passphrase, setPassphrase] = useState("")
  const [isForgetting, setIsForgetting] = useState(false)
  const open = async (): Promise<void> => {
    const key = await Vault.open(sealed, passphrase)
    if (Option.isNone(key)) throw new Wallet.InvalidInput("this passphrase is wrong")
    Session.unlock(info, key.value)
  }
  return (
    <Section title="Unlock">
      <p>
        This browser stores the key of <span class="mono">{sealed.address}</span>.
      </p>
      <Form label="Unlock" onSubmit={open}>
        <Secret id="passphrase" label="Passphrase" value={passphrase} onChange={setPassphrase} />
      </Form>
      <p class="forget">
        {isForgetting ? (
          <>
            Without a copy of the key its coins are lost.{" "}
            <button type="button" class="button danger" onClick={onForget}>
              Delete the key
            </button>{" "}
            <button type="button" class="button" onClick={() => setIsForgetting(false)}>
              Keep it
            </button>
          </>
        ) : (
          <button type="button" class="button" onClick={() => setIsForgetting(true)}>
            Delete this key…
          </button>
        )}
      </p>
    </Section>
  )
}

export const Entrance = ({ info }: { readonly info: NetworkInfo }) => {
  const [kept, setKept] = useState(Vault.kept)
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
