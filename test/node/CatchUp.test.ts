import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { CatchUp } from "../../src/node/engine/CatchUp.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"

const at = (seconds: number) => Natural.timestamp(1_700_000_000_000 + seconds * 1_000)

const position = (round: number, reachedRound: number, epoch = 3) => ({
  epoch: Natural.epoch(epoch),
  round: Natural.round(round),
  reachedRound: Natural.round(reachedRound),
})

describe("a node that lacks vertices", () => {
  it.effect("reports its progress from its starting point", () =>
    Effect.gen(function* () {
      const catchUp = new CatchUp()
      yield* catchUp.look(position(100, 500), at(0))
      expect(catchUp.progress).toEqual({ ...position(100, 500), percent: 0, roundsPerSecond: 0, etaSeconds: null })
      yield* catchUp.look(position(300, 500), at(4))
      expect(catchUp.progress).toEqual({ ...position(300, 500), percent: 50, roundsPerSecond: 50, etaSeconds: 4 })
      yield* catchUp.look(position(498, 502), at(8))
      expect(catchUp.progress).toBeNull()
    }),
  )

  it.effect("starts again with every epoch", () =>
    Effect.gen(function* () {
      const catchUp = new CatchUp()
      yield* catchUp.look(position(100, 240), at(0))
      yield* catchUp.look(position(260, 480, 4), at(2))
      expect(catchUp.progress).toMatchObject({ ...position(260, 480, 4), percent: 0 })
    }),
  )

  it.effect("does not count as behind for the few vertices always in flight", () =>
    Effect.gen(function* () {
      const catchUp = new CatchUp()
      yield* catchUp.look(position(100, 109), at(0))
      expect(catchUp.progress).toBeNull()
    }),
  )
})
