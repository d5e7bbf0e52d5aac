/** Checks that an answer is about the requested thing. A node can lie, and a broken proxy can mix up answers. */
import { Either } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import { FalseAnswer } from "./Failures.js"

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null

/** Addresses in hex, as nodes write them, and everything else in lower case. */
const canonical = (asked: string): string =>
  Either.getOrElse(Address.parse(asked, /^tudg1/i.test(asked) ? "tudg" : "udg"), () => asked.toLowerCase())

const refuse = (told: string, asked: string): never => {
  throw new FalseAnswer(200, `it is about ${told} instead of ${asked}`)
}

/** Only the node knows which account a name belongs to, but the account's own name must match. */
const requireName = (asked: string, { name }: Fields): void => {
  if (name !== undefined && asked !== `@${name}`) refuse(`@${name}`, asked)
}

/** A mempool accepts no more pending transactions of an account than this. */
const requireNonce = ({ nonce, next_nonce: next }: Fields): void => {
  if (typeof nonce !== "number" || typeof next !== "number") return
  if (next >= nonce && next - nonce <= Limits.NONCE_WINDOW) return
  throw new FalseAnswer(200, `next_nonce ${next} cannot follow nonce ${nonce}`)
}

/** Fails with `FalseAnswer` if a field of the answer differs from the path parameter of the same name. */
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
