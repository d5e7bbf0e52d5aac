/**
 * A client written from docs/protocol.md and docs/state-trie.md alone, against the vectors and a node. The modules
 * beside this file import none of ours, as `scripts/layers.mjs` checks: anything such a client has to guess is a gap in
 * the pages.
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as TestNode from "../conformance/TestNode.js"
import * as Published from "../support/Published.js"
import * as B from "./Bytes.js"
import * as Epochs from "./Epochs.js"
import * as Identity from "./Identity.js"
import * as State from "./State.js"
import * as Transactions from "./Transactions.js"
import * as Vertices from "./Vertices.js"

const folder = resolve(import.meta.dirname, "../../docs/vectors")
const vectors = <A, I>(name: string, form: Schema.Schema<A, I>): A =>
  Schema.decodeUnknownSync(form)(JSON.parse(readFileSync(resolve(folder, name), "utf8")))

const geneses = vectors("genesis.json", Published.geneses)
const states = vectors("state.json", Published.states)
const { answers } = Published

const named = <A>(all: Readonly<Record<string, A>>, name: string): A => {
  const found = all[name]
  if (found === undefined) throw new Error(`the vectors have no ${name}`)
  return found
}

/** The reason of a rejection; `accepted` without one. */
const refusalOf = (attempt: () => unknown): { readonly reason: string; readonly field: string } => {
  try {
    attempt()
    return { reason: "accepted", field: "" }
  } catch (error) {
    if (error instanceof B.Refused) return { reason: error.reason, field: error.field }
    throw error
  }
}

