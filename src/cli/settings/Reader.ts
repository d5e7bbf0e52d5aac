import { resolve } from "node:path"
import { FileSystem } from "@effect/platform"
import type { SystemError } from "@effect/platform/Error"
import { Effect, Either, Option, Redacted, Schema } from "effect"
import * as NodeUrl from "../../client/NodeUrl.js"
import * as Host from "../../network/Host.js"
import * as PeerAddress from "../../network/PeerAddress.js"
import * as Secrets from "../../node/log/Secrets.js"
import * as Cidr from "../../node/start/Cidr.js"
import type * as Configuration from "../../node/start/Configuration.js"
import type * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Protocol from "../../protocol/epoch/Protocol.js"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Name from "../../protocol/identity/Name.js"
import { isName, isNetworkId, NAME_CHARACTERS, OWN_NAMES } from "../../protocol/identity/Network.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import { wrongUsage } from "./WrongUsage.js"

/**
 * Parses a text. A failure completes a sentence that begins with the quoted text: why it is invalid, and what to use
 * instead.
 */
export type Reader<A> = (text: string) => Effect.Effect<A, string, FileSystem.FileSystem>

const reader =
  <A>(parse: (text: string) => Option.Option<A>, complaint: string) =>
  (text: string): Either.Either<A, string> =>
    Either.fromOption(parse(text), () => complaint)

const wholeNumber = (least: number, most: number, what: string, hint: string): Reader<number> => {
  const complaint = `is not ${what}; use a whole number from ${least} to ${most}${hint}`
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return number >= least && number <= most ? Either.right(number) : Either.left(complaint)
  }
}

export const port = wholeNumber(0, 65_535, "a port", " (0: any free port)")

export const roundMs = wholeNumber(1, 60_000, "a round interval", " milliseconds")

export const keptRounds = wholeNumber(0, 999_999_999, "a number of rounds", "")

const rounds = wholeNumber(0, 999_999_999, "a number of rounds", ", or none")

/** How many rounds of history to keep; `none` is 0. */
export const history: Reader<number> = (text) => (text.toLowerCase() === "none" ? Either.right(0) : rounds(text))

const truths = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0"].map((word) => [word, false] as const),
])

/** Accepts other usual words besides the documented pair. */
export const boolean = (yes: string, no: string): Reader<boolean> =>
  reader((text) => Option.fromNullable(truths.get(text.toLowerCase())), `is neither ${yes} nor ${no}; use one of them`)

export const choice = <const A extends string>(...choices: ReadonlyArray<A>): Reader<A> =>
  reader(
    (text) => Option.fromNullable(choices.find((each) => each === text.toLowerCase())),
    `is not one of ${choices.join(", ")}; use one of them`,
  )

export const host: Reader<string> = reader(
  Option.liftPredicate((text: string) => Host.kindOf(text) !== undefined),
  "is not a host; use an IP address such as 127.0.0.1 or ::1, or a host name, without a port",
)

/** The URL of a node's HTTP interface, without parts that can hold a secret, because it is shown. */
export const url: Reader<string> = (given) => {
  const text = NodeUrl.complete(given)
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = parsed?.protocol === "http:" || parsed?.protocol === "https:"
  if (!isWeb) return Either.left("is not the URL of a node; use one such as http://127.0.0.1:10333")
  return parsed.username === "" && parsed.password === "" && parsed.search === "" && parsed.hash === ""
    ? Either.right(parsed.href.replace(/\/+$/, ""))
    : Either.left("has more than scheme, host, port and path; use a URL such as http://127.0.0.1:10333")
}

