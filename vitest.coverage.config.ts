import { defineConfig } from "vitest/config"
import base from "./vitest.config.js"

const { projects: _, ...test } = base.test ?? {}

/**
 * Which lines and branches of the pure rooms are reached by their tests: `npm run test:coverage`. The fuzzer of the replica
 * and the inspection of messages are among them, since they ask what a whole network asks. Of the branches that are left
 * some assert what the ledger itself keeps (`test/ledger/assertions.test.ts`), many are cases that a caller has excluded and
 * the types have not (docs/mutations.md), and others are reached by the tests of the node, the simulator and the disk alone.
 */
export default defineConfig({
  ...base,
  test: {
    ...test,
    include: ["test/{protocol,ledger,consensus,replica,fuzz}/**/*.test.ts", "test/node/MessageInspection.test.ts"],
    // They mock modules, or judge programs of their own.
    exclude: ["test/protocol/crypto/**", "test/ledger/mutations.test.ts"],
    pool: "threads",
    coverage: {
      enabled: true,
      reportOnFailure: true,
      provider: "v8",
      include: ["src/{protocol,ledger,consensus,replica,collections}/**/*.ts"],
      reporter: [["text", { skipFull: true }]],
      thresholds: { lines: 98, branches: 97 },
    },
  },
})
