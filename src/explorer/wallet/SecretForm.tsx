/** A form for keys. Its only errors are about the input. */
import type { ComponentChildren } from "preact"
import { InvalidInput } from "../../client/Wallet.js"
import { Complaint, useAttempt } from "../show/Attempt.js"

const explain = (error: unknown): string =>
  error instanceof InvalidInput ? error.message : "this browser could not do it"

interface Props {
  /** The button's label. */
  readonly label: string
  /** The form's name, if it has one. */
  readonly name?: string
  readonly onSubmit: () => Promise<void>
  readonly children?: ComponentChildren
}

export const SecretForm = ({ label, name, onSubmit, children }: Props) => {
  const { isBusy, complaint, attempt } = useAttempt(explain)
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    void attempt(onSubmit)
  }
  return (
    <form class="form" onSubmit={submit} aria-label={name}>
      {children}
      <Complaint text={complaint} />
      <button type="submit" class="button primary" aria-disabled={isBusy}>
        {isBusy ? "One moment…" : label}
      </button>
    </form>
  )
}
