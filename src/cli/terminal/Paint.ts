/**
 * Terminal colours. A value's colour depends on its position and never on its text, so that text from others cannot
 * imitate the program's. Pure.
 */

/** Styles a text without changing its width. */
export type Paint = (text: string) => string

const styled =
  (code: number): Paint =>
  (text) =>
    text === "" ? text : `\u001b[${code}m${text}\u001b[0m`

export const plain: Paint = (text) => text
export const strong = styled(1)
/** For addresses and hashes, which are copied rather than read. */
export const quiet = styled(2)
const bad = styled(31)
const good = styled(32)
const doubtful = styled(33)

/** For errors and failures. */
export const alarm = bad

/** The first match decides, so failures precede successes. */
const STATES: ReadonlyArray<readonly [RegExp, Paint]> = [
  [/^(?:unhealthy|not active|rejected|failed|problem|critical)\b|not applied|\bfailed\b/i, bad],
  [/^(?:pending|not final yet|degraded|warning|active, leaving|passed)\b/i, doubtful],
  [/^(?:healthy|final|finalized|in committee|active|applied|executed|ok|valid)\b/i, good],
]

/** A state in the node's words; unknown states stay plain. */
export const state: Paint = (text) => (STATES.find(([words]) => words.test(text))?.[1] ?? plain)(text)

/** A list whose last word is a state. */
export const endingInState: Paint = (text) => text.replace(/[^ ]+$/, state)

/** Incoming amounts. Outgoing ones have a minus and need no colour. */
export const change: Paint = (text) => (text.startsWith("+") ? good(text) : text)
