/** Fits text to a terminal and makes it harmless there. */
import * as Visible from "../../client/Visible.js"

/** JSON of the same value with characters escaped that a terminal would interpret. */
export const json = (value: unknown, indent?: number): string => Visible.lines(JSON.stringify(value, null, indent))

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const widthOfCharacter = (character: string): number => (WIDE.test(character) ? 2 : 1)

/** Approximate width in columns; terminals differ for some scripts. */
export const widthOf = (text: string): number => {
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOfCharacter(segment)
  return width
}

/** The beginning that fits, with an ellipsis if text is cut. */
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

/** A space where a line can break: every one, except between a number and its unit. */
const BREAK = / (?!(?<=\d )(?:UDG|sats?|ms|s|min|h|%|days?|seconds?|minutes?|rounds?|bytes|MiB)(?!\w))/

/** Wraps at spaces. A word that is too long gets a line of its own. */
export const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(BREAK)) {
    const longer = `${lines.at(-1) ?? ""} ${word}`
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** Both ends of an address or hash, enough to tell it from others. */
export const abbreviated = (text: string, width: number): string => {
  if (text.length <= width) return text
  const end = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - end)}…${text.slice(-end)}`
}
