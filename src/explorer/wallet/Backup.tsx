import { Option } from "effect"
import { useEffect, useRef, useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import { Copy } from "../show/Copy.js"
import * as Download from "../statement/Download.js"
import { Labelled, Secret } from "./Input.js"
import { SecretForm } from "./SecretForm.js"
import * as Vault from "./Vault.js"

type Form = "hex" | "words" | "file"

const forms: Readonly<Record<Form, string>> = {
  hex: "64 hex characters",
  words: "24 words, for paper",
  file: "a key file for udg, under the same passphrase",
}

type State =
  | { readonly _tag: "Hidden" }
  | { readonly _tag: "Asking" }
  | { readonly _tag: "Shown"; readonly lines: ReadonlyArray<string> }
  | { readonly _tag: "Saved"; readonly file: string }

/** Hidden after a minute, in case someone else comes by. */
const SHOWN_MS = 60_000

const labels: Readonly<Record<State["_tag"], string>> = {
  Hidden: "Show the secret key, to keep a copy",
  Asking: "Cancel",
  Shown: "Hide the secret key",
  Saved: "Close",
}

const linesOf = async (key: Wallet.SecretKey, form: Form): Promise<ReadonlyArray<string>> => {
  if (form === "hex") return [key.toSecretHex()]
  const { of, lines } = await import("../../client/Mnemonic.js")
  return lines(of(key))
}

interface AskProps {
  readonly vault: Vault.Sealed
  readonly account: Wallet.Account
  readonly onDone: (state: State) => void
}

/** Asks for the passphrase, so that an open page does not give the key away. */
const Ask = ({ vault, account, onDone }: AskProps) => {
  const [passphrase, setPassphrase] = useState("")
  const [form, setForm] = useState<Form>("hex")
  const open = async (): Promise<void> => {
    const opened = Option.getOrUndefined(await Vault.open(vault, passphrase))
    const key = opened?.keys.find(({ publicKey }) => publicKey === account.publicKey)
    if (key === undefined) throw new Wallet.InvalidInput("this passphrase is wrong")
    if (form !== "file") return onDone({ _tag: "Shown", lines: await linesOf(key, form) })
    const file = `${account.addressBech32}.key`
    Download.as(file, await Wallet.saveKey(key, passphrase), "application/json")
    onDone({ _tag: "Saved", file })
  }
  return (
    <SecretForm label="Show it" name="Show the secret key" onSubmit={open}>
      <Labelled id="backup-form" label="As">
        <select
          id="backup-form"
          value={form}
          onChange={({ currentTarget: { value } }) => {
            if (value === "hex" || value === "words" || value === "file") setForm(value)
          }}
        >
          {Object.entries(forms).map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </select>
      </Labelled>
      <Secret id="backup-passphrase" label="Passphrase" value={passphrase} onChange={setPassphrase} />
    </SecretForm>
  )
}

/** Shows the stored key for its passphrase. A borrowed key was typed in and is not shown. */
export const Backup = ({ account }: { readonly account: Wallet.Account }) => {
  // Read once: the owner can still save a key that another tab deletes meanwhile.
  const [kept] = useState(() => Vault.kept.peek())
  const [state, setState] = useState<State>({ _tag: "Hidden" })
  const button = useRef<HTMLButtonElement>(null)
  const hide = (): void => setState({ _tag: "Hidden" })
  useEffect(() => {
    // The form that had the focus is gone.
    if (state._tag === "Shown" || state._tag === "Saved") button.current?.focus()
    if (state._tag !== "Shown") return
    const timer = setTimeout(hide, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state._tag])
  if (Option.isNone(kept)) return null
  const isHidden = state._tag === "Hidden"
  return (
    <div class="backup">
      <button
        ref={button}
        type="button"
        class="button"
        onClick={() => setState(isHidden ? { _tag: "Asking" } : { _tag: "Hidden" })}
        aria-expanded={!isHidden}
      >
        {labels[state._tag]}
      </button>
      {state._tag === "Asking" ? <Ask vault={kept.value} account={account} onDone={setState} /> : undefined}
      {state._tag === "Shown" ? (
        <div class="notice failed">
          <p class="mono secret">{state.lines.join("\n")}</p>
          <p>
            <Copy text={state.lines.join(" ")} what="secret key" /> Anyone who has this key controls the coins. It is
            hidden again after a minute.
          </p>
        </div>
      ) : undefined}
      {state._tag === "Saved" ? (
        <p class="notice">
          Saved as <span class="mono">{state.file}</span>. <code>udg --key FILE</code> and this page take it, for the
          passphrase of this wallet.
        </p>
      ) : undefined}
    </div>
  )
}
