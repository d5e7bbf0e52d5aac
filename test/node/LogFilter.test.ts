import { describe, expect, it } from "@effect/vitest"
import { LogLevel } from "effect"
import * as LogFilter from "../../src/node/log/LogFilter.js"

const levelFor = (directives: string, module: LogFilter.Module): LogFilter.Level | undefined => {
  const { filter } = LogFilter.parse(directives)
  return LogFilter.levels.findLast((level) => LogFilter.passes(filter, module, LogFilter.toLogLevel[level]))
}

describe("LogFilter", () => {
  it.each([
    ["", "mempool", "info"],
    ["error", "mempool", "error"],
    ["warn", "mempool", "warn"],
    ["debug", "mempool", "debug"],
    ["trace", "mempool", "trace"],
    ["info,mempool=debug,rpc=warn", "mempool", "debug"],
    ["info,mempool=debug,rpc=warn", "rpc", "warn"],
    ["info,mempool=debug,rpc=warn", "dag", "info"],
    ["mempool=debug", "dag", "info"],
    ["mempool=debug,error", "mempool", "debug"],
    ["mempool=debug,error", "dag", "error"],
    ["warn,debug", "dag", "debug"],
    ["rpc=debug,rpc=error", "rpc", "error"],
    [" Info , MemPool = DEBUG ,", "mempool", "debug"],
  ] as const)("with RUST_LOG=%j, %s speaks at %s", (directives, module, expected) => {
    expect(levelFor(directives, module)).toBe(expected)
  })

  it.each([
    "verbose",
    "off",
    "mempool",
    "mempool=",
    "mempool=loud",
    "=debug",
    "mempol=debug",
    "a=b=c",
    "udg::rpc=info",
  ])("rejects %j and quotes it as written", (directive) => {
    expect(LogFilter.parse(`warn,${directive},rpc=debug`).unreadable).toEqual([directive])
    expect(levelFor(`warn,${directive},rpc=debug`, "rpc")).toBe("debug")
    expect(levelFor(`warn,${directive},rpc=debug`, "dag")).toBe("warn")
  })

  it("is shown as directives, and changes for all its holders", () => {
    const described = (directives: string) => LogFilter.describe(LogFilter.parse(directives).filter)
    expect(described("dag=trace, error")).toBe("error,dag=trace")
    expect(described("")).toBe("info")
    const { filter } = LogFilter.parse("error")
    LogFilter.change(filter, LogFilter.parse("warn,rpc=debug").filter)
    expect(LogFilter.describe(filter)).toBe("warn,rpc=debug")
    expect(LogFilter.passes(filter, "rpc", LogLevel.Debug)).toBe(true)
  })

  it("shows Effect's levels as one of the five that a directive can name", () => {
    expect([LogLevel.Fatal, LogLevel.Error, LogLevel.Info, LogLevel.All].map(LogFilter.levelOf)).toEqual([
      "error",
      "error",
      "info",
      "trace",
    ])
  })
})
