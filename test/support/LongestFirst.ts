/**
 * The order of the test files: the long ones first, so that none of them runs alone at the end. Vitest knows how long a file
 * took only where it has run before; in a fresh clone it goes by the size of the files.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Half a minute or so, most of it waiting for programs and rounds. */
const LONG: ReadonlyArray<string> = [
  "consensus/small/SmallDags",
  "ledger/properties",
  "simulation/Simulation",
  "docs/Terminal",
  "network/Hostile",
  "node/Faults",
  "blackbox/Endings",
  "node/SignatureThreads",
  "rpc/SlowClients",
  "blackbox/wallet/Script",
  "node/Pruning",
  "blackbox/Doctor",
  "blackbox/Database",
  "blackbox/Localnet",
  "rpc/Guide",
  "conformance/Life",
  "archive/Archive",
  "network/Network",
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
