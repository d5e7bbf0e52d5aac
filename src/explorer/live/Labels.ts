/** The reader's private labels for accounts. They stay in this browser. */
import { signal } from "@preact/signals"
import { Option, Schema } from "effect"
import type { Address } from "../../protocol/identity/Address.js"

const KEPT_AS = "udg-labels"

export const LONGEST = 30
const MOST = 1_000

/** Labels cannot begin with @, so that nobody mistakes one for a registered name. */
const Label = Schema.String.pipe(
  Schema.minLength(1),
  Schema.maxLength(LONGEST),
  Schema.filter((text) => text === text.trim() && !text.startsWith("@")),
)

const Hex = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{40}$/))

const decode = Schema.decodeUnknownOption(Schema.parseJson(Schema.Record({ key: Hex, value: Label })))

const kept = (): Readonly<Record<string, string>> =>
  Option.getOrElse(Option.flatMap(Option.fromNullable(localStorage.getItem(KEPT_AS)), decode), () => ({}))

export const labels = signal(kept())

// Another tab has changed the labels.
addEventListener("storage", ({ key }) => {
  if (key === KEPT_AS) labels.value = kept()
})

export const of = (address: Address): string | undefined => labels.value[address]

const isLabel = Schema.is(Label)

/** Stores the label, or removes it if the text is empty. Returns the reason if that fails. */
export const set = (address: Address, typed: string): string | undefined => {
  const text = typed.trim()
  const { [address]: _, ...others } = kept()
  if (text !== "" && !isLabel(text)) return `a label has up to ${LONGEST} characters, and no @ at its beginning`
  if (text !== "" && Object.keys(others).length >= MOST) return `this browser keeps up to ${MOST} labels`
  labels.value = text === "" ? others : { ...others, [address]: text }
  localStorage.setItem(KEPT_AS, JSON.stringify(labels.value))
  return undefined
}
