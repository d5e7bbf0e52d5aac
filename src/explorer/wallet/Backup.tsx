import { Option } from "effect"
import { useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import { Complaint, useAttempt } from "../show/Attempt.js"
import { Copy } from "../show/Copy.js"
import { Secret } from "./Input.js"
import * as Vault from "./Vault.js"

const explain = (error: unknown): string =>
  error instanceof Wallet.InvalidInput ? error.message : "this browser could not do it"

type State =
  | { readonly _tag: "Hidden" }
  | { readonly _tag: "Asking" }
  | { readonly _tag: "Shown"; readonly secret: Wallet.SecretKey }

/** Asks for the passphrase: whoever finds the page open does not get the key. */
const Ask = ({
  sealed,
  onOpen,
}: {
  readonly sealed: Vault.Sealed
  readonly onOpen: (key: Wallet.SecretKey) => void
}) => {
  const [passphrase, setPassphrase] = useState("")
  const { isBusy, complaint, attempt } = useAttempt(explain)
  const open = (event: SubmitEvent): void => {
    event.preventDefault()
    void attempt(async () => {
      const key = await Vault.open(sealed, passphrase)
      if (Option.isNone(key)) throw new Wallet.InvalidInput("this passphrase is wrong")
      onOpen(key.value)
    })
  }
  return (
    <form class="form" onSubmit={open} aria-label="Show the secret key">
      <Secret id="backup-passphrase" label="Passphrase" value={passphrase} onChange={setPassphrase} />
      <Complaint text={complaint} />
      <button type="submit" class="button primary" disabled={isBusy}>
        {isBusy ? "One moment…" : "Show it"}
      </button>
    </form>
  )
}

const labels: Readonly<Record<State["_tag"], string>> = {
  Hidden: "Show the secret key, to keep a copy",
  Asking: "Cancel",
  Shown: "Hide the secret key",
}

/** The stored key itself, on request and for its passphrase. A key that is only borrowed was typed in, and is not shown. */
export const Backup = () => {
  const [kept] = useState(Vault.kept)
  const [state, setState] = useState<State>({ _tag: "Hidden" })
  if (Option.isNone(kept)) return null
  const isHidden = state._tag === "Hidden"
  return (
    <div class="backup">
      <button
        type="button"
        class="button"
        onClick={() => setState(isHidden ? { _tag: "Asking" } : { _tag: "Hidden" })}
        aria-expanded={!isHidden}
      >
        {labels[state._tag]}
      </button>
      {state._tag === "Asking" ? (
        <Ask sealed={kept.value} onOpen={(secret) => setState({ _tag: "Shown", secret })} />
      ) : undefined}
      {state._tag === "Shown" ? (
        <p class="notice failed">
          <span class="mono">{state.secret.toSecretHex()}</span>{" "}
          <Copy text={state.secret.toSecretHex()} what="secret key" />
          <br />
          Anybody who has this key has the coins.
        </p>
      ) : undefined}
    </div>
  )
}
