/** Earlier releases, kept in test/fixtures/releases by `npm run fixture:release`. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { brotliDecompressSync } from "node:zlib"
import { Schema } from "effect"

const root = resolve(import.meta.dirname, "../..")
const folder = join(root, "test/fixtures/releases")

const Release = Schema.Struct({
  commit: Schema.String,
  versions: Schema.Struct({
    version: Schema.String,
    protocol: Schema.Number,
    wire: Schema.Number,
    database: Schema.Number,
  }),
  files: Schema.Record({ key: Schema.String, value: Schema.String }),
})
const decode = Schema.decodeUnknownSync(Schema.parseJson(Release))

export interface Unpacked extends Pick<typeof Release.Type, "versions"> {
  /** Its `main.js`. */
  readonly program: string
  readonly remove: () => void
}

/** The oldest first: names begin with the date. */
export const names = readdirSync(folder)
  .map((file) => file.replace(/\.json\.br$/, ""))
  .sort()

export const unpack = (name: string): Unpacked => {
  const { versions, files } = decode(brotliDecompressSync(readFileSync(join(folder, `${name}.json.br`))).toString())
  const place = mkdtempSync(join(tmpdir(), "udg-release-"))
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true })
    writeFileSync(join(place, path), text)
  }
  return {
    versions,
    program: join(place, "dist/main.js"),
    remove: () => rmSync(place, { recursive: true, force: true }),
  }
}
