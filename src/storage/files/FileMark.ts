/**
 * Tells a file from a copy of it: its inode and time of birth, which no copy takes along. Changes of its content, owner,
 * mode and name keep both. The device is left out, because its number can change at a restart of the machine.
 */
import { stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"
import { DatabaseFailed } from "./StorageError.js"

export interface FileMark {
  /** Null if the file system does not say. */
  readonly inode: string | null
  /** Nanoseconds since 1970; null if the file system does not say. */
  readonly born: string | null
}

const known = (value: bigint): string | null => (value === 0n ? null : String(value))

/**
 * Without a time of birth, Node.js reports 1970 or the last change of the inode. The directory tells which: its inode
 * has changed since its birth, when files were made in it.
 */
const markOf = async (file: string): Promise<FileMark> => {
  const [own, directory] = await Promise.all([stat(file, { bigint: true }), stat(dirname(file), { bigint: true })])
  const hasBirths = directory.birthtimeNs !== directory.ctimeNs
  return { inode: known(own.ino), born: hasBirths ? known(own.birthtimeNs) : null }
}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "EIO"

export const of = (file: string): Effect.Effect<FileMark, DatabaseFailed> =>
  Effect.tryPromise({
    try: () => markOf(file),
    catch: (cause) => new DatabaseFailed({ file, code: codeOf(cause), reason: "its inode cannot be read" }),
  })

const agree = (a: string | null, b: string | null): boolean => a === null || b === null || a === b

/** Whether both can be marks of one file. What is unknown is no difference. */
export const canBeSame = (a: FileMark, b: FileMark): boolean => agree(a.inode, b.inode) && agree(a.born, b.born)
