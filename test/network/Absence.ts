/** A network of four validators, one of which restarts and one never joins. */
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Processes from "./Processes.js"

export interface Wish {
  /** How many epochs close before it joins. */
  readonly epochs: number
  /** Options of every node. */
  readonly words?: ReadonlyArray<string>
  /** What happens in the first epoch, before the restart. */
  readonly meanwhile?: (node: Processes.Started) => Promise<void>
}

const SEATS = [0, 1, 2]

/** The three that are present. Each is needed for a quorum of the first epoch. */
export const live = async (
  network: Processes.Founded,
  { epochs, words = [], meanwhile = async () => {} }: Wish,
): Promise<readonly [Processes.Started, Processes.Started, Processes.Started]> => {
  const { epochRounds } = network.genesis.protocol
  const nodes: Array<Processes.Started> = []
  for (const seat of SEATS) nodes.push(await Processes.startValidator(network, seat, nodes, words))
  const [first, second, third] = nodes
  if (first === undefined || second === undefined || third === undefined) throw new Error("no nodes")
  await meanwhile(first)
  await Processes.everybodyAt(nodes, epochRounds + 10)
  await third.stop()
  const again = await Processes.startValidator(network, 2, [first, second], words)
  await Processes.everybodyAt([first, second, again], epochs * epochRounds + 20)
  return [first, second, again]
}

export const absent = ({ keys, rich }: Processes.Founded): SecretKey => keys[SEATS.length] ?? rich
