/** A solo validator changes its key; test/network/KeyRotation.long.ts does it in a network of processes. */
import { Effect, Fiber, HashMap, Layer, Logger, Option, Redacted } from "effect"
import { expect } from "vitest"
import { Supervisor } from "../../src/node/lifecycle/Supervisor.js"
import { Governance } from "../../src/node/reads/Governance.js"
import { Health } from "../../src/node/reads/Health.js"
import { Mempool } from "../../src/node/reads/Mempool.js"
import { Home } from "../../src/node/start/Home.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as SealedKey from "../../src/protocol/identity/SealedKey.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import * as Possession from "../../src/protocol/transaction/Possession.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as AtomicFile from "../../src/storage/files/AtomicFile.js"
import * as KeyPassphrase from "../../src/storage/files/KeyPassphrase.js"
import * as KeySealing from "../../src/storage/files/KeySealing.js"
import { withDirectory } from "./withDirectory.js"
import * as world from "./world.js"

const RIGHT = "correct horse battery"
const CHEAP = 2 ** 14

/** Sends it with the validator's key and waits until it is final. */
const does = (operation: Operation) =>
  Effect.gen(function* () {
    const { genesis, validatorKey } = yield* Home
    const mempool = yield* Mempool
    const key = Option.getOrThrow(validatorKey)
    const from = Address.fromPublicKey(key.publicKey)
    const content = { from, nonce: yield* mempool.nextNonce(from), fee: Sats.make(1_000), operation }
    const transaction = Transaction.sign(genesis.networkId, content, key)
    yield* mempool.submit(transaction)
    yield* world.finalized(transaction.id)
  })

const proposes = (value: number) => {
  const payload = { _tag: "ParameterChange", param: "protocol_version", value } as const
  return does({ _tag: "CreateProposalTx", title: "upgrade", description: "", payload })
}

const upgrades = Effect.gen(function* () {
  yield* proposes(3)
  yield* does({ _tag: "VoteTx", proposalId: Natural.proposalId(1), vote: true })
  const { protocolVersion } = yield* Governance
  while (protocolVersion() < 3) yield* Effect.sleep("10 millis")
})

const written = (file: string, text: string) => AtomicFile.write(file, new TextEncoder().encode(text), 0o600)

const sealed = (file: string, key: SecretKey, passphrase: string) =>
  Effect.flatMap(KeySealing.seal(key, passphrase, CHEAP), (content) => written(file, SealedKey.print(content)))

interface Case {
  /** The node's. */
  readonly passphrase: Option.Option<string>
  readonly why: string
  readonly cure: (file: string, key: SecretKey) => ReturnType<typeof written>
}

const warnsAhead = ({ passphrase, why, cure }: Case) =>
  function* (directory: string) {
    yield* world.found(directory, { epochRounds: 160 }, { votingPeriodRounds: 10, executionDelayRounds: 0 })
    const next = SecretKey.generate()
    const key = Address.fromPublicKey(next.publicKey)
    const file = `${directory}/validator-2.key`
    yield* sealed(file, next, "another passphrase")
    const lines: Array<string> = []
    const logger = Logger.make(({ message, annotations }) => {
      lines.push([message, ...HashMap.entries(annotations)].flat().join(" "))
    })
    const provided = Option.match(passphrase, {
      onNone: () => Layer.empty,
      onSome: (right) => Layer.succeed(KeyPassphrase.KeyPassphrase, KeyPassphrase.known(Redacted.make(right))),
    })
    yield* Effect.gen(function* () {
      const { report } = yield* Health
      const said = (wanted: RegExp) =>
        report.pipe(
          Effect.map(({ problems }) => problems.find(({ component }) => component === "seat")),
          Effect.delay("50 millis"),
          Effect.repeat({ until: (seat) => wanted.test(seat?.reason ?? "") }),
        )
      const ended = yield* Effect.forkScoped(Effect.flip((yield* Supervisor).ended))
      const { genesis, validatorKey } = yield* Home
      const account = Address.fromPublicKey(Option.getOrThrow(validatorKey).publicKey)
      const funds = yield* world.payment(account, 1_000_000_000)
      yield* (yield* Mempool).submit(funds)
      yield* world.finalized(funds.id)
      yield* upgrades
      expect(lines.join("\n")).not.toContain("a proposal names a protocol version")
      yield* proposes(4)
      // The log is written after the proposal has become final.
      const warning = /^a proposal names a protocol version that this program does not know .*version 4/
      yield* Effect.sleep("10 millis").pipe(Effect.repeat({ until: () => lines.some((line) => warning.test(line)) }))
      const nonce = yield* (yield* Mempool).nextNonce(account)
      const proof = Possession.sign(genesis.networkId, { account, nonce }, next)
      yield* does({ _tag: "RotateKeyTx", validatorKey: next.publicKey, proof })
      expect(yield* said(/cannot sign once its key changes/)).toMatchObject({ status: "warning" })
      expect(lines.filter((line) => line.includes(`cannot sign once its key changes: ${why}`))).toHaveLength(1)
      yield* said(/its key is now the one/)
      expect(yield* Fiber.poll(ended)).toEqual(Option.none())
      expect(lines.filter((line) => line.includes("hasSeat"))).not.toContainEqual(
        expect.stringContaining("hasSeat false"),
      )
      yield* cure(file, next)
      expect(yield* Fiber.join(ended)).toMatchObject({ _tag: "KeyReplaced", address: key })
    }).pipe(
      Effect.provide(world.node(directory, { roundMs: Option.none() })),
      Effect.provide(provided),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    )
  }

withDirectory(
  "warns ahead of a changed key that the node's passphrase does not open, runs on, and changes once it does",
  warnsAhead({
    passphrase: Option.some(RIGHT),
    why: "the node's passphrase does not open validator-2.key, which contains the new key: change that file's passphrase with udg keys passphrase",
    cure: (file, key) => sealed(file, key, RIGHT),
  }),
)

withDirectory(
  "warns ahead of a changed key that is encrypted for a node without a passphrase, and changes once it is plain",
  warnsAhead({
    passphrase: Option.none(),
    why: "validator-2.key, which contains the new key, is encrypted, and the node has no passphrase: decrypt the file with udg keys decrypt, or start the node with --key-passphrase-file",
    cure: (file, key) => written(file, `${key.toSecretHex()}\n`),
  }),
)
