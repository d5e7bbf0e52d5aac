import { useEffect, useRef, useState } from "preact/hooks"
import * as Fee from "../../client/Fee.js"
import * as Wallet from "../../client/Wallet.js"
import type { NetworkInfo } from "../live/Network.js"
import { Complaint, useAttempt } from "../show/Attempt.js"
import { type Action, blank, filledIn, type Typed } from "./Action.js"
import { Input } from "./Input.js"
import { Review } from "./Review.js"
import * as Submission from "./Submission.js"

interface Props {
  readonly action: Action
  readonly info: NetworkInfo
  readonly account: Wallet.Account
  /** Called after the node has accepted the transaction. */
  readonly onSent: (hash: string, what: string) => void
}

/** The price of a new account is added once the recipient is known. */
const feeHint = (action: Action, least: number, { account_fee_sats: more }: NetworkInfo["parameters"]): string => {
  const first =
    action.type === "Transfer" && more > 0 ? `; ${Wallet.coins(more)} more to open the account of a new recipient` : ""
  return `at least ${Wallet.coins(least)}${first}`
}

const FEE = { name: "fee", label: "Fee in UDG", kind: "coins" } as const

export const ActionForm = ({ action, info, account, onSent }: Props) => {
  const least = Fee.asked(action.type, info.parameters)
  const [typed, setTyped] = useState<Typed>(() => ({
    ...blank(action.fields(info, {})),
    ...filledIn(action.fields(info, {}), new URLSearchParams(location.search)),
  }))
  // The default follows the price until the user types a fee.
  const fee = typed["fee"] ?? Wallet.coins(least)
  const [draft, setDraft] = useState<Submission.Draft | undefined>(undefined)
  const { isBusy, complaint, attempt } = useAttempt(Submission.complaint)
  const fields = action.fields(info, typed)
  const reviewing = useRef<HTMLButtonElement>(null)
  const wasReviewed = useRef(false)
  // The button that had the focus is gone, so the user continues here.
  useEffect(() => {
    if (draft === undefined && wasReviewed.current) reviewing.current?.focus({ preventScroll: true })
    wasReviewed.current = draft !== undefined
  }, [draft])

  // Merges into the latest input, which can be newer than this render: "Max" fills in when the node has answered.
  const change = (name: string) => (value: string) =>
    setTyped((before) => {
      const next = { ...before, [name]: value }
      return { ...blank(action.fields(info, next)), ...next }
    })

  const feeSats = (): number => (least === 0 ? 0 : Wallet.sats(fee.trim()))

  const fillIn = (name: string) => () =>
    void attempt(async () => change(name)(await Submission.most(action, info, account, typed, feeSats())))

  const review = (event: SubmitEvent): void => {
    event.preventDefault()
    void attempt(async () => {
      setDraft(await Submission.draft(action, info, account, typed, feeSats()))
    })
  }

  const send = (ready: Submission.Draft): void => {
    void attempt(async () => {
      const hash = await Submission.submit(ready).finally(() => setDraft(undefined))
      onSent(hash, ready.summary)
      setTyped({ ...blank(action.fields(info, {})), ...(typed["fee"] === undefined ? {} : { fee }) })
    })
  }

  return (
    <form class="form" onSubmit={review} aria-label={action.title}>
      <p class="quiet">{action.about}</p>
      {draft === undefined ? (
        <>
          {fields.map((field) => (
            <Input
              key={field.name}
              field={field}
              value={typed[field.name] ?? ""}
              onChange={change(field.name)}
              onMost={field.isOwn === true ? fillIn(field.name) : undefined}
            />
          ))}
          {least === 0 ? undefined : (
            <Input
              field={{ ...FEE, hint: feeHint(action, least, info.parameters) }}
              value={fee}
              onChange={change("fee")}
            />
          )}
          <Complaint text={complaint} />
          <button type="submit" class="button primary" aria-disabled={isBusy} ref={reviewing}>
            {isBusy ? "Signing…" : "Review"}
          </button>
        </>
      ) : (
        <Review draft={draft} isBusy={isBusy} onSend={() => send(draft)} onBack={() => isBusy || setDraft(undefined)} />
      )}
    </form>
  )
}
