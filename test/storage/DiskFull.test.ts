import { Effect, Schema } from "effect"
import { afterAll, describe, expect } from "vitest"
import * as NodeSchema from "../../src/storage/schema/Node.js"
import * as CommitBatch from "../../src/storage/tables/CommitBatch.js"
import * as Rest from "../support/Rest.js"
import * as Process from "./Process.js"
import { withDirectory } from "./withStorage.js"
import * as world from "./world.js"

const Report = Schema.parseJson(
  Schema.Struct({
    tag: Schema.String,
    message: Schema.String,
    written: Schema.Number,
    last: Schema.Number,
    whileFull: Schema.Literal("opened", "DiskFull"),
    afterwards: Schema.Number,
  }),
)

const accounts = (count: number) => Array.from({ length: count }, (_, n) => world.account(n, 7))

describe("a full disk", () => {
  afterAll(Process.removeBundles)

  withDirectory("refuses a commit as a whole, and accepts the next one when there is room", function* (path) {
    const file = `${path}/udg.db`
    const database = yield* world.open({ file, durability: "process", migrations: NodeSchema.migrations })
    const limit = (pages: number) => database.write((sql) => sql.text(`pragma max_page_count = ${pages}`).values)
    const count = database.read((sql) => sql`select count(*) from accounts`.values)

    yield* limit(60)
    const batch = world.batch(1, { changes: accounts(20_000) })
    const refused = yield* Effect.flip(database.write((sql) => CommitBatch.write(sql, batch)))
    expect(refused._tag).toBe("DiskFull")
    expect(refused.message).toBe(`no space is left for ${file}; free some and start again`)
    expect(yield* count).toEqual([[0]])

    yield* limit(1_000_000)
    yield* database.write((sql) => CommitBatch.write(sql, batch))
    expect(yield* count).toEqual([[20_000]])
  })

  if (Process.canMount) {
    withDirectory(
      Rest.of("a disk to fill", "is reported as such, keeps what was written, and recovers when there is room"),
      function* (path) {
        const child = yield* Process.startOnMount("size=28m", "fill", path)
        const report = yield* Schema.decodeUnknown(Report)(yield* child.line)
        expect(report.written).toBeGreaterThan(1)
        expect(report).toEqual({
          tag: "DiskFull",
          message: expect.stringMatching(/^no space is left for .*udg\.db; free some and start again$/),
          written: report.written,
          last: report.written,
          whileFull: report.whileFull,
          afterwards: report.written + 1,
        })
      },
    )
  }
})
