/** Validators of a network of processes whose keys are held by signers. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type * as SignerProcess from "../signer/SignerProcess.js"
import * as Processes from "./Processes.js"

/** Gives a node that has not started yet a key, and returns the public one. */
export const nodeKeyOf = ({ folder }: Processes.Founded, name: string, key = SecretKey.generate()): string => {
  const directory = join(folder, `node-${name}`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(join(directory, "node.key"), `${key.toSecretHex()}\n`, { mode: 0o600 })
  return NodeProof.idOf(key)
}

export const placeOf = ({ folder, genesisFile }: Processes.Founded, n: number): SignerProcess.Place => ({
  directory: join(folder, `signer-${n}`),
  genesisFile,
  keyFile: join(folder, `${n}.key`),
})

export const wordsOf = ({ id, port }: SignerProcess.SignerProcess): ReadonlyArray<string> => [
  "--signer",
  `${id}@127.0.0.1:${port}`,
]

export const startWith = (
  network: Processes.Founded,
  signer: SignerProcess.SignerProcess,
  name: string,
  peers: ReadonlyArray<Processes.Started>,
  words: ReadonlyArray<string> = [],
): Promise<Processes.Started> =>
  Processes.start(network, name, [...wordsOf(signer), ...words, ...peers.flatMap(({ p2p }) => ["--peer", p2p])])
