/**
 * Text of others: names, memos, titles and errors come from whoever wrote them. Whatever moves a terminal's cursor, changes
 * its colours, or turns the direction of writing there or on a page is shown as what it is.
 */

const escaped = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")

/** All but what joins letters and emojis, which only changes their shape. */
const invisible = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The text on one line. */
export const line = (text: string): string => text.toWellFormed().replaceAll(invisible, escaped)

const invisibleInLines = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The text on the lines that it has. */
export const lines = (text: string): string => text.toWellFormed().replaceAll(invisibleInLines, escaped)
