import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { setImmediate } from "node:timers/promises"
import { API } from "typescript/unstable/sync"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as SmallDags from "../consensus/small/Faults.js"
import * as Histories from "../histories/Planted.js"
import * as Mutations from "../ledger/Mutations.js"
import * as PutBack from "../putback/Findings.js"
import * as Planted from "../simulation/Planted.js"
import * as Chosen from "./Chosen.js"
import { type Change, type Fault, plant, plantAll } from "./Planting.js"
import * as Rest from "./Rest.js"

const SOURCE = `
export const limit = (amount: number, { most = 5 }: { most?: number } = {}): number => Math.min(amount, most)

export class Purse {
  #sats = 0
  get sats(): number {
    return this.#sats
  }
  put(amount: number): void {
    const taken = limit(amount)
    this.#add(taken)
    this.#add(0)
  }
  #add(amount: number): void {
    this.#sats += amount
  }
}
`

const planted = (change: Omit<Change, "file">, source = SOURCE): string | undefined =>
  plant({ name: "thief", changes: [{ file: "Purse.ts", ...change }] }, "Purse.ts", source)

/** The amount in the described purse after adding 10, at most 5 at a time. */
const satsIn = (source = ""): number => {
  const types = /: number|: void|: \{ most\?: number \}|export |<F>|: F\b|: NoInfer<F>|: \(\) => F/g
  const { sats } = new Function(
    `${source.replaceAll(types, "")}; const purse = new Purse(); purse.put(10); return purse`,
  )()
  return sats
}

describe("a fault", () => {
  it("replaces a function of the module", () => {
    expect(satsIn(SOURCE)).toBe(5)
    expect(satsIn(planted({ of: "limit", by: "(sum) => sum" }))).toBe(10)
    expect(satsIn(planted({ of: "limit", by: "(sum, { most: bound = 7 }) => Math.min(sum, bound)" }))).toBe(7)
  })

  it("replaces a method, also a private one, and a getter", () => {
    expect(satsIn(planted({ of: "Purse.put", by: "(sum) => { this.#sats -= sum }" }))).toBe(-10)
    expect(satsIn(planted({ of: "Purse.#add", by: "(sum) => { this.#sats -= sum }" }))).toBe(-5)
    expect(satsIn(planted({ of: "Purse.sats", by: "() => -1" }))).toBe(-1)
  })

  it("can call the replaced code", () => {
    expect(satsIn(planted({ of: "limit", by: "(sum) => original(sum, { most: 6 })" }))).toBe(6)
    expect(satsIn(planted({ of: "Purse.#add", by: "(sum) => { original(sum); original(1) }" }))).toBe(7)
  })

  it("replaces one call", () => {
    expect(satsIn(planted({ of: "Purse.put", call: "limit", by: "(sum) => sum + 1" }))).toBe(11)
    expect(satsIn(planted({ of: "limit", call: "Math.min", by: "() => 3" }))).toBe(3)
  })

  it("tolerates other names of local variables and other line breaks", () => {
    const change = { of: "Purse.#add", by: "(sum) => { this.#sats -= sum }" }
    expect(satsIn(planted(change, SOURCE.replace("#add(amount: number)", "#add(\n  more: number,\n)")))).toBe(-5)
  })

  it("leaves other files alone", () => {
    const changes = [{ file: "Purse.ts", of: "limit", by: "() => 0" }]
    expect(plant({ name: "thief", changes }, "Other.ts", SOURCE)).toBeUndefined()
  })

  it("fails with its name when its target is gone", () => {
    const renamed = SOURCE.replaceAll("#add", "#increase").replaceAll("limit", "bound")
    expect(() => planted({ of: "Purse.#add", by: "() => {}" }, renamed)).toThrow(
      'fault "thief": Purse.ts has no Purse.#add',
    )
    expect(() => planted({ of: "limit", by: "() => 0" }, renamed)).toThrow('fault "thief": Purse.ts has no limit')
    expect(() => planted({ of: "Purse.put", call: "limit", by: "() => 0" }, renamed)).toThrow(
      'fault "thief": Purse.ts has no call of limit in Purse.put',
    )
  })

  it("fails when it is ambiguous or invalid", () => {
    expect(() => planted({ of: "Purse.put", call: "#add", by: "() => {}" })).toThrow(
      'fault "thief": Purse.ts has 2 of call of #add in Purse.put, not one',
    )
    expect(() => planted({ of: "limit", by: "Math.max" })).toThrow("not an arrow function: Math.max")
    expect(() => planted({ of: "limit", by: "(a, b, c) => 0" })).toThrow("takes 2 arguments")
  })
})

