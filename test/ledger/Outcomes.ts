import { expect } from "vitest"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import { type Chain, told } from "./builders.js"

/** Executes these transactions in one commit; each stands beside what becomes of it. */
export const expectOutcomes = (
  chain: Chain,
  expected: ReadonlyArray<readonly [transaction: Transaction, outcome: string]>,
): void => {
  const outcomes = chain.run(...expected.map(([transaction]) => transaction))
  expect(outcomes.map(told)).toEqual(expected.map(([, outcome]) => outcome))
}
