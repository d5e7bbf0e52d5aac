/** The signed transaction before it is sent: all fields, the cost and the remaining balance. */
import { useEffect, useRef, useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import { factsOf } from "../payload/OperationFacts.js"
import { Amount } from "../show/Amount.js"
import { Facts } from "../show/Page.js"
import * as Submission from "./Submission.js"

interface Props {
  readonly draft: Submission.Draft
  readonly isBusy: boolean
  readonly onSend: () => void
  readonly onBack: () => void
}

const Obstacles = ({ of }: { readonly of: ReadonlyArray<string> }) =>
  of.length === 0 ? null : (
    <div class="notice failed" role="alert">
      {of.map((obstacle) => (
        <p key={obstacle}>This would fail: {obstacle}.</p>
      ))}
    </div>
  )

const FeeLine = ({
  feeSats,
  forAccount,
  leastSats,
}: Pick<Submission.Draft, "feeSats" | "forAccount" | "leastSats">) => (
  <>
    {feeSats === 0 ? undefined : (
      <>
        <Amount sats={feeSats} />,{" "}
      </>
    )}
    <span class="quiet">{Submission.feeInWords(feeSats - forAccount, leastSats)}</span>
    {forAccount === 0 ? undefined : (
      <span class="quiet">
        , <Amount sats={forAccount} /> of it for the recipient's new account
      </span>
    )}
  </>
)

const Costs = ({ draft: { signed, feeSats, forAccount, leastSats, spentSats, balanceSats } }: Pick<Props, "draft">) => {
  const total = spentSats + feeSats
  return (
    <Facts
      of={[
        ...factsOf(signed, true),
        ["Nonce", `${signed.nonce}`],
        ["Fee", <FeeLine feeSats={feeSats} forAccount={forAccount} leastSats={leastSats} />],
        ["Total", <Amount sats={total} />],
        ["Balance after", total > balanceSats ? "–" : <Amount sats={balanceSats - total} />],
      ]}
    />
  )
}

export const Review = ({ draft, isBusy, onSend, onBack }: Props) => {
  const [isMeant, setIsMeant] = useState(false)
  const summary = useRef<HTMLParagraphElement>(null)
  // The button that led here is gone, and the focus with it.
  useEffect(() => summary.current?.focus(), [])
  return (
    <div class="review">
      <p ref={summary} tabIndex={-1}>
        <b>{draft.summary}</b>
      </p>
      <Costs draft={draft} />
      <Obstacles of={draft.obstacles} />
      <p class="quiet">Signed in this browser. Only the signed transaction is sent.</p>
      {draft.isDear ? (
        <label class="complaint">
          <input
            type="checkbox"
            checked={isMeant}
            onChange={({ currentTarget }) => setIsMeant(currentTarget.checked)}
          />{" "}
          The fee is far above the usual {Wallet.coins(draft.usualSats)} UDG. I want to pay it.
        </label>
      ) : undefined}
      <details class="raw">
        <summary>The signed transaction</summary>
        <pre>{JSON.stringify(draft.signed, null, 2)}</pre>
      </details>
      <p class="buttons">
        <button
          type="button"
          class="button primary"
          disabled={draft.isDear && !isMeant}
          aria-disabled={isBusy}
          onClick={onSend}
        >
          {isBusy ? "Sending…" : "Send it"}
        </button>
        <button type="button" class="button" aria-disabled={isBusy} onClick={onBack}>
          Back
        </button>
      </p>
    </div>
  )
}
