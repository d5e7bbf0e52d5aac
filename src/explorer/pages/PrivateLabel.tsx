/** Sets the reader's private label of an account, which never leaves this browser. */
import { useEffect, useState } from "preact/hooks"
import type { Address } from "../../protocol/identity/Address.js"
import * as Labels from "../live/Labels.js"
import { Complaint } from "../show/Attempt.js"

export const PrivateLabel = ({ address }: { readonly address: Address }) => {
  const label = Labels.of(address) ?? ""
  const [text, setText] = useState(label)
  const [complaint, setComplaint] = useState<string | undefined>(undefined)
  // Another account, or another tab has set the label. A form made anew would lose the focus.
  useEffect(() => setText(label), [address, label])
  const isChanged = text.trim() !== label
  const keep = (event: SubmitEvent): void => {
    event.preventDefault()
    setComplaint(Labels.set(address, text))
  }
  return (
    <form class="labelling" onSubmit={keep} aria-label="Private label">
      <input
        type="text"
        value={text}
        maxLength={Labels.LONGEST}
        placeholder="visible to you only"
        aria-label="Private label"
        autocomplete="off"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="button small" aria-disabled={!isChanged}>
        Keep
      </button>
      <Complaint text={complaint} />
    </form>
  )
}
