/** `udg genesis`: keys, and the file that makes a network of several machines one network. */
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
import type * as Help from "./settings/Help.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { WrongUsage } from "./settings/WrongUsage.js"

const making = "Making a network (udg genesis new)"
const governing = "What governance may change later (udg genesis new)"
const keys = "Making a key (udg genesis key)"

/** An hour at the standard interval: handing over is cheap, but who joins proves one checkpoint an epoch. */
const PUBLIC_EPOCH_ROUNDS = 7_200

const publicParameters = Founding.publicParameters(PUBLIC_EPOCH_ROUNDS)

/** What is not the standard value, since it follows from the epoch or holds among strangers. */
const OTHERWISE: Partial<Parameters.Of<string>> = {
  cooldownRounds: "an epoch, at least 240",
  votingPeriodRounds: "24 epochs",
  executionDelayRounds: "2 epochs and the cooldown",
  quorumPercent: String(publicParameters.quorumPercent),
  proposalBond: String(publicParameters.proposalBond),
  maxActivePerProposer: String(publicParameters.maxActivePerProposer),
}

const DEFAULT_NAME = "udg-net"

const parameters = Parameters.make((entry) =>
  Setting.value(
    entry.name.replaceAll("_", "-"),
    {
      group: governing,
      placeholder: "N",
      about: `${entry.name}, ${entry.min} to ${entry.max}`,
      otherwise: OTHERWISE[entry.key] ?? String(entry.standard),
    },
    Reader.governed(entry),
  ),
)

const settings = {
  name: Setting.value(
    "name",
    {
      group: making,
      placeholder: "NAME",
      about:
        `the network's name, 1 to ${Network.NAME_CHARACTERS} of a-z, 0-9 and -; its id is NAME and 16 random hex digits, ` +
        "and signatures contain the id",
      otherwise: DEFAULT_NAME,
    },
    Reader.networkName,
  ),
  networkId: Setting.value(
    "network-id",
    {
      group: making,
      placeholder: "ID",
      about: "the whole id instead of a name, 1 to 32 of a-z, 0-9 and -; never use an id for two networks",
      otherwise: "NAME and 16 random hex digits",
    },
    Reader.networkId,
  ),
  validator: Setting.values(
    "validator",
    {
      group: making,
      placeholder: "KEY:COINS",
      about: "a first validator: its public key, its stake in coins, and :PERCENT of commission if not 10; repeated",
    },
    Reader.firstValidator,
  ),
  allocate: Setting.values(
    "allocate",
    { group: making, placeholder: "ADDR:COINS", about: "coins somebody has from the beginning; may be repeated" },
    Reader.allocation,
  ),
  council: Setting.values(
    "council",
    { group: making, placeholder: "ADDR", about: "a first member of the council; may be repeated" },
    Reader.text,
  ),
  faucet: Setting.value(
    "faucet",
    {
      group: making,
      placeholder: "KEY",
      about: "public key of the faucet's reserve, which holds a tenth of the stakes (testnet)",
      otherwise: "no faucet",
    },
    Reader.publicKey,
  ),
  testnet: Setting.value(
    "testnet",
    { group: making, placeholder: "true|false", about: "false makes a mainnet", otherwise: "true" },
    Reader.boolean("true", "false"),
  ),
  roundMs: Setting.value(
    "round-ms",
    { group: making, placeholder: "MS", about: "round interval, 1 to 60000", otherwise: "500" },
    Reader.roundMs,
  ),
  epochRounds: Setting.value(
    "epoch-rounds",
    {
      group: making,
      placeholder: "ROUNDS",
      about: "rounds of an epoch, from 40",
      otherwise: String(PUBLIC_EPOCH_ROUNDS),
    },
    Reader.epochRounds,
  ),
  ...parameters,
  out: Setting.value(
    "out",
    { group: keys, placeholder: "FILE", about: "where to write; a file that is there is never written over" },
    Reader.newFile,
  ),
}

export const about = "makes keys and genesis files for a network of several machines"

export const page = (version: string): Help.Page => ({
  title: `udg ${version}: tools for a network of several machines`,
  usage: "udg genesis key|new|show [options] [FILE]",
  settings: Object.values(settings),
  examples: [
    [
      "on each machine: a key, whose public part goes to whoever makes the genesis",
      "udg genesis key --out validator.key",
    ],
    [
      "the genesis of two validators",
      "udg genesis new --name my-net --validator KEY1:100000 --validator KEY2:100000 --out genesis.json",
    ],
    ["what a genesis file says, and its hash", "udg genesis show genesis.json"],
  ],
  footer: [
    "The genesis hash is the network's identity: nodes with another one refuse to talk. Give every machine the same " +
      "file, its own key, and one address to connect to: udg --genesis genesis.json --validator-key validator.key " +
      "--peer HOST:9333.",
  ],
})

const required = <A>(value: Option.Option<A>, complaint: string): Effect.Effect<A, WrongUsage> =>
  Option.match(value, { onNone: () => new WrongUsage({ message: complaint }), onSome: Effect.succeed })

const line = (name: string, value: string): string => `  ${name.padEnd(16)}${value}`

