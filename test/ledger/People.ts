/** The people in the tests of the ledger. */
import { person } from "./builders.js"

export const [alice, bob, carol, val, other] = [
  person("alice"),
  person("bob"),
  person("carol"),
  person("val"),
  person("other"),
]
