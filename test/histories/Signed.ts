/** The vertices in the files of nodes. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Processes from "../network/Processes.js"
import type { Of } from "./History.js"

export class Signed {
  readonly #told = new Set<string>()

  /** Of these nodes' directories, without those that it has returned before. */
  newly(directories: ReadonlyArray<readonly [node: string, directory: string]>): ReadonlyArray<Of<"signed">> {
    return directories.flatMap(([node, directory]) => [
      ...this.#rows(node, join(directory, "signed.db"), "own_vertices"),
      ...this.#rows(node, join(directory, "udg.db"), "vertices"),
    ])
  }

  #rows(node: string, path: string, table: string): ReadonlyArray<Of<"signed">> {
    if (!existsSync(path)) return []
    const select = `select hex(hash), hex(author), epoch, round from ${table}`
    return Processes.rows(path, select).flatMap(([hash, author, epoch, round]) => {
      const vertex = String(hash)
      if (this.#told.has(vertex)) return []
      this.#told.add(vertex)
      const slot = { validator: String(author), epoch: Number(epoch), round: Number(round) }
      return [{ kind: "signed", at: performance.now(), node, ...slot, vertex }] as const
    })
  }
}
