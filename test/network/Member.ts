/** A validator in this process over a network of the test's choice, built from the program's parts. */
import { Layer, Option } from "effect"
import * as PeerAddress from "../../src/network/PeerAddress.js"
import * as Engine from "../../src/node/engine/Engine.js"
import * as Node from "../../src/node/Node.js"
import * as Configuration from "../../src/node/start/Configuration.js"
import type * as Networking from "../../src/node/start/Networking.js"
import * as world from "../node/world.js"
import type * as Processes from "./Processes.js"

/** The validator with this number, as a layer. */
export const over = (
  network: typeof Networking.layer,
  { folder, genesisFile }: Processes.Founded,
  n: number,
  peers: ReadonlyArray<Processes.Started>,
) =>
  Node.layerOver(Engine.layer, network).pipe(
    Layer.provideMerge(
      Layer.succeed(
        Configuration.Configuration,
        world.settings({
          dataDirectory: `${folder}/member-${n}`,
          genesisFile: Option.some(genesisFile),
          validatorKeyFile: Option.some(`${folder}/${n}.key`),
          roundMs: Option.none(),
          peers: peers.map(({ p2p }) => Option.getOrThrow(PeerAddress.parse(p2p))),
        }),
      ),
    ),
    Layer.provideMerge(world.platform),
  )
