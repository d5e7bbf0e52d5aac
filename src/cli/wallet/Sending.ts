/** Builds a transaction, shows it, signs it locally, sends it and waits until it is final. */
import type { FileSystem } from "@effect/platform"
import { Effect, Option, Context as Services } from "effect"
import * as Fee from "../../client/Fee.js"
import * as Wallet from "../../client/Wallet.js"
import type * as Address from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { SecretKey } from "../../protocol/identity/Keys.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type * as Possession from "../../protocol/transaction/Possession.js"
import type * as KeyStore from "../keys/KeyStore.js"
import { fail, type WalletFailure } from "../keys/WalletFailure.js"
import type * as Command from "../settings/Command.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { type WrongUsage, wrongUsage } from "../settings/WrongUsage.js"
import * as Figure from "../terminal/Figure.js"
import * as Out from "../terminal/Out.js"
import * as Paint from "../terminal/Paint.js"
import * as Sheet from "../terminal/Sheet.js"
import { Terminal } from "../terminal/Terminal.js"
import * as Account from "./Account.js"
import * as Describe from "./Describe.js"
import * as Finality from "./Finality.js"
import type * as Node from "./Node.js"
import * as SignatureFile from "./SignatureFile.js"
import type * as Signers from "./Signers.js"
import * as Verb from "./Verb.js"

export const sending = Setting.group("Sending")

/** Settings of every verb that sends a transaction. */
export const settings = {
  fee: sending.optional(
    "--fee UDG",
    "the fee for the validators",
    Reader.amount,
    "the network's minimum: none to stake or delegate, more for a name and for a new account",
  ),
  nonce: sending.optional("--nonce N", "the transaction's nonce", Reader.count, "the next one"),
  network: sending.optional("--network NAME", "refuse to sign for any other network", Reader.networkId),
  noWait: sending.flag("--no-wait", "return once the node has accepted it, before it is final"),
  out: sending.optional(
    "--out FILE",
    "write it to a file for several signers instead of sending it; see udg multisig",
    Reader.newFile,
  ),
  from: sending.optional("--from ACCOUNT", "with --out: the sender, if it is not the account of the key", Reader.text),
  key: Verb.key,
  node: Verb.node,
  json: Verb.json,
}

export type Given = Command.Values<typeof settings>

/**
 * The actor when no key file is used: `udg dev impersonate` names the account and the key that its network accepts for
 * all accounts.
 */
export class Impersonated extends Services.Reference<Impersonated>()("udg/cli/Impersonated", {
  defaultValue: (): { readonly account: string; readonly key: SecretKey } | null => null,
}) {}

export const footer = [
  "Amounts are in UDG, with at most eight decimal places. An account is 40 hex characters, tudg1… or udg1…, or a " +
    "registered @name.",
  "The key never leaves this machine. udg asks for its passphrase unless UDG_PASSPHRASE is set.",
]

export interface Context {
  /** Resolves an account as the user named it. */
  readonly resolve: (text: string) => Effect.Effect<Address.Address, WalletFailure | WrongUsage>
  /** The key in its file; none if another account acts. */
  readonly key: Option.Option<KeyStore.KeyInFile>
  readonly networkId: NetworkId
  /** The sender, and the nonce of the transaction. */
  readonly claim: Effect.Effect<Possession.Claim, WalletFailure | WrongUsage>
}

/** Turns invalid input into wrong usage. Other exceptions are bugs. */
export const built = <A>(build: () => A): Effect.Effect<A, WrongUsage> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(build())
    } catch (error) {
      if (error instanceof Wallet.InvalidInput) return wrongUsage(error.message)
      throw error
    }
  })

const walletNetwork = ({ network }: Given, { node, info }: Verb.Contact) =>
  Option.exists(network, (expected) => expected !== info.network_id)
    ? fail("node", `${node.url} is a node of "${info.network_id}", not of the network in --network; nothing was signed`)
    : built(() => Wallet.network(info))

/** The node's record of a transfer's recipient; undefined for other types. */
const recipientOf = ({ transaction }: Wallet.Unsigned, node: Node.Node) => {
  const address = Charges.recipientOf(transaction.operation)
  return address === undefined
    ? Effect.succeed(undefined)
    : node.ask((client) => client.core.balance({ path: { address } }))
}

const feeOf = ({ fee }: Given, type: Wallet.Type, { info }: Verb.Contact, recipient: Fee.Recipient | undefined) => {
  if (Option.isSome(fee)) return Effect.succeed(fee.value)
  const asked = Fee.asked(type, info.parameters, recipient)
  const usual = Figure.amount(Fee.usual(type, recipient))
  return Fee.isDear(type, asked, recipient)
    ? fail(
        "node",
        `the node asks for a fee of ${Figure.amount(asked)} UDG; the usual fee is ${usual} UDG; to pay it anyway, use --fee`,
      )
    : Effect.succeed(Sats.make(asked))
}

/** The account's current policy; null if its own key signs. */
export const policyOf = (node: Node.Node, address: Address.Address): Effect.Effect<Signers.Policy, WalletFailure> =>
  Effect.map(
    node.find((client) => client.core.policy({ path: { address } })),
    (found) => Option.getOrNull(Option.map(found, ({ threshold, keys }) => ({ threshold, keys }))),
  )

/** The account's next nonce. */
const nonceOf = (given: Given, node: Node.Node, from: Address.Address) =>
  Effect.gen(function* () {
    const account = yield* node.ask((client) => client.core.balance({ path: { address: from } }))
    if (account.is_smart_account && Option.isNone(given.out) && (yield* Impersonated) === null) {
      return yield* wrongUsage(
        "several keys sign for this account; write the transaction to a file with --out FILE, then see udg multisig --help",
      )
    }
    return Option.getOrElse(given.nonce, () => account.next_nonce)
  })

