/**
 * What a validator takes from its machine: constants of docs/operations/sizing.md. Counts and processor time, which
 * other programs disturb less than durations. Takes ten minutes, so it runs only if named. Traffic counts everything on
 * loopback, so run it in a network of its own: `unshare --net sh -c 'ip link set lo up; npm run bench -- sizing'`.
 */
import type { Figure, Suite } from "./Harness.js"
import * as Validators from "./Validators.js"

/** A larger network has longer rounds, because all validators share this machine. */
const NETWORKS: ReadonlyArray<Validators.Wish> = [
  { validators: 4, roundMs: 100, rates: [0, 20, 200, 1_000] },
  { validators: 10, roundMs: 500, rates: [0, 20, 200] },
]

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const all: Array<Figure> = []
  for (const network of NETWORKS) all.push(...(await Validators.figures(network)))
  return all
}

export const suite: Suite = {
  about: "what each of four and of ten validators takes, idle and with transfers",
  isLong: true,
  figures,
}
