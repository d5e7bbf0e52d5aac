/**
 * Runs the long test files first, so that none of them runs alone at the end. Vitest knows durations only from earlier
 * runs; in a fresh clone it sorts by file size.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take many seconds, by waiting for programs and rounds or by computing. */
const LONG: ReadonlyArray<string> = [
  "replica/Replica",
  "replica/Joining",
  "consensus/small/SmallDags",
  "simulation/Simulation",
  "spec/Replay",
  "spec/Model",
  "conformance/Life",
  "network/Network",
  "node/Faults",
  "node/SignatureThreads",
  "docs/Terminal",
  "blackbox/Endings",
  "blackbox/wallet/Keys",
  "signer/Kills",
  "blackbox/Dev",
  "ops/Monitoring",
  "rpc/Guide",
  "rpc/SlowClients",
  "blackbox/Database",
  "blackbox/wallet/Script",
  "blackbox/udg",
  "light/Light",
  "blackbox/Localnet",
  "blackbox/Doctor",
  "conformance/Conformance",
  "network/Hostile",
  "node/Pruning",
  "ledger/properties",
  "ledger/mutations",
  "ledger/Twins",
  "blackbox/wallet/Terminal",
  "node/StateImport",
  "testing/DevNetwork",
]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return place === -1 ? LONG.length : place
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => placeOf(a) - placeOf(b))
  }
}
