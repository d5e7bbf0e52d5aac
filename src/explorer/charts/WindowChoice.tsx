import { chosen, windows } from "./Windows.js"

/** Selects the period that charts show. */
export const WindowChoice = () => (
  <fieldset class="windows">
    <legend class="unseen">How far back</legend>
    {windows.map((window) => (
      <label key={window.name} title={window.label}>
        <input
          type="radio"
          name="window"
          checked={chosen.value === window}
          onChange={() => {
            chosen.value = window
          }}
        />
        <span>{window.name}</span>
      </label>
    ))}
  </fieldset>
)
