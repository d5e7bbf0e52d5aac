/** Checks every second that the data directory still exists, and ends a node that would only write into lost files. */
import { FileSystem } from "@effect/platform"
import { Context, Effect, Layer } from "effect"
import * as HeldFiles from "../../storage/files/HeldFiles.js"
import { Storage } from "../../storage/Storage.js"
import { DirectoryLost } from "../lifecycle/Ending.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import * as Log from "../log/Log.js"
import { Home } from "./Home.js"

const log = Log.for("storage")

const make = Effect.gen(function* () {
  const { location } = yield* Home
  const supervisor = yield* Supervisor
  // Storage has opened the files.
  yield* Storage
  const files = yield* FileSystem.FileSystem
  let finding: string | null = null
  if (location._tag === "Directory") {
    const held = yield* HeldFiles.of(location.directory, ["lock", "database", "signed"])
    const looked = (lost: string | null) => {
      finding = lost
      return lost === null
        ? Effect.void
        : log.error("the data directory is lost, and this node is ending", { finding: lost })
    }
    const watched = Effect.flatMap(HeldFiles.watch(held, looked), (lost) =>
      supervisor.end(new DirectoryLost({ finding: lost })),
    )
    yield* supervisor.restarted(
      "data directory",
      Effect.zipRight(watched, Effect.never).pipe(Effect.provideService(FileSystem.FileSystem, files)),
    )
  }
  return {
    /** What happened to the directory; null while it exists. */
    lost: () => finding,
  }
})

export class DirectoryWatch extends Context.Tag("udg/DirectoryWatch")<
  DirectoryWatch,
  Effect.Effect.Success<typeof make>
>() {}

export const layer = Layer.scoped(DirectoryWatch, make)
