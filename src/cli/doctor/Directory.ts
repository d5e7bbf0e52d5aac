/** Examines a data directory without changing it; no node needs to run. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Clock, Effect, Either, Layer, Option } from "effect"
import * as PageGuard from "../../edge/admission/PageGuard.js"
import * as ValidatorKeys from "../../node/start/ValidatorKeys.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Words from "../../protocol/numbers/Words.js"
import * as OperatorListener from "../../rpc/metrics/OperatorListener.js"
import { DataDirectory, FILES } from "../../storage/files/DataDirectory.js"
import * as DiskSpace from "../../storage/files/DiskSpace.js"
import * as GenesisFile from "../../storage/files/GenesisFile.js"
import * as HaltFile from "../../storage/files/HaltFile.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import * as RunningFile from "../../storage/files/RunningFile.js"
import * as Storage from "../../storage/Storage.js"
import * as Disk from "./Disk.js"
import type { Finding } from "./Finding.js"
import * as Found from "./Finding.js"

const PAGES = {
  keys: "docs/operations/keys.md",
  backup: "docs/operations/backup.md#restoring",
  clock: "docs/operations/alerts.md#udgclockoff",
  upgrade: "docs/operations/upgrade.md",
  operations: "docs/operations.md#exit-codes",
  operators: "docs/operations/monitoring.md#a-listener-for-operators",
} as const

/** The exit code of a program that does not know the network's protocol version. */
const UPGRADE = 103
const OF_OTHERS = 0o077
/** The ledger's time is that of a commit, never later than the clocks of most validators. */
const CLOCK_TOLERANCE_MS = 2_000

export interface Examined {
  readonly findings: ReadonlyArray<Finding>
  /** Written by the running node, or left by one that was killed. */
  readonly left: Option.Option<RunningFile.Facts>
  readonly isRunning: boolean
}

type Checked = Effect.Effect<ReadonlyArray<Finding>, never, FileSystem.FileSystem>

const exists = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => Effect.orElseSucceed(files.exists(path), () => true))

/** Checks owner and mode. */
const permissions = (path: string): Checked =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const access = yield* Effect.either(files.access(path, { readable: true, writable: true }))
    if (Either.isLeft(access)) {
      return [Found.problem("permissions", `this user may not read and write ${path}; run it as the node's user`)]
    }
    const { mode } = yield* Effect.orElseSucceed(files.stat(path), () => ({ mode: 0 }))
    return (mode & OF_OTHERS) === 0
      ? [Found.ok("permissions", `${path} is open to its owner only`)]
      : [Found.warning("permissions", `other users can enter ${path}; run: chmod 700 ${path}`, PAGES.keys)]
  })

const keys = (path: string): Checked =>
  Effect.gen(function* () {
    const further = yield* ValidatorKeys.namesIn(path)
    const names = [FILES.validatorKey, ...further, FILES.faucetKey, FILES.nodeKey]
    const found = yield* Effect.forEach(names, (name) =>
      Effect.gen(function* () {
        const file = join(path, name)
        if (!(yield* exists(file))) return []
        const content = yield* Effect.either(KeyFile.read(file))
        if (Either.isLeft(content)) return [Found.problem(name, content.left.message, PAGES.keys)]
        const how = content.right._tag === "Sealed" ? ", and is encrypted" : ""
        return [Found.ok(name, `is readable, by its owner only${how}`)]
      }),
    )
    const hasSigned = yield* exists(join(path, FILES.signed))
    const isMissing = hasSigned && !(yield* exists(join(path, FILES.validatorKey)))
    const absent = Found.warning(
      FILES.validatorKey,
      "is missing, but this directory was used before; without it a node starts only with --validator-key, --signer or --no-validate",
      PAGES.keys,
    )
    return [...found.flat(), ...(isMissing ? [absent] : [])]
  })

const genesisOf = (path: string) =>
  Effect.gen(function* () {
    const file = join(path, FILES.genesis)
    if (!(yield* exists(file))) {
      const message =
        "is missing; a first start creates a solo network, a later one restores the file from the database"
      return { genesis: Option.none<Genesis.Genesis>(), finding: Found.warning(FILES.genesis, message) }
    }
    return yield* Effect.match(GenesisFile.load(file), {
      onFailure: ({ message }) => ({
        genesis: Option.none<Genesis.Genesis>(),
        finding: Found.problem(FILES.genesis, message, PAGES.backup),
      }),
      onSuccess: (genesis) => ({
        genesis: Option.some(genesis),
        finding: Found.ok(FILES.genesis, `${genesis.networkId} (${genesis.mode}), ${Genesis.hash(genesis)}`),
      }),
    })
  })

const pageOf = (tag: string): string => {
  switch (tag) {
    case "NewerSchema":
      return PAGES.upgrade
    case "DatabaseDamaged":
    case "OtherGenesis":
      return PAGES.backup
    default:
      return PAGES.operations
  }
}

