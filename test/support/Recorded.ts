/** The transactions that a node's database has recorded, for whoever reads the file from beside the node. */
import type { Hash } from "../../src/protocol/identity/Hash.js"

const DIGITS = 12

/** What the database knows of a hash. */
export const shortOf = (id: Hash | string): string => id.slice(0, DIGITS).toLowerCase()

/** The short hashes of all of them whose bytes are there. */
export const SHORT_HASHES = `select printf('%0${DIGITS}x', key) as short from transaction_keys
  where exists (select 1 from transaction_packs where last_sequence >= sequence and last_sequence - transactions < sequence)`

/** How many there have been. */
export const COUNT = "select ifnull(max(last_sequence), 0) as n from transaction_packs"