/** The origin of a web page, as browsers send it. */
export const origin: Reader<string> = (text) => {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = parsed?.protocol === "http:" || parsed?.protocol === "https:"
  return isWeb && parsed.origin === text.toLowerCase().replace(/\/$/, "")
    ? Either.right(parsed.origin)
    : Either.left("is not the origin of a web page; use a scheme, a host and a port, such as http://localhost:5173")
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** In milliseconds. */
export const duration: Reader<number> = (text) => {
  const [, digits = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const ms = Object.entries(UNITS_MS).find(([name]) => name === unit)?.[1]
  return ms === undefined
    ? Either.left("is not a duration; use one such as 90s, 15m, 2h or 3d")
    : Either.right(Number(digits) * ms)
}

export const peer = reader(PeerAddress.parse, `is not a peer's address; use ${PeerAddress.expected}`)

export const signer = reader(
  (text) =>
    Option.flatMap(PeerAddress.parse(text), ({ host, port, key }) =>
      Option.map(key, (id) => ({ host, port, key: id })),
    ),
  "is not a signer's address; use KEY@HOST:PORT, as udg signer prints it",
)

export const cidr = reader(Cidr.parse, `is not a range of addresses; use ${Cidr.expected}`)

export const headerName: Reader<string> = (text) =>
  /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/i.test(text)
    ? Either.right(text.toLowerCase())
    : Either.left("is not the name of an HTTP header; use one such as CF-Connecting-IP")

export const trustedCheckpoint: Reader<Configuration.TrustedCheckpoint> = (text) => {
  const [, epoch = "", hash = ""] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? []
  return hash === ""
    ? Either.left("is not a checkpoint; use EPOCH:HASH, an epoch number and the 64 hex characters of its hash")
    : Either.right({ epoch: Number(epoch), hash: hash.toLowerCase() })
}

export const signingWord: Reader<Configuration.SigningWord> = (text) => {
  const [, epoch = "", round = "", base = ""] = /^([1-9]\d{0,14}):([1-9]\d{0,14}):([0-9a-f]{16})$/i.exec(text) ?? []
  return base === ""
    ? Either.left("is not a round to sign from; use EPOCH:ROUND:BASE as the log and udg doctor print it")
    : Either.right({ epoch: Number(epoch), round: Number(round), base: base.toLowerCase() })
}

/** The round before the first one that a key may sign. */
export const place: Reader<{ readonly epoch: Natural.Epoch; readonly round: Natural.Round }> = (text) => {
  const [, epoch = "", round = ""] = /^([1-9]\d{0,14}):([1-9]\d{0,14})$/.exec(text) ?? []
  return round === ""
    ? Either.left("is not a place to sign from; use EPOCH:ROUND, such as 12:1")
    : Either.right({ epoch: Natural.epoch(Number(epoch)), round: Natural.round(Number(round) - 1) })
}

/** A node that a signer serves and, if given, the validator's key that signs for it. */
export interface ServedNode {
  readonly node: PeerId
  readonly key: Option.Option<Keys.PublicKey>
}

/** The reason without the system call and path that Node.js appends. */
const because = ({ reason, description = reason }: SystemError): string =>
  reason === "PermissionDenied" ? "permission denied" : description.replace(/, .*$/s, "")

/** An existing, readable file as an absolute path. Its content is checked where it is used. */
export const file: Reader<string> = (text) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const info = yield* files.stat(text)
    if (info.type === "Directory") return yield* Effect.fail("is a directory; use the path of a file")
    // Pipes and devices can be endless.
    if (info.type !== "File") return yield* Effect.fail("is not a regular file; use the path of one")
    yield* files.access(text, { readable: true })
    return resolve(text)
  }).pipe(
    Effect.catchTags({
      SystemError: (error) =>
        Effect.fail(
          error.reason === "NotFound"
            ? "does not exist; use the path of an existing file"
            : `cannot be read (${because(error)}); use the path of a readable file`,
        ),
      BadArgument: () => Effect.fail("is not a path; use the path of a readable file"),
    }),
  )

/** The URL of a node if the text has a scheme, otherwise a file. */
export const urlOrFile: Reader<string> = (text) => (/^https?:\/\//i.test(text) ? url(text) : file(text))

/** A writable directory, or a path where one can be created, as an absolute path. */
export const directory: Reader<string> = (text) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const info = yield* files.stat(text)
    if (info.type !== "Directory") return yield* Effect.fail("is not a directory; use the path of a directory")
    yield* files.access(text, { readable: true, writable: true })
    return resolve(text)
  }).pipe(
    Effect.catchTags({
      SystemError: (error) =>
        error.reason === "NotFound"
          ? Effect.succeed(resolve(text))
          : Effect.fail(`cannot be used (${because(error)}); use the path of a directory this user may write to`),
      BadArgument: () => Effect.fail("is not a path; use the path of a directory"),
    }),
  )

/** The default of a directory option. */
export const defaultDirectory = (option: string, path: string) =>
  Effect.mapError(directory(path), (complaint) => wrongUsage(`${option} is not set and "${path}" ${complaint}`))

/** Any text; checked where its meaning is known. */
export const text: Reader<string> = (given) => Either.right(given)

export const networkId = reader(
  Option.liftPredicate(isNetworkId),
  "is not a network's name; use 1 to 32 of a-z, 0-9 and -",
)

const ownNames: ReadonlyArray<string> = Object.values(OWN_NAMES)

