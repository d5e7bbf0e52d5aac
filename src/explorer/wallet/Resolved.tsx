/** Shows a typed account before signing: its address, its name, and whether it exists. */
import { useEffect, useState } from "preact/hooks"
import * as Labels from "../live/Labels.js"
import * as Live from "../live/Live.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"

/** What can be looked up. Addresses with a typing error are refused with the reason. */
const WHOLE = /^(?:@[a-z0-9-]{3,20}|[0-9a-f]{40}|t?udg1[0-9a-z]{38})$/i

const PAUSE_MS = 300

const Answer = ({ text }: { readonly text: string }) => {
  const found = useResource(`whom ${text}`, () => node.core.balance({ path: { address: text } }), Live.slowBeat)
  if (found.state === "missing") return <p class="complaint hint-text">{found.reason}</p>
  if (found.state === "failed") return <p class="complaint hint-text">could not look this up: {found.reason}</p>
  if (found.state !== "ready") return null
  const { address, address_bech32: written, name, exists } = found.value
  const label = Labels.of(address)
  return (
    <p class="hint-text resolved" role="status">
      <span class="mono">{written}</span>
      {name === null ? undefined : <b> @{name}</b>}
      {label === undefined ? undefined : <b> “{label}”</b>}
      {exists ? undefined : <span class="quiet"> a new account</span>}
    </p>
  )
}

export const Resolved = ({ text }: { readonly text: string }) => {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const asked = settled.trim()
  return settled === text && WHOLE.test(asked) ? <Answer text={asked} /> : null
}
