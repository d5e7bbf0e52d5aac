/**
 * Checks that the parts of a stored state agree with each other. Rows that parse can still be missing or outdated. A
 * replica that resumed from them would halt or restart an epoch.
 */
import { toHex } from "#crypto"
import type { Position } from "../../consensus/commit/Linearizer.js"
import { type ExecutedCommit, judgeCommit } from "../../consensus/commit/Rollback.js"
import type { Opening } from "../../consensus/output/Opening.js"
import type { StoredEpoch } from "../../consensus/output/StoredEpoch.js"
import type { Ledger } from "../../ledger/Ledger.js"
import type { Checkpoint } from "../../protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as Commit from "../../protocol/vertex/Commit.js"
import type { StoredState } from "./StoredState.js"

type Place = Pick<Position, "index" | "hash" | "leaderRound">

/** What is wrong; null if nothing is. */
type Finding = string | null

const isSamePlace = (a: Place, b: Place): boolean =>
  a.index === b.index && a.hash === b.hash && a.leaderRound === b.leaderRound

const placed = ({ index, leaderRound }: Place): string => `${index}, round ${leaderRound}`

const isSameRecord = (a: EpochRecord.EpochRecord, b: EpochRecord.EpochRecord): boolean =>
  toHex(EpochRecord.encode(a)) === toHex(EpochRecord.encode(b))

const lastOf = ({ opening, commits }: StoredEpoch): Place => commits.at(-1)?.commit ?? opening.position

/**
 * The state belongs to the last commit and to the running epoch, or to the next one if the last commit closes the
 * epoch.
 */
const ofLedger = ({ current }: StoredState, { read }: Ledger): Finding => {
  const { record } = current.opening
  const { head, epoch } = read
  const last = lastOf(current)
  if (!isSamePlace(head, last)) return `the state is that of commit ${placed(head)}, the last commit is ${placed(last)}`
  if (epoch.epoch === record.epoch)
    return isSameRecord(epoch, record)
      ? null
      : `the state and the opening of epoch ${record.epoch} name different committees`
  const isClosed = epoch.epoch === record.epoch + 1 && current.commits.length > 0
  return isClosed ? null : `the state is of epoch ${epoch.epoch}, the running epoch is ${record.epoch}`
}

/** The epoch starts from the checkpoint that closed the previous one. */
const ofOpening = ({ base, record, position }: Opening, closing: Checkpoint | undefined): Finding => {
  const { epoch } = record
  if (epoch === 1) return null
  if (closing === undefined) return `the signed closing checkpoint of epoch ${epoch - 1} is missing`
  const { hash, nextEpoch, commitIndex, commitHash, round } = closing
  const place = { index: commitIndex, hash: commitHash, leaderRound: round }
  const isNext = nextEpoch !== null && isSameRecord(nextEpoch, record)
  return hash === base && isNext && isSamePlace(place, position)
    ? null
    : `epoch ${epoch} starts from ${base}, but epoch ${epoch - 1} closed with ${hash}`
}

/** For the previous epoch: its commits are never decided again. */
const ofChain = ({ opening, commits }: StoredEpoch, next: Opening): Finding => {
  let last: Position = opening.position
  for (const { commit } of commits) {
    if (judgeCommit(last, commit) !== null || Commit.make(commit).hash !== commit.hash)
      return `commit ${commit.index} does not follow commit ${last.index}`
    last = { ...commit, time: last.time }
  }
  return isSamePlace(last, next.position)
    ? null
    : `epoch ${opening.record.epoch} ends with commit ${last.index}, the next one starts from commit ${next.position.index}`
}

const isOf = ({ commitHash, effectsDigest, round }: Checkpoint, { commit, ...executed }: ExecutedCommit): boolean =>
  commitHash === commit.hash && effectsDigest === executed.effectsDigest && round === commit.leaderRound

const ofCheckpoints = ({ commits, checkpoints }: StoredEpoch): Finding => {
  const byIndex = new Map(commits.map((executed) => [executed.commit.index, executed]))
  for (const checkpoint of checkpoints) {
    const executed = byIndex.get(checkpoint.commitIndex)
    if (executed === undefined || !isOf(checkpoint, executed))
      return `the checkpoint of round ${checkpoint.round} does not match commit ${checkpoint.commitIndex}`
  }
  return null
}

const ofVertices = ({ opening, vertices }: StoredEpoch): Finding => {
  const stranger = vertices.find(({ header }) => header.base !== opening.base || header.epoch !== opening.record.epoch)
  return stranger === undefined
    ? null
    : `vertex ${stranger.header.hash} of round ${stranger.header.round} does not belong to epoch ${opening.record.epoch}`
}

const ofPrevious = ({ current, previous }: StoredState): Finding => {
  if (previous === null) return null
  const { epoch } = previous.opening.record
  if (epoch !== current.opening.record.epoch - 1)
    return `epoch ${epoch} is stored as the one before epoch ${current.opening.record.epoch}`
  return ofChain(previous, current.opening) ?? ofCheckpoints(previous)
}

/** The first disagreement. The running epoch's commits are checked against its vertices elsewhere. */
export const disagreementIn = (stored: StoredState, ledger: Ledger): Finding => {
  const { current, closings } = stored
  const before = current.opening.record.epoch - 1
  const closing = closings.find(({ checkpoint }) => checkpoint.epoch === before)?.checkpoint
  return (
    ofOpening(current.opening, closing) ??
    ofLedger(stored, ledger) ??
    ofPrevious(stored) ??
    ofCheckpoints(current) ??
    ofVertices(current)
  )
}