/** Checks all pages, indexes and versions of both databases, and whether the clock is behind their contents. */
const databases = (directory: DataDirectory, genesis: Genesis.Genesis): Checked =>
  Effect.gen(function* () {
    const { commits } = yield* Storage.Storage
    const last = yield* commits.last
    if (Option.isNone(last)) return [Found.warning("databases", "are sound, and hold no commit")]
    const { index, leaderRound, time } = last.value
    const behindMs = time - (yield* Clock.currentTimeMillis)
    const message = `are sound; the last commit is ${index}, round ${leaderRound}`
    const clock =
      behindMs > CLOCK_TOLERANCE_MS
        ? Found.problem(
            "clock",
            `this machine's clock is ${Math.round(behindMs / 1_000)} seconds before the time of the last commit; correct it`,
            PAGES.clock,
          )
        : Found.ok("clock", "is not before the time of the last commit")
    return [Found.ok("databases", message), clock]
  }).pipe(
    Effect.provide(Layer.fresh(Storage.layerToRead(directory, genesis))),
    Effect.catchTag("OlderSchema", ({ file, found, known }) =>
      Effect.succeed([
        Found.warning(
          "databases",
          `${file} has schema ${found}, this program's is ${known}: the next start migrates it`,
          PAGES.upgrade,
        ),
      ]),
    ),
    Effect.catchAll((error) => Effect.succeed([Found.problem("databases", error.message, pageOf(error._tag))])),
  )

/** Whether a process holds the lock; if not, runs the checks that need it. */
const stopped = (path: string, genesis: Option.Option<Genesis.Genesis>) =>
  Effect.gen(function* () {
    if (!(yield* exists(join(path, FILES.lock)))) {
      return { isRunning: false, found: [Found.warning("databases", "no node has run in this directory yet")] }
    }
    const opened = yield* Effect.either(DataDirectory.open(path))
    if (Either.isLeft(opened)) {
      const { _tag, message } = opened.left
      switch (_tag) {
        case "DirectoryLocked":
          return { isRunning: true, found: [] }
        case "DirectoryUnusable":
          return { isRunning: false, found: [Found.problem("permissions", message)] }
        case "DatabaseFailed":
          return { isRunning: false, found: [Found.problem("databases", message)] }
        case "DiskFull":
          return { isRunning: false, found: [Found.warning("databases", "not checked because the disk is full")] }
      }
    }
    if (Option.isNone(genesis)) return { isRunning: false, found: [] }
    if (!(yield* exists(join(path, FILES.database)))) {
      return { isRunning: false, found: [Found.warning("databases", "udg.db is missing; the node will join again")] }
    }
    return { isRunning: false, found: yield* databases(opened.right, genesis.value) }
  }).pipe(Effect.scoped)

const process = (isRunning: boolean, left: Option.Option<RunningFile.Facts>): Finding => {
  if (isRunning) {
    return Option.match(left, {
      onNone: () => Found.warning("process", "the directory is locked by a starting node or by a tool"),
      onSome: ({ version, pid }) => Found.ok("process", `udg ${version} runs, process ${pid}`),
    })
  }
  return Option.match(left, {
    onNone: () => Found.warning("process", "no node runs in this directory; the last one stopped properly"),
    onSome: ({ pid, ended }) =>
      Found.problem(
        "process",
        `no node runs in this directory; the last one, process ${pid}, ${
          ended === null ? "was killed or lost power" : `ended with ${ended.exit_code}: ${ended.reason}`
        }`,
        ended?.exit_code === UPGRADE ? `${PAGES.upgrade}#exit-code-103` : PAGES.operations,
      ),
  })
}

/** Warns if other machines can reach a running node's operators' port. */
const operators = ({ metrics_host: host }: RunningFile.Facts): ReadonlyArray<Finding> =>
  host === null || PageGuard.isLocal(host) ? [] : [Found.warning("metrics", OperatorListener.WARNING, PAGES.operators)]

/** A node that has halted refuses to start. */
const halted = (path: string): Checked =>
  Effect.map(
    HaltFile.load(join(path, FILES.halted)),
    Option.match({
      onNone: () => [],
      onSome: ({ exit_code: code, reason, at }) => [
        Found.problem(
          "halted",
          at === null ? reason : `the node ended with ${code}: ${reason}`,
          `docs/operations/exit-${code}.md`,
        ),
      ],
    }),
  )

/** Everything that can be read from the directory. */
export const examine = (path: string): Effect.Effect<Examined, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const allowed = yield* permissions(path)
    const space = yield* DiskSpace.measure({ path })
    const disk =
      space === null
        ? []
        : [
            Disk.finding(
              space.freeBytes,
              space.files.reduce((sum, [, b]) => sum + b, 0),
            ),
          ]
    const { genesis, finding } = yield* genesisOf(path)
    const left = yield* RunningFile.load(join(path, FILES.running))
    const { isRunning, found } = yield* stopped(path, genesis)
    const kept = [...(yield* halted(path)), ...(yield* keys(path))]
    const listener = isRunning && Option.isSome(left) ? operators(left.value) : []
    const all = [...allowed, ...disk, finding, ...kept, process(isRunning, left), ...listener, ...found]
    return { findings: all, left, isRunning }
  })

/** The finding for a path that is not a directory. */
export const absent = (path: string): Finding =>
  Found.problem("directory", `${path} is not a readable directory; name the data directory of a node, or its URL`)

export const isThere = (path: string): Effect.Effect<boolean, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    Effect.match(files.stat(path), { onFailure: () => false, onSuccess: ({ type }) => type === "Directory" }),
  )

export const counted = (findings: ReadonlyArray<Finding>): string => {
  const problems = findings.filter(({ status }) => status === "problem").length
  const warnings = findings.filter(({ status }) => status === "warning").length
  return `${Words.counted(problems, "problem")}, ${Words.counted(warnings, "warning")}`
}
