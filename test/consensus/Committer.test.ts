import { describe, expect, it } from "vitest"
import { expectReleased, verdicts } from "./Verdicts.js"

describe("direct decisions", () => {
  it("commit with a quorum of certificates", () => {
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]    =     =
      3   =     =    [=]    -
    `).toBe("A1")
  })

  it("leave the slot undecided with one certificate less than a quorum", () => {
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]    =     =
      3   =     =    [-]    -
    `).toBe("")
  })

  it("do not count a vertex that saw fewer votes than a quorum as a certificate", () => {
    // A, B and C vote for A1, D does not. D3 misses one of the votes.
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]    =    BCD
      3  ABC    =   [ABC]  ABD
    `).toBe("A1")
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]    =    BCD
      3  ABC    =   [ABD]  ABD
    `).toBe("")
  })

  it("skip with a quorum of blames", () => {
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   -   [BCD]  BCD   BCD
    `).toBe("skip")
  })

  it("ignore a blame beyond the quorum", () => {
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2  BCD  [BCD]  BCD   BCD
    `).toBe("skip")
  })

  it("do not count an older vertex of the leader as a vote", () => {
    expectReleased(`
          A      B     C      D
      1   .      .     .      .
      2   =     [-]    =      =
      3  ACD+B1  -   ACD+B1  ACD+B1
    `).toBe("A1 skip")
  })

  it("leave the slot undecided with one blame less than a quorum", () => {
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   -   [BCD]  BCD    -
    `).toBe("")
  })

  it("skip a leader without a vertex one round later", () => {
    expectReleased(`
          A     B     C     D
      1  [-]    .     .     .
      2   -    [=]    =     =
      3   -     =    [=]    =
      4   -     =     =    [=]
    `).toBe("skip B2")
  })

  it("keep a leader skipped that comes after a quorum of blames", () => {
    expectReleased(`
          A      B     C      D
      1  [.]     .     .      .
      2   =    [BCD]  BCD    BCD
      3   =      =    [=]     =
      4   =      =     =     [=]
    `).toBe("skip B2")
  })
})

describe("decisions by the anchor", () => {
  /** Two vote for A1 and two blame it: neither is a quorum. */
  const splitVotes = `
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]   BCD   BCD
      3   =     =    [=]    =
      4   =     =     =    [=]
      5  [=]    =     =     =
      `

  it("skip a slot without a certificate in the anchor's history", () => {
    expectReleased(`${splitVotes}
      6   =    [=]    =     =
    `).toBe("skip B2 C3 D4")
  })

  it("wait until the anchor is decided, and hold back decided slots above", () => {
    expectReleased(splitVotes).toBe("")
    expect(verdicts(splitVotes, 4)).toBe("? B2 C3 ?")
  })

  it("commit a slot with a certificate in the anchor's history", () => {
    // D3 alone has seen three votes; the anchor D4 has D3 below it.
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]    =    BCD
      3  ABD   ABD  [ACD]  ABC
      4   =     =     =    [=]
      5  [=]    =     =     =
      6   =    [=]    =     =
    `).toBe("A1 B2 C3 D4")
  })

  it("accept any vertex in that history as the certificate", () => {
    // A3 alone has seen three votes.
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]    =    BCD
      3  ABC   ABD  [ACD]  ABD
      4   =     =     =    [=]
      5  [=]    =     =     =
      6   =    [=]    =     =
    `).toBe("A1 B2 C3 D4")
  })

  it("ignore a certificate outside the anchor's history", () => {
    // A3 certifies A1, but D4 does not reach it.
    expectReleased(`
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]    =    BCD
      3  ABC   ABD  [ABD]  ABD
      4   =     =     =   [BCD]
      5  [=]    =     =     =
      6   =    [=]    =     =
    `).toBe("skip B2 C3 D4")
  })

  it("use the first slot above that is not skipped as the anchor", () => {
    const drawn = `
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]   BCD   BCD
      3   =     =    [=]    =
      4   =     =     =    [-]
      5  [=]    =     =     -
      6   =    [=]    =     -
      `
    expect(verdicts(drawn, 5)).toBe("? B2 C3 skip ?")
    expectReleased(`${drawn}
      7   =     =    [=]    -
    `).toBe("skip B2 C3 skip A5")
  })

  it("use an undecided slot as the anchor, and never jump over it", () => {
    // Slot 4 is undecided; slot 5 commits. Were 5 the anchor of 1, nodes that see 4 decided first could differ.
    const whole = `
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]   BCD   BCD
      3   =     =    [=]    =
      4   =     =     =    [=]
      5  [=]    =    ABC   ABC
      6   =    [=]    =     =
      7   =     =    [=]    =
      `
    expect(verdicts(whole, 5)).toBe("? B2 C3 ? A5")
    expectReleased(whole).toBe("")
    expectReleased(`${whole}
      8   =     =     =    [=]
      9  [=]    =     =     =
    `).toBe("skip B2 C3 skip A5 B6 C7")
  })

  it("release several pending slots together, in order", () => {
    const pending = `
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]   BCD   BCD
      3   =    ACD  [ACD]   =
      4   =    ABD   ABD   [=]
      5  [=]   ABC   ABC    =
      6   =    [=]   BCD   BCD
      `
    expectReleased(pending).toBe("")
    expect(verdicts(pending, 6)).toBe("? ? ? ? ? ?")
    expectReleased(`${pending}
      7   =     =    [=]    =
      8   =     =     =    [=]
      9  [=]    =     =     =
     10   =    [=]    =     =
    `).toBe("skip skip skip skip skip B6 C7 D8")
  })

  it("hold back only the upper of two decided slots around an undecided one", () => {
    const drawn = `
          A     B     C     D
      1  [.]    .     .     .
      2   =    [=]    =     =
      3   =     =   [ACD]  ACD
      4   =     =     =    [=]
      5   =     =     =    [=]
      `
    expect(verdicts(drawn, 3)).toBe("A1 ? C3")
    expectReleased(drawn).toBe("A1")
  })

  it("do not certify by votes in the older parents of a vertex", () => {
    // All of round 2 vote for A1. The vertices of round 4 name three of them, and a split round 3.
    expect(
      verdicts(
        `
          A         B         C         D
      1  [.]        .         .         .
      2   =        [=]        =         =
      3   =         =       [ACD]      ACD
      4  BCD+B2+C2+D2  ACD+A2+C2+D2  ABD+A2+B2+D2  [ABC+A2+B2+C2]
      `,
        2,
      ),
    ).toBe("A1 ?")
  })
})
