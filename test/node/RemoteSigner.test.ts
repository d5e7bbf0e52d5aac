import { it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { expect } from "vitest"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import { Health } from "../../src/node/reads/Health.js"
import * as RemoteSigner from "../../src/node/start/RemoteSigner.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as HeldKey from "../../src/signer/HeldKey.js"
import * as Signer from "../../src/signer/Signer.js"
import * as GenesisFile from "../../src/storage/files/GenesisFile.js"
import * as KeyFile from "../../src/storage/files/KeyFile.js"
import { withPlatform } from "./withDirectory.js"
import * as world from "./world.js"

const statement = new Uint8Array(8)

it("a signer gets eight proofs at a time, and none while it is away", async () => {
  const answers: Array<(answer: Either.Either<Keys.Signature, string>) => void> = []
  let reason: string | null = null
  const prover = RemoteSigner.proverWith({
    publicKey: Keys.SecretKey.generate().publicKey,
    absence: () => reason,
    sign: () => new Promise((resolve) => answers.push(resolve)),
  })
  const [first, ...others] = Array.from({ length: 9 }, () => prover.sign(statement))
  expect(await others.at(-1)).toBeNull()
  expect(answers).toHaveLength(8)
  answers[0]?.(Either.right(Keys.SecretKey.generate().sign(statement)))
  expect(await first).not.toBeNull()
  void prover.sign(statement)
  expect(answers).toHaveLength(9)
  reason = "nobody answers"
  expect(await prover.sign(statement)).toBeNull()
  expect(answers).toHaveLength(9)
})

withPlatform("a node shows that its signer answers and refuses, and why", function* () {
  const [directory, beside] = [yield* world.temporaryDirectory, yield* world.temporaryDirectory]
  yield* world.found(directory, {})
  const genesis = yield* GenesisFile.load(`${directory}/genesis.json`)
  const signer = HeldKey.inMemory(yield* KeyFile.load(`${directory}/validator.key`))
  const node = NodeProof.idOf(yield* KeyFile.loadOrCreate(`${directory}/node.key`))
  const opened = yield* Signer.open(beside, genesis)
  const listen = { host: "127.0.0.1", port: 0 }
  const { id, port } = yield* Signer.serve({ ...opened, genesis, served: [{ node, signer }], listen })
  const settings = { roundMs: Option.none(), signer: Option.some({ host: listen.host, port, key: id }) }
  const problem = yield* Effect.flatMap(Health, ({ report }) =>
    Effect.map(report, ({ problems }) => problems.find(({ component }) => component === "signer")).pipe(
      Effect.delay("50 millis"),
      Effect.repeat({ until: (found) => found !== undefined }),
    ),
  ).pipe(Effect.provide(world.node(directory, settings)))
  expect(problem?.reason).toMatch(
    /^the signer has refused to sign for \d+ seconds?: the signer does not know what this key has signed: state a round with/,
  )
})
