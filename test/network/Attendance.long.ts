/**
 * Uptime as a node counts it, compared with a count over its chain, through a restart and with a validator that never
 * comes.
 */
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Absence from "./Absence.js"
import * as Processes from "./Processes.js"

afterEach(Processes.removeAll)

const EPOCH_ROUNDS = 60

interface Rounds {
  readonly made: number
  readonly missed: number
}

type Counts = Readonly<Record<string, Rounds>>

type Committees = ReadonlyMap<number, ReadonlySet<string>>

const committeesOf = async ({ http }: Processes.Started, founders: ReadonlyArray<string>): Promise<Committees> => {
  const { checkpoints } = connect(http ?? "")
  const committees = new Map<number, ReadonlySet<string>>([[1, new Set(founders)]])
  const { epoch: running } = await checkpoints.latest()
  for (let epoch = 2; epoch <= running; epoch++) {
    const { next_epoch: record } = await checkpoints.closing({ path: { epoch: epoch - 1 } })
    committees.set(epoch, new Set(record?.members.map(({ address }) => `${address}`)))
  }
  return committees
}

/**
 * What the chain records: who has a vertex in which round, by the commit that ordered it, and the leader of each
 * commit.
 */
const chainOf = ({ directory }: Processes.Started) => {
  const file = join(directory, "udg.db")
  const commits = Processes.rows(
    file,
    "select commit_index, epoch, leader_round from commits where epoch > 0 order by 1",
  )
  const vertices = Processes.rows(
    file,
    "select commit_index, round, lower(hex(author)) from vertices where commit_index is not null",
  )
  return {
    commits: commits
      .map((row) => row.map(Number))
      .map(([index = 0, epoch = 0, round = 0]) => ({ index, epoch, round })),
    vertices: vertices.map(([index, round, author]) => ({ index: Number(index), slot: `${round} ${author}` })),
  }
}

type Chain = ReturnType<typeof chainOf>

/** Rounds that no commit can add to after this one, with their epochs: in a closed epoch, all below its last leader. */
const decided = ({ commits }: Chain, upTo: number, isClosed: boolean, depth: number) => {
  const executed = commits.filter(({ index }) => index <= upTo)
  const running = executed.at(-1)?.epoch ?? 0
  const rounds: Array<{ readonly epoch: number; readonly round: number }> = []
  let first = 1
  for (let epoch = 1; epoch <= running; epoch++) {
    const last = executed.findLast((commit) => commit.epoch === epoch)?.round ?? 0
    const end = epoch < running || isClosed ? last - 1 : last - depth
    for (let round = first; round <= end; round++) rounds.push({ epoch, round })
    first = last + 1
  }
  return rounds
}

const countOver = (chain: Chain, committees: Committees, upTo: number, isClosed: boolean, depth: number): Counts => {
  const ordered = new Set(chain.vertices.filter(({ index }) => index <= upTo).map(({ slot }) => slot))
  const counts: Record<string, { made: number; missed: number }> = {}
  for (const { epoch, round } of decided(chain, upTo, isClosed, depth)) {
    for (const member of committees.get(epoch) ?? []) {
      counts[member] ??= { made: 0, missed: 0 }
      counts[member][ordered.has(`${round} ${member}`) ? "made" : "missed"] += 1
    }
  }
  return counts
}

it("counts every round below the last leader of each epoch, as the chain has it", { timeout: 480_000 }, async () => {
  const network = Processes.found({ roundMs: 150, epochRounds: EPOCH_ROUNDS })
  const depth = network.genesis.protocol.collectionDepthRounds
  const [first] = await Absence.live(network, { epochs: 2 })

  const { validators } = await connect(first.http ?? "").monitoring.attendance({ urlParams: { range: "day" } })
  const committees = await committeesOf(
    first,
    network.keys.map(({ publicKey }) => `${Address.fromPublicKey(publicKey)}`),
  )
  await first.stop()
  const answered: Counts = Object.fromEntries(
    validators.map(({ address, made, missed }) => [`${address}`, { made, missed }]),
  )
  const chain = chainOf(first)
  // The node answers as of one of its last commits, which nobody can name from outside.
  const possible = chain.commits.flatMap(({ index }) =>
    [false, true].map((isClosed) => countOver(chain, committees, index, isClosed, depth)),
  )
  expect(possible).toContainEqual(answered)
  const absent = Address.fromPublicKey(Absence.absent(network).publicKey)
  // One epoch less the round in which its last leader left no room; then it lost its seat.
  expect(answered[absent]).toEqual({ made: 0, missed: EPOCH_ROUNDS - 1 })
})
