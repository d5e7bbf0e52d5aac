import type { ComponentChildren } from "preact"
import type { Field } from "./Action.js"
import { ProposalPicker, ValidatorPicker } from "./Picker.js"

interface LabelledProps {
  readonly id: string
  readonly label: ComponentChildren
  readonly hint?: string | undefined
  readonly children: ComponentChildren
}

const hintOf = (id: string, hint: string | undefined) => (hint === undefined ? undefined : `${id}-hint`)

/** A control with its label above and its hint below. */
const Labelled = ({ id, label, hint, children }: LabelledProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    {children}
    {hint === undefined ? undefined : (
      <p class="quiet hint-text" id={hintOf(id, hint)}>
        {hint}
      </p>
    )}
  </div>
)

interface Value {
  readonly value: string
  readonly onChange: (value: string) => void
}

interface SecretProps extends Value {
  readonly id: string
  readonly label: string
  readonly isNew?: boolean
  readonly hint?: string
}

/** A passphrase or a secret key. */
export const Secret = ({ id, label, value, onChange, isNew = false, hint }: SecretProps) => (
  <Labelled id={id} label={label} hint={hint}>
    <input
      id={id}
      type="password"
      value={value}
      required
      autocomplete={isNew ? "new-password" : "current-password"}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
      aria-describedby={hintOf(id, hint)}
    />
  </Labelled>
)

/** One field of an action. */
export const Input = ({ field, value, onChange }: Value & { readonly field: Field }) => {
  const { name, label, kind, hint, options, isOptional = false } = field
  const id = `field-${name}`
  const shared = { id, name, value, required: !isOptional, "aria-describedby": hintOf(id, hint) }
  const onEdit = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void =>
    onChange(currentTarget.value)
  const title = (
    <>
      {label}
      {isOptional ? <span class="quiet"> (optional)</span> : undefined}
    </>
  )
  return (
    <Labelled id={id} label={title} hint={hint}>
      {kind === "validator" ? (
        <ValidatorPicker id={id} value={value} onChange={onChange} describedBy={hintOf(id, hint)} />
      ) : kind === "proposal" ? (
        <ProposalPicker id={id} value={value} onChange={onChange} describedBy={hintOf(id, hint)} />
      ) : kind === "choice" ? (
        <select {...shared} onChange={onEdit}>
          {Object.entries(options ?? {}).map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      ) : kind === "long" ? (
        <textarea {...shared} rows={4} onInput={onEdit} />
      ) : (
        <input
          {...shared}
          type="text"
          class={kind === "account" ? "mono" : undefined}
          inputMode={kind === "coins" ? "decimal" : kind === "integer" ? "numeric" : "text"}
          placeholder={kind === "account" ? "tudg1…, 40 hex characters or @name" : undefined}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          onInput={onEdit}
        />
      )}
    </Labelled>
  )
}
