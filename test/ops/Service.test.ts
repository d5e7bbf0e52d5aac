/** The systemd unit and the nginx example fit the program. */
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import * as GatewayCommand from "../../src/cli/GatewayCommand.js"
import * as NodePassphrase from "../../src/cli/keys/NodePassphrase.js"
import * as Setting from "../../src/cli/settings/Setting.js"
import { HEARTBEAT_MS } from "../../src/edge/server/EventStreams.js"
import * as Ending from "../../src/node/lifecycle/Ending.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { isTried, options, optionsIn, textOf, variables, variablesIn } from "./Kit.js"

const verified = (text: string) => {
  const file = join(TemporaryFolder.forTest("unit"), "udg.service")
  // The program itself is not installed on the test machine.
  writeFileSync(file, text.replace("/usr/local/bin/udg", process.execPath))
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" })
  return { status, said: stdout + stderr }
}

/** The last value of a setting; some settings occur several times in a unit. */
const settingsOf =
  (unit: string) =>
  (setting: string): string | undefined =>
    [...unit.matchAll(new RegExp(`^${setting}=(.*)$`, "gm"))].map(([, value]) => value).at(-1)

describe.each(["udg.service", "udg-archive.service"])("the systemd unit %s", (name) => {
  const unit = textOf(`systemd/${name}`)
  const settingOf = settingsOf(unit)

  it("restarts on failure, but never after exit codes that need a person", () => {
    expect(settingOf("Restart")).toBe("on-failure")
    const tags = ["FinalityRollback", "SupplyViolation", "InternalFault", "UpgradeNeeded"]
    const fatal = tags.map((_tag) => Ending.exitCodeOf({ _tag }))
    expect(settingOf("RestartPreventExitStatus")).toBe(fatal.join(" "))
  })

  it("sets deviations from the defaults in existing variables, which the environment file can override", () => {
    const used = variablesIn(settingOf("Environment") ?? "")
    expect(used).toStrictEqual(["UDG_DATA_DIR", "UDG_LOG_FORMAT"])
    expect(used.filter((variable) => !variables.has(variable))).toStrictEqual([])
    // An option would override the file, and a later setting an earlier one.
    expect(optionsIn(settingOf("ExecStart") ?? "")).toStrictEqual([])
    expect(unit.indexOf("\nEnvironment=")).toBeLessThan(unit.indexOf("\nEnvironmentFile="))
  })

  it("waits until the node is ready, receives its notifications, and ends a node that hangs", () => {
    expect(settingOf("Type")).toBe("notify")
    expect(settingOf("NotifyAccess")).toBe("all")
    expect(Number(settingOf("WatchdogSec"))).toBeGreaterThanOrEqual(30)
  })

  it("restricts the key directory to the service's own user", () => {
    expect(settingOf("StateDirectoryMode")).toBe("0700")
    expect(settingOf("UMask")).toBe("0077")
    expect(settingOf("LimitCORE")).toBe("0")
    expect(settingOf("User")).not.toBe("root")
    expect(settingOf("Environment")).toContain(`UDG_DATA_DIR=/var/lib/${settingOf("StateDirectory")} `)
  })

  it("allows what compiling JavaScript needs", () => {
    expect(settingOf("MemoryDenyWriteExecute")).toBeUndefined()
  })

  describe.runIf(isTried("systemd-analyze", "--version"))("systemd", () => {
    it("accepts it", () => {
      expect(verified(unit)).toStrictEqual({ status: 0, said: "" })
    })

    it("reports an unknown setting", () => {
      const { said } = verified(unit.replace("NoNewPrivileges=", "NoMorePrivileges="))
      expect(said).toContain("NoMorePrivileges")
    })
  })
})

