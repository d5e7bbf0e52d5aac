/** A solo validator changes its key; test/network/KeyRotation.long.ts does it in a network of processes. */
import { Effect, Fiber, HashMap, Logger, Option, Redacted } from "effect"
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

const sealed = (file: string, key: SecretKey, passphrase: string) =>
  Effect.gen(function* () {
    const text = SealedKey.print(yield* KeySealing.seal(key, passphrase, CHEAP))
    yield* AtomicFile.write(file, new TextEncoder().encode(text), 0o600)
  })

withDirectory(
  "warns ahead of a changed key that the node cannot unlock, runs on, and changes once it can",
  function* (directory) {
    yield* world.found(directory, { epochRounds: 160 }, { votingPeriodRounds: 10, executionDelayRounds: 0 })
    const next = SecretKey.generate()
    const key = Address.fromPublicKey(next.publicKey)
    const file = `${directory}/validator-2.key`
    yield* sealed(file, next, "another passphrase")
    const lines: Array<string> = []
    const logger = Logger.make(({ message, annotations }) => {
      lines.push([message, ...HashMap.entries(annotations)].flat().join(" "))
    })
    const known = KeyPassphrase.known(Redacted.make(RIGHT))
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
      const why =
        "the node's passphrase does not open validator-2.key, which contains the new key: change that file's passphrase with udg keys passphrase"
      expect(yield* said(/cannot sign once its key changes/)).toMatchObject({ status: "warning" })
      expect(lines.filter((line) => line.includes(`cannot sign once its key changes: ${why}`))).toHaveLength(1)
      yield* said(/its key is now the one/)
      expect(yield* Fiber.poll(ended)).toEqual(Option.none())
      expect(lines.filter((line) => line.includes("hasSeat"))).not.toContainEqual(
        expect.stringContaining("hasSeat false"),
      )
      yield* sealed(file, next, RIGHT)
      expect(yield* Fiber.join(ended)).toMatchObject({ _tag: "KeyReplaced", address: key })
    }).pipe(
      Effect.provide(world.node(directory, { roundMs: Option.none() })),
      Effect.provideService(KeyPassphrase.KeyPassphrase, known),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    )
  },
)
