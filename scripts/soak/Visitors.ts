/**
 * Peers that come and go while a network runs: nodes that join and leave, half of them without a word, and strangers
 * that connect, send random bytes and disconnect.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** How long a visitor stays. */
const STAY_MS = 30_000
const STRANGERS_APART_MS = 500

export interface Visited {
  readonly program: string
  readonly genesis: string
  /** A node's KEY@HOST:PORT. */
  readonly peer: string
}

/** Visits so far. */
export interface Visits {
  joined: number
  /** Nodes that had no final transaction when they left. */
  failed: number
  strangers: number
}

const finalRound = async (url: string | undefined): Promise<number> => {
  if (url === undefined) return 0
  const status: unknown = await fetch(new URL("/status", url)).then((answer) => answer.json())
  const isStatus = typeof status === "object" && status !== null && "last_finalized_round" in status
  return isStatus ? Number(status.last_finalized_round) : 0
}

/** A node joins, stays a while and leaves. Returns whether it had finalized something by then. */
const visit = async ({ program, genesis, peer }: Visited, leaves: NodeJS.Signals, ended: AbortSignal) => {
  const directory = mkdtempSync(join(tmpdir(), "udg-visitor-"))
  const words = ["--data-dir", directory, "--genesis", genesis, "--host", "127.0.0.1", "--port", "0", "--peer", peer]
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "ignore"] })
  const exited = once(child, "exit")
  let said = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text
  })
  await sleep(STAY_MS, undefined, { signal: ended }).catch(() => undefined)
  const round = await finalRound(/http:\/\/[^\s/]+/.exec(said)?.[0]).catch(() => 0)
  child.kill(leaves)
  await exited
  rmSync(directory, { recursive: true, force: true })
  return round > 0
}

const bother = async (peer: string): Promise<void> => {
  const [host = "", port] = peer.slice(peer.indexOf("@") + 1).split(":")
  const socket = connect({ host, port: Number(port) })
  socket.on("error", () => {})
  socket.write(randomBytes(1 + Math.floor(Math.random() * 2_000)))
  await sleep(STRANGERS_APART_MS)
  socket.destroy()
}

/** Runs until the end and counts in `visits`. */
export const come = async (visited: Visited, visits: Visits, ended: AbortSignal): Promise<void> => {
  const nodes = async () => {
    for (let n = 0; !ended.aborted; n++) {
      const hasJoined = await visit(visited, n % 2 === 0 ? "SIGTERM" : "SIGKILL", ended)
      if (!ended.aborted) visits[hasJoined ? "joined" : "failed"]++
    }
  }
  const strangers = async () => {
    for (; !ended.aborted; visits.strangers++) await bother(visited.peer)
  }
  await Promise.all([nodes(), strangers()])
}
