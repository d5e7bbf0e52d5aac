/** `udg genesis`: creates keys and the genesis file that all machines of a network share. */
import { Clock, Console, Effect, Either, Option } from "effect"
import * as Founding from "../node/start/Founding.js"
import * as Weaknesses from "../node/start/Weaknesses.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Protocol from "../protocol/epoch/Protocol.js"
import * as Address from "../protocol/identity/Address.js"
import * as Keys from "../protocol/identity/Keys.js"
import * as Network from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Parameters from "../protocol/numbers/Parameters.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as GenesisFile from "../storage/files/GenesisFile.js"
import * as KeyFile from "../storage/files/KeyFile.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { type WrongUsage, wrongUsage } from "./settings/WrongUsage.js"
import * as Figure from "./terminal/Figure.js"
import * as Sheet from "./terminal/Sheet.js"

/** One hour. Closing an epoch is cheap, but a joining node verifies one checkpoint per epoch. */
const PUBLIC_EPOCH_MS = 3_600_000
const DAY_MS = 86_400_000

const DEFAULT_NAME = "udg-net"

const rewardsPerDay = ({ roundReward, roundIntervalMs }: Protocol.Protocol): Sats.Sats =>
  Sats.make(Sats.divideFloor(roundReward * DAY_MS, roundIntervalMs))

const making = Setting.group("Making a network (udg genesis new)")
const governing = Setting.group("Governable parameters (udg genesis new)")

const parameters = Parameters.make((entry) =>
  governing.optional(
    `--${entry.name.replaceAll("_", "-")} N`,
    `${entry.name}, ${entry.min} to ${entry.max}`,
    Reader.governed(entry),
    String(entry.standard),
  ),
)

const out = Setting.group("Making a key or a network").required(
  "--out FILE",
  "the file to write; an existing file is never overwritten",
  Reader.newFile,
)

const settings = {
  name: making.optional(
    "--name NAME",
    `the network's name, 1 to ${Network.NAME_CHARACTERS} of a-z, 0-9 and -; its id is NAME and 16 random hex digits, ` +
      "and signatures contain the id",
    Reader.networkName,
    DEFAULT_NAME,
  ),
  networkId: making.optional(
    "--network-id ID",
    "the whole id instead of a name, 1 to 32 of a-z, 0-9 and -; never use an id for two networks",
    Reader.networkId,
    "NAME and 16 random hex digits",
  ),
  validator: making.repeated(
    "--validator KEY:COINS",
    "an initial validator: public key, stake in UDG, and :PERCENT for a commission other than 10; may be repeated",
    Reader.firstValidator,
  ),
  allocate: making.repeated(
    "--allocate ADDR:COINS",
    "initial balance of an account in UDG; may be repeated",
    Reader.allocation,
  ),
  council: making.repeated("--council ADDR", "an initial member of the council; may be repeated", Reader.text),
  faucet: making.optional(
    "--faucet KEY",
    "public key of the faucet's reserve, which holds a tenth of the stakes (testnet)",
    Reader.publicKey,
    "no faucet",
  ),
  testnet: making.withDefault("--testnet true|false", "false makes a mainnet", Reader.boolean("true", "false"), true),
  roundMs: making.withDefault(
    "--round-ms MS",
    "round interval, 1 to 60000",
    Reader.roundMs,
    Protocol.standard.roundIntervalMs,
  ),
  epoch: making.optional("--epoch TIME", "minimum duration of an epoch, such as 30m or 1h", Reader.time, "1h"),
  epochRounds: making.optional("--epoch-rounds N", "the same in rounds, from 40", Reader.epochRounds),
  rewards: making.optional(
    "--rewards-per-day COINS",
    "the most that all validators together mint in a day before the first halving",
    Reader.coins,
    Figure.coins(rewardsPerDay(Protocol.standard)),
  ),
  votingPeriod: governing.optional("--voting-period TIME", "voting_period_rounds as a time, such as 7d", Reader.time),
  executionDelay: governing.optional("--execution-delay TIME", "execution_delay_rounds as a time", Reader.time),
  cooldown: governing.optional("--cooldown TIME", "cooldown_rounds as a time", Reader.time),
  ...parameters,
  out,
}

type Values = Command.Values<typeof settings>

const describe = (genesis: Genesis.Genesis): ReadonlyArray<Sheet.Line> => {
  const { networkId, mode, protocol, parameters, validators, allocations, faucet } = genesis
  const inTime = (rounds: number) =>
    `${Figure.counted(rounds, "round")} (${Figure.duration(rounds * protocol.roundIntervalMs)})`
  const shown = (address: Address.Address) => Address.toBech32(address, Network.addressPrefix(mode))
  return [
    ["network", `${networkId} (${mode})`],
    ["genesis hash", Genesis.hash(genesis)],
    ["rounds", `every ${protocol.roundIntervalMs} ms, ${inTime(protocol.epochRounds)} per epoch`],
    [
      "rewards",
      `at most ${Figure.coins(rewardsPerDay(protocol))} a day, halved every ${Figure.duration(protocol.halvingRounds * protocol.roundIntervalMs)}`,
    ],
    ["cooldown", inTime(parameters.cooldownRounds)],
    [
      "governance",
      [
        `${inTime(parameters.votingPeriodRounds)} to vote`,
        `${inTime(parameters.executionDelayRounds)} until a decision takes effect`,
        `turnout ${parameters.quorumPercent} %, approval ${parameters.approvalPercent} %`,
      ],
    ],
    [
      "validators",
      validators.map(({ publicKey, stake, commissionPercent }) => {
        const address = shown(Address.fromPublicKey(publicKey))
        return `${address}  ${Figure.coins(stake)}, ${commissionPercent} %`
      }),
    ],
    ["accounts", String(allocations.length)],
    ["faucet", faucet === null ? "none" : shown(faucet.address)],
  ]
}

