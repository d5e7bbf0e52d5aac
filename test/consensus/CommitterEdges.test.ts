/** Equivocating leaders, committees of other weights, and slots. */
import { describe, expect, it } from "vitest"
import { Committer } from "../../src/consensus/commit/Committer.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { draw } from "./Picture.js"
import { decide, expectReleased, verdicts } from "./Verdicts.js"

describe("equivocation", () => {
  it("with split votes is settled for the vertex that the anchor's history certifies", () => {
    // A1 has three votes, a1 one. Only D3 knows all three.
    expectReleased(`
          A      B      C      D
      1  [./.]   .      .      .
      2  ABCD  [ABCD]  ABCD   aBCD
      3  ABD    ABD   [ABD]   ABC
      4   =      =      =     [=]
      5  [=]     =      =      =
      6   =     [=]     =      =
    `).toBe("A1 B2 C3 D4")
  })

  it("can leave the second vertex of a leader slot committed", () => {
    expectReleased(`
          A      B      C      D
      1  [./.]   .      .      .
      2  ABCD  [aBCD]  aBCD   aBCD
      3   =      =     [=]     =
    `).toBe("a1")
  })

  it("with evenly split votes gives neither a vote nor a blame, and the anchor skips the slot", () => {
    const split = `
          A      B      C      D
      1  [./.]   .      .      .
      2  ABCD  [ABCD]  aBCD   aBCD
      3   =      =     [=]     =
      `
    expect(verdicts(split, 1)).toBe("?")
    expectReleased(`${split}
      4   =      =      =     [=]
      5  [=]     =      =      =
      6   =     [=]     =      =
    `).toBe("skip B2 C3 D4")
  })

  it("in votes for one vertex counts the voter once", () => {
    // A and B vote for A1, B with both of its vertices: two of four votes, however many vertices.
    expectReleased(`
          A      B        C      D
      1  [.]     .        .      .
      2   =   [=/ABC]    BCD    BCD
      3  ABCD  ABCD    [AbCD]   AbCD
    `).toBe("")
  })

  it("in blames counts the blamer once", () => {
    expectReleased(`
          A     B          C     D
      1  [.]    .          .     .
      2   -  [BCD/BCD]    BCD    -
    `).toBe("")
  })

  it("in a vote and a blame counts on either side, and the certificate needs the vote", () => {
    // B2 votes for A1, b2 blames. Those who name B2 certify.
    expectReleased(`
          A     B         C     D
      1  [.]    .         .     .
      2   =  [ABCD/BCD]   =    BCD
      3  ABC   ABC      [ABC]  AbCD
    `).toBe("A1")
  })

  it("in certificates counts the author once", () => {
    expectReleased(`
          A        B      C     D
      1  [.]       .      .     .
      2   =       [=]     =     =
      3  =/ABC  =/ABD    [-]    -
    `).toBe("")
  })
})

describe("committees", () => {
  it("of one commit every round two rounds later", () => {
    expectReleased(`
          A
      1  [.]
      2  [A]
      3  [A]
      4  [A]
    `).toBe("A1 A2")
  })

  it("of seven commit with five certificates, so two may be silent", () => {
    expectReleased(`
          A    B    C    D    E    F    G
      1  [.]   .    .    .    .    .    .
      2   =   [=]   =    =    =    -    -
      3   =    =   [=]   =    =    -    -
    `).toBe("A1")
    expectReleased(`
          A    B    C    D    E    F    G
      1  [.]   .    .    .    .    .    .
      2   =   [=]   =    =    =    -    -
      3   =    =   [=]   =    -    -    -
    `).toBe("")
  })

  it("of ten commit with seven certificates, so three may be silent", () => {
    expectReleased(`
          A    B    C    D    E    F    G    H    I    J
      1   .    .   [.]   .    .    .    .    .    .    .
      2   =   [=]   =    =    =    =    =    -    -    -
      3   =    =    =    =    =    =   [=]   -    -    -
    `).toBe("C1")
    expectReleased(`
          A    B    C    D    E    F    G    H    I    J
      1   .    .   [-]   .    .    .    .    .    .    .
      2   =   [=]   -    =    =    =    =    =    -    -
    `).toBe("skip")
  })

  it("count stake, not heads", () => {
    // A and B hold nine of twelve; the other three decide nothing without them.
    expectReleased(`
         A:5   B:4   C:1   D:1   E:1
      1  [.]    .     .     .     .
      2   =    [=]    -     -     -
      3   =     =    [-]    -     -
    `).toBe("A1")
    expectReleased(`
         A:5   B:4   C:1   D:1   E:1
      1   .    [.]    .     .     .
      2   =     -     =     =    [=]
      3   =     -     =     =    [=]
    `).toBe("")
  })

  it("do not count exactly two thirds as a quorum", () => {
    expectReleased(`
         A:2   B:2   C:2
      1  [.]    .     .
      2   =    [=]    =
      3   =     =    [-]
    `).toBe("")
    expectReleased(`
         A:2   B:3   C:2
      1  [.]    .     .
      2   =    [=]    =
      3   =     =    [-]
    `).toBe("A1")
  })
})

describe("the votes on a slot", () => {
  const isVotedOn = (text: string, round = 1): boolean => {
    const picture = draw(text)
    return decide(picture, picture.vertices).committer.isVotedOn(Natural.round(round))
  }

  it("are complete with a quorum of votes for one of its vertices", () => {
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 = = = -")).toBe(true)
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 = = - -")).toBe(false)
    expect(isVotedOn("A B C D\n1 [./.] . . .\n2 aBCD aBCD aBCD ABCD")).toBe(true)
  })

  it("are complete with a quorum of blames", () => {
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 - BCD BCD BCD")).toBe(true)
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 - BCD BCD -")).toBe(false)
  })

  it("are incomplete with a quorum of vertices that disagree", () => {
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 = = BCD BCD")).toBe(false)
    expect(isVotedOn("A B C D\n1 [./.] . . .\n2 ABCD ABCD aBCD aBCD")).toBe(false)
  })

  it("are incomplete before anything is above the slot", () => {
    expect(isVotedOn("A B C D\n1 [.] . . .", 1)).toBe(false)
  })
})

