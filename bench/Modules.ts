/** Maps a position in the built program to its module. */
import { existsSync, readFileSync } from "node:fs"
import { SourceMap } from "node:module"
import { fileURLToPath } from "node:url"

export interface Place {
  readonly url: string
  /** Both start at zero. */
  readonly lineNumber: number
  readonly columnNumber: number
}

const MODULE = /(?:^|\/)((?:src|node_modules)\/.+)$/
/** Packages have their own source maps, which can contain a folder `src` too. */
const PACKAGED = /node_modules\/.+$/

const moduleOf = (source: string): string | undefined => (PACKAGED.exec(source) ?? MODULE.exec(source)?.slice(1))?.[0]

export class Modules {
  readonly #maps = new Map<string, SourceMap | null>()

  /** Excludes Node.js, V8 and the bench itself. */
  of({ url, lineNumber, columnNumber }: Place): string | undefined {
    if (!url.startsWith("file:")) return undefined
    // A package that is not bundled has no map from the bundler.
    const packaged = PACKAGED.exec(url)?.[0]
    if (packaged !== undefined) return packaged
    const entry = this.#mapOf(url)?.findEntry(lineNumber, columnNumber)
    return entry && "originalSource" in entry ? moduleOf(entry.originalSource) : undefined
  }

  #mapOf(url: string): SourceMap | null {
    const known = this.#maps.get(url)
    if (known !== undefined) return known
    const file = `${fileURLToPath(url)}.map`
    const map = existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, "utf8"))) : null
    this.#maps.set(url, map)
    return map
  }
}
