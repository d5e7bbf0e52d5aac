/** The same handlers under `HttpApiBuilder`: the same tables, except for what needs our listener. */
import { afterAll, describe, vi } from "vitest"
import * as MountedNode from "./MountedNode.js"
import * as Reads from "./Reads.js"
import * as Refusals from "./Refusals.js"
import * as Suite from "./Suite.js"
import type * as TestNode from "./TestNode.js"
import * as World from "./World.js"

// Speed is not tested here, and a busy machine may be slow.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 })

describe("a node under the library's own server", () => {
  let node: TestNode.TestNode | undefined
  afterAll(() => node?.stop())

  Suite.define({
    world: async () => {
      node = await MountedNode.start({ parameters: World.parameters })
      return World.populate(node)
    },
    reads: Reads.reads,
    refusals: [...Refusals.refusals, ...Refusals.archived].filter(({ only }) => only !== "mainnet"),
    isMounted: true,
  })
})