const describe = (genesis: Genesis.Genesis): ReadonlyArray<string> => {
  const { networkId, mode, protocol, parameters, validators, allocations, faucet } = genesis
  const prefix = Network.addressPrefix(mode)
  return [
    line("network", `${networkId} (${mode})`),
    line("genesis hash", Genesis.hash(genesis)),
    line("rounds", `every ${protocol.roundIntervalMs} ms, ${protocol.epochRounds} an epoch`),
    line(
      "governance",
      `${parameters.votingPeriodRounds} rounds to vote, ${parameters.executionDelayRounds} until it takes effect, ` +
        `quorum ${parameters.quorumPercent} %, approval ${parameters.approvalPercent} %`,
    ),
    ...validators.map(({ publicKey, stake, commissionPercent }, n) =>
      line(
        n === 0 ? "validators" : "",
        `${Address.toBech32(Address.fromPublicKey(publicKey), prefix)}  ${Sats.formatCoin(stake)} UDG, ${commissionPercent} %`,
      ),
    ),
    line("accounts", String(allocations.length)),
    line("faucet", faucet === null ? "none" : Address.toBech32(faucet.address, prefix)),
  ]
}

const makeKey = ({ values: { out } }: Command.Read<typeof settings>) =>
  Effect.gen(function* () {
    const file = yield* required(out, "udg genesis key needs --out FILE, where the new key is to stand")
    const key = Keys.SecretKey.generate()
    yield* KeyFile.create(file, key)
    yield* Console.log(
      [
        line("file", file),
        line("public key", key.publicKey),
        line("address", Address.fromPublicKey(key.publicKey)),
      ].join("\n"),
    )
  })

const address = (text: string, mode: Network.Mode) =>
  Effect.mapError(
    Address.parse(text, Network.addressPrefix(mode)),
    ({ message }) => new WrongUsage({ message: `${JSON.stringify(text)}: ${message}` }),
  )

type Given = Command.Values<typeof settings>

const idOf = ({ name, networkId }: Given): Effect.Effect<Network.NetworkId, WrongUsage> => {
  if (Option.isNone(networkId)) {
    return Effect.sync(() => Founding.drawnNetworkId(Option.getOrElse(name, () => DEFAULT_NAME)))
  }
  return Option.isNone(name)
    ? Effect.succeed(networkId.value)
    : new WrongUsage({ message: "--name and --network-id are both given; leave one of them out" })
}

/** The parameters that were given. */
const chosen = (given: Given): Partial<Parameters.Parameters> =>
  Object.fromEntries(
    Parameters.table.flatMap(({ key }) =>
      Option.match(given[key], { onNone: () => [], onSome: (value) => [[key, value] as const] }),
    ),
  )

/** What whoever made this should know, one line each. */
const warnings = (genesis: Genesis.Genesis, { networkId }: Given): ReadonlyArray<string> => [
  ...(Option.isSome(networkId)
    ? [
        `--network-id ${networkId.value}: never use an id twice, or transactions signed for one network are valid on the ` +
          "other; --name draws an id",
      ]
    : []),
  ...Weaknesses.ofGovernance(genesis),
]

const makeGenesis = ({ values: given }: Command.Read<typeof settings>) =>
  Effect.gen(function* () {
    const file = yield* required(given.out, "udg genesis new needs --out FILE, where the genesis is to stand")
    const networkId = yield* idOf(given)
    const mode = Option.getOrElse(given.testnet, () => true) ? "testnet" : "mainnet"
    const allocations = yield* Effect.forEach(given.allocate, ({ to, amount }) =>
      Effect.map(address(to, mode), (owner) => ({ address: owner, amount })),
    )
    const council = yield* Effect.forEach(given.council, (text) => address(text, mode))
    const epochRounds = Option.getOrElse(given.epochRounds, () => PUBLIC_EPOCH_ROUNDS)
    const made = Founding.several({
      networkId,
      mode,
      time: Natural.timestamp(yield* Clock.currentTimeMillis),
      roundIntervalMs: Option.getOrElse(given.roundMs, () => Protocol.standard.roundIntervalMs),
      epochRounds,
      validators: given.validator,
      allocations,
      council,
      faucet: Option.match(given.faucet, { onNone: () => null, onSome: Address.fromPublicKey }),
      parameters: Founding.publicParameters(epochRounds, chosen(given)),
    })
    if (Either.isLeft(made)) {
      return yield* new WrongUsage({ message: `no network can begin with this: ${made.left.message}` })
    }
    yield* GenesisFile.write(file, made.right)
    yield* Effect.forEach(warnings(made.right, given), (text) => Console.error(`warning: ${text}`))
    yield* Console.log([line("file", file), ...describe(made.right)].join("\n"))
  })

const show = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const [file, ...others] = words
    if (file === undefined || others.length > 0) {
      return yield* new WrongUsage({ message: "udg genesis show takes one genesis file; see udg genesis --help" })
    }
    yield* Effect.mapError(
      Reader.file(file),
      (complaint) => new WrongUsage({ message: `${JSON.stringify(file)} ${complaint}` }),
    )
    yield* Console.log(describe(yield* GenesisFile.load(file)).join("\n"))
  })

export const run = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const [verb, ...rest] = words
    if (verb === "key") return yield* Effect.flatMap(Command.read(settings, rest), makeKey)
    if (verb === "new") return yield* Effect.flatMap(Command.read(settings, rest), makeGenesis)
    if (verb === "show") return yield* show(rest)
    const what = verb === undefined ? "needs a verb" : `${JSON.stringify(verb)} is none of its verbs`
    return yield* new WrongUsage({ message: `udg genesis ${what}; give key, new or show, or --help` })
  })
