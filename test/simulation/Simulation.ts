/** One run: a whole network from its genesis through a storm to a calm end, decided by one seed. */

import { Either } from "effect"
import { Committee } from "../../src/consensus/dag/Committee.js"
import { FOUNDING_ROUNDS, isAbove, type Place } from "../../src/consensus/KeyMemory.js"
import type { Reads } from "../../src/ledger/Reads.js"
import type { Execution } from "../../src/ledger/rules/Execution.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import { type Address, fromPublicKey } from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { decode, type Transaction } from "../../src/protocol/transaction/Transaction.js"
import type { Header } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { Connection, PeerId } from "../../src/replica/messages/Peer.js"
import type { Output } from "../../src/replica/output/Output.js"
import type { Write } from "../../src/replica/output/Write.js"
import { Purse } from "../edges/Purse.js"
import * as Stored from "../support/Stored.js"
import { Adversary, HABITS } from "./Adversary.js"
import { Agenda } from "./Agenda.js"
import { Chance } from "./Chance.js"
import { Digest } from "./Digest.js"
import type { BackedUp, Crash } from "./Disk.js"
import { Freeloaders } from "./Freeloaders.js"
import { Host } from "./Host.js"
import * as Memory from "./Memory.js"
import * as Network from "./Network.js"
import { Punctuality } from "./Punctuality.js"
import { RemoteSigner } from "./RemoteSigner.js"
import type { Scheme, Signer } from "./Scheme.js"
import * as Schemes from "./Scheme.js"
import { FAULTS, type FaultName, Storm } from "./Storm.js"
import { Trace } from "./Trace.js"
import { type Door, Traffic } from "./Traffic.js"
import { type Proof, Violation, Witness } from "./Witness.js"
import * as World from "./World.js"

export interface Options {
  readonly seed: number
  readonly nodes: number
  readonly rounds: number
  readonly faults: ReadonlyArray<FaultName>
  /** Real Ed25519 instead of the fast scheme. */
  readonly isSignedForReal: boolean
  /** Whether the validators vote for the next protocol version, which some programs do not know. */
  readonly upgrades?: boolean
  /** Whether the validators also change their keys, once the version that allows it is in force. */
  readonly rotations?: boolean
  /** Whether remote signers hold the keys of all validators, or of about half of them. */
  readonly signers?: boolean
}

export interface Report {
  readonly seed: number
  readonly digest: string
  readonly commits: number
  readonly rounds: number
  readonly epochs: number
  /** Of the last epoch that any machine wrote. */
  readonly protocolVersion: number
  /** How often a member's key was replaced at a close. */
  readonly rotations: number
  readonly checkpoints: number
  readonly messages: number
  readonly virtualMs: number
  readonly transactions: number
  readonly settled: number
  readonly failure: { readonly machine: string; readonly message: string; readonly trace: string } | null
}

const SIGNED_FOR_REAL_EVERY = 50

/** The defaults for a seed, with its own mixture of faults. */
export const optionsOf = (seed: number, nodes = 7, rounds = 150, faults?: ReadonlyArray<FaultName>): Options => {
  const chance = new Chance(seed, "options")
  const some = FAULTS.filter(() => chance.percent(60))
  return {
    seed,
    nodes,
    rounds,
    faults: faults ?? some,
    isSignedForReal: seed % SIGNED_FOR_REAL_EVERY === 0,
  }
}

/** Before this round, a lost disk looks like a new one. */
const FIRST_GUARDED_ROUND = FOUNDING_ROUNDS + 2
const SET_BACK_BY: ReadonlyArray<FaultName> = ["backups", "copies", "wipes", "losses", "pauses"]
/**
 * With these faults, the others still receive everything that a machine, or its double, signed before its disk was set
 * back.
 */
const HEARD_IN_SPITE_OF: ReadonlyArray<FaultName> = ["wipes", "clocks", "skew", "joins", "newcomers", "pauses"]
/** Faults that need unreliable validators. */
const UNRELIABLE: ReadonlyArray<FaultName> = ["byzantine", ...SET_BACK_BY]
/** The part of the rounds that is stormy. */
const STORMY_PERCENT = 65
/** A storm ends after at most this many times the length of its rounds. */
const LONGEST_STORM = 8
/** After this much calm, every machine commits again. */
const RECOVERY_MS = 30_000
/** How long an operator waits before stating what the key of a lost disk has signed. */
const OPERATOR_WAITS_MS = 10_000
/** After this many rounds of an epoch, every member has made a recent vertex. */
const SETTLING_ROUNDS = 10
const TRAFFIC_EVERY_MS = 40
const LOOK_EVERY_MS = 200
const PEOPLE = 8
const ACCOMPLICES = 4
const FREELOADERS = 3
const FREELOADING_EVERY_MS = 25
const ROUNDS_OF_CAMPS = 10
const MESSAGES_PER_PAIR_AND_ROUND = 12
const OUTDATED_PERCENT = 30
/** All validators have a signer, or about half of them. */
const WITH_SIGNER_PERCENTS = [50, 100] as const
/** How long an operator takes to install a program that knows the version. */
const INSTALLING_MS = 1_000
/** A node that changes its key restarts within its process. */
const LONGEST_SWITCH_MS = 500

