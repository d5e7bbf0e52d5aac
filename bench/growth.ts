/**
 * A transfer's cost on a solo node, with its signature, request, vertex and rows on the disk, at a growing number of
 * accounts; in turns, because the machine's speed changes.
 */
import { type Figure, median, type Suite } from "./Harness.js"
import * as SoloLoad from "./SoloLoad.js"

const FEW = 10_000
const MANY = 1_000_000
const TURNS = 2
/** More than the rounds between two checkpoints. */
const SECONDS = 30
const WISH = { roundMs: 100, seconds: SECONDS, batch: 100, offeredPerSecond: 8_000 }

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const [few, many]: [Array<number>, Array<number>] = [[], []]
  for (let i = 0; i < TURNS; i++) {
    few.push((await SoloLoad.run({ ...WISH, receivers: FEW })).processorUs)
    many.push((await SoloLoad.run({ ...WISH, receivers: MANY })).processorUs)
  }
  return [
    { name: `processor, among ${FEW} accounts`, value: median(few), unit: "µs a transfer" },
    { name: `processor, among ${MANY} accounts`, value: median(many), unit: "µs a transfer" },
    { name: "… among 1 000 000, of that", value: median(many) / median(few), unit: "times" },
  ]
}

export const suite: Suite = {
  about: `a solo node that receives arrays of transfers, with ${FEW} and with ${MANY} accounts, ${TURNS} runs of each in turn`,
  figures,
}
