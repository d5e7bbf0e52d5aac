import { describe, expect, it } from "vitest"
import * as ConnectionSlots from "../../src/network/ConnectionSlots.js"
import { Arrivals } from "../../src/network/peers/Arrivals.js"

const LIMIT_MS = 10_000
const HOST = "203.0.113.7"
const KNOWN = "203.0.113.8"

const scene = (known: string | null = null) => {
  const clock = { now: 1_000_000, behindMs: 0 }
  const times = { now: () => clock.now, spareNow: () => clock.now - clock.behindMs }
  const arrivals = new Arrivals(LIMIT_MS, times, (host) => host === known)
  let ports = 0
  /** Returns the address of a connection that may be opened. */
  const come = (host: string) => {
    const address = `${host}:${++ports}`
    return arrivals.comes(address, host) ? address : undefined
  }
  /** The same for one that greets at once; returns whether it may open. */
  const greets = (host: string): boolean => {
    const address = come(host)
    if (address !== undefined) arrivals.done(address)
    return address !== undefined
  }
  return { clock, arrivals, come, greets }
}

describe("connections that have not greeted", () => {
  it("of a flood charge no other client of their host", () => {
    const { clock, arrivals, come } = scene()
    let opened = 0
    for (let ms = 0; ms < 600_000; ms += 31) {
      clock.now += 31
      const address = come(HOST)
      if (address === undefined) continue
      opened++
      arrivals.done(address)
    }
    expect(opened).toBeLessThan(64 + 600 * 8 + 8)
    clock.now += 500
    expect(come(HOST)).toBeDefined()
  })

  it("that stay make room for others from their host after their time", () => {
    const { clock, arrivals, come } = scene()
    const cut: Array<string> = []
    for (let n = 0; n < ConnectionSlots.UNGREETED_PER_HOST; n++) {
      const address = come(HOST) ?? ""
      arrivals.arrived(address, () => cut.push(address))
      clock.now++
    }
    expect(come(HOST)).toBeUndefined()
    clock.now += ConnectionSlots.GREETS_WITHIN_MS
    expect(come(HOST)).toBeDefined()
    expect(cut).toEqual([`${HOST}:1`])
  })

  it("are closed after ten seconds unless they have greeted", () => {
    const { clock, arrivals, come } = scene()
    const cut: Array<string> = []
    const [silent = "", greeted = ""] = [come(HOST), come(HOST)]
    for (const address of [silent, greeted]) arrivals.arrived(address, () => cut.push(address))
    arrivals.done(greeted)
    clock.now += LIMIT_MS
    arrivals.sweep()
    expect(cut).toEqual([])
    clock.now += 1
    arrivals.sweep()
    expect(cut).toEqual([silent])
  })

  it("number 64 from all hosts together, and the oldest gives way", () => {
    const { arrivals, come } = scene()
    const cut: Array<number> = []
    for (let n = 0; n < ConnectionSlots.UNGREETED; n++) {
      const address = come(`192.0.${n}.1`)
      expect(address).toBeDefined()
      arrivals.arrived(address ?? "", () => cut.push(n))
    }
    expect(cut).toEqual([])
    expect(come("192.0.200.1")).toBeDefined()
    expect(cut).toEqual([0])
  })

  it("have a handshake rate per host, with an IPv6 /64 as one host", () => {
    const { greets } = scene()
    // One goes into debt.
    expect(Array.from({ length: 200 }, (_, n) => greets(`2001:db8::${n}`)).filter(Boolean)).toHaveLength(65)
    expect(greets("2001:db8:0:1::1")).toBe(true)
  })

  it.each([
    ["a /24 of IPv4", 81, (n: number) => `198.51.100.${n % 250}`, "198.51.7.1"],
    ["a /16 of IPv4", 97, (n: number) => `198.51.${(n >> 4) % 256}.${n % 256}`, "198.52.0.1"],
    ["a /56", 81, (n: number) => `2001:db8:1:${(n % 256).toString(16)}::1`, "2001:db8:1:100::1"],
    ["a /48", 97, (n: number) => `2001:db8:1:${(n % 65_536).toString(16)}::1`, "2001:db8:2::1"],
    ["a /32", 113, (n: number) => `2001:db8:${(n % 8_192).toString(16)}::1`, "2001:db9::1"],
    ["the whole internet", 129, (n: number) => `${1 + (n % 200)}.${n % 250}.0.1`, null],
  ] as const)("have a rate for %s as well, which no number of hosts renews", (_, most, hostOf, neighbour) => {
    const { clock, greets } = scene(KNOWN)
    const openedOf = (hosts: number) =>
      Array.from({ length: hosts }, (_, n) => greets(hostOf(n))).filter(Boolean).length
    expect(openedOf(20_000)).toBe(most)
    expect(neighbour === null || greets(neighbour)).toBe(true)
    expect(greets(KNOWN)).toBe(true)
    clock.now += 1_000
    expect(openedOf(20_000)).toBeLessThanOrEqual(100)
  })

  it("of strangers are fewer on a busy machine, from one host and in all, and those of known hosts are not", () => {
    const { clock, greets } = scene(KNOWN)
    const openedOf = (count: number, hostOf: (n: number) => string) =>
      Array.from({ length: count }, (_, n) => greets(hostOf(n))).filter(Boolean).length
    const anywhere = (n: number) => `${1 + (n % 200)}.${n % 250}.0.1`
    expect(openedOf(1_000, () => HOST)).toBe(65)
    expect(openedOf(1_000, anywhere)).toBe(64)
    expect(openedOf(1_000, () => KNOWN)).toBe(129)
    clock.now += 1_000
    clock.behindMs += 950
    expect(openedOf(1_000, () => HOST)).toBe(0)
    expect(openedOf(1_000, anywhere)).toBe(5)
    expect(openedOf(1_000, () => KNOWN)).toBeGreaterThanOrEqual(8)
  })

  it("of known hosts do not give way to a flood", () => {
    const { arrivals, come } = scene(KNOWN)
    const cut: Array<string> = []
    const address = come(KNOWN) ?? ""
    arrivals.arrived(address, () => cut.push(address))
    const strangers = Array.from({ length: 200 }, (_, n) => come(`${n + 1}.7.0.1`))
    expect(strangers.filter((each) => each !== undefined)).toHaveLength(129)
    expect(cut).toEqual([])
  })
})
