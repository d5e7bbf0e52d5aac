import type { Stretch } from "../../node/reads/Dag.js"
import type { ValidatorOf } from "../../node/reads/State.js"
import type { Address } from "../../protocol/identity/Address.js"
import type * as Api from "../api/Dag.js"

/** The wire form of a part of the DAG: each address appears once, and as an index everywhere else. */
export const of = ({ newest, finalizedRound, columns }: Stretch, validatorOf: ValidatorOf): typeof Api.Columns.Type => {
  const named = columns.flatMap(({ leader, vertices }) => [
    ...(leader === null ? [] : [leader.address]),
    ...vertices.flatMap(({ header }) => [header.author, ...header.parents.map(({ author }) => author)]),
  ])
  const accounts = new Map(named.map((address) => [address, validatorOf(address)]))
  const validators = [...new Set(accounts.values())].sort()
  const places = new Map(validators.map((address, place) => [address, place]))
  const placeOf = (address: Address): number => places.get(accounts.get(address) ?? address) ?? 0
  return {
    dag_round: newest,
    finalized_round: finalizedRound,
    validators,
    columns: columns.map(({ round, epoch, isFinalized, finalizedAt, leader, vertices }) => ({
      round,
      epoch,
      timestamp: finalizedAt,
      finalized: isFinalized,
      leader: leader === null ? null : { validator: placeOf(leader.address), verdict: leader.verdict },
      vertices: vertices.map(({ header, transactionCount, commitIndex }) => {
        const older = header.parents.filter((parent) => parent.round < header.round - 1)
        return {
          hash: header.hash,
          validator: placeOf(header.author),
          tx_count: transactionCount,
          commit_index: commitIndex,
          parents: header.parents.flatMap((parent) =>
            parent.round === header.round - 1 ? [placeOf(parent.author)] : [],
          ),
          older_parents: older.map((parent) => ({
            round: parent.round,
            validator: placeOf(parent.author),
          })),
        }
      }),
    })),
  }
}
