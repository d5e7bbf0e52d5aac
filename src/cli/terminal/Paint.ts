/**
 * Colour for people. A value is painted by the place it stands in, never by what it says, so that text from others cannot
 * dress as the program's. Pure.
 */

/** The text with what styles it, which takes no column. */
export type Paint = (text: string) => string

const styled =
  (code: number): Paint =>
  (text) =>
    text === "" ? text : `\u001b[${code}m${text}\u001b[0m`

export const plain: Paint = (text) => text
export const strong = styled(1)
/** Addresses and hashes, which are there to be copied rather than read. */
export const quiet = styled(2)
const bad = styled(31)
const good = styled(32)
const doubtful = styled(33)

/** An error or its place on stderr. */
export const alarm = bad

/** The first match decides, and failures come before successes. */
const STATES: ReadonlyArray<readonly [RegExp, Paint]> = [
  [/^(?:unhealthy|not active|rejected|failed|problem|critical)\b|not applied|\bfailed\b/i, bad],
  [/^(?:pending|not final yet|degraded|warning|active, leaving|passed)\b/i, doubtful],
  [/^(?:healthy|final|finalized|in committee|active|applied|executed|ok|valid)\b/i, good],
]

/** A state in the node's own words; one that is not known stays as it is. */
export const state: Paint = (text) => (STATES.find(([words]) => words.test(text))?.[1] ?? plain)(text)

/** A list of things that ends in a state. */
export const endingInState: Paint = (text) => text.replace(/[^ ]+$/, state)

/** What came in; what went out needs no colour, since it has a minus. */
export const change: Paint = (text) => (text.startsWith("+") ? good(text) : text)
