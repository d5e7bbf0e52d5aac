import type { ComponentChildren, VNode } from "preact"
import type { Field } from "./Action.js"
import { ProposalPicker, ValidatorPicker } from "./Picker.js"
import { Resolved } from "./Resolved.js"

interface LabelledProps {
  readonly id: string
  readonly label: ComponentChildren
  readonly hint?: string | undefined
  readonly children: ComponentChildren
}

const hintOf = (id: string, hint: string | undefined) => (hint === undefined ? undefined : `${id}-hint`)

/** A control with its label above and its hint below. */
export const Labelled = ({ id, label, hint, children }: LabelledProps) => (
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
  /** Browsers offer to store passphrases, but must not offer it for a key. */
  readonly isKey?: boolean
  readonly isShown?: boolean
  readonly hint?: string
}

/** A passphrase or secret key. The typed text is a property of the input and not part of the page. */
export const Secret = ({ id, label, value, onChange, hint, isNew, isKey, isShown = false }: SecretProps) => {
  const shared = {
    ...{ id, value, required: true, spellcheck: false, autocapitalize: "off" as const },
    autocomplete: isKey === true ? "off" : isNew === true ? "new-password" : "current-password",
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange(currentTarget.value),
    "aria-describedby": hintOf(id, hint),
  }
  return (
    <Labelled id={id} label={label} hint={hint}>
      {isShown ? <input {...shared} type="text" class="mono" /> : <input {...shared} type="password" />}
    </Labelled>
  )
}

interface WithMostProps {
  readonly onMost: (() => void) | undefined
  readonly children: VNode
}

const WithMost = ({ onMost, children }: WithMostProps) =>
  onMost === undefined ? (
    children
  ) : (
    <span class="with-most">
      {children}
      <button type="button" class="button" onClick={onMost} aria-label="Max: everything that is left">
        Max
      </button>
    </span>
  )

interface InputProps extends Value {
  readonly field: Field
  /** Fills in the maximum that the account can pay. */
  readonly onMost?: (() => void) | undefined
}

/** One field of an action. */
export const Input = ({ field, value, onChange, onMost }: InputProps) => {
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
        <WithMost onMost={onMost}>
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
        </WithMost>
      )}
      {kind === "account" ? <Resolved text={value} /> : undefined}
    </Labelled>
  )
}
