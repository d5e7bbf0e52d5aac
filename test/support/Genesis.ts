/** Networks for tests. A test names only the parts of a genesis that matter to it. */
import { Either } from "effect"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"

export interface Parts extends Partial<Omit<Genesis.Genesis, "parameters" | "protocol">> {
  readonly validators: Genesis.Genesis["validators"]
  readonly parameters?: Partial<Parameters.Parameters>
  readonly protocol?: Partial<Protocol.Protocol>
}

/** A testnet with these parts, no other accounts, and default parameters. */
export const genesisOf = ({ parameters, protocol, ...parts }: Parts): Genesis.Genesis =>
  Either.getOrThrow(
    Genesis.make({
      networkId: "udg-test" as NetworkId,
      mode: "testnet",
      time: Natural.timestamp(1_700_000_000_000),
      allocations: [],
      council: [],
      names: [],
      treasury: Sats.ZERO,
      faucet: null,
      ...parts,
      parameters: { ...Parameters.solo, ...parameters },
      protocol: { ...Protocol.standard, ...protocol },
    }),
  )
