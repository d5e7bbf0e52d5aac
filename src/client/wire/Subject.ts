/** Whether an answer is about what was asked for. A node may lie, and a broken proxy may mix up answers. */
import { Either } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import { FalseAnswer } from "./Failures.js"

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null

/** Addresses in hex, as nodes write them, and all else in lower case. */
const canonical = (asked: string): string =>
  Either.getOrElse(Address.parse(asked, /^tudg1/i.test(asked) ? "tudg" : "udg"), () => asked.toLowerCase())

const refuse = (told: string, asked: string): never => {
  throw new FalseAnswer(200, `it is about ${told}, and ${asked} was asked for`)
}

/** What a name stands for only the node knows; but an account's own name it says. */
const requireName = (asked: string, { name }: Fields): void => {
  if (name !== undefined && asked !== `@${name}`) refuse(`@${name}`, asked)
}

/** A ledger takes in no more transactions of an account than this before the first of them is executed. */
const requireNonce = ({ nonce, next_nonce: next }: Fields): void => {
  if (typeof nonce !== "number" || typeof next !== "number") return
  if (next >= nonce && next - nonce <= Limits.NONCE_WINDOW) return
  throw new FalseAnswer(200, `next_nonce ${next} cannot follow nonce ${nonce}`)
}

/** Fails with `FalseAnswer` where a field of the answer has another value than the part of the path with its name. */
export const require = (path: unknown, answer: unknown): void => {
  if (!isFields(path) || !isFields(answer)) return
  for (const [name, value] of Object.entries(path)) {
    const asked = String(value)
    if (asked.startsWith("@")) requireName(asked, answer)
    else if (Object.hasOwn(answer, name) && String(answer[name]) !== canonical(asked)) {
      refuse(`the ${name} ${answer[name]}`, asked)
    }
  }
  requireNonce(answer)
}
