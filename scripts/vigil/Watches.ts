/** What a vigil runs in turn, each time with seeds of its own. */

export interface Watch {
  readonly name: string
  /** What one run adds. */
  readonly amount: number
  readonly unit: string
  readonly command: (seed: number) => ReadonlyArray<string>
  readonly environment?: (seed: number) => Readonly<Record<string, string>>
}

const SEEDS = 100
const MINUTES = 5
const MESSAGES = 25_000
const TRANSACTIONS = 50_000
const TRACES = 20

const vitest = (...words: ReadonlyArray<string>): ReadonlyArray<string> => ["npx", "vitest", "run", ...words]
const sweep = (seed: number): ReadonlyArray<string> => [
  ...["npm", "run", "simulate", "--", "--seed", String(seed * SEEDS + 1), "--sweep", String(SEEDS)],
]
const histories = (seed: number): ReadonlyArray<string> => [
  ...["npm", "run", "histories", "--", "--minutes", String(MINUTES), "--seed", String(seed)],
]

export const watches: ReadonlyArray<Watch> = [
  { name: "simulator", amount: SEEDS, unit: "seeds", command: sweep },
  { name: "upgrades", amount: SEEDS, unit: "seeds", command: (seed) => [...sweep(seed), "--upgrades"] },
  { name: "histories", amount: MINUTES, unit: "minutes", command: histories },
  { name: "gateways", amount: MINUTES, unit: "minutes", command: (seed) => [...histories(seed), "--gateways"] },
  {
    name: "replica",
    amount: MESSAGES,
    unit: "messages",
    command: () => vitest("test/fuzz/Fuzz.test.ts"),
    environment: (seed) => ({
      ...{ UDG_TESTS: "all", UDG_FUZZ_SEED: String(seed + 1), UDG_FUZZ_MESSAGES: String(MESSAGES) },
    }),
  },
  {
    name: "ledger",
    amount: TRANSACTIONS,
    unit: "transactions",
    command: () => vitest("test/ledger/fuzz.test.ts"),
    environment: (seed) => ({
      ...{ UDG_TESTS: "all", UDG_FUZZ_SEED: String(seed + 1), UDG_FUZZ_TRANSACTIONS: String(TRANSACTIONS) },
    }),
  },
  {
    name: "small DAGs",
    amount: 1,
    unit: "runs",
    command: () => vitest("test/consensus/small"),
    environment: () => ({ UDG_TESTS: "all", UDG_SMALL_DAG_ROUNDS: "7" }),
  },
  {
    name: "model",
    amount: 2 * TRACES,
    unit: "traces",
    command: () => vitest("test/spec/Replay.test.ts", "-t", "does so in more traces"),
    environment: (seed) => ({
      ...{ UDG_TESTS: "all", UDG_SPEC_SEED: String(seed + 3), UDG_SPEC_TRACES: String(TRACES) },
    }),
  },
  { name: "attacks", amount: 1, unit: "runs", command: () => vitest("--mode", "attacks") },
]
