/** The transactions recorded in a node's database, for tests that read its file. */
import type { Hash } from "../../src/protocol/identity/Hash.js"

const DIGITS = 12

/** The part of a hash that the database stores. */
export const shortOf = (id: Hash | string): string => id.slice(0, DIGITS).toLowerCase()

/** The short hashes of all transactions whose bytes are stored. */
export const SHORT_HASHES = `select printf('%0${DIGITS}x', key) as short from transaction_keys
  where exists (select 1 from transaction_packs where last_sequence >= sequence and last_sequence - transactions < sequence)`

/** The number of transactions recorded so far. */
export const COUNT = "select ifnull(max(last_sequence), 0) as n from transaction_packs"