/** The acting account, its key file, and the effect that unlocks the signing key. */
interface Actor {
  readonly address: Address.Address
  readonly key: Option.Option<KeyStore.KeyInFile>
  readonly unlock: Option.Option<KeyStore.KeyInFile["unlock"]>
}

const withoutKey = (address: Address.Address): Actor => ({ address, key: Option.none(), unlock: Option.none() })

/** Without a key if others sign with `udg multisig`. */
const actorOf = (
  given: Given,
  resolve: Context["resolve"],
): Effect.Effect<Actor, WalletFailure | WrongUsage, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const impersonated = yield* Impersonated
    if (impersonated !== null) {
      if (Option.isSome(given.from) || Option.isSome(given.out)) {
        return yield* wrongUsage("an impersonated account needs no other signatures; leave out --from and --out")
      }
      const actor = withoutKey(yield* resolve(impersonated.account))
      return { ...actor, unlock: Option.some(Effect.succeed(impersonated.key)) }
    }
    if (Option.isNone(given.from)) {
      const key = yield* Verb.keyOf(given)
      return { address: key.address, key: Option.some(key), unlock: Option.some(key.unlock) }
    }
    if (Option.isNone(given.out)) {
      return yield* wrongUsage("--from needs --out FILE: the keys of another account sign with udg multisig")
    }
    return withoutKey(yield* resolve(given.from.value))
  })

/** Shows the transaction before the passphrase prompt, with the account names that the user typed. */
export const show = (unsigned: Wallet.Unsigned, names?: Describe.Names, forAccount?: number) =>
  Effect.map(Terminal, ({ isWatched, colours, writeError }) => {
    if (!isWatched) return
    const { networkId, prefix } = unsigned.network
    const lines = [
      ...Describe.transaction(Wallet.unsignedJson(unsigned), prefix, names, forAccount),
      ["network", networkId] as const,
    ]
    writeError(`${Sheet.lines(lines, colours.stderr)}\n`)
  })

/** The result with --no-wait. */
export const showPending = (asJson: boolean, hash: Hash, more: object = {}) =>
  Out.lines(asJson, { hash, status: "pending", ...more }, () => [
    ["hash", hash, Paint.quiet],
    ["status", "pending", Paint.state],
  ])

/** Sends a signed transaction, waits for finality unless told otherwise, and shows the outcome. */
export const submit = (
  given: { readonly noWait: boolean; readonly json: boolean },
  { node, info }: Verb.Contact,
  unsigned: Wallet.Unsigned,
  signed: Wallet.SignedTransaction,
) =>
  Effect.gen(function* () {
    const hash = Wallet.hashOf(unsigned)
    const { nonce } = yield* node.tell(
      (client) => client.transactions.submit({ payload: signed }),
      `before you repeat it, check with udg tx ${hash}`,
    )
    if (given.noWait) return yield* showPending(given.json, hash, { nonce })
    const { writeError } = yield* Terminal
    const outcome = yield* Effect.onInterrupt(Finality.withinReason(node, hash, info), () =>
      Effect.sync(() => writeError(`it was sent and is not final yet; check with udg tx ${hash}\n`)),
    )
    yield* Out.lines(given.json, outcome, () => Finality.lines(outcome))
    yield* Finality.requireApplied(outcome)
  })

/** Sends a transaction whose payload depends on the node. */
export const sendResolved = <T extends Wallet.Type>(
  given: Given,
  type: T,
  payloadOf: (
    context: Context,
  ) => Effect.Effect<Wallet.Payloads[T], WalletFailure | WrongUsage, Terminal | FileSystem.FileSystem>,
) =>
  Effect.gen(function* () {
    const contact = yield* Verb.contact(given)
    const network = yield* walletNetwork(given, contact)
    const names = new Map<string, string>()
    const resolve = (text: string) =>
      Effect.tap(Account.resolve(contact.node, network.prefix, text), (address) =>
        Effect.sync(() => text.startsWith("@") && names.set(address, text)),
      )
    const { address, key, unlock } = yield* actorOf(given, resolve)
    const nextNonce = yield* Effect.cached(nonceOf(given, contact.node, address))
    const claim = Effect.map(nextNonce, (nonce) => ({ account: address, nonce: Natural.nonce(nonce) }))
    const payload = yield* payloadOf({ resolve, key, networkId: network.networkId, claim })
    const nonce = yield* nextNonce
    const draft = yield* built(() => Wallet.unsigned(network, address, type, { nonce, fee: 0, ...payload }))
    const recipient = yield* recipientOf(draft, contact.node)
    const fee = yield* feeOf(given, type, contact, recipient)
    const unsigned = { ...draft, transaction: { ...draft.transaction, fee } }
    yield* show(unsigned, names, Fee.forAccount(contact.info.parameters, recipient))
    if (Option.isSome(given.out)) {
      const policy = yield* policyOf(contact.node, address)
      return yield* SignatureFile.create(given.out.value, unsigned, policy, given.json)
    }
    if (Option.isNone(unlock)) return
    const secret = yield* unlock.value
    const signed = Option.isSome(key)
      ? Wallet.sign(unsigned, secret)
      : yield* built(() => Wallet.combine(unsigned, [Wallet.cosign(unsigned, secret)]))
    yield* submit(given, contact, unsigned, signed)
  })

export const send = <T extends Wallet.Type>(given: Given, type: T, payload: Wallet.Payloads[T]) =>
  sendResolved(given, type, () => Effect.succeed(payload))
