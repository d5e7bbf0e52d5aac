/**
 * Stores the figures over time in the data directory, so that restarts keep them. They are not part of the ledger:
 * losing the file costs only charts. So it is written beside the database rather than with each commit, and an
 * unreadable file is replaced.
 */
import { FileSystem } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as AtomicFile from "../../storage/files/AtomicFile.js"
import type * as Attendance from "./Attendance.js"
import * as Figures from "./Figures.js"
import type * as Ranges from "./Ranges.js"

export interface History {
  readonly figures: Figures.Kept
  readonly attendance: Attendance.Kept
}

export const nothing: History = {
  figures: { hour: [], day: [], year: [] },
  attendance: { hour: [], day: [], year: [] },
}

/** Missing fields are 0. */
export const pointOf = (row: ReadonlyArray<number>): Figures.Point => {
  const of = (field: keyof Figures.Point): number => row[Figures.fields.indexOf(field)] ?? 0
  return {
    at: of("at"),
    ms: of("ms"),
    transactions: of("transactions"),
    rounds: of("rounds"),
    fees: of("fees"),
    finalityMs: of("finalityMs"),
    finalVertices: of("finalVertices"),
    supply: of("supply"),
    staked: of("staked"),
    mempool: of("mempool"),
  }
}

const Count = Natural.count("a count")
const Row = Schema.Array(Count).pipe(
  Schema.itemsCount(Figures.fields.length),
  Schema.filter((row) => Sats.isSats(pointOf(row).supply) && Sats.isSats(pointOf(row).staked)),
)
/** A time, then three numbers for each member, the first being its index in the list of members. */
const MemberRow = Schema.Array(Count).pipe(Schema.filter((row) => row.length % 3 === 1))

const ranges = <A, I>(row: Schema.Schema<A, I>) =>
  Schema.Struct({ hour: Schema.Array(row), day: Schema.Array(row), year: Schema.Array(row) })

const Content = Schema.Struct({
  version: Schema.Literal(1),
  figures: ranges(Row),
  members: Schema.Array(Address.schema),
  /** Rounds made, rounds missed. */
  attendance: ranges(MemberRow),
  /** Delegators and sats delegated, at the same times. Absent in files of earlier versions. */
  backing: Schema.optionalWith(ranges(MemberRow), { default: () => ({ hour: [], day: [], year: [] }) }),
})

type Content = typeof Content.Type

const fromText = Schema.decodeUnknownOption(Schema.parseJson(Content))

/** Twice the size of a full history. */
const MAX_BYTES = 16_777_216
const OWNER_WRITES = 0o644

const rising = <A extends Ranges.Dated>(points: ReadonlyArray<A>): ReadonlyArray<A> =>
  points.filter(({ at }, i) => i === 0 || at > (points[i - 1]?.at ?? 0))

/** A row's entries for members in the list. */
const membersOf = <A>(
  addresses: Content["members"],
  numbers: ReadonlyArray<number>,
  make: (first: number, second: number) => A | undefined,
): ReadonlyMap<Address.Address, A> => {
  const members = new Map<Address.Address, A>()
  for (let i = 0; i < numbers.length; i += 3) {
    const [place = 0, first = 0, second = 0] = numbers.slice(i, i + 3)
    const [address, made] = [addresses[place], make(first, second)]
    if (address !== undefined && made !== undefined) members.set(address, made)
  }
  return members
}

type Rows = ReadonlyArray<ReadonlyArray<number>>

const attendanceOf = (addresses: Content["members"], rows: Rows, backings: Rows): ReadonlyArray<Attendance.Point> => {
  const backingAt = new Map(backings.map(([at = 0, ...numbers]) => [at, numbers]))
  return rows.map(([at = 0, ...numbers]) => ({
    at,
    members: membersOf(addresses, numbers, (made, missed) => ({ made, missed })),
    backing: membersOf(addresses, backingAt.get(at) ?? [], (delegators, delegated) =>
      Sats.isSats(delegated) ? { delegators, delegated } : undefined,
    ),
  }))
}

const each = <A, B>(of: Readonly<Record<Ranges.Name, A>>, change: (one: A) => B): Record<Ranges.Name, B> => ({
  hour: change(of.hour),
  day: change(of.day),
  year: change(of.year),
})

const historyOf = ({ figures, members, attendance, backing }: Content): History => {
  const of = (name: Ranges.Name) => rising(attendanceOf(members, attendance[name], backing[name]))
  return {
    figures: each(figures, (rows) => rising(rows.map(pointOf))),
    attendance: { hour: of("hour"), day: of("day"), year: of("year") },
  }
}

const contentOf = ({ figures, attendance }: History): Content => {
  const places = new Map<Address.Address, number>()
  const placeOf = (address: Address.Address): number => {
    const place = places.get(address) ?? places.size
    places.set(address, place)
    return place
  }
  const rowOf = ({ at, members }: Attendance.Point): ReadonlyArray<number> => [
    at,
    ...[...members].flatMap(([address, { made, missed }]) => [placeOf(address), made, missed]),
  ]
  const backingRowOf = ({ at, backing }: Attendance.Point): ReadonlyArray<number> => [
    at,
    ...[...backing].flatMap(([address, { delegators, delegated }]) => [placeOf(address), delegators, delegated]),
  ]
  const rows = each(attendance, (points) => points.map(rowOf))
  const backingRows = each(attendance, (points) => points.map(backingRowOf))
  return {
    version: 1,
    figures: each(figures, (points) => points.map((point) => Figures.fields.map((field) => point[field]))),
    members: [...places.keys()],
    attendance: rows,
    backing: backingRows,
  }
}

export const load = (path: string): Effect.Effect<Option.Option<History>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    if (!(yield* fileSystem.exists(path))) return Option.some(nothing)
    return Option.map(fromText(yield* AtomicFile.readText(path, MAX_BYTES)), historyOf)
  }).pipe(Effect.orElseSucceed(Option.none))

export const save = (path: string, history: History) =>
  Effect.suspend(() => AtomicFile.write(path, Binary.utf8(`${JSON.stringify(contentOf(history))}\n`), OWNER_WRITES))