describe("the credential of the systemd unit udg.service", () => {
  const unit = textOf("systemd/udg.service")
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/operations/keys.md"), "utf8")
  const line = /^#(LoadCredentialEncrypted=.+)$/m.exec(unit)?.[1] ?? ""

  it("has the name that the node looks for, as in the manual", () => {
    expect(line).toMatch(new RegExp(`^LoadCredentialEncrypted=${NodePassphrase.CREDENTIAL}:/`))
    expect(page).toContain(`[Service]\n    ${line}\n`)
    expect(page).toContain(`systemd-creds encrypt --name=${NodePassphrase.CREDENTIAL} - ${line.split(":")[1]}\n`)
  })

  it.runIf(isTried("systemd-analyze", "--version"))(
    "is accepted by systemd, with a key file as a credential too",
    () => {
      const own = "LoadCredential=validator.key:/etc/udg/validator.key\nEnvironment=UDG_VALIDATOR_KEY=%d/validator.key"
      expect(verified(unit.replace(`#${line}`, `${line}\n${own}`))).toStrictEqual({ status: 0, said: "" })
      expect(verified(unit.replace(`#${line}`, line.replace("Load", "Lode"))).said).toContain("LodeCredential")
    },
  )
})

describe("the systemd unit udg-archive.service", () => {
  it("never gives up on a missing database, however many minutes", () => {
    expect(settingsOf(textOf("systemd/udg-archive.service"))("StartLimitIntervalSec")).toBe("0")
  })
})

describe("the systemd unit udg-gateway.service", () => {
  const unit = textOf("systemd/udg-gateway.service")
  const settingOf = settingsOf(unit)

  it("retries until its database is there unless its program is too old, and has no directory", () => {
    expect(settingOf("Restart")).toBe("always")
    expect(settingOf("RestartPreventExitStatus")).toBe(String(Ending.exitCodeOf({ _tag: "UpgradeNeeded" })))
    expect(settingOf("StartLimitIntervalSec")).toBe("0")
    expect(settingOf("StateDirectory")).toBeUndefined()
    expect(settingOf("ProtectSystem")).toBe("strict")
    expect(settingOf("User")).not.toBe("root")
  })

  it("names existing variables of a gateway, which the environment file can override, and all required ones", () => {
    const variables = new Set(Object.values(GatewayCommand.settings).map((setting) => Setting.variableOf(setting)))
    expect(variablesIn(unit).filter((variable) => variable !== "UDG_" && !variables.has(variable))).toStrictEqual([])
    for (const needed of ["UDG_GENESIS", "UDG_DATABASE", "UDG_NODE"]) expect(variablesIn(unit)).toContain(needed)
    expect(optionsIn(settingOf("ExecStart") ?? "")).toStrictEqual([])
    expect(unit.indexOf("\nEnvironment=")).toBeLessThan(unit.indexOf("\nEnvironmentFile="))
  })

  it("allows what compiling JavaScript needs", () => {
    expect(settingOf("MemoryDenyWriteExecute")).toBeUndefined()
  })

  it.runIf(isTried("systemd-analyze", "--version"))("is accepted by systemd, but not with an unknown setting", () => {
    expect(verified(unit)).toStrictEqual({ status: 0, said: "" })
    expect(verified(unit.replace("RestrictRealtime=", "RestrictUnrealtime=")).said).toContain("RestrictUnrealtime")
  })
})

describe("the nginx example", () => {
  const conf = textOf("nginx/udg.conf")

  it("forwards to the port on which the node serves by default", () => {
    expect(conf).toContain("server 127.0.0.1:10333;")
  })

  it("names existing options of the node", () => {
    expect(optionsIn(conf).filter((option) => !options.has(option))).toStrictEqual([])
    expect(variablesIn(conf).filter((variable) => !variables.has(variable))).toStrictEqual([])
  })

  it("appends the client to X-Forwarded-For, does not buffer events, and waits for three heartbeats", () => {
    expect(conf).toContain("proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;")
    for (const file of [conf, textOf("nginx/gateways.conf")]) {
      const [events = ""] = /location = \/events \{[^}]*/.exec(file) ?? []
      expect(events).toContain("proxy_buffering off;")
      expect(events).toContain(`proxy_read_timeout ${(3 * HEARTBEAT_MS) / 1_000}s;`)
    }
  })

  it("closes every block that it opens", () => {
    const code = conf.replace(/#.*$/gm, "")
    expect(code.split("{").length).toBe(code.split("}").length)
    for (const line of code.split("\n").map((text) => text.trim())) expect(line).toMatch(/^$|[{};]$/)
  })
})
