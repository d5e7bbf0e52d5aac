// Loaded into a node before its program, with --import. Keeps eight MiB more every second, as a leak does.
import { isMainThread } from "node:worker_threads"

const PIECE_BYTES = 8_388_608
const kept = []

if (isMainThread) setInterval(() => kept.push(Buffer.alloc(PIECE_BYTES, 1)), 1_000).unref()
