/** Judges a history. It shares no code with the program, and knows nothing of how the history was made. */
import type { History, Violation } from "./History.js"
import * as Accounts from "./rules/Accounts.js"
import * as Chain from "./rules/Chain.js"
import * as Finality from "./rules/Finality.js"
import * as Order from "./rules/Order.js"

/** What is wrong; nothing if it can be true. */
export const judge = (history: History): ReadonlyArray<Violation> => [
  ...Finality.judge(history),
  ...Order.judge(history),
  ...Accounts.judge(history),
  ...Chain.judge(history),
]
