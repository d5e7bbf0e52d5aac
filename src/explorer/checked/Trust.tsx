/** What a check relies on, and a form to change it. */
import { Option } from "effect"
import { useState } from "preact/hooks"
import { Complaint, useAttempt } from "../show/Attempt.js"
import * as Reference from "../show/Reference.js"
import * as Words from "../show/Words.js"
import * as Check from "./Check.js"
import * as TrustRoot from "./TrustRoot.js"

const sources = { "first seen": "the newest when this browser first asked", entered: "entered here" } as const

const Rests = ({ root }: { readonly root: TrustRoot.Root | undefined }) =>
  root === undefined ? (
    <p>This browser trusts no checkpoint of this network yet.</p>
  ) : (
    <p>
      On the checkpoint that closed epoch {Words.count(root.epoch)},{" "}
      <Reference.Text text={`${root.epoch}:${root.hash}`} what="trusted checkpoint" />. It follows from one that was{" "}
      {sources[root.source]} ({Words.moment(root.since)}). Compare it with another node's, or enter one that you know
      from elsewhere.
    </p>
  )

class NoCheckpoint extends Error {}

const complaintOf = (error: unknown): string =>
  error instanceof NoCheckpoint ? error.message : "the node does not answer"

export const Trust = ({
  root,
  onChange,
}: {
  readonly root: TrustRoot.Root | undefined
  readonly onChange: () => void
}) => {
  const [text, setText] = useState("")
  const { isBusy, complaint, attempt } = useAttempt(complaintOf)
  const enter = () =>
    attempt(async () => {
      const pin = Option.getOrUndefined(TrustRoot.parse(text))
      if (pin === undefined) throw new NoCheckpoint("expected an epoch, a colon and 64 hex characters")
      await Check.enter(pin)
      setText("")
      onChange()
    })
  const startAnew = () => {
    TrustRoot.forget()
    onChange()
  }
  return (
    <details class="rests">
      <summary>What the check rests on</summary>
      <Rests root={root} />
      <p class="quiet">
        The node that serves this page can also change it. Open it from a node that you trust, or use udg balance
        --verify.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void enter()
        }}
      >
        <div class="field">
          <label for="trusted">Closing checkpoint, EPOCH:HASH</label>
          <input
            id="trusted"
            class="mono"
            value={text}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </div>
        <Complaint text={complaint} />
        <div class="buttons">
          <button type="submit" class="button" aria-disabled={isBusy}>
            Trust this checkpoint
          </button>
          <button type="button" class="button" onClick={startAnew}>
            Trust this node's newest one
          </button>
        </div>
      </form>
    </details>
  )
}
