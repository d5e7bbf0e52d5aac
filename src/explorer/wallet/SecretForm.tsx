/** A form about keys, whose only complaints are about what was typed. */
import type { ComponentChildren } from "preact"
import { InvalidInput } from "../../client/Wallet.js"
import { Complaint, useAttempt } from "../show/Attempt.js"

const explain = (error: unknown): string =>
  error instanceof InvalidInput ? error.message : "this browser could not do it"

interface Props {
  /** Of the button. */
  readonly label: string
  /** Of the form, where it has one. */
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
