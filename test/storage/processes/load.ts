/** A commit in which every part contains the index, so that one part shows what all others must be. */
import * as Binary from "../../../src/protocol/encoding/Binary.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as world from "../world.js"

export const ACCOUNTS = 1_500
export const PROPOSALS = 200
export const TRANSACTIONS = 400

export const loadOf = (index: number) => {
  const transactions = Array.from({ length: TRANSACTIONS }, (_, n) => world.transfer(n, n + 1, index))
  const vertices = [
    world.vertex({ round: index, transactions: transactions.slice(0, TRANSACTIONS / 2) }),
    world.vertex({ round: index, author: world.key(1).publicKey, transactions: transactions.slice(TRANSACTIONS / 2) }),
  ]
  const value = Binary.encode((writer) => writer.u64(index))
  return {
    transactions,
    vertices,
    pending: transactions.map((transaction) => ({ transaction, receivedAt: Natural.timestamp(index) })),
    batch: world.batch(index, {
      changes: [
        ...Array.from({ length: ACCOUNTS }, (_, n) => world.account(n, index, index)),
        ...Array.from({ length: PROPOSALS }, (_, n) => world.proposalRecord(n, value)),
      ],
      vertices: vertices.map(world.ordered),
      settled: transactions.map(({ id }) => id),
    }),
  }
}