/** A name for a network of several operators. */
export const networkName: Reader<string> = (given) => {
  if (!isName(given)) return Either.left(`is not a name; use 1 to ${NAME_CHARACTERS} of a-z, 0-9 and -`)
  return ownNames.includes(given)
    ? Either.left("is reserved for networks of one operator; choose another")
    : Either.right(given)
}

/** A parameter's value within its bounds. The genesis checks it against the length of the epoch. */
export const governed = ({ min, max, name }: Parameters.Entry): Reader<number> =>
  wholeNumber(min, max, `a value of ${name}`, "")

export const epochRounds = wholeNumber(Protocol.MIN_EPOCH_ROUNDS, 10_000_000, "an epoch's length", " rounds")

const UNITS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
])

/** A duration in milliseconds, such as 1h. */
export const time: Reader<number> = (given) => {
  const [, count = "", unit = ""] = /^(\d{1,9})(ms|[smhd])$/i.exec(given) ?? []
  const milliseconds = Number(count) * (UNITS.get(unit.toLowerCase()) ?? 0)
  return milliseconds > 0
    ? Either.right(milliseconds)
    : Either.left("is not a duration; use one such as 90s, 30m, 1h or 7d")
}

export const devAccounts = wholeNumber(1, 1_000, "a number of accounts", "")

export const validators = wholeNumber(1, 16, "a number of validators", "")

const isMoreThanAll = (text: string): boolean => Option.isNone(Sats.parseCoin(text)) && /^\d+(?:\.\d{1,8})?$/.test(text)

const moreThanAll = `more than the maximum supply; use at most ${Sats.formatCoin(Sats.MAX_SUPPLY)}`

const spelledKey = reader(Schema.decodeUnknownOption(Keys.PublicKey), "is not a public key; use 64 hex characters")

export const publicKey: Reader<Keys.PublicKey> = (given) =>
  Either.filterOrLeft(
    spelledKey(given),
    Keys.hasSecretKey,
    // Only its beginning, in case it is a secret key given by mistake.
    (key) => `is not a public key: no secret key belongs to ${key.slice(0, 8)}…; use the one that came with a new key`,
  )

/** `NODE` or `NODE:KEY`, both public keys. */
export const servedNode: Reader<ServedNode> = (given) =>
  Effect.gen(function* () {
    const [node = "", key, ...rest] = given.split(":")
    if (rest.length > 0) return yield* Effect.fail("is not a node to serve; use NODE or NODE:KEY, both public keys")
    const validator = key === undefined ? Option.none() : Option.some(yield* publicKey(key))
    return { node: (yield* publicKey(node)) as string as PeerId, key: validator }
  })

export const coins: Reader<Sats.Sats> = (text) =>
  isMoreThanAll(text)
    ? Either.left(`ends in ${moreThanAll}`)
    : Either.fromOption(Sats.parseCoin(text), () => "does not end in an amount of coins; use one such as 2000 or 0.5")

/** `KEY:COINS` or `KEY:COINS:PERCENT`. */
export const firstValidator: Reader<Genesis.FirstValidator> = (given) =>
  Effect.gen(function* () {
    const [key = "", stake = "", commission = "10", ...rest] = given.split(":")
    const isPercent = /^\d{1,3}$/.test(commission) && Number(commission) <= 100
    if (rest.length > 0 || !isPercent) {
      return yield* Effect.fail("is not an initial validator; use KEY:COINS or KEY:COINS:PERCENT")
    }
    return { publicKey: yield* publicKey(key), stake: yield* coins(stake), commissionPercent: Number(commission) }
  })

/** Redacted, because the URL can hold a password. */
export const database: Reader<Redacted.Redacted> = (given) =>
  URL.canParse(given) && /^postgres(?:ql)?:$/.test(new URL(given).protocol)
    ? Either.right(Redacted.make(given))
    : Either.left("is not a database; use postgres://USER@HOST:PORT/NAME")

/** `ADDRESS:COINS`. The address is checked where the network is known. */
export const allocation: Reader<{ readonly to: string; readonly amount: Sats.Sats }> = (given) =>
  Effect.gen(function* () {
    const [to = "", amount = "", ...rest] = given.split(":")
    if (rest.length > 0 || to === "")
      return yield* Effect.fail("does not name an account and an amount; use ADDRESS:COINS")
    return { to, amount: yield* coins(amount) }
  })

/** The path of a key file, checked where it is used. */
export const keyPath: Reader<string> = (given) =>
  Secrets.mayBeKey(given)
    ? Either.left(
        "is not a path; put the key into its own file with mode 0600, and replace it: others may have seen it",
      )
    : Either.right(given)

