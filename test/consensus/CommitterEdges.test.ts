/** Leaders that say two things, committees of other weights, and slots. */
import { describe, expect, it } from "vitest"
import { Committer } from "../../src/consensus/commit/Committer.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { draw } from "./Picture.js"
import { decide, released, verdicts } from "./Verdicts.js"

describe("equivocation", () => {
  it("a leader with split votes is decided for the vertex that the anchor's history certifies", () => {
    // A1 has three votes, a1 one. Only D3 knows all three.
    expect(
      released(`
          A      B      C      D
      1  [./.]   .      .      .
      2  ABCD  [ABCD]  ABCD   aBCD
      3  ABD    ABD   [ABD]   ABC
      4   =      =      =     [=]
      5  [=]     =      =      =
      6   =     [=]     =      =
      `),
    ).toBe("A1 B2 C3 D4")
  })

  it("the second vertex of a leader slot can be the committed one", () => {
    expect(
      released(`
          A      B      C      D
      1  [./.]   .      .      .
      2  ABCD  [aBCD]  aBCD   aBCD
      3   =      =     [=]     =
      `),
    ).toBe("a1")
  })

  it("a leader whose votes are split evenly is neither voted for nor blamed, and skipped by the anchor", () => {
    const split = `
          A      B      C      D
      1  [./.]   .      .      .
      2  ABCD  [ABCD]  aBCD   aBCD
      3   =      =     [=]     =
      `
    expect(verdicts(split, 1)).toBe("?")
    expect(
      released(`${split}
      4   =      =      =     [=]
      5  [=]     =      =      =
      6   =     [=]     =      =
      `),
    ).toBe("skip B2 C3 D4")
  })

  it("a voter that votes twice for one vertex counts once", () => {
    // A1 has votes of A and B, both of B's: two of four, however many vertices.
    expect(
      released(`
          A      B        C      D
      1  [.]     .        .      .
      2   =   [=/ABC]    BCD    BCD
      3  ABCD  ABCD    [AbCD]   AbCD
      `),
    ).toBe("")
  })

  it("a blamer that blames twice counts once", () => {
    expect(
      released(`
          A     B          C     D
      1  [.]    .          .     .
      2   -  [BCD/BCD]    BCD    -
      `),
    ).toBe("")
  })

  it("a voter that votes and blames counts on either side, and the certificate needs its vote", () => {
    // B2 votes for A1, b2 blames. Those who name B2 certify.
    expect(
      released(`
          A     B         C     D
      1  [.]    .         .     .
      2   =  [ABCD/BCD]   =    BCD
      3  ABC   ABC      [ABC]  AbCD
      `),
    ).toBe("A1")
  })

  it("an author that certifies twice counts once", () => {
    expect(
      released(`
          A        B      C     D
      1  [.]       .      .     .
      2   =       [=]     =     =
      3  =/ABC  =/ABD    [-]    -
      `),
    ).toBe("")
  })
})

describe("committees", () => {
  it("of one: every round commits two rounds later", () => {
    expect(
      released(`
          A
      1  [.]
      2  [A]
      3  [A]
      4  [A]
      `),
    ).toBe("A1 A2")
  })

  it("of seven: five certify, two may be silent", () => {
    expect(
      released(`
          A    B    C    D    E    F    G
      1  [.]   .    .    .    .    .    .
      2   =   [=]   =    =    =    -    -
      3   =    =   [=]   =    =    -    -
      `),
    ).toBe("A1")
    expect(
      released(`
          A    B    C    D    E    F    G
      1  [.]   .    .    .    .    .    .
      2   =   [=]   =    =    =    -    -
      3   =    =   [=]   =    -    -    -
      `),
    ).toBe("")
  })

  it("of ten: seven certify, three may be silent", () => {
    expect(
      released(`
          A    B    C    D    E    F    G    H    I    J
      1   .    .   [.]   .    .    .    .    .    .    .
      2   =   [=]   =    =    =    =    =    -    -    -
      3   =    =    =    =    =    =   [=]   -    -    -
      `),
    ).toBe("C1")
    expect(
      released(`
          A    B    C    D    E    F    G    H    I    J
      1   .    .   [-]   .    .    .    .    .    .    .
      2   =   [=]   -    =    =    =    =    =    -    -
      `),
    ).toBe("skip")
  })

  it("weigh by stake, not by heads", () => {
    // A and B hold nine of twelve; the other three are nothing without them.
    expect(
      released(`
         A:5   B:4   C:1   D:1   E:1
      1  [.]    .     .     .     .
      2   =    [=]    -     -     -
      3   =     =    [-]    -     -
      `),
    ).toBe("A1")
    expect(
      released(`
         A:5   B:4   C:1   D:1   E:1
      1   .    [.]    .     .     .
      2   =     -     =     =    [=]
      3   =     -     =     =    [=]
      `),
    ).toBe("")
  })

  it("exactly two thirds are no quorum", () => {
    expect(
      released(`
         A:2   B:2   C:2
      1  [.]    .     .
      2   =    [=]    =
      3   =     =    [-]
      `),
    ).toBe("")
    expect(
      released(`
         A:2   B:3   C:2
      1  [.]    .     .
      2   =    [=]    =
      3   =     =    [-]
      `),
    ).toBe("A1")
  })
})

describe("a slot is voted on", () => {
  const isVotedOn = (text: string, round = 1): boolean => {
    const picture = draw(text)
    return decide(picture, picture.vertices).committer.isVotedOn(Natural.round(round))
  }

  it("with a quorum of votes for one vertex of it", () => {
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 = = = -")).toBe(true)
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 = = - -")).toBe(false)
    expect(isVotedOn("A B C D\n1 [./.] . . .\n2 aBCD aBCD aBCD ABCD")).toBe(true)
  })

  it("with a quorum of blames", () => {
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 - BCD BCD BCD")).toBe(true)
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 - BCD BCD -")).toBe(false)
  })

  it("not with a quorum of vertices that do not agree", () => {
    expect(isVotedOn("A B C D\n1 [.] . . .\n2 = = BCD BCD")).toBe(false)
    expect(isVotedOn("A B C D\n1 [./.] . . .\n2 ABCD ABCD aBCD aBCD")).toBe(false)
  })

  it("not before anything is above it", () => {
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

  it("are forgotten up to the round that is collected", () => {
    const { committer } = decide(picture, picture.vertices)
    expect([committer.size, committer.verdictOf(Natural.round(1))?._tag]).toEqual([2, "Commit"])
    committer.collect(Natural.round(1))
    expect([committer.size, committer.verdictOf(Natural.round(1))]).toEqual([1, null])
    expect(committer.isVotedOn(Natural.round(2))).toBe(true)
  })

  it("are not forgotten before they are released: that would be a bug", () => {
    const { committer, released } = decide(picture, picture.vertices)
    expect(released).toBe("A1")
    committer.collect(Natural.round(1))
    expect(() => committer.collect(Natural.round(2))).toThrow(/2 is undecided/)
  })

  it("are decided before their vertices are collected: anything else would be a bug", () => {
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

  it("are not counted any more once they are collected", () => {
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
  it("two certified vertices in one slot are reported", () => {
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

  it("a verdict that a later quorum reverses is reported", () => {
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

  it("a committed slot that a later quorum skips is reported", () => {
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

  it("a verdict that is held back stays, whatever the anchor's history certifies", () => {
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

  it("one dishonest member of four brings none about", () => {
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
