// Loaded in each of a node's threads before its program: records the thread's system id.
import { readlinkSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import process from "node:process"
import { threadId } from "node:worker_threads"

const thread = { task: basename(readlinkSync("/proc/thread-self")), program: basename(process.argv[1], ".js") }
writeFileSync(join(process.env.UDG_BENCH_FOLDER, `${threadId}.json`), JSON.stringify(thread))
