/**
 * Makes text from other people (names, memos, titles, errors) safe to display. Escapes characters that move a
 * terminal's cursor, change its colours, or change the writing direction.
 */

const escaped = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")

/** Joiners of letters and emojis are kept, since they change only the shape. */
const invisible = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The text on one line. */
export const line = (text: string): string => text.toWellFormed().replaceAll(invisible, escaped)

const invisibleInLines = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The text with its line breaks. */
export const lines = (text: string): string => text.toWellFormed().replaceAll(invisibleInLines, escaped)