describe("the document client, by the vectors,", () => {
  it("hashes", () => {
    for (const { tag, input, hash } of vectors("hashes.json", Published.hashes))
      expect(B.H(tag, B.bytes(input))).toBe(hash)
  })

  it("has keys, addresses and signatures", () => {
    for (const { secret_key, pub_key, address, address_testnet, address_mainnet, signatures } of vectors(
      "keys.json",
      Published.keys,
    )) {
      expect(Identity.publicKeyOf(secret_key)).toBe(pub_key)
      expect(Identity.addressOf(pub_key)).toBe(address)
      expect(Identity.bech32m(address, "testnet")).toBe(address_testnet)
      expect(Identity.bech32m(address, "mainnet")).toBe(address_mainnet)
      for (const { message, signature } of signatures) {
        expect(Identity.sign(secret_key, B.bytes(message))).toBe(signature)
        expect(Identity.isValid(pub_key, B.bytes(message), signature)).toBe(true)
      }
    }
  })

  it("reads addresses and names", () => {
    const { accepted, rejected, names } = vectors("addresses.json", Published.addresses)
    for (const { network, text, address, bech32m } of accepted) {
      expect(Identity.parseAddress(text, network)).toBe(address)
      expect(Identity.bech32m(address, network)).toBe(bech32m)
    }
    for (const { network, text, reason } of rejected) {
      expect([text, refusalOf(() => Identity.parseAddress(text, network)).reason]).toEqual([text, reason])
    }
    expect(names.accepted.map(Identity.isName)).not.toContain(false)
    expect(names.rejected.map(Identity.isName)).not.toContain(true)
  })

  it("computes in sats and coins", () => {
    const { formatted, multiplied } = vectors("amounts.json", Published.amounts)
    for (const { sats, coin, text } of formatted) {
      expect(Identity.coins(sats)).toBe(text)
      expect(Number(text)).toBe(coin)
    }
    for (const { a, b, c, floor } of multiplied) expect(Identity.mulDiv(a, b, c)).toBe(floor)
  })

  const { network_id, single_key, policy } = vectors("transactions.json", Published.transactions)

  it.each([...single_key, ...policy])("encodes and decodes $about", ({ json, signed_bytes, hash, encoded }) => {
    const decoded = B.whole(B.bytes(encoded), Transactions.read)
    expect(decoded).toEqual(json)
    expect(Transactions.fromJson(JSON.stringify(json), "testnet")).toEqual(json)
    expect(B.hex(Transactions.write(json))).toBe(encoded)
    expect(B.hex(Transactions.signedBytes(network_id, json))).toBe(signed_bytes)
    expect(Transactions.hashOf(network_id, json)).toBe(hash)
    expect(Transactions.signaturesHold(network_id, json)).toBe(true)
  })

  const rejected = vectors("rejected-transactions.json", Published.rejectedTransactions)

  it.each(rejected.bytes)("refuses bytes: $about", ({ encoded, reason }) => {
    expect(refusalOf(() => B.whole(B.bytes(encoded), Transactions.read)).reason).toBe(reason)
  })

  it.each(rejected.json)("refuses JSON: $about", ({ text, field, reason }) => {
    expect(refusalOf(() => Transactions.fromJson(text, rejected.network))).toEqual({ field, reason })
  })

  it("reads vertices, evidence and heartbeats", () => {
    const { network_id, empty, with_body, latest, rejected, evidence, heartbeat } = vectors(
      "vertices.json",
      Published.vertices,
    )
    for (const vector of [empty, with_body, latest]) {
      const vertex = Vertices.read(network_id, B.bytes(vector.encoded))
      expect(vertex.header).toEqual(vector.header)
      expect(B.hex(vertex.signed)).toBe(vector.signed_bytes)
      expect(vertex.hash).toBe(vector.hash)
      const hashes = vertex.transactions.map((transaction) => Transactions.hashOf(network_id, transaction))
      expect(hashes).toEqual(vector.transactions)
    }
    for (const { encoded, reason } of rejected) {
      expect(refusalOf(() => Vertices.read(network_id, B.bytes(encoded))).reason).toBe(reason)
    }
    const found = B.whole(B.bytes(evidence.encoded), Vertices.readEvidence)
    expect([found.first.hash, found.second.hash]).toEqual([evidence.first, evidence.second])
    const { signed, ...fields } = B.whole(B.bytes(heartbeat.encoded), Vertices.readHeartbeat)
    const { signed_bytes, encoded: _encoded, ...expected } = heartbeat
    expect([fields, B.hex(signed)]).toEqual([expected, signed_bytes])
    expect(Identity.isValid(fields.pub_key, signed, fields.signature)).toBe(true)
  })

  it("computes epochs, rewards, quorums, commits and checkpoints", () => {
    const { epoch_record, rewards, quorums, commit, checkpoints } = vectors("epochs.json", Published.epochs)
    const record = B.whole(B.bytes(epoch_record.encoded), Epochs.readEpoch)
    const { encoded, last_round, ...fields } = epoch_record
    expect(record).toEqual(fields)
    expect([B.hex(Epochs.writeEpoch(record)), Epochs.lastRound(record)]).toEqual([encoded, last_round])
    for (const { round, round_reward, coinbase } of rewards) {
      expect(Epochs.roundReward(record, round)).toBe(round_reward)
      expect(record.members.map((member) => Epochs.coinbase(record, round, member))).toEqual(coinbase)
    }
    for (const { weight, total, is_quorum } of quorums) expect(Epochs.isQuorum(weight, total)).toBe(is_quorum)
    expect(Vertices.commitHash(commit)).toBe(commit.hash)
    for (const vector of Object.values(checkpoints)) {
      const { signed_bytes, hash, encoded, signatures, encoded_signed, ...content } = vector
      const checkpoint = B.whole(B.bytes(encoded), Epochs.readCheckpoint)
      expect(checkpoint).toEqual(content)
      expect(B.hex(Epochs.signedCheckpoint(checkpoint))).toBe(signed_bytes)
      expect(Epochs.checkpointHash(checkpoint)).toBe(hash)
      const signed = B.whole(B.bytes(encoded_signed), (reader) => ({
        checkpoint: Epochs.readCheckpoint(reader),
        signatures: Epochs.readSignatures(reader),
      }))
      expect(signed).toEqual({ checkpoint, signatures })
      expect(Epochs.isFinal(checkpoint, record, signed.signatures)).toBe(true)
      expect(Epochs.isFinal({ ...checkpoint, round: 1 }, record, signed.signatures)).toBe(false)
    }
  })

  it.each(["smallest", "full", "with_faucet"])("builds the genesis, its state and its checkpoint: %s", (name) => {
    const { file, written_out, encoded, hash } = named(geneses, name)
    const { genesis_hash, records, effects_digest, state_root, checkpoint } = named(states.genesis, name)
    const genesis = Epochs.genesisOf(file)
    expect(genesis).toEqual(Epochs.genesisOf(written_out))
    expect([B.hex(Epochs.writeGenesis(genesis)), Epochs.genesisHash(genesis)]).toEqual([encoded, hash])
    expect(hash).toBe(genesis_hash)
    const state = Epochs.genesisState(genesis)
    expect(state.values).toEqual(records.map(({ value }) => value))
    expect(state.root()).toBe(state_root)
    const made = Epochs.genesisCheckpoint(genesis)
    const { signed_bytes, hash: checkpointHash, encoded: bytes, ...content } = checkpoint
    expect(made).toEqual(content)
    expect(made.effects_digest).toBe(effects_digest)
    expect(B.hex(Epochs.writeCheckpoint(made))).toBe(bytes)
    expect(B.hex(Epochs.signedCheckpoint(made))).toBe(signed_bytes)
    expect(Epochs.checkpointHash(made)).toBe(checkpointHash)
  })

  it("reads records of every kind", () => {
    const { records } = states
    expect(new Set(records.map(({ kind }) => kind)).size).toBe(15)
    for (const { kind, key, content, value, key_hash, fields } of records) {
      const read = State.readValue(B.bytes(value), Epochs.readEpoch, Epochs.parameterNames)
      expect(read).toEqual({ kind, key, fields })
      expect(value.endsWith(key + content)).toBe(true)
      expect(B.H("udg/key", B.bytes(value.slice(0, 2 + key.length)))).toBe(key_hash)
    }
  })

  it("follows commits: their hashes, changes, digests and roots", () => {
    const { genesis: name, commits } = states.commits
    const genesis = Epochs.genesisOf(named(geneses, name).file)
    const first = Epochs.genesisCheckpoint(genesis)
    const state = Epochs.genesisState(genesis)
    let [previous, digest] = [first.commit_hash, first.effects_digest]
    const bytes = { NoEffect: 0, Applied: 1, Failed: 2 }
    for (const { index, hash, vertices, changes, effects_digest, state_root, ...more } of commits) {
      const { outcomes, effects_digest_in_version_3 } = more
      const ordered = vertices.map((encoded) => Vertices.read(genesis.network_id, B.bytes(encoded)))
      const leader = ordered.at(-1)
      if (leader === undefined) throw new Error(`commit ${index} has no vertex`)
      expect(leader.header.base).toBe(Epochs.checkpointHash(first))
      const commit = { index, epoch: 1, leader_round: leader.header.round, leader_hash: leader.hash, previous }
      expect(Vertices.commitHash(commit)).toBe(hash)
      state.apply(B.bytes(changes))
      const sent = ordered.flatMap(({ transactions }) => transactions)
      const told = sent.map((transaction, n) => ({
        hash: Transactions.hashOf(genesis.network_id, transaction),
        outcome: bytes[outcomes.flat()[n] ?? "NoEffect"],
      }))
      expect(State.digestWithOutcomes(digest, B.bytes(changes), told)).toBe(effects_digest_in_version_3)
      digest = State.digestAfter(digest, B.bytes(changes))
      expect([digest, state.root()]).toEqual([effects_digest, state_root])
      previous = hash
    }
  })

  it("proves the position of transactions in the order", () => {
    const { network_id, epoch_record, proofs, refused } = vectors("inclusion.json", Published.inclusion)
    const { rules } = B.whole(B.bytes(epoch_record), Epochs.readEpoch)
    const prove = ({ checkpoint, ...inclusion }: (typeof proofs)[number] | (typeof refused)[number]) =>
      Vertices.prove(network_id, rules.collection_depth_rounds, checkpoint, inclusion)
    for (const proof of proofs) expect(Transactions.hashOf(network_id, prove(proof))).toBe(proof.hash)
    for (const proof of refused) {
      expect([proof.reason, refusalOf(() => prove(proof)).reason]).not.toEqual([proof.reason, "accepted"])
    }
  })

  it("builds tries, and checks proofs and subtrees", () => {
    const { tries, generated, proofs, refused_proofs, subtrees } = vectors("state-trie.json", Published.stateTrie)
    for (const { entries, root } of tries) {
      const found = entries.map(({ key, value }) => ({ key, value: B.bytes(value) }))
      expect(State.rootOf(State.inOrder(found))).toBe(root)
    }
    for (const { records, root } of generated) {
      const recipe = Array.from({ length: records }, (_, n) => ({
        key: B.sha256(B.ascii(`${n}`)),
        value: B.ascii(`value ${n}`),
      }))
      expect(State.rootOf(State.inOrder(recipe))).toBe(root)
    }
    for (const { root, key, value, encoded } of proofs) {
      const proven = State.prove(root, key, B.whole(B.bytes(encoded), State.readProof))
      expect(proven && B.hex(proven)).toBe(value)
    }
    for (const { root, key, encoded, reason } of refused_proofs) {
      const refusal = refusalOf(() => State.prove(root, key, B.whole(B.bytes(encoded), State.readProof)))
      expect([reason, refusal.reason]).not.toEqual([reason, "accepted"])
    }
    const parts = subtrees.encoded.flatMap((encoded) => State.readSubtree(subtrees.root, B.bytes(encoded)))
    expect(State.rootOf(State.inOrder(parts))).toBe(subtrees.root)
  })
})

