/** From what was asked for to a transaction that is final: built and signed here, shown before it is signed. */
import { Effect, Option } from "effect"
import * as Fee from "../../client/Fee.js"
import * as Wallet from "../../client/Wallet.js"
import type * as Address from "../../protocol/identity/Address.js"
import type * as Command from "../settings/Command.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { Terminal } from "../settings/Terminal.js"
import { WrongUsage } from "../settings/WrongUsage.js"
import * as Account from "./Account.js"
import * as Describe from "./Describe.js"
import * as Finality from "./Finality.js"
import type * as KeyStore from "./KeyStore.js"
import type * as Node from "./Node.js"
import * as Out from "./Out.js"
import * as Sheet from "./Sheet.js"
import * as SignatureFile from "./SignatureFile.js"
import * as Verb from "./Verb.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

const group = "Sending"

/** What every verb that sends a transaction understands. */
export const settings = {
  fee: Setting.value(
    "fee",
    { group, placeholder: "UDG", about: "what it pays to the validators", otherwise: "the least that the node takes" },
    Reader.amount,
  ),
  nonce: Setting.value(
    "nonce",
    { group, placeholder: "N", about: "its place among the account's transactions", otherwise: "the next one" },
    Reader.count,
  ),
  network: Setting.value(
    "network",
    { group, placeholder: "NAME", about: "refuse to sign for another network than this one" },
    Reader.networkId,
  ),
  noWait: Setting.flag(
    "no-wait",
    { group, placeholder: "", about: "return once the node has it, without waiting until it is final" },
    Reader.boolean("true", "false"),
  ),
  out: Setting.value(
    "out",
    { group, placeholder: "FILE", about: "write it to a file for several to sign, and send nothing; see udg multisig" },
    Reader.newFile,
  ),
  from: Setting.value(
    "from",
    { group, placeholder: "ACCOUNT", about: "with --out: the account that acts, where it is not that of the key" },
    Reader.text,
  ),
  key: Verb.key,
  node: Verb.node,
  json: Verb.json,
}

export type Given = Command.Values<typeof settings>

export const footer = [
  "Amounts are in UDG, with at most eight digits behind the point. An account is 40 hex characters, tudg1… or udg1…, or a " +
    "registered @name.",
  "The key never leaves this machine. Its passphrase is asked for, or taken from UDG_PASSPHRASE.",
]

type NetworkInfo = Effect.Effect.Success<ReturnType<typeof networkInfo>>

const networkInfo = (node: Node.Node) => node.ask((client) => client.core.network())

export interface Context {
  readonly network: Wallet.WalletNetwork
  /** The address of an account as a person named it. */
  readonly resolve: (text: string) => Effect.Effect<Address.Address, WalletFailure | WrongUsage>
  /** The key in its file; none where another account acts. */
  readonly key: Option.Option<KeyStore.KeyInFile>
}

/** Builds the transaction for the account that acts; may throw `InvalidInput`. */
export type Build = (from: Address.Address, common: { readonly nonce: number; readonly fee: number }) => Wallet.Unsigned

const wrong = (message: string) => new WrongUsage({ message })

/** Whatever the wallet does not take is wrong usage; anything else that is thrown is a bug. */
export const built = <A>(build: () => A): Effect.Effect<A, WrongUsage> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(build())
    } catch (error) {
      if (error instanceof Wallet.InvalidInput) return wrong(error.message)
      throw error
    }
  })

const walletNetwork = ({ network }: Given, node: Node.Node, info: NetworkInfo) =>
  Option.exists(network, (expected) => expected !== info.network_id)
    ? Effect.fail(
        fail(
          "node",
          `${node.url} is a node of "${info.network_id}", not of the network that --network names; nothing was signed`,
        ),
      )
    : built(() => Wallet.network(info))

const feeOf = ({ fee }: Given, type: Wallet.Type, { parameters }: NetworkInfo) => {
  if (Option.isSome(fee)) return Effect.succeed(fee.value)
  const asked = Fee.asked(type, parameters)
  const usual = Wallet.coins(Fee.usual(type))
  return Fee.isDear(type, asked)
    ? Effect.fail(
        fail(
          "node",
          `the node asks for a fee of ${Wallet.coins(asked)} UDG, usual are ${usual}; if that is right, give it by --fee`,
        ),
      )
    : Effect.succeed(asked)
}

