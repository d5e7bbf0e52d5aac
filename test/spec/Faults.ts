/** Faults in the program that the replay of the model's traces must find. */
import * as Planted from "../simulation/Planted.js"
import type * as Planting from "../support/Planting.js"

const EPOCH = "src/consensus/Epoch.ts"
const LINEARIZER = "src/consensus/commit/Linearizer.ts"

/** Faults that the simulator finds too, in some of its seeds. */
const SIMULATED = [
  "commit-early",
  "commit-with-2f",
  "skip-with-a-third",
  "skip-early",
  "anchor-jumps",
  "depth-of-highest-round",
  "nothing-collected",
]

/** Faults in the collection of old rounds beside commits. */
export const collecting: ReadonlyArray<Planting.Fault> = [
  {
    name: "collects-a-round-too-many",
    changes: [{ file: EPOCH, of: "Epoch.#collect", by: "(round) => original(Natural.round(round + 1))" }],
  },
  {
    // It follows what this member's DAG has seen decided, which is not the same everywhere at the same commit.
    name: "collects-by-the-last-released-slot",
    changes: [
      {
        file: EPOCH,
        of: "Epoch.#commitWhatIsDecided",
        call: "this.#collect",
        by: `(round) => {
          const highest = decisions[decisions.length - 1]?.round ?? round
          this.#collect(Natural.round(Math.max(round, highest - this.committee.record.rules.collectionDepthRounds)))
        }`,
      },
    ],
  },
  {
    name: "orders-whatever-is-held",
    changes: [
      {
        file: LINEARIZER,
        of: "Linearizer.#unordered",
        by: `(leader) => {
          const found = [leader]
          leader.isOrdered = true
          for (const { parents } of found) {
            for (const parent of parents) {
              if (parent.isOrdered) continue
              parent.isOrdered = true
              found.push(parent)
            }
          }
          return found
        }`,
      },
    ],
  },
]

export const faults: ReadonlyArray<Planting.Fault> = [
  ...SIMULATED.map((name): Planting.Fault => {
    const fault = Planted.named(name)
    if (fault === undefined) throw new Error(`no fault is named ${name}`)
    return fault
  }),
  ...collecting,
]

/** Faults in the rules for signing once. */
export const signing: ReadonlyArray<Planting.Fault> = [
  {
    name: "bound-a-round-too-low",
    changes: [
      {
        file: "src/consensus/KeyMemory.ts",
        of: "KeyMemory.#testified",
        by: `(committee) => {
          const bound = original(committee)
          return bound === null ? null : { ...bound, round: Natural.round(bound.round - 1) }
        }`,
      },
    ],
  },
  {
    name: "answers-of-half",
    changes: [
      {
        file: "src/consensus/SigningGuard.ts",
        of: "SigningGuard.#count",
        call: "committee.isQuorum",
        by: "(weight) => weight * 2 >= committee.totalWeight",
      },
    ],
  },
]
