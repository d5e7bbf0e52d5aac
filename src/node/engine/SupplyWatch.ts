/**
 * Periodically compares the supply in `udg.db` with the running totals: a recount of the file against its recorded
 * totals, and those against memory's at the same commit. The ledger checks memory itself, commit by commit.
 */
import { Clock, Duration, Effect } from "effect"
import { SupplyInvariantViolated } from "../../ledger/tables/Supply.js"
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import type { Counted } from "../../storage/tables/SupplyProgram.js"
import { SupplyViolation } from "../lifecycle/Ending.js"
import * as Log from "../log/Log.js"

const log = Log.for("state")

/**
 * Between two counts, and at least this many times the last count's duration, so that counting costs a hundredth of a
 * core.
 */
const PAUSE = Duration.minutes(1)
const TIMES_ITS_LENGTH = 100

/** More commits than ever wait for the disk or are made during a count. */
const REMEMBERED = 16_384

export class SupplyWatch {
  readonly #totals = new Map<CommitIndex, Sats>()

  /** Records that memory has executed this commit, or starts with it. */
  executed(commit: CommitIndex, total: Sats): void {
    this.#totals.set(commit, total)
    if (this.#totals.size <= REMEMBERED) return
    const [oldest] = this.#totals.keys()
    if (oldest !== undefined) this.#totals.delete(oldest)
  }

  violation({ commit, found, expected, problem }: Counted): SupplyViolation | undefined {
    const remembered = this.#totals.get(commit)
    const difference =
      problem ??
      (remembered === undefined || remembered === found.total ? null : "the total supply differs from memory's")
    if (difference === null) return undefined
    const required = problem === null && remembered !== undefined ? { ...expected, total: remembered } : expected
    const violation = new SupplyInvariantViolated({
      found,
      expected: required,
      problem: `in udg.db at commit ${commit}, ${difference}`,
    })
    return new SupplyViolation({ violation })
  }

  /** Runs until a count differs. */
  run(count: Effect.Effect<Counted, Error>): Effect.Effect<SupplyViolation> {
    const once = Effect.gen(this, function* () {
      const before = yield* Clock.currentTimeMillis
      const counted = yield* Effect.either(count)
      const tookMs = (yield* Clock.currentTimeMillis) - before
      if (counted._tag === "Left")
        yield* log.warn("the supply in udg.db could not be counted", { reason: counted.left.message })
      const found = counted._tag === "Right" ? this.violation(counted.right) : undefined
      if (found === undefined) yield* Effect.sleep(Duration.max(PAUSE, Duration.millis(TIMES_ITS_LENGTH * tookMs)))
      return found
    })
    return Effect.flatMap(once, (found) => (found === undefined ? this.run(count) : Effect.succeed(found)))
  }
}
