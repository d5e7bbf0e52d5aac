/** One run: a whole network from its genesis through a storm to a calm end, decided by one seed. */

import { Either } from "effect"
import { Committee } from "../../src/consensus/dag/Committee.js"
import { FOUNDING_ROUNDS, isAbove, type Place } from "../../src/consensus/KeyMemory.js"
import type { Reads } from "../../src/ledger/Reads.js"
import type { Execution } from "../../src/ledger/rules/Execution.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import type { Genesis } from "../../src/protocol/epoch/Genesis.js"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import type { Address } from "../../src/protocol/identity/Address.js"
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
import type { Scheme } from "./Scheme.js"
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
  /** Whether the validators vote for the next version of the protocol, which some programs do not know. */
  readonly upgrades?: boolean
}

export interface Report {
  readonly seed: number
  readonly digest: string
  readonly commits: number
  readonly rounds: number
  readonly epochs: number
  /** Of the last epoch that anybody wrote. */
  readonly protocolVersion: number
  readonly checkpoints: number
  readonly messages: number
  readonly virtualMs: number
  readonly transactions: number
  readonly settled: number
  readonly failure: { readonly machine: string; readonly message: string; readonly trace: string } | null
}

const SIGNED_FOR_REAL_EVERY = 50

/** What a seed stands for when nothing else is said: a mixture of faults of its own. */
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

/** The first round after those in which a lost disk looks like a new one. */
const FIRST_GUARDED_ROUND = FOUNDING_ROUNDS + 2
const SET_BACK_BY: ReadonlyArray<FaultName> = ["backups", "copies", "wipes", "losses", "pauses"]
/** What leaves the others with everything that a machine has sent before its disk was set back, or that its double has. */
const HEARD_IN_SPITE_OF: ReadonlyArray<FaultName> = ["wipes", "clocks", "skew", "joins", "newcomers", "pauses"]
/** They need somebody to happen to. */
const UNRELIABLE: ReadonlyArray<FaultName> = ["byzantine", ...SET_BACK_BY]
/** The part of the rounds that is stormy. */
const STORMY_PERCENT = 65
/** However bad it gets, a storm ends after so many times the length of its rounds. */
const LONGEST_STORM = 8
/** Within so much calm everybody commits again. */
const RECOVERY_MS = 30_000
/** So long an operator waits before saying what the key of a lost disk has signed. */
const OPERATOR_WAITS_MS = 10_000
/** A member of an epoch that has run for so long has made a vertex lately. */
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
/** So long an operator takes to install a program that knows the version. */
const INSTALLING_MS = 1_000

export class Simulation {
  readonly #options: Options
  readonly #onWrite: (host: Host, write: Write) => void
  readonly #chance: Chance
  readonly #scheme: Scheme
  readonly #agenda = new Agenda(World.START)
  readonly #world: World.World
  readonly #network: Network.Network<Message>
  readonly #hosts: Array<Host> = []
  /** Machine → whose key it runs. */
  readonly #owners = new Map<number, World.Person>()
  readonly #adversaries = new Map<number, Adversary>()
  /** Validators that may misbehave, lose their disk or have a double: together below a third of the weight. */
  readonly #unreliable: ReadonlySet<Address>
  /** Validators whose wall clock may show anything. With those that lie below a third of the weight. */
  readonly #mistimed: ReadonlySet<Address>
  readonly #backups = new Map<number, Stored.Stored>()
  readonly #copies = new Set<number>()
  /** Machines whose `signed.db` was set back. */
  readonly #forgetful = new Set<number>()
  /** Machines that have lost their disks: they must find out what they may sign. */
  readonly #wiped = new Set<number>()
  /** The highest that each validator has signed, on whatever disk: what an honest operator says. */
  readonly #signed = new Map<Address, Place>()
  /** Down for good. */
  readonly #dead = new Set<number>()
  /** Whether somebody is among them who had sat through two closes: what is younger the others can do without. */
  #isEstablishedDead = false
  readonly #witness: Witness
  readonly #punctuality = new Punctuality()
  readonly #trace: Trace
  readonly #storm: Storm
  readonly #traffic: Traffic
  readonly #trafficChance: Chance
  readonly #digest = new Digest()
  readonly #beginning: Stored.Stored
  readonly #genuine = new WeakMap<Message | Vertex, boolean>()
  /** What honest machines sent was looked at once, however many it went to. */
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