const makeKey = Command.action({ out }, ({ out: file }) =>
  Effect.gen(function* () {
    const key = Keys.SecretKey.generate()
    yield* KeyFile.create(file, key)
    const address = Address.fromPublicKey(key.publicKey)
    yield* Console.log(
      Sheet.indented([
        ["file", file],
        ["public key", key.publicKey],
        ["address", address],
      ]),
    )
  }),
)

const address = (text: string, mode: Network.Mode) =>
  Effect.mapError(Address.parse(text, Network.addressPrefix(mode)), ({ message }) =>
    wrongUsage(`${JSON.stringify(text)}: ${message}`),
  )

const idOf = ({ name, networkId }: Values): Effect.Effect<Network.NetworkId, WrongUsage> => {
  if (Option.isNone(networkId)) {
    return Effect.sync(() => Founding.drawnNetworkId(Option.getOrElse(name, () => DEFAULT_NAME)))
  }
  return Option.isNone(name)
    ? Effect.succeed(networkId.value)
    : wrongUsage("--name and --network-id exclude each other; leave one of them out")
}

const roundsIn = (milliseconds: number, { roundMs }: Values): number => Math.ceil(milliseconds / roundMs)

/** A number of rounds, given as rounds or as a time. */
const inRounds = (values: Values, key: "votingPeriod" | "executionDelay" | "cooldown" | "epoch") =>
  Effect.gen(function* () {
    const [time, rounds] = [values[key], values[`${key}Rounds`]]
    if (Option.isNone(time)) return rounds
    if (Option.isNone(rounds)) return Option.some(roundsIn(time.value, values))
    const name = key.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)
    return yield* wrongUsage(`--${name} and --${name}-rounds exclude each other; leave one of them out`)
  })

/** The parameters that the options set. */
const chosenOf = (values: Values) =>
  Effect.gen(function* () {
    const chosen = {
      ...values,
      votingPeriodRounds: yield* inRounds(values, "votingPeriod"),
      executionDelayRounds: yield* inRounds(values, "executionDelay"),
      cooldownRounds: yield* inRounds(values, "cooldown"),
    }
    const set: ReadonlyArray<readonly [Parameters.Key, number]> = Parameters.table.flatMap(({ key }) =>
      Option.toArray(chosen[key]).map((value) => [key, value] as const),
    )
    return Object.fromEntries(set)
  })

const protocolOf = (values: Values) =>
  Effect.gen(function* () {
    const standard = Protocol.every(values.roundMs)
    const epochRounds = Option.getOrElse(yield* inRounds(values, "epoch"), () => roundsIn(PUBLIC_EPOCH_MS, values))
    const roundReward = Option.match(values.rewards, {
      onNone: () => standard.roundReward,
      onSome: (coins) => Sats.make(Math.floor((coins * values.roundMs) / DAY_MS)),
    })
    return { ...standard, epochRounds, roundReward }
  })

const warnings = (genesis: Genesis.Genesis, { networkId }: Values): ReadonlyArray<string> => [
  ...Option.toArray(networkId).map(
    (id) =>
      `--network-id ${id}: never use an id twice, or transactions signed for one network are valid on the other; ` +
      "--name draws an id",
  ),
  ...Weaknesses.ofGovernance(genesis),
]

const makeGenesis = Command.action(settings, (given) =>
  Effect.gen(function* () {
    const { out: file } = given
    const protocol = yield* protocolOf(given)
    const networkId = yield* idOf(given)
    const mode = given.testnet ? "testnet" : "mainnet"
    const allocations = yield* Effect.forEach(given.allocate, ({ to, amount }) =>
      Effect.map(address(to, mode), (owner) => ({ address: owner, amount })),
    )
    const council = yield* Effect.forEach(given.council, (text) => address(text, mode))
    const made = Founding.several({
      networkId,
      mode,
      time: Natural.nearestTimestamp(yield* Clock.currentTimeMillis),
      protocol,
      validators: given.validator,
      allocations,
      council,
      faucet: Option.getOrNull(Option.map(given.faucet, Address.fromPublicKey)),
      parameters: Parameters.standard(protocol.epochRounds, yield* chosenOf(given)),
    })
    if (Either.isLeft(made)) return yield* wrongUsage(`this is not a valid genesis: ${made.left.message}`)
    yield* GenesisFile.write(file, made.right)
    yield* Effect.forEach(warnings(made.right, given), (text) => Console.error(`warning: ${text}`))
    yield* Console.log(Sheet.indented([["file", file], ...describe(made.right)]))
  }),
)

const file = Setting.argument("FILE", "the genesis file to show", Reader.file)

const show = Command.action({ file }, (given) =>
  Effect.flatMap(GenesisFile.load(given.file), (genesis) => Console.log(Sheet.indented(describe(genesis)))),
)

export const command = Command.withActions(
  {
    name: "genesis",
    about: "makes keys and genesis files for a network of several machines",
    examples: [
      [
        "on each machine: make a key, and send its public part to the person who makes the genesis",
        "udg genesis key --out validator.key",
      ],
      [
        "the genesis of two validators",
        "udg genesis new --name my-net --validator KEY1:100000 --validator KEY2:100000 --out genesis.json",
      ],
      ["the content of a genesis file, and its hash", "udg genesis show genesis.json"],
    ],
    footer: [
      "The genesis hash is the network's identity: nodes with different hashes refuse to connect. Give every machine the " +
        "same file, its own key, and one address to connect to: udg --genesis genesis.json --validator-key validator.key " +
        "--peer HOST:9333.",
    ],
  },
  new Map([
    ["key", makeKey],
    ["new", makeGenesis],
    ["show", show],
  ]),
)
