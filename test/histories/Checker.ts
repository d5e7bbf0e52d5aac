/** Judges a history. It shares no code with the program, and does not know how the history was made. */
import type { History, Violation } from "./History.js"
import * as Accounts from "./rules/Accounts.js"
import * as Chain from "./rules/Chain.js"
import * as Finality from "./rules/Finality.js"
import * as Kept from "./rules/Kept.js"
import * as Order from "./rules/Order.js"
import * as Slots from "./rules/Slots.js"

/** The violations; empty if the history is possible. */
export const judge = (history: History): ReadonlyArray<Violation> => [
  ...Finality.judge(history),
  ...Order.judge(history),
  ...Accounts.judge(history),
  ...Chain.judge(history),
  ...Kept.judge(history),
  ...Slots.judge(history),
]