export class Simulation {
  readonly #options: Options
  readonly #onWrite: (host: Host, write: Write) => void
  readonly #chance: Chance
  readonly #scheme: Scheme
  readonly #agenda = new Agenda(World.START)
  readonly #world: World.World
  readonly #network: Network.Network<Message>
  readonly #hosts: Array<Host> = []
  /** Machine → the owner of its key. */
  readonly #owners = new Map<number, World.Person>()
  /** Each validator by the addresses of all its keys. */
  readonly #people = new Map<Address, World.Person>()
  readonly #keys = new Map<World.Person, Array<Signer>>()
  readonly #signers = new Map<World.Person, RemoteSigner>()
  readonly #adversaries = new Map<number, Adversary>()
  /** Validators that may misbehave, lose their disk or have a double: together below a third of the weight. */
  readonly #unreliable: ReadonlySet<Address>
  /** Validators whose wall clock can show any time. Together with the adversaries they weigh less than a third. */
  readonly #mistimed: ReadonlySet<Address>
  readonly #backups = new Map<number, Stored.Stored>()
  readonly #copies = new Set<number>()
  /** Machines whose `signed.db` was set back. */
  readonly #forgetful = new Set<number>()
  /** Machines that lost their disks and must find out what they may sign. */
  readonly #wiped = new Set<number>()
  /** The highest slot that each validator signed, on any disk: what an honest operator states. */
  readonly #signed = new Map<Address, Place>()
  /** Machines that are down for good. */
  readonly #dead = new Set<number>()
  /** Whether a dead machine had been in the committee for two closes. The network can do without younger ones. */
  #isEstablishedDead = false
  readonly #witness: Witness
  readonly #punctuality = new Punctuality()
  readonly #trace: Trace
  readonly #storm: Storm
  readonly #traffic: Traffic
  readonly #trafficChance: Chance
  readonly #switchChance: Chance
  readonly #digest = new Digest()
  readonly #beginning: Stored.Stored
  readonly #genuine = new WeakMap<Message | Vertex, boolean>()
  /** Messages of honest machines that were inspected already, since each goes to many. */
  readonly #seen = new WeakSet<Message>()
  readonly #aimChance: Chance
  #aimedLoss = 0
  #isTrustBroken = false
  #healedAt: number | null = null
  #healedRound = 0
  #hasTrafficEnded = false
  #offered = 0
  #settled = 0
  #isFinished = false
  #latest: Committee