describe("the document client, with a node,", () => {
  let node: TestNode.TestNode
  beforeAll(async () => {
    node = await TestNode.start()
  })
  afterAll(() => node.stop())

  const ask = async <A, I>(path: string, form: Schema.Schema<A, I>, body?: unknown): Promise<A> => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
    const response = await fetch(`${node.url}${path}`, body === undefined ? {} : init)
    return Schema.decodeUnknownSync(form)(await response.json())
  }

  /** The checkpoint of a response, if its hash is right and a quorum of this committee has signed it. */
  const checked = (
    answer: typeof Published.answers.checkpoint.Type,
    committee: Epochs.EpochRecord,
  ): Epochs.Checkpoint => {
    const { hash, signatures, ...content } = answer
    expect(Epochs.checkpointHash(content)).toBe(hash)
    expect(Epochs.isFinal(content, committee, signatures)).toBe(true)
    return content
  }

  it("pays, finds the payment in its vertex, and proves it from the genesis on", async () => {
    const genesis = Epochs.genesisOf(Schema.decodeUnknownSync(Published.genesisFile)(node.genesis))
    const { genesis_hash, network_id } = await ask("/network", answers.network)
    expect(Epochs.genesisHash(genesis)).toBe(genesis_hash)
    const seed = "d0".repeat(32)
    const key = Identity.publicKeyOf(seed)
    const from = Identity.addressOf(key)
    const gift = await ask("/faucet", answers.sent, { address: Identity.bech32m(from, "testnet"), amount: 500_000_006 })
    await TestNode.until(
      () => ask(`/tx/${gift.tx_hash}`, answers.transaction),
      ({ status }) => status === "finalized",
    )

    const to = node.accounts.bob.address
    const payment = { type: "Transfer", from, to, amount: 400_000_000, fee: 100_000_000, nonce: 0, memo: "für 🍞" }
    const signed = Transactions.signWith(network_id, seed, key, payment)
    const { tx_hash } = await ask("/tx/submit", answers.sent, signed)
    expect(tx_hash).toBe(Transactions.hashOf(network_id, signed))
    const found = await TestNode.until(
      () => ask(`/tx/${tx_hash}`, answers.transaction),
      ({ status }) => status === "finalized",
    )
    expect(found).toMatchObject({ applied: true, transaction: signed })

    const first = Epochs.genesisCheckpoint(genesis)
    const proof = await TestNode.until(
      () => ask(`/proof/${from}`, Schema.Union(answers.proof, answers.refusal)),
      (answer) => "proof" in answer && answer.checkpoint.epoch > 1 && answer.checkpoint.round > (found.round ?? 0),
    )
    if (!("proof" in proof)) throw new Error("there is no proof")
    let committee = Epochs.firstEpoch(genesis)
    let previous = Epochs.checkpointHash(first)
    for (let epoch = 1; epoch < proof.checkpoint.epoch; epoch++) {
      const closing = checked(await ask(`/checkpoint/epoch/${epoch}`, answers.checkpoint), committee)
      expect(closing).toMatchObject({ epoch, previous })
      if (closing.next_epoch === null) throw new Error("it closes no epoch")
      expect(closing.next_epoch.seed).toBe(Epochs.seedAfter(committee.seed, closing.commit_hash))
      expect(closing.next_epoch.first_round).toBe(closing.round + 1)
      committee = closing.next_epoch
      previous = Epochs.checkpointHash(closing)
    }
    const checkpoint = checked(proof.checkpoint, committee)
    expect(checkpoint.previous).toBe(previous)
    const leaf = proof.proof.leaf.map(({ key, value }) => ({ key, value: B.bytes(value) }))
    const value = State.prove(checkpoint.state_root, State.accountKeyHash(key), { ...proof.proof, leaf })
    if (value === null) throw new Error("the account is not in the state")
    expect(B.hex(value)).toBe(proof.record)
    expect(State.readValue(value, Epochs.readEpoch, Epochs.parameterNames)).toEqual({
      kind: "Account",
      key: from,
      fields: { ...State.nothing, balance: 6, nonce: 1 },
    })
    const placed = await ask(`/proof/tx/${tx_hash}`, answers.transactionProof)
    const record = await (async () => {
      let known = Epochs.firstEpoch(genesis)
      for (let epoch = 1; epoch < placed.checkpoint.epoch; epoch++) {
        const { next_epoch } = checked(await ask(`/checkpoint/epoch/${epoch}`, answers.checkpoint), known)
        if (next_epoch === null) throw new Error("it closes no epoch")
        known = next_epoch
      }
      return known
    })()
    checked(placed.checkpoint, record)
    const depth = record.rules.collection_depth_rounds
    expect(Vertices.prove(network_id, depth, placed.checkpoint, { ...placed, hash: tx_hash })).toEqual(signed)
    const text = await (await fetch(`${node.url}/balance/${from}`)).text()
    expect(text).toContain(`"balance":6,"balance_coin":${Identity.coins(6)},`)
  })

  it("is refused with the wrong field of its request, in the syntax of the page", async () => {
    const transfer = { type: "Transfer", from: "00".repeat(20), to: "x", amount: 1, fee: 1_000, nonce: 0 }
    const keys = { pub_key: "00".repeat(32), signature: "00".repeat(64) }
    for (const [change, field] of [
      [{ to: "x", ...keys }, "to"],
      [{ to: "00".repeat(20), amount: -1, ...keys }, "amount"],
      [{ to: "00".repeat(20), ["a b"]: 1, ...keys }, "(a long or unprintable name)"],
      [{ to: "00".repeat(20), signatures: [{ pub_key: "00".repeat(32), signature: "5" }] }, "signatures[0].signature"],
    ] as const) {
      expect(await ask("/tx/submit", answers.refusal, { ...transfer, ...change })).toMatchObject({
        code: "InvalidRequest",
        field,
      })
    }
    expect(await ask("/tx/submit", answers.refusal, [])).toMatchObject({ code: "InvalidRequest", field: "body" })
  })
})