describe("slots", () => {
  const picture = draw(`
        A      B      C      D
    1  [.]     .      .      .
    2   =     [=]     =      =
    3   =      =     [=]     =
    `)

  it("are forgotten up to the collected round", () => {
    const { committer } = decide(picture, picture.vertices)
    expect([committer.size, committer.verdictOf(Natural.round(1))?._tag]).toEqual([2, "Commit"])
    committer.collect(Natural.round(1))
    expect([committer.size, committer.verdictOf(Natural.round(1))]).toEqual([1, null])
    expect(committer.isVotedOn(Natural.round(2))).toBe(true)
  })

  it("cannot be forgotten before they are released", () => {
    const { committer, released } = decide(picture, picture.vertices)
    expect(released).toBe("A1")
    committer.collect(Natural.round(1))
    expect(() => committer.collect(Natural.round(2))).toThrow(/2 is undecided/)
  })

  it("must be decided before their vertices are collected", () => {
    const drawn = draw(`
        A     B     C     D
    1  [.]    .     .     .
    2   =    [=]    =    BCD
    3  ABD   ABD  [ACD]  ABC
    4   =     =     =    [=]
    5  [=]    =     =     =
    6   =    [=]    =     =
    `)
    const dag = new Dag(drawn.committee)
    const committer = new Committer(dag, drawn.schedule)
    for (const vertex of drawn.vertices) committer.add(dag.insert(vertex))
    dag.collect(Natural.round(1))
    expect(() => committer.release()).toThrow(/is certified but not in the DAG/)
  })

  it("are no longer counted once they are collected", () => {
    const dag = new Dag(picture.committee)
    const committer = new Committer(dag, picture.schedule)
    const [rounds, late] = [picture.vertices.slice(0, 11), picture.vertex("D3")]
    for (const vertex of rounds) committer.add(dag.insert(vertex))
    expect(committer.release()).toHaveLength(1)
    dag.collect(Natural.round(1))
    committer.collect(Natural.round(1))
    committer.add(dag.insert(late))
    expect([committer.size, committer.verdictOf(Natural.round(1))]).toEqual([1, null])
  })

  it("above the highest round are not kept", () => {
    const drawn = draw(`
        A     B     C     D
    1  [.]    .     .     .
    2   =    [=]   BCD   BCD
    3   =     =    [=]    =
    4   =     =     =    [=]
    5  [=]    =     =     =
    `)
    expect(decide(drawn, drawn.vertices).committer.size).toBe(5)
  })
})

describe("contradictions", () => {
  it("are reported for two certified vertices in one slot", () => {
    // B, C and D each vote for both vertices of A: more than a third is dishonest.
    const picture = draw(`
          A        B           C           D
      1  [./.]     .           .           .
      2  ABCD  [ABCD/aBCD] ABCD/aBCD   ABCD/aBCD
      3  ABCD    bcdA         [-]          -
      `)
    const { committer } = decide(picture, picture.vertices)
    expect(committer.contradiction).toEqual({
      _tag: "TwoCertified",
      round: 1,
      certified: [picture.vertex("A1").header.hash, picture.vertex("a1").header.hash],
    })
  })

  it("are reported for a verdict that a later quorum reverses", () => {
    const picture = draw(`
          A      B          C          D
      1  [.]     .          .          .
      2   -  [BCD/ABCD] BCD/ABCD  BCD/ABCD
      3  bcd   bcd        [bcd]        -
      `)
    const { committer, released } = decide(picture, picture.vertices)
    expect(released).toBe("skip")
    expect(committer.contradiction).toEqual({
      _tag: "VerdictReversed",
      round: 1,
      committed: picture.vertex("A1").header.hash,
    })
  })

  it("are reported for a committed slot that a later quorum skips", () => {
    const picture = draw(`
          A      B          C          D
      1  [.]     .          .          .
      2   =  [=/BCD]      =/BCD      =/BCD
      3  ABC    ABC       [ABC]        -
      `)
    const late = ["b2", "c2", "d2"].map((name) => picture.vertex(name))
    const order = [...picture.vertices.filter((vertex) => !late.includes(vertex)), ...late]
    const { committer, released } = decide(picture, order)
    expect(released).toBe("A1")
    expect(committer.contradiction).toEqual({ _tag: "VerdictReversed", round: 1, committed: null })
  })

  it("do not arise from a held-back verdict, which the anchor's history cannot change", () => {
    // A, B and C vote for B2 and blame it. Slot 1 waits for slot 4, and keeps slot 2 from being released.
    expect(
      verdicts(
        `
          A       B       C      D
      1  [.]      .       .      .
      2   =      [=]     BCD    BCD
      3 =/ACD   =/ACD  [=/ACD]   =
      4   =       =       =     [=]
      5  [=]      =      ABC    ABC
      6   =      [=]      =      =
      7   =       =      [=]     =
      `,
        5,
      ),
    ).toBe("? skip C3 ? A5")
  })

  it("cannot be caused by one dishonest member of four", () => {
    const picture = draw(`
          A      B      C      D
      1  [./.]   .      .      .
      2  ABCD  [ABCD]  aBCD   aBCD
      3   =      =     [=]     =
      4   =      =      =     [=]
      `)
    expect(decide(picture, picture.vertices).committer.contradiction).toBeNull()
  })
})
