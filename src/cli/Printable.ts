/**
 * Text of others on a terminal: names, memos, titles and errors come from whoever wrote them, and a terminal obeys what it
 * is shown. Whatever moves the cursor, changes colours or turns the direction of writing is shown as what it is.
 */

/** All but what joins letters and emojis, which only changes their shape. */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")

/** The text on one line. */
export const line = (text: string): string => text.toWellFormed().replaceAll(unprintable, escaped)

/** `JSON.stringify` has escaped what is below a space, but for its own line ends. */
const unprintableInJson = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The value as JSON that is the same value for a program, and harmless on a terminal. */
export const json = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(unprintableInJson, escaped)

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const widthOfCharacter = (character: string): number => (WIDE.test(character) ? 2 : 1)

/** The columns a text takes on a terminal, nearly: what a terminal makes of a script is its own affair. */
export const widthOf = (text: string): number => {
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOfCharacter(segment)
  return width
}

/** As much of the beginning as fits, with a sign where something is missing. */
export const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let taken = ""
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += widthOfCharacter(segment)
    if (used > width - 1) break
    taken += segment
  }
  return `${taken}…`
}

/** The ends of what is told from others by them: addresses and hashes. */
export const abbreviated = (text: string, width: number): string => {
  if (text.length <= width) return text
  const end = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - end)}…${text.slice(-end)}`
}