  /** `onWrite` hears of every write of every machine, on the disk or not. */
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
    this.#witness = new Witness(record, (author) => this.#mistimed.has(author) || this.#unreliable.has(author))
    this.#trace = new Trace([...this.#world.validators, ...this.#world.newcomers])
    this.#aimChance = this.#chance.stream("aim")
    this.#trafficChance = this.#chance.stream("when transactions come")
    this.#traffic = new Traffic(this.#chance.stream("traffic"), this.#scheme, this.#world, options.upgrades === true)
    this.#storm = new Storm(this.#agenda, this.#chance.stream("storm"), options.faults, this.#levers())
  }

  /**
   * Whether the others have what a machine signed before its disk was set back, or what its double signed. Only then does
   * it sign nothing twice: a disk that holds something, but not all, cannot know that.
   */
  get #areAllHeard(): boolean {
    return this.#options.faults.every((fault) => HEARD_IN_SPITE_OF.includes(fault))
  }

  get #areDisksLost(): boolean {
    return this.#has("wipes") || this.#has("losses")
  }

  #has(fault: FaultName): boolean {
    return this.#options.faults.includes(fault)
  }

  /** As many as are less than a third of the weight. */
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

  get genesis(): Genesis {
    return this.#world.genesis
  }

  /** Runs to the end, whatever that is. */
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
      checkpoints: this.#witness.checkpoints,
      messages: this.#network.sent,
      virtualMs: this.#agenda.now - World.START,
      transactions: this.#offered,
      settled: this.#settled,
      failure,
    }
  }

  /** However bad the weather: what nodes say to each other is bounded. */
  #expectQuiet(): void {
    const { nodes, rounds } = this.#options
    const most = MESSAGES_PER_PAIR_AND_ROUND * (nodes + 5) ** 2 * (rounds + 50)
    if (this.#network.sent <= most) return
    throw new Violation("everybody", `${this.#network.sent} messages by round ${this.#witness.highestRound}`)
  }

  /** Where every machine has come to: the last lines of a trace. */
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
    const people = [...this.#world.validators, ...this.#world.newcomers]
    return people.find((person) => person.address === address)?.name ?? address
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
    const signer = person === null || isAdversary ? null : person.signer
    const host = new Host(index, name, signer, stored, this.#chance.stream(`host ${index}`), {
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
    // What floods changes nothing else that an adversary does.
    const own = chance.stream("floods").percent(30) ? [...drawn, "floods" as const] : drawn
    // Alone, two faces seldom fool anybody: all have them or none.
    const habits = this.#has("conspiracy") ? [...own, "two-faced" as const] : own
    this.#tell(`${host.name} ${habits.join(", ") || "only has a bad name"}`)
    const { index } = host
    const { genesis, accomplices, validators, newcomers, people } = this.#world
    const purse = new Purse(chance.stream("purse"), {
      genesis,
      own: accomplices,
      others: [...validators, ...newcomers, ...people],
      // What keeps a network within the bounds of the model stays as it is.
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

  /** For a while some machines see one world and the others another one; then the camps are drawn anew. */
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
    const index = people.findIndex((person) => person.address === address)
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

  /** Neither an adversary's nor one that shares its key or may be set back. */
  #isReliable(host: Host): boolean {
    const person = this.#personOf(host)
    return person === undefined || !this.#unreliable.has(person.address)
  }

  #isMistimed(host: Host): boolean {
    const person = this.#personOf(host)
    return person !== undefined && this.#mistimed.has(person.address)
  }

  /** Whether it must know all that its key has signed. */
  #remembersSigning(host: Host): boolean {
    return !this.#wiped.has(host.index) && this.#isCareful(host)
  }

  /** Whether it must not sign twice: it has its key for itself, and knows what it has signed or that it does not. */
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
        validator: this.#personOf(host)?.address ?? null,
        // Of two machines the later one has dialled.
        isDialled: host.index < of.index,
      }))
  }

  #isSevered(a: number, b: number): boolean {
    return this.#network.isCut(a, b) && this.#network.isCut(b, a)
  }

  /** Who can talk to whom has changed; the machines notice a little later. */
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
    const isThere = ({ hashes }: Proof) => hashes.every((hash) => host.disk.stored.vertex(hash) !== undefined)
    const proofs = this.#witness.proofsOf(host.name).filter(isThere)
    host.crash(crash)
    this.#witness.lost(
      host.name,
      proofs.filter((proof) => !isThere(proof)),
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

  /** While the model's bound on their weight holds. */
  #setBackable(): ReadonlyArray<number> {
    if (this.#isTrustBroken || !SET_BACK_BY.some((fault) => this.#has(fault))) return []
    // All disks are empty when a network begins, so one that is lost then is not guarded: docs/recovery.md.
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

  /** A second machine with the same key, from an old disk or an empty one. */
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

  /** Others, as long as those that stay up are a quorum with this one. */
  #spare(host: Host, chance: Chance): ReadonlyArray<number> {
    const weightOf = ({ index }: Host): number => {
      const address = this.#owners.get(index)?.address
      const seat = address === undefined ? undefined : this.#latest.seatOf(address)
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

  /** The best moment to die is right after taking a seat. */
  #killNewcomer(): void {
    const seated = this.#newcomersUp().find(({ address }) => this.#latest.seatOf(address) !== undefined)
    if (seated === undefined) return
    const isEstablished = this.#isEstablished(seated.address)
    if (isEstablished && this.#isThirdLostWith(seated.host)) return
    this.#isEstablishedDead ||= isEstablished
    this.#killForGood(seated.host)
  }

  /** The house they all stand in burns down, with those that only hope for a seat. */
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

  /** Whether the last close has let anything in. It must not where the young weigh a third without. */
  #isSomethingNew(): boolean {
    const { epoch, members } = this.#latest.record
    const before = this.#witness.recordOf(epoch - 1)
    return (
      before !== undefined &&
      members.some(({ address, weight }) => weight > (EpochRecord.memberOf(before, address)?.weight ?? 0))
    )
  }

  #killForGood(host: Host, crash: Crash = "power cut"): void {
    this.#tell(`dies: ${host.name}`)
    this.#dead.add(host.index)
    this.#crash(host, crash)
  }

  /** Whether those who are down for good, and this one with them, weigh a third of the committee: nothing goes on then. */
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

  /** The honest machine that has come furthest. */
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

  /** A single vertex, as its author hands it out, that leads its round or may vote for the leader of the one before. */
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
    if (!(message._tag === "Vertices" || message._tag === "Rounds") || !(this.#isCareful(from) || this.#areAllHeard))
      return
    const own = this.#personOf(from)?.address
    const ownHeaders: ReadonlyArray<Header> = message.vertices.map(({ header }) => header)
    for (const header of ownHeaders) if (header.author === own) this.#witness.signed(from.name, header)
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

  /** It has ended before the first round under rules that it does not know; its operator installs a newer program. */
  #install(host: Host): void {
    this.#tell(`${host.name} ends before an unknown version`)
    this.#agenda.after(INSTALLING_MS, () => {
      host.newestVersion = undefined
      if (!host.isUp) return
      this.#crash(host, "killed")
      this.#start(host)
    })
  }

  /** A program executes nothing by rules that it does not know, and more than two thirds of the stake wanted the version. */
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
    if (!isWanted) throw new Violation(name, `goes over to protocol version ${next}, and no two thirds voted for it`)
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

  #kept(host: Host, write: Write): void {
    if (write._tag === "Executed") this.#witness.published(host.name, write.execution.commit.index)
    if (write._tag === "EpochStarted" || write._tag === "Joined") {
      this.#witness.began(host.name, write.opening.position.index)
    }
  }

  /** A committee in which the unreliable weigh a third is outside the model: from then on they keep the rules. */
  #watchTrust(next: EpochRecord.EpochRecord | null): void {
    if (next === null || next.epoch <= this.#latest.record.epoch) return
    this.#latest = new Committee(next)
    let weight = 0
    for (const member of next.members) if (this.#unreliable.has(member.address)) weight += member.weight
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

  /** A stranger shows one machine at a time what nobody will pay for. */
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

  /** Where the run stands: stormy, calm, or at its end. */
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
    // Members of long standing that died, and others that left, can add up to what no protocol bears.
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

  /** Where those that are down for good keep the others from saying enough, the operator says what was signed. */
  #vouch(host: Host): void {
    const person = this.#personOf(host)
    if (host.replica === null || person === undefined || host.word !== null) return
    // No operator says so while another machine has the key.
    if (this.#hosts.some((other) => other !== host && other.isUp && this.#personOf(other) === person)) return
    const { signing } = host.replica.core
    if (signing._tag !== "Forgotten") return
    const { epoch, fromRound, base } = signing
    const signed = this.#signed.get(person.address)
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
    // What died for good may weigh a quarter of the committee; together with a third that does not help, nothing goes on.
    if (this.#dead.size > 0) this.#reform()
  }

  /** Everybody who is up has finalized something that was made after the storm, and not only a little. */
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

  /**
   * Members that are up and make no vertices, though their epoch has been running for long. Where two machines have one key
   * they silence each other.
   */
  #silent(): ReadonlyArray<Host> {
    return this.#hosts.filter((host) => {
      if (host.replica === null || this.#adversaries.has(host.index) || this.#copies.size > 0) return false
      // It may have lost its seat meanwhile.
      if (["Silent", "Forgotten"].includes(host.replica.core.signing._tag) && this.#areDisksLost) return true
      const { seat, dag, committee, ownRound } = host.replica.core.epoch
      const isLong = dag.quorumRound > committee.firstRound + SETTLING_ROUNDS
      return seat !== undefined && isLong && ownRound + SETTLING_ROUNDS < dag.quorumRound
    })
  }

  /** No more new ones; what waits is offered once more to everybody. */
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