  /** `onWrite` receives every write of every machine, on the disk or not. */
  constructor(options: Options, onWrite: (host: Host, write: Write) => void = () => {}) {
    this.#options = options
    this.#onWrite = onWrite
    this.#chance = new Chance(options.seed)
    this.#scheme = options.isSignedForReal ? Schemes.ed25519 : Schemes.fast
    const worldChance = this.#chance.stream("world")
    this.#world = World.make(this.#scheme, worldChance, {
      validators: options.nodes,
      newcomers: this.#has("newcomers") ? worldChance.between(1, 3) : 0,
      people: PEOPLE,
      accomplices: this.#has("byzantine") ? ACCOMPLICES : 0,
      freeloaders: this.#has("byzantine") ? FREELOADERS : 0,
    })
    for (const person of [...this.#world.validators, ...this.#world.newcomers]) this.#addKey(person, person.signer)
    if (options.signers === true) this.#employSigners()
    this.#beginning = Stored.ofGenesis(this.#world.genesis)
    const { record } = this.#beginning.current.opening
    this.#latest = new Committee(record)
    const isAnyUnreliable = UNRELIABLE.some((fault) => this.#has(fault))
    this.#unreliable = isAnyUnreliable ? this.#drawFew(record, "unreliable") : new Set()
    this.#mistimed = isAnyUnreliable ? this.#unreliable : this.#drawFew(record, "mistimed")
    this.#network = new Network.Network(
      this.#agenda,
      this.#chance.stream("network"),
      Network.calm,
      (to, from, message) => this.#deliver(to, from, message),
    )
    const accountOf = (key: Address): Address => this.#accountOf(key)
    this.#witness = new Witness(record, (author) => this.#isDoubtful(accountOf(author)), accountOf)
    this.#trace = new Trace([...this.#world.validators, ...this.#world.newcomers])
    this.#aimChance = this.#chance.stream("aim")
    this.#trafficChance = this.#chance.stream("when transactions come")
    this.#switchChance = this.#chance.stream("how long a change of keys takes")
    this.#traffic = new Traffic(this.#chance.stream("traffic"), this.#scheme, this.#world, {
      upgrades: options.upgrades === true || options.rotations === true,
      rotates: options.rotations === true ? (person, key) => this.#addKey(person, key) : null,
    })
    this.#storm = new Storm(this.#agenda, this.#chance.stream("storm"), options.faults, this.#levers())
  }

  /**
   * Whether the others have everything that a machine signed before its disk was set back, or that its double signed.
   * Only then must it never sign twice: a disk that holds part of it cannot reveal the gap.
   */
  get #areAllHeard(): boolean {
    return this.#options.faults.every((fault) => HEARD_IN_SPITE_OF.includes(fault))
  }

  #employSigners(): void {
    const genesisHash = Genesis.hash(this.#world.genesis)
    const percent = this.#chance.stream("signers").pick(WITH_SIGNER_PERCENTS)
    for (const [person, keys] of this.#keys) {
      const chance = this.#chance.stream(`signer of ${person.name}`)
      if (!chance.percent(percent)) continue
      const isStormy = (): boolean => this.#healedAt === null
      this.#signers.set(person, new RemoteSigner({ agenda: this.#agenda, chance, keys, genesisHash, isStormy }))
    }
  }

  /** From now on all machines of this validator have the key, even if its announcement is never executed. */
  #addKey(person: World.Person, key: Signer): void {
    this.#people.set(fromPublicKey(key.publicKey), person)
    const keys = this.#keys.get(person)
    if (keys === undefined) this.#keys.set(person, [key])
    else keys.push(key)
    if (this.#isTrustBroken) return
    for (const [index, adversary] of this.#adversaries) if (this.#owners.get(index) === person) adversary.turn()
  }

  #accountOf(key: Address): Address {
    return this.#people.get(key)?.address ?? key
  }

  #isDoubtful(account: Address): boolean {
    return this.#mistimed.has(account) || this.#unreliable.has(account)
  }

  /** The seat of a validator in the newest committee, whichever of its keys has it. */
  #seatOf(person: World.Person): number | undefined {
    for (const { publicKey } of this.#keys.get(person) ?? []) {
      const seat = this.#latest.seatOf(fromPublicKey(publicKey))
      if (seat !== undefined) return seat
    }
    return undefined
  }

  /** Whether any key of the machine has a seat in the epoch that runs there. */
  #hasSeat({ keys, replica }: Host): boolean {
    const committee = replica?.core.epoch.committee
    return keys.some(({ publicKey }) => committee?.seatOf(fromPublicKey(publicKey)) !== undefined)
  }

  get #areDisksLost(): boolean {
    return this.#has("wipes") || this.#has("losses")
  }

  #has(fault: FaultName): boolean {
    return this.#options.faults.includes(fault)
  }

  /** Draws validators that together weigh less than a third. */
  #drawFew(record: EpochRecord.EpochRecord, what: string): ReadonlySet<Address> {
    const chance = this.#chance.stream(what)
    const total = EpochRecord.totalWeight(record)
    const drawn = new Set<Address>()
    let weight = 0
    for (const member of chance.shuffle(record.members)) {
      if ((weight + member.weight) * 3 >= total) continue
      weight += member.weight
      drawn.add(member.address)
    }
    return drawn
  }

  get genesis(): Genesis.Genesis {
    return this.#world.genesis
  }

  /** Runs until the network settles or a check fails. */
  run(): Report {
    let failure: Report["failure"] = null
    try {
      this.#begin()
      while (!this.#isFinished && this.#agenda.step()) this.#expectQuiet()
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      failure = {
        machine: error.machine,
        message: error.message,
        trace: `${this.#trace.print()}\n\n${this.#standing()}`,
      }
    }
    return {
      seed: this.#options.seed,
      digest: this.#digest.text,
      commits: this.#witness.commits,
      rounds: this.#witness.highestRound,
      epochs: this.#witness.epochs,
      protocolVersion: this.#witness.latestRecord?.rules.protocolVersion ?? 0,
      rotations: this.#witness.rotations,
      checkpoints: this.#witness.checkpoints,
      messages: this.#network.sent,
      virtualMs: this.#agenda.now - World.START,
      transactions: this.#offered,
      settled: this.#settled,
      failure,
    }
  }

  /** Bounds the number of messages, whatever the faults. */
  #expectQuiet(): void {
    const { nodes, rounds } = this.#options
    const most = MESSAGES_PER_PAIR_AND_ROUND * (nodes + 5) ** 2 * (rounds + 50)
    if (this.#network.sent <= most) return
    throw new Violation("everybody", `${this.#network.sent} messages by round ${this.#witness.highestRound}`)
  }

  /** The final position of every machine: the last lines of a trace. */
  #standing(): string {
    const line = (host: Host): string => {
      const { replica, name } = host
      if (replica === null) return `${name}: down${this.#dead.has(host.index) ? " for good" : ""}`
      const { epoch } = replica.core
      const seat = epoch.seat === undefined ? "no seat" : `weight ${epoch.committee.weightOf(epoch.seat)}`
      return (
        `${name}: epoch ${epoch.opening.record.epoch}${epoch.isClosed ? " closed" : ""}, ${seat}, ` +
        `commit ${replica.read.head.index} of round ${replica.read.head.leaderRound}, own round ${epoch.ownRound}, ` +
        `quorum ${epoch.dag.quorumRound}, highest ${epoch.dag.highestRound}, reached ${epoch.reachedRound}, ` +
        `collected ${epoch.dag.collectedRound}, ${epoch.dag.size} held, ${epoch.admission.waiting} waiting` +
        (replica.isJoining ? ", joining" : "")
      )
    }
    const members = this.#latest.record.members.map(({ address, weight }) => `${this.#nameOf(address)} ${weight}`)
    return [...this.#hosts.map(line), `committee of epoch ${this.#latest.record.epoch}: ${members.join(", ")}`].join(
      "\n",
    )
  }

  #nameOf(address: Address): string {
    return this.#people.get(address)?.name ?? address
  }

  #begin(): void {
    const { validators, newcomers } = this.#world
    for (const person of [...validators, ...newcomers]) this.#addHost(person.name, person)
    for (const host of this.#hosts) this.#start(host)
    this.#storm.begin()
    this.#scheduleTraffic()
    if (this.#has("byzantine")) this.#freeload(this.#chance.stream("freeloaders"))
    this.#scheduleLook()
  }

  #addHost(name: string, person: World.Person | null, stored: Stored.Stored = this.#freshDisk()): Host {
    const index = this.#hosts.length
    const isAdversary =
      person !== null && this.#has("byzantine") && this.#unreliable.has(person.address) && !this.#isCopy(name)
    const keys = person === null || isAdversary ? [] : (this.#keys.get(person) ?? [])
    const remote = person === null || isAdversary ? null : (this.#signers.get(person) ?? null)
    const host = new Host(index, name, keys, remote, stored, this.#chance.stream(`host ${index}`), {
      agenda: this.#agenda,
      scheme: this.#scheme,
      networkId: this.#world.genesis.networkId,
      genuine: this.#genuine,
      send: (from, to, message) => this.#send(from, this.#indexOf(to), message),
      broadcast: (from, message) => {
        for (const each of this.#hosts) if (each !== from) this.#send(from, each.index, message)
      },
      told: (from, output) => this.#told(from, output),
      kept: (by, write) => this.#kept(by, write),
      relayed: () => {},
      dropped: (by, from, message) => this.#dropped(by, from, message),
    })
    this.#hosts.push(host)
    const isOutdated =
      this.#options.upgrades === true && this.#chance.stream(`program ${index}`).percent(OUTDATED_PERCENT)
    if (isOutdated && !isAdversary) host.newestVersion = ProtocolVersion.FIRST
    if (person !== null) this.#owners.set(index, person)
    if (isAdversary) this.#adversaries.set(index, this.#corrupt(host, person))
    return host
  }

  #isCopy(name: string): boolean {
    return name.endsWith("'")
  }

  #corrupt(host: Host, person: World.Person): Adversary {
    const chance = this.#chance.stream(`adversary ${host.index}`)
    const drawn = HABITS.filter((habit) => habit !== "two-faced" && habit !== "floods" && chance.percent(30))
    // Flooding changes nothing else that an adversary does.
    const own = chance.stream("floods").percent(30) ? [...drawn, "floods" as const] : drawn
    // A single two-faced adversary seldom deceives anyone, so all have two faces or none.
    const habits = this.#has("conspiracy") ? [...own, "two-faced" as const] : own
    this.#tell(`${host.name} ${habits.join(", ") || "only has a bad name"}`)
    // An adversary that follows the rules until its account has announced a new key, so that its evidence meets a
    // changed key.
    const isPatient = this.#options.rotations === true && chance.stream("patience").percent(50)
    const { index } = host
    const { genesis, accomplices, validators, newcomers, people } = this.#world
    const purse = new Purse(chance.stream("purse"), {
      genesis,
      own: accomplices,
      others: [...validators, ...newcomers, ...people],
      // Parameters that would leave the model's bounds are not changed.
      parameters: [],
      read: () => this.#readOf(host),
    })
    const adversary: Adversary = new Adversary(
      person.signer,
      person.address,
      this.#beginning.current.opening,
      habits,
      chance,
      {
        machines: this.#world.validators.map((_, i) => i).filter((i) => i !== index),
        after: (delayMs, act) =>
          this.#agenda.after(delayMs, () => {
            if (host.isUp) act()
          }),
        now: () => this.#agenda.now,
        send: (to, message) => {
          this.#saw(message)
          this.#network.send(index, to, message)
        },
        show: (message) => host.receive(host.peer, message),
        faceFor: (machine, round) => this.#faceFor(machine, round),
        machineOf: (address) => this.#machineOf(address),
        forged: (transaction) => this.#traffic.forged(transaction),
        strange: () => this.#strange(host, purse),
      },
      !isPatient,
    )
    return adversary
  }

  #readOf({ name, replica }: Host): Reads {
    if (replica === null) throw new RangeError(`${name} is down and makes vertices`)
    return replica.read
  }

  #strange(host: Host, purse: Purse): Transaction | null {
    if (host.replica === null) return null
    const { networkId } = this.#world.genesis
    return Either.getOrNull(decode(networkId, purse.next().encoded))
  }

  /** For some rounds one camp of machines sees one face and the other camp the other, then the camps are drawn anew. */
  #faceFor(machine: number, round: number): 0 | 1 {
    const camps = Math.floor(round / ROUNDS_OF_CAMPS)
    return this.#chance.stream(`camp ${camps} ${machine}`).percent(50) ? 1 : 0
  }

  #freshDisk(): Stored.Stored {
    return this.#beginning.copy()
  }

  #indexOf(peer: PeerId): number {
    return Number(peer.slice(1))
  }

  #machineOf(address: Address): number | undefined {
    const people = [...this.#world.validators, ...this.#world.newcomers]
    const account = this.#accountOf(address)
    const index = people.findIndex((person) => person.address === account)
    return index < 0 ? undefined : index
  }

  #personOf(host: Host): World.Person | undefined {
    return this.#owners.get(host.index)
  }

  #host(index: number): Host {
    const host = this.#hosts[index]
    if (host === undefined) throw new RangeError(`no machine ${index}`)
    return host
  }

  /** Neither an adversary, nor a machine that shares its key or can be set back. */
  #isReliable(host: Host): boolean {
    const person = this.#personOf(host)
    return person === undefined || !this.#unreliable.has(person.address)
  }

  #isMistimed(host: Host): boolean {
    const person = this.#personOf(host)
    return person !== undefined && this.#mistimed.has(person.address)
  }

  /** Whether its disk must hold everything that its key has signed. */
  #remembersSigning(host: Host): boolean {
    return !this.#wiped.has(host.index) && this.#isCareful(host)
  }

  /**
   * Whether it must never sign twice: no other machine has its key, and it knows what it signed or that it does not
   * know.
   */
  #isCareful(host: Host): boolean {
    if (this.#isReliable(host)) return true
    const owner = this.#personOf(host)
    const hasDouble = [...this.#copies].some((copy) => this.#owners.get(copy) === owner)
    return !this.#adversaries.has(host.index) && !this.#forgetful.has(host.index) && !hasDouble
  }

  #connections(of: Host): ReadonlyArray<Connection> {
    return this.#hosts
      .filter((host) => host !== of && host.isUp && !this.#isSevered(of.index, host.index))
      .map((host) => ({
        peer: host.peer,
        validator:
          host.signer === null ? (this.#personOf(host)?.address ?? null) : fromPublicKey(host.signer.publicKey),
        // Of two machines the later one dialled.
        isDialled: host.index < of.index,
      }))
  }

  #isSevered(a: number, b: number): boolean {
    return this.#network.isCut(a, b) && this.#network.isCut(b, a)
  }

  /** Connections have changed; the machines notice a little later. */
  #reconnect(): void {
    this.#agenda.after(30, () => {
      for (const host of this.#hosts) if (host.isUp) host.connected(this.#connections(host))
    })
  }

  #start(host: Host): void {
    if (host.isUp || this.#dead.has(host.index)) return
    this.#witness.started(host.name, this.#headOf(host))
    host.start(this.#connections(host))
    const { opening, vertices } = host.disk.stored.current
    this.#adversaries.get(host.index)?.start(opening, vertices)
    this.#reconnect()
  }

  #headOf(host: Host): number {
    const { current } = host.disk.stored
    return current.commits.at(-1)?.commit.index ?? current.opening.position.index
  }

  #crash(host: Host, crash: Crash): void {
    if (!host.isUp) return
    const isStored = (hash: Hash): boolean => host.disk.stored.vertex(hash) !== undefined
    const isThere = ({ hashes }: Proof) => hashes.every(isStored)
    const proofs = this.#witness.proofsOf(host.name).filter(isThere)
    host.crash(crash)
    this.#witness.lost(
      host.name,
      proofs.filter((proof) => !isThere(proof)),
      isStored,
    )
    if (crash !== "killed") this.#witness.cut(host.name, this.#headOf(host))
    this.#reconnect()
  }

  #tell(event: string): void {
    this.#trace.tell(this.#agenda.now - World.START, event)
  }

  #levers(): ConstructorParameters<typeof Storm>[3] {
    const pairs = (
      from: ReadonlyArray<number>,
      to: ReadonlyArray<number>,
      act: (a: number, b: number) => void,
    ): void => {
      for (const a of from) for (const b of to) act(a, b)
      this.#reconnect()
    }
    return {
      machines: () => this.#hosts.map(({ index }) => index),
      up: () => this.#hosts.filter(({ isUp }) => isUp).map(({ index }) => index),
      nameOf: (machine) => this.#host(machine).name,
      nextLeader: () => this.#nextLeader(),
      cut: (from, to) => pairs(from, to, (a, b) => this.#network.cut(a, b)),
      mend: (from, to) => pairs(from, to, (a, b) => this.#network.mend(a, b)),
      conditions: (conditions) => {
        this.#network.conditions = conditions
      },
      crash: (machine, crash) => this.#crash(this.#host(machine), crash),
      start: (machine) => this.#start(this.#host(machine)),
      unreliable: () => this.#setBackable(),
      backUp: (machine) => {
        this.#tell(`backed up: ${this.#host(machine).name}`)
        this.#backups.set(machine, this.#host(machine).disk.stored.copy())
      },
      restore: (machine, what) => this.#restore(this.#host(machine), what),
      wipe: (machine) => this.#wipe(this.#host(machine)),
      mistimed: () => this.#hosts.filter((host) => this.#isMistimed(host)).map(({ index }) => index),
      copy: (machine) => this.#copy(this.#host(machine)),
      spare: (machine, chance) => this.#spare(this.#host(machine), chance),
      pause: (machine) => this.#host(machine).pause(),
      resume: (machine, wasSuspended) => this.#host(machine).resume(wasSuspended),
      standIn: (machine, chance) => this.#startCopy(this.#host(machine), this.#host(machine).disk.copy(chance))?.index,
      retire: (machine) => this.#killForGood(this.#host(machine), "killed"),
      stakeNewcomer: () => this.#stakeNewcomer(),
      killNewcomer: () => this.#killNewcomer(),
      killNewcomers: () => this.#killNewcomers(),
      join: () => this.#join(),
      slow: (machine, factor) => {
        this.#network.slow(machine, factor)
        const host = this.#host(machine)
        host.speed = { ...host.speed, syncMs: 2 * factor }
      },
      aim: (percent) => {
        this.#aimedLoss = percent
      },
      skew: (machine, byMs) => {
        const host = this.#host(machine)
        host.speed = { ...host.speed, skewMs: byMs }
      },
      tell: (event) => this.#tell(event),
    }
  }

  #nextLeader(): number | undefined {
    const round = Math.max(this.#latest.firstRound, this.#witness.highestRound + 3)
    return this.#machineOf(this.#latest.member(this.#latest.leaderOf(Natural.round(round))).address)
  }

  /** Unreliable machines, while they weigh less than a third. */
  #setBackable(): ReadonlyArray<number> {
    if (this.#isTrustBroken || !SET_BACK_BY.some((fault) => this.#has(fault))) return []
    // All disks are empty when a network begins, so the loss of one goes unnoticed then: docs/recovery.md.
    if (this.#witness.highestRound < FIRST_GUARDED_ROUND) return []
    return this.#hosts
      .filter((host) => !this.#adversaries.has(host.index) && !this.#copies.has(host.index) && !this.#isReliable(host))
      .map(({ index }) => index)
  }

  #restore(host: Host, what: BackedUp): void {
    const backup = this.#backups.get(host.index)
    if (backup === undefined) return
    host.disk.restore(backup, what)
    if (what !== "udg.db alone") this.#forgetful.add(host.index)
    this.#witness.setBack(host.name, this.#headOf(host))
    this.#tell(`set back to its backup, ${what}: ${host.name}`)
  }

  #wipe(host: Host): void {
    host.disk.restore(this.#freshDisk(), "both files")
    this.#wiped.add(host.index)
    this.#witness.setBack(host.name, this.#headOf(host))
    this.#tell(`lost its disk: ${host.name}`)
  }

  /** Starts a second machine with the same key, from an old disk or an empty one. */
  #copy(host: Host): void {
    this.#startCopy(host, this.#backups.get(host.index)?.copy() ?? this.#freshDisk())
  }

  #startCopy(host: Host, disk: Stored.Stored): Host | undefined {
    const person = this.#personOf(host)
    if (person === undefined || this.#copies.size > 0) return undefined
    const copy = this.#addHost(`${host.name}'`, person, disk)
    this.#copies.add(copy.index)
    this.#tell(`started with the key of ${host.name}: ${copy.name}`)
    this.#start(copy)
    return copy
  }

  /** Machines that can go down while the rest, including this one, is still a quorum. */
  #spare(host: Host, chance: Chance): ReadonlyArray<number> {
    const weightOf = ({ index }: Host): number => {
      const person = this.#owners.get(index)
      const seat = person === undefined ? undefined : this.#seatOf(person)
      return seat === undefined || this.#copies.has(index) ? 0 : this.#latest.weightOf(seat)
    }
    const up = this.#hosts.filter(({ isUp }) => isUp)
    let weight = up.reduce((sum, each) => sum + weightOf(each), 0)
    return chance.shuffle(up).flatMap((each) => {
      const own = weightOf(each)
      if (each === host || own === 0 || !this.#latest.isQuorum(weight - own)) return []
      weight -= own
      return [each.index]
    })
  }

  #stakeNewcomer(): void {
    const host = this.#freshest()
    const [person] = this.#world.newcomers.filter(({ address }) => host?.replica?.read.account(address).stake === null)
    if (host === undefined || person === undefined || host.replica === null) return
    const transaction = this.#traffic.stakeOf(person, host.replica.read)
    if (transaction === null || !host.submit(transaction)) return
    this.#tell(`stakes: ${person.name}`)
  }

  /** Kills a newcomer right after it got a seat, the most harmful moment. */
  #killNewcomer(): void {
    const seated = this.#newcomersUp().find(({ address }) => this.#latest.seatOf(address) !== undefined)
    if (seated === undefined) return
    const isEstablished = this.#isEstablished(seated.address)
    if (isEstablished && this.#isThirdLostWith(seated.host)) return
    this.#isEstablishedDead ||= isEstablished
    this.#killForGood(seated.host)
  }

  /** Kills all newcomers at once, as a fire would, including those without a seat. */
  #killNewcomers(): void {
    for (const { host, address } of this.#newcomersUp()) if (!this.#isEstablished(address)) this.#killForGood(host)
  }

  #newcomersUp(): ReadonlyArray<{ readonly host: Host; readonly address: Address }> {
    return this.#world.newcomers.flatMap(({ address }) => {
      const host = this.#hosts[this.#machineOf(address) ?? -1]
      return host?.isUp === true ? [{ host, address }] : []
    })
  }

  #isEstablished(address: Address): boolean {
    const before = this.#witness.recordOf(this.#latest.record.epoch - 1)
    return before !== undefined && EpochRecord.memberOf(before, address) !== undefined
  }

  /** Whether the last close added weight. It must not while newcomers who died weigh a third. */
  #isSomethingNew(): boolean {
    const { epoch, members } = this.#latest.record
    const before = this.#witness.recordOf(epoch - 1)
    const weightBefore = (account: Address): number =>
      before?.members.find((member) => this.#accountOf(member.address) === account)?.weight ?? 0
    return (
      before !== undefined && members.some(({ address, weight }) => weight > weightBefore(this.#accountOf(address)))
    )
  }

  #killForGood(host: Host, crash: Crash = "power cut"): void {
    this.#tell(`dies: ${host.name}`)
    this.#dead.add(host.index)
    this.#crash(host, crash)
  }

  /**
   * Whether the machines that are down for good, with this one, weigh a third of the committee: consensus stops then.
   */
  #isThirdLostWith(victim?: Host): boolean {
    let weight = 0
    for (const member of this.#latest.record.members) {
      const host = this.#hosts[this.#machineOf(member.address) ?? -1]
      if (host !== undefined && (host === victim || this.#dead.has(host.index))) weight += member.weight
    }
    return weight * 3 >= this.#latest.totalWeight
  }

  #join(): void {
    const joined = this.#hosts.filter(({ name }) => name.startsWith("j")).length
    if (joined >= 2 || this.#witness.epochs < 2) return
    const host = this.#addHost(`j${joined}`, null)
    this.#tell(`joins with an empty disk: ${host.name}`)
    this.#start(host)
  }

  /** The honest machine with the highest commit. */
  #freshest(): Host | undefined {
    let freshest: Host | undefined
    for (const host of this.#hosts) {
      if (host.replica === null || !this.#isReliable(host)) continue
      const index = host.replica.read.head.index
      if (freshest?.replica == null || index > freshest.replica.read.head.index) freshest = host
    }
    return freshest
  }

  #send(from: Host, to: number, message: Message): void {
    if (to >= this.#hosts.length || to === from.index) return
    const adversary = this.#adversaries.get(from.index)
    if (adversary === undefined) {
      if (!this.#seen.has(message)) {
        this.#seen.add(message)
        this.#saw(message)
        this.#watchSigned(from, message)
      }
      if (this.#aimedLoss > 0 && this.#isAimedAt(message) && this.#aimChance.percent(this.#aimedLoss)) return
      this.#network.send(from.index, to, message)
    } else for (const said of adversary.says(to, message)) this.#network.send(from.index, to, said)
  }

  /** A vertex sent on its own by its author that leads its round or may vote for the leader of the round before. */
  #isAimedAt(message: Message): boolean {
    if (message._tag !== "Vertices" || message.vertices.length !== 1) return false
    const [vertex] = message.vertices
    if (vertex === undefined || vertex.header.epoch !== this.#latest.record.epoch) return false
    const { author, round } = vertex.header
    return this.#latest.member(this.#latest.leaderOf(round)).address === author || this.#aimChance.percent(25)
  }

  #saw(message: Message): void {
    if (message._tag === "Vertices") for (const { header } of message.vertices) this.#trace.saw(header)
  }

  #watchSigned(from: Host, message: Message): void {
    if (!(message._tag === "Vertices" || message._tag === "Rounds")) return
    // A signer knows what it signed, whatever happens to the machines that ask.
    if (!(from.remote !== null || this.#isCareful(from) || this.#areAllHeard)) return
    const own = this.#personOf(from)?.address
    const ownHeaders: ReadonlyArray<Header> = message.vertices.map(({ header }) => header)
    for (const header of ownHeaders) if (this.#accountOf(header.author) === own) this.#witness.signed(from.name, header)
  }

  #deliver(to: number, from: number, message: Message): void {
    const host = this.#host(to)
    this.#digest.mix(this.#agenda.now, to, from, message._tag.length)
    if (!host.isUp) return
    this.#adversaries.get(to)?.heard(from, message)
    host.receive(this.#host(from).peer, message)
  }

  #dropped(by: Host, from: PeerId, message: Message): void {
    const sender = this.#host(this.#indexOf(from))
    if (!this.#adversaries.has(sender.index)) {
      throw new Violation(sender.name, `sent ${by.name} a ${message._tag} whose signatures do not hold`)
    }
  }

  #told(host: Host, output: Output): void {
    switch (output._tag) {
      case "Write":
        this.#onWrite(host, output.write)
        this.#wrote(host, output.write)
        this.#storm.wrote(host.index, output.write)
        this.#adversaries.get(host.index)?.wrote(output.write)
        return
      case "Misbehaved": {
        const sender = this.#host(this.#indexOf(output.peer))
        if (this.#adversaries.has(sender.index)) return
        throw new Violation(sender.name, `misbehaved in the eyes of ${host.name}: ${JSON.stringify(output.error)}`)
      }
      case "Fatal":
        if (output.fatal._tag === "UnknownVersion" && host.newestVersion !== undefined) {
          this.#install(host)
          return
        }
        throw new Violation(host.name, `stops: ${JSON.stringify(output.fatal).slice(0, 2_000)}`)
      case "JoinStopped":
        throw new Violation(host.name, `cannot join: ${JSON.stringify(output.problem).slice(0, 2_000)}`)
      default:
        return
    }
  }

  /** The program ended before the first round with unknown rules; its operator installs a newer one. */
  #install(host: Host): void {
    this.#tell(`${host.name} ends before an unknown version`)
    this.#agenda.after(INSTALLING_MS, () => {
      host.newestVersion = undefined
      if (!host.isUp) return
      this.#crash(host, "killed")
      this.#start(host)
    })
  }

  /**
   * A program executes nothing by rules that it does not know, and a version needs more than two thirds of the stake.
   */
  #expectVersion({ name, newestVersion, replica }: Host, { commit, nextEpoch }: Execution): void {
    const version = this.#witness.recordOf(commit.epoch)?.rules.protocolVersion ?? 0
    if (version > (newestVersion ?? version))
      throw new Violation(
        name,
        `executes commit ${commit.index} by protocol version ${version}, which it does not know`,
      )
    const next = nextEpoch?.rules.protocolVersion ?? version
    if (next === version || replica === null) return
    const isWanted = replica.read
      .proposals(Number.MAX_SAFE_INTEGER)
      .some(
        ({ payload, status, votesFor, snapshotTotalStake }) =>
          payload._tag === "ParameterChange" &&
          payload.param === ProtocolVersion.PARAMETER &&
          payload.value === next &&
          status === "Executed" &&
          votesFor * 3 > snapshotTotalStake * 2,
      )
    if (!isWanted) throw new Violation(name, `upgrades to protocol version ${next} without two thirds of the votes`)
  }

  #wrote(host: Host, write: Write): void {
    switch (write._tag) {
      case "OwnVertex": {
        const { header } = write.vertex
        const members = this.#witness.recordOf(header.epoch)?.members.length ?? 0
        this.#punctuality.made(host.name, header.round, members, this.#agenda.now)
        const before = this.#signed.get(header.author)
        if (before === undefined || isAbove(header, before)) this.#signed.set(header.author, header)
        return
      }
      case "Inserted": {
        this.#witness.knows(write.vertex)
        if (!this.#isReliable(host)) return
        const collected = host.replica?.core.epoch.dag.collectedRound ?? 0
        this.#witness.inserted(host.name, write.vertex.header, collected)
        return
      }
      case "Executed":
        this.#executed(host, write)
        return
      case "CheckpointBuilt":
        this.#witness.checkpointBuilt(host.name, write.checkpoint)
        if (write.checkpoint.nextEpoch !== null) this.#storm.closing(write.checkpoint.epoch)
        return
      case "ForeignOwnHeader":
        this.#tell(`${host.name} meets its own key at work elsewhere, round ${write.header.round}`)
        if (!this.#remembersSigning(host)) return
        throw new Violation(host.name, `does not know its own vertex of round ${write.header.round}`)
      case "EpochStarted":
        this.#tell(`${host.name} starts epoch ${write.opening.record.epoch}`)
        return
      case "Joined":
        this.#tell(`${host.name} joined at epoch ${write.target.checkpoint.epoch}`)
        this.#storm.joined(host.index)
        return
      default:
        return
    }
  }

  #executed(host: Host, { execution, vertices }: Extract<Write, { _tag: "Executed" }>): void {
    const { leaderRound, leaderHash } = execution.commit
    this.#witness.executed(host.name, execution, vertices)
    this.#expectVersion(host, execution)
    if (host.replica !== null) this.#witness.counted(host.name, host.replica.read.totals)
    this.#digest.text8(execution.effectsDigest)
    const leader = vertices.at(-1)?.header.author
    if (leader !== undefined) this.#trace.committed(leaderRound, leader, leaderHash)
    this.#watchTrust(execution.nextEpoch)
  }

  /** After a close or a join, a node that needs another key restarts within its process. */
  #switchKey(host: Host): void {
    if (!host.hasOtherKey) return
    this.#tell(`changes its key: ${host.name}`)
    this.#crash(host, "killed")
    this.#agenda.after(this.#switchChance.between(1, LONGEST_SWITCH_MS), () => this.#start(host))
  }

  #kept(host: Host, write: Write): void {
    if (write._tag === "Executed") this.#witness.published(host.name, write.execution.commit.index)
    if (write._tag === "EpochStarted" || write._tag === "Joined") {
      this.#witness.began(host.name, write.opening.position.index)
      if (this.#options.rotations === true) this.#agenda.after(1, () => this.#switchKey(host))
    }
  }

  /** A committee with a third of unreliable weight is outside the model, so they follow the rules from then on. */
  #watchTrust(next: EpochRecord.EpochRecord | null): void {
    if (next === null || next.epoch <= this.#latest.record.epoch) return
    this.#latest = new Committee(next)
    let weight = 0
    for (const { address, weight: own } of next.members)
      if (this.#unreliable.has(this.#accountOf(address))) weight += own
    if (weight * 3 < this.#latest.totalWeight || this.#isTrustBroken) return
    this.#tell("the unreliable weigh a third: they keep the rules from now on")
    this.#reform()
  }

  #reform(): void {
    this.#isTrustBroken = true
    for (const adversary of this.#adversaries.values()) adversary.reform()
    for (const copy of this.#copies) {
      this.#dead.add(copy)
      this.#crash(this.#host(copy), "killed")
    }
  }

  #scheduleTraffic(): void {
    this.#agenda.after(this.#trafficChance.between(1, 2 * TRAFFIC_EVERY_MS), () => {
      if (this.#hasTrafficEnded) return
      this.#offer()
      this.#scheduleTraffic()
    })
  }

  #offer(): void {
    const up = this.#hosts.filter((host) => host.isUp)
    if (up.length === 0) return
    const host = this.#trafficChance.pick(up)
    const door = this.#doorOf(host)
    const transaction = door === null ? null : this.#traffic.offer(door)
    if (transaction === null) return
    this.#offered++
    if (this.#trafficChance.percent(3) && host.submit(this.#traffic.forged(transaction))) {
      throw new Violation(host.name, "took a transaction whose signature does not hold")
    }
    if (this.#trafficChance.percent(20)) this.#trafficChance.pick(up).submit(transaction)
  }

  /** Sends one machine at a time transactions that nobody will pay for. */
  #freeload(chance: Chance): void {
    const { genesis, freeloaders } = this.#world
    const all = new Freeloaders(chance, genesis.networkId, freeloaders)
    const again = (): void =>
      this.#agenda.after(FREELOADING_EVERY_MS, () => {
        if (this.#hasTrafficEnded) return
        const up = this.#hosts.filter((host) => host.isUp)
        const transactions = all.next()
        if (up.length > 0) chance.pick(up).receive("stranger" as PeerId, { _tag: "Transactions", transactions })
        again()
      })
    again()
  }

  #doorOf(host: Host | undefined): Door | null {
    if (host?.replica == null) return null
    return { read: host.replica.read, submit: (transaction) => host.submit(transaction) }
  }

  #scheduleLook(): void {
    this.#agenda.after(LOOK_EVERY_MS, () => {
      this.#look()
      if (!this.#isFinished) this.#scheduleLook()
    })
  }

  /** Moves the run from storm to calm to its end. */
  #look(): void {
    for (const { name, replica } of this.#hosts) if (replica !== null) Memory.expectBounded(name, replica)
    const { rounds } = this.#options
    const round = this.#witness.highestRound
    const elapsed = this.#agenda.now - World.START
    if (this.#healedAt === null) {
      const isLongEnough = round * 100 >= rounds * STORMY_PERCENT || elapsed > rounds * World.ROUND_MS * LONGEST_STORM
      if (isLongEnough) this.#heal()
      return
    }
    // Long-standing members that died, plus others that left, can exceed what any protocol tolerates.
    if (this.#isThirdLostWith()) {
      if (!this.#isEstablishedDead && this.#isSomethingNew()) {
        throw new Violation("everybody", "newcomers who died took a third of the weight with them")
      }
      this.#isFinished = true
      return
    }
    const calmMs = this.#agenda.now - this.#healedAt
    if (calmMs >= OPERATOR_WAITS_MS) for (const host of this.#hosts) this.#vouch(host)
    if (calmMs >= RECOVERY_MS) this.#expectRecovery(calmMs)
    if (round < Math.max(rounds, this.#healedRound + 20)) return
    this.#endTraffic()
    this.#isFinished = calmMs >= RECOVERY_MS / 10 && this.#isSettled() && this.#silent().length === 0
    if (this.#isFinished) this.#witness.expectJustice()
  }

  /** If members that are down for good leave too few answers, the operator states what was signed. */
  #vouch(host: Host): void {
    const person = this.#personOf(host)
    if (host.replica === null || person === undefined || host.signer === null) return
    // No operator states that while another machine has the key.
    if (this.#hosts.some((other) => other !== host && other.isUp && this.#personOf(other) === person)) return
    const { signing } = host.replica.core
    if (signing._tag !== "Forgotten") return
    const { epoch, fromRound, base } = signing
    if (host.word?.epoch === epoch) return
    const signed = this.#signed.get(fromPublicKey(host.signer.publicKey))
    const lowest = signed?.epoch === epoch ? signed.round + 1 : 1
    this.#tell(`the operator says that it has signed nothing from round ${lowest} on: ${host.name}`)
    host.word = { epoch, round: Natural.round(Math.max(fromRound, lowest)), base }
    this.#crash(host, "killed")
    this.#start(host)
  }

  #heal(): void {
    this.#healedAt = this.#agenda.now
    this.#healedRound = this.#witness.highestRound
    this.#tell("the storm is over")
    this.#storm.end()
    // The dead may weigh a quarter of the committee. With unhelpful adversaries of up to a third, consensus would stop.
    if (this.#dead.size > 0) this.#reform()
  }

  /** Every running machine must have finalized at least ten rounds made after the storm. */
  #expectRecovery(calmMs: number): void {
    const expected = this.#healedRound + 10
    for (const host of this.#hosts) {
      if (host.replica === null) continue
      const { leaderRound } = host.replica.read.head
      if (leaderRound >= expected) continue
      throw new Violation(
        host.name,
        `${calmMs} ms of calm, and no commit at or above round ${expected}, but ${leaderRound}`,
      )
    }
    const rest = Math.max(0, this.#options.rounds - this.#healedRound)
    if (calmMs < RECOVERY_MS + rest * World.ROUND_MS * 4 + RECOVERY_MS) return
    const [silent] = this.#silent()
    if (silent !== undefined) throw new Violation(silent.name, `makes no vertex after ${calmMs} ms of calm`)
    const [waiting] = this.#unsettled()
    throw new Violation(
      this.#freshest()?.name ?? "nobody",
      waiting === undefined
        ? `round ${this.#witness.highestRound} after ${calmMs} ms of calm`
        : `a transaction waits since before the calm: ${JSON.stringify(waiting, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)).slice(0, 500)}`,
    )
  }

  /** Members that are up and make no vertices well into their epoch. Two machines with one key silence each other. */
  #silent(): ReadonlyArray<Host> {
    return this.#hosts.filter((host) => {
      if (host.replica === null || this.#adversaries.has(host.index) || this.#copies.size > 0) return false
      // It may have lost its seat meanwhile.
      if (["Silent", "Forgotten"].includes(host.replica.core.signing._tag) && this.#areDisksLost) return true
      const { seat, dag, committee, ownRound } = host.replica.core.epoch
      const isLong = dag.quorumRound > committee.firstRound + SETTLING_ROUNDS
      if (seat === undefined && isLong && this.#hasSeat(host)) return true
      return seat !== undefined && isLong && ownRound + SETTLING_ROUNDS < dag.quorumRound
    })
  }

  /** Stops new transactions, and offers pending ones once more to every machine. */
  #endTraffic(): void {
    if (this.#hasTrafficEnded) return
    this.#hasTrafficEnded = true
    this.#tell("no more new transactions")
    for (const transaction of this.#unsettled()) {
      for (const host of this.#hosts) if (host.isUp && this.#isReliable(host)) host.submit(transaction)
    }
  }

  #unsettled(): ReadonlyArray<Transaction> {
    const door = this.#doorOf(this.#freshest())
    return door === null ? [] : this.#traffic.unsettled(door)
  }

  #isSettled(): boolean {
    return this.#unsettled().length === 0
  }
}

export const run = (options: Options): Report => new Simulation(options).run()