const PENDING_AT_MOST = 64

/** The account's place in line, as far as the node's answer holds together. */
const nonceOf = (given: Given, node: Node.Node, from: Address.Address) =>
  Effect.gen(function* () {
    const account = yield* node.ask((client) => client.core.balance({ path: { address: from } }))
    const ahead = account.next_nonce - account.nonce
    if (account.address !== from || ahead < 0 || ahead > PENDING_AT_MOST) {
      return yield* Effect.fail(fail("node", `what ${node.url} says of ${from} cannot be true; nothing was signed`))
    }
    if (account.is_smart_account && Option.isNone(given.out)) {
      return yield* wrong(
        "several keys sign for this account; write it to a file by --out FILE, then see udg multisig --help",
      )
    }
    return Option.getOrElse(given.nonce, () => account.next_nonce)
  })

/** The account that acts, and the key that signs for it; none where others sign, by `udg multisig`. */
const actorOf = (given: Given, resolve: Context["resolve"]) =>
  Effect.gen(function* () {
    if (Option.isNone(given.from)) {
      const key = yield* Verb.keyOf(given)
      return { address: key.address, key: Option.some(key) }
    }
    if (Option.isNone(given.out)) {
      return yield* wrong("--from needs --out FILE: for another account its keys sign, by udg multisig")
    }
    return { address: yield* resolve(given.from.value), key: Option.none<KeyStore.KeyInFile>() }
  })

/** Shows what is about to be signed to whoever is about to type the passphrase. */
export const show = (unsigned: Wallet.Unsigned) =>
  Effect.map(Terminal, ({ isWatched, writeError }) => {
    if (!isWatched) return
    const { networkId, prefix } = unsigned.network
    const lines = [...Describe.transaction(Wallet.unsignedJson(unsigned), prefix), ["network", networkId] as const]
    writeError(`${Sheet.lines(lines)}\n`)
  })

/** Sends what is signed, waits for it as asked, and says what became of it. */
export const submit = (
  given: { readonly noWait: boolean; readonly json: boolean },
  node: Node.Node,
  roundMs: number,
  unsigned: Wallet.Unsigned,
  signed: Wallet.SignedTransaction,
) =>
  Effect.gen(function* () {
    const hash = Wallet.hashOf(unsigned)
    const { tx_hash, nonce } = yield* node.tell(
      (client) => client.transactions.submit({ payload: signed }),
      `before you send it again, ask by udg tx ${hash}`,
    )
    if (tx_hash !== hash) {
      return yield* Effect.fail(
        fail("open", `${node.url} answers for another transaction; ask another node for ${hash}`),
      )
    }
    if (given.noWait) {
      return yield* Out.lines(given.json, { hash, status: "pending", nonce }, () => [
        ["hash", hash],
        ["status", "pending"],
      ])
    }
    const { writeError } = yield* Terminal
    const outcome = yield* Effect.onInterrupt(Finality.withinReason(node, hash, roundMs), () =>
      Effect.sync(() => writeError(`it is sent, and not final yet; ask by udg tx ${hash}\n`)),
    )
    yield* Out.lines(given.json, outcome, () => Finality.lines(outcome))
    yield* Finality.requireApplied(outcome)
  })

/** The whole way of one transaction. `prepare` looks up what it needs, and says how to build it. */
export const send = (
  given: Given,
  type: Wallet.Type,
  prepare: (context: Context) => Effect.Effect<Build, WalletFailure | WrongUsage, Terminal>,
) =>
  Effect.gen(function* () {
    const node = Verb.nodeOf(given)
    const info = yield* networkInfo(node)
    const network = yield* walletNetwork(given, node, info)
    const resolve = (text: string) => Account.resolve(node, network.prefix, text)
    const { address, key } = yield* actorOf(given, resolve)
    const build = yield* prepare({ network, resolve, key })
    const nonce = yield* nonceOf(given, node, address)
    const fee = yield* feeOf(given, type, info)
    const unsigned = yield* built(() => build(address, { nonce, fee }))
    yield* show(unsigned)
    if (Option.isSome(given.out)) return yield* SignatureFile.create(given.out.value, unsigned, given.json)
    if (Option.isNone(key)) return
    const signed = Wallet.sign(unsigned, yield* key.value.unlock)
    yield* submit(given, node, info.parameters.round_interval_ms, unsigned, signed)
  })
