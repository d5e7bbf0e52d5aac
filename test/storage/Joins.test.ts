import { Option } from "effect"
import { describe, expect } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { withDirectory, withStorage } from "./withStorage.js"
import * as world from "./world.js"

const target = (epoch: number) => ({
  checkpoint: world.checkpoint(10 * epoch, { epoch: Natural.epoch(epoch) }),
  signatures: [{ validator: Address.fromPublicKey(world.key(0).publicKey), signature: "ab".repeat(64) as Signature }],
})

const piece = (byte: number) => new Uint8Array(3).fill(byte)

describe("an interrupted fast sync", () => {
  withDirectory("keeps every piece over a restart, in order of arrival", function* (path) {
    yield* world.within(path, function* ({ joins }) {
      expect(yield* joins.kept).toEqual(Option.none())
      yield* joins.begin(target(4))
      for (const byte of [3, 1, 2]) yield* joins.add(piece(byte))
    })
    yield* world.within(path, function* ({ joins }) {
      expect(yield* joins.kept).toEqual(Option.some({ target: target(4), subtrees: [3, 1, 2].map(piece) }))
    })
  })

  withStorage(
    "loses its pieces to a sync to another close, and ends when the node has caught up",
    function* ({ joins, epochs }) {
      yield* joins.begin(target(4))
      yield* joins.add(piece(1))
      yield* joins.begin(target(5))
      expect(yield* joins.kept).toEqual(Option.some({ target: target(5), subtrees: [] }))
      yield* joins.add(piece(2))
      yield* epochs.begin(world.opening(5))
      expect(yield* joins.kept).toEqual(Option.some({ target: target(5), subtrees: [piece(2)] }))
      yield* epochs.begin(world.opening(6))
      expect(yield* joins.kept).toEqual(Option.none())
      yield* joins.begin(target(7))
      expect(yield* joins.kept).toEqual(Option.some({ target: target(7), subtrees: [] }))
    },
  )
})
