/** Names that the reader gives to accounts. They stay in this browser: nobody else sees them. */
import { signal } from "@preact/signals"
import { Option, Schema } from "effect"
import type { Address } from "../../protocol/identity/Address.js"

const KEPT_AS = "udg-labels"

export const LONGEST = 30
const MOST = 1_000

/** An @ begins names that the ledger has, and no reader shall take one for the other. */
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

// Another tab has changed them.
addEventListener("storage", ({ key }) => {
  if (key === KEPT_AS) labels.value = kept()
})

export const of = (address: Address): string | undefined => labels.value[address]

const isLabel = Schema.is(Label)

/** Keeps the label, or removes it where the text is empty; why not, in a sentence. */
export const set = (address: Address, typed: string): string | undefined => {
  const text = typed.trim()
  const { [address]: _, ...others } = kept()
  if (text !== "" && !isLabel(text)) return `a label has up to ${LONGEST} characters, and no @ at its beginning`
  if (text !== "" && Object.keys(others).length >= MOST) return `this browser keeps up to ${MOST} labels`
  labels.value = text === "" ? others : { ...others, [address]: text }
  localStorage.setItem(KEPT_AS, JSON.stringify(labels.value))
  return undefined
}