describe("faults in one program", () => {
  const fault = (name: string, change: Omit<Change, "file">): Fault => ({
    name,
    changes: [{ file: "Purse.ts", ...change }],
  })
  const faults = [
    fault("generous", { of: "limit", by: "(sum) => sum" }),
    fault("doubling", { of: "limit", by: "(sum, { most: bound = 5 }) => 2 * original(sum, { most: bound })" }),
    fault("mean", { of: "limit", call: "Math.min", by: "() => 3" }),
    fault("adding", { of: "Purse.put", call: "limit", by: "(sum) => sum + 1" }),
    fault("thief", { of: "Purse.#add", by: "(sum) => { this.#sats -= sum }" }),
    fault("blind", { of: "Purse.sats", by: "() => -1" }),
  ]

  const satsWith = (name?: string): number => {
    Chosen.choose(name)
    try {
      return satsIn(plantAll(faults, "Purse.ts", SOURCE))
    } finally {
      Chosen.choose(undefined)
    }
  }

  it("act one at a time, and not at all while none is chosen", () => {
    expect(satsWith()).toBe(5)
    expect(faults.map(({ name }) => satsWith(name))).toEqual([10, 10, 3, 11, -5, -1])
  })

  it("do not join a line that begins with a call to the previous line", () => {
    const change = { file: "Purse.ts", of: "Purse.put", call: "#add", by: "(sum) => { this.#sats -= sum }" }
    const source = SOURCE.replace("    this.#add(0)\n", "")
    expect(satsIn(plantAll([{ name: "thief", changes: [change] }], "Purse.ts", source))).toBe(5)
  })

  it("leave other files alone", () => {
    expect(plantAll(faults, "Other.ts", SOURCE)).toBeUndefined()
  })

  it("fail with the name of the fault that has no target", () => {
    expect(() => plantAll(faults, "Purse.ts", SOURCE.replaceAll("#add", "#increase"))).toThrow(
      'fault "thief": Purse.ts has no Purse.#add',
    )
  })
})

/** A private member may be unused once a fault has replaced its user. */
const isAboutUse = (code: number): boolean => code === 6133 || code === 6192 || code === 6196

/** As few groups as possible, in each of which every file has at most one fault. */
const apart = (faults: ReadonlyArray<Fault>): ReadonlyArray<ReadonlyArray<Fault>> => {
  const groups: Array<Array<Fault>> = []
  for (const fault of faults) {
    const files = new Set(fault.changes.map(({ file }) => file))
    const changesOneOf = ({ changes }: Fault) => changes.some(({ file }) => files.has(file))
    const group = groups.find((others) => !others.some(changesOneOf))
    if (group === undefined) groups.push([fault])
    else group.push(fault)
  }
  return groups
}

describe("the faults that tests plant", () => {
  const root = resolve(import.meta.dirname, "../..")
  const config = join(root, "tsconfig.json")
  const texts = new Map<string, string>()
  let compiler: API

  beforeAll(() => {
    compiler = new API({ cwd: root, fs: { readFile: (path) => texts.get(path) } })
    compiler.updateSnapshot({ openProjects: [config] })
  })
  afterAll(() => compiler.close())

  /**
   * The program's type errors with these faults, which change different files: checking it once per fault takes a
   * minute.
   */
  const mistakesIn = (faults: ReadonlyArray<Fault>): ReadonlyArray<string> => {
    const touched = [...texts.keys()]
    texts.clear()
    const faultOf = new Map<string, Fault>()
    for (const fault of faults) {
      for (const file of new Set(fault.changes.map(({ file }) => file))) {
        const path = join(root, file)
        texts.set(path, plant(fault, file, readFileSync(path, "utf8")) ?? "")
        faultOf.set(path, fault)
      }
    }
    const changed = [...new Set([...touched, ...texts.keys()])]
    const snapshot = compiler.updateSnapshot({ openProjects: [config], fileChanges: { changed } })
    const program = snapshot.getProject(config)?.program
    return [...faultOf].flatMap(([path, { name }]) =>
      [...(program?.getSyntacticDiagnostics(path) ?? []), ...(program?.getSemanticDiagnostics(path) ?? [])]
        .filter(({ code }) => !isAboutUse(code))
        .map(({ code, text }) => `fault "${name}": ${path}: ${code} ${text}`),
    )
  }

  it(Rest.of("the compiler", "have the types of what they replace"), async () => {
    const ledger = [...Mutations.conservation, ...Mutations.fairness]
    const all = [...Planted.faults, ...SmallDags.own, ...ledger, ...Histories.faults, ...PutBack.findings]
    expect(apart(all).flat()).toHaveLength(all.length)
    for (const faults of apart(all)) {
      expect(mistakesIn(faults)).toEqual([])
      // Vitest takes a thread that reads no message for a minute for dead.
      await setImmediate()
    }
  })

  it(Rest.of("the compiler", "are reported by name when their types differ"), () => {
    const change = { file: "src/protocol/epoch/EpochRecord.ts", of: "isQuorum", by: "(weight) => weight.length" }
    expect(mistakesIn([{ name: "untyped", changes: [change] }]).join()).toMatch(
      /fault "untyped": .*'length' does not exist on type 'number'/,
    )
  })
})