/** `ACCOUNT:COINS`. The account is checked where the network is known. */
export const payment: Reader<{ readonly to: string; readonly amount: Sats.Sats }> = (given) =>
  Effect.flatMap(allocation(given), ({ to, amount }) =>
    amount > 0 ? Either.right({ to, amount }) : Either.left("pays nothing; use more than 0"),
  )

/** `NAME=VALUE`, where NAME is a parameter that governance can change. The network knows which protocol version is next. */
export const parameterChange: Reader<{ readonly param: string; readonly value: number }> = (given) => {
  const [, param = "", digits = ""] = /^([a-z_]+)=(\d{1,15})$/.exec(given) ?? []
  const entry =
    param === ProtocolVersion.PARAMETER ? { min: ProtocolVersion.FIRST + 1, max: 2 ** 32 } : Parameters.find(param)
  if (digits === "" || entry === undefined) {
    return Either.left(`is not a parameter change; use NAME=VALUE with NAME one of ${names.join(", ")}`)
  }
  const value = Number(digits)
  return value >= entry.min && value <= entry.max
    ? Either.right({ param, value })
    : Either.left(`is out of bounds; use a value from ${entry.min} to ${entry.max} for ${param}`)
}

const names = [...Parameters.table.map(({ name }) => name), ProtocolVersion.PARAMETER]

export const threshold = wholeNumber(1, Limits.POLICY_KEYS, "a number of keys", "")

export const signature = reader(
  Schema.decodeUnknownOption(Keys.Signature),
  "is not a signature; use its 128 hex characters",
)

/** A path where nothing exists yet, as an absolute path. */
export const newFile: Reader<string> = (given) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    if (yield* Effect.orElseSucceed(files.exists(given), () => true)) {
      return yield* Effect.fail("exists and is not overwritten; use another path")
    }
    return resolve(given)
  })

const writtenAmount = reader(
  Sats.parseCoin,
  "is not an amount of UDG; use one such as 2000 or 0.5, in digits, with at most eight decimal places",
)

/** An amount in UDG, exact to the sat. */
export const amount: Reader<Sats.Sats> = (given) =>
  isMoreThanAll(given) ? Either.left(`is ${moreThanAll}`) : writtenAmount(given)

/** An amount above zero. */
export const positiveAmount: Reader<Sats.Sats> = (given) =>
  Effect.flatMap(amount(given), (sats) => (sats > 0 ? Either.right(sats) : Either.left("is zero; use more than 0")))

export const percent = wholeNumber(0, 100, "a percentage", "")

/** A nonce or a parameter; bounds are checked where the meaning is known. */
export const count: Reader<number> = (given) =>
  /^\d{1,15}$/.test(given) ? Either.right(Number(given)) : Either.left("is not a whole number; use digits only")

export const proposalId: Reader<Natural.ProposalId> = (given) =>
  /^[1-9]\d{0,14}$/.test(given)
    ? Either.right(Natural.proposalId(Number(given)))
    : Either.left("is not the number of a proposal; use a whole number from 1")

const hashOf = (what: string) =>
  reader(Schema.decodeUnknownOption(Hash.schema), `is not the hash of a ${what}; use its 64 hex characters`)

/** A shortened hash: its beginning, or both ends as lists show it. */
export interface Ends {
  readonly start: string
  readonly end: string
}

const shownHash =
  (what: string): Reader<Hash.Hash | Ends> =>
  (given) => {
    const whole = hashOf(what)(given)
    const [, start, end = ""] = /^([0-9a-f]{4,63})(?:(?:…|\.{3})([0-9a-f]*))?$/i.exec(given) ?? []
    if (Either.isRight(whole)) return whole
    return start === undefined
      ? Either.left(`is not the hash of a ${what}; use its 64 hex characters, or the first ones, at least four`)
      : Either.right({ start: start.toLowerCase(), end: end.toLowerCase() })
  }

export const shownTransaction = shownHash("transaction")

export const shownVertex = shownHash("vertex")

export const round = wholeNumber(0, 999_999_999_999_999, "a round", "")

export const entries = wholeNumber(1, 10_000, "a number of entries", "")

/** A registered name, with or without its @. */
export const name = reader(
  (given) => Option.liftPredicate(Name.isName)(given.replace(/^@/, "")),
  "is not a name; use 3 to 20 characters of a-z, 0-9 and -, no - at either end",
)
