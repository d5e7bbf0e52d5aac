import type { Field } from "./Action.js"

interface Props {
  readonly field: Field
  readonly value: string
  readonly onChange: (value: string) => void
}

/** One labelled field of a form. */
export const Input = ({ field, value, onChange }: Props) => {
  const { name, label, kind, hint, options, isOptional = false } = field
  const id = `field-${name}`
  const shared = {
    id,
    name,
    value,
    required: !isOptional,
    "aria-describedby": hint === undefined ? undefined : `${id}-hint`,
  }
  const hear = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void =>
    onChange(currentTarget.value)
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional ? <span class="quiet"> (optional)</span> : undefined}
      </label>
      {kind === "choice" ? (
        <select {...shared} onChange={hear}>
          {options?.map(([option, said]) => (
            <option key={option} value={option}>
              {said}
            </option>
          ))}
        </select>
      ) : kind === "long" ? (
        <textarea {...shared} rows={4} onInput={hear} />
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
          onInput={hear}
        />
      )}
      {hint === undefined ? undefined : (
        <p class="quiet hint-text" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
