/** The keys that a node's signer has named last: with them the node starts while the signer is away. */
import type { FileSystem } from "@effect/platform"
import { Effect, Schema } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as AtomicFile from "./AtomicFile.js"

const schema = Schema.Struct({
  /** The signer's identity. */
  signer: Keys.PublicKey,
  public_keys: Schema.Array(Keys.PublicKey).pipe(Schema.minItems(1), Schema.maxItems(64)),
})

const fromText = Schema.decodeUnknown(Schema.parseJson(schema), { onExcessProperty: "error" })

const OWNER_WRITES = 0o600
/** Longer files are not ours. */
const MAX_BYTES = 16_384

/** Empty if there is no file or another signer's. Fails, with the reason, if it is not what a node writes there. */
export const load = (
  path: string,
  signer: string,
): Effect.Effect<ReadonlyArray<Keys.PublicKey>, string, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    if (!(yield* Effect.orElseSucceed(AtomicFile.isTaken(path), () => true))) return []
    const text = yield* AtomicFile.readText(path, MAX_BYTES)
    const kept = yield* Effect.mapError(fromText(text), () => "not what a node writes there")
    return kept.signer === signer ? kept.public_keys : []
  })

/** Whether it is written, which a full disk prevents. A start without the file waits for the signer. */
export const save = (
  path: string,
  signer: string,
  publicKeys: ReadonlyArray<Keys.PublicKey>,
): Effect.Effect<boolean, never, FileSystem.FileSystem> =>
  Effect.isSuccess(
    AtomicFile.write(
      path,
      Binary.utf8(`${JSON.stringify({ signer, public_keys: publicKeys }, null, 2)}\n`),
      OWNER_WRITES,
    ),
  )
