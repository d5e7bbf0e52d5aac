/** The frames of an event stream, each ended by an empty line, in a text that arrives in pieces. */
import { UnexpectedAnswer } from "./Failures.js"

/** Events are shorter than a kilobyte. A malicious server could send a line without end. */
export const LONGEST = 1024 * 1024

const OK = 200
const END = "\n\n"

/** Examines each character about once, however small the pieces are, since the server chooses their size. */
export async function* read(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let begun: Array<string> = []
  let length = 0
  /** The last character received, since an empty line can be split between pieces. */
  let last = ""
  for await (const piece of pieces) {
    const parts = (last + piece).split(END)
    const rest = parts.pop() ?? ""
    for (const part of parts) {
      yield [...begun, part].join("")
      begun = []
      length = 0
    }
    last = rest.slice(-1)
    begun.push(rest.slice(0, -1))
    length += rest.length - last.length
    if (length > LONGEST) throw new UnexpectedAnswer(OK, `an event of more than ${LONGEST} characters`)
  }
}
