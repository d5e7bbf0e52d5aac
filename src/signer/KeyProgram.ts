/**
 * A key behind a program that the signer starts, so that an HSM or a cloud KMS can hold it. The program first writes its
 * public key, then one signature for each message that it reads: a line of hex each. It ends when its input does.
 *
 * It gets one message at a time. If it ends, is late or gives a wrong signature, the signer ends too: what it signs next
 * is on its disk, and is asked for again.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect, Schema, type Scope } from "effect"
import { toHex } from "#crypto"
import * as Keys from "../protocol/identity/Keys.js"
import * as Verification from "../protocol/transaction/Verification.js"
import { type HeldKey, KeyProgramFailed } from "./HeldKey.js"

export interface Patience {
  /** Until the public key: a token may have to be found and unlocked. */
  readonly startMs: number
  readonly signatureMs: number
}

const STANDARD: Patience = { startMs: 15_000, signatureMs: 4_000 }

/** Between the request to end and the kill. */
const END_MS = 2_000

/** All that the program gets of the signer's environment, which can hold passphrases. */
export const VARIABLES = ["PATH", "HOME", "LANG", "SOFTHSM2_CONF"] as const

export type Environment = Readonly<Partial<Record<(typeof VARIABLES)[number], string>>>

const publicKeyIn = Schema.decodeOption(Keys.PublicKey)
const signatureIn = Schema.decodeOption(Keys.Signature)

/** A signature with some slack. */
const MAX_LINE = 1_024
const MAX_COMPLAINT = 300

/** Invariant: at most one line is awaited, and after an end no other line arrives. */
class Lines {
  readonly #child: ChildProcess
  #held = ""
  /** The last line of its error output, which usually says why it ended. */
  #complaint = ""
  #ended: string | null = null
  #waiting: { readonly line: (text: string) => void; readonly end: (reason: string) => void } | null = null

  constructor([program = "", ...words]: ReadonlyArray<string>, environment: Environment) {
    this.#child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"], env: environment })
    const { stdin, stdout, stderr } = this.#child
    this.#child.on("error", ({ message }) => this.#end(`cannot be started: ${message}`))
    this.#child.once("close", (code, signal) => this.#end(`ended with ${signal ?? `exit code ${code}`}`))
    stdin?.on("error", () => {})
    stdout?.setEncoding("latin1").on("data", (piece: string) => this.#take(piece))
    stderr?.setEncoding("utf8").on("data", (piece: string) => {
      const lines = `${this.#complaint}${piece}`.trimEnd().split("\n")
      this.#complaint = `${lines.at(-1) ?? ""}${piece.endsWith("\n") ? "\n" : ""}`.slice(-MAX_COMPLAINT)
    })
  }

  next(): Promise<string> {
    return new Promise((resolve, reject) => {
      const end = (reason: string): void => reject(new Error(reason))
      if (this.#ended !== null) return end(this.#ended)
      this.#waiting = { line: resolve, end }
    })
  }

  ask(line: string): Promise<string> {
    const answer = this.next()
    this.#child.stdin?.write(`${line}\n`)
    return answer
  }

  /** Ends the program, and is over when it has ended. */
  stop(): Promise<void> {
    this.#child.stdin?.end()
    this.#child.kill()
    return new Promise((resolve) => {
      const { pid, exitCode, signalCode } = this.#child
      if (pid === undefined || exitCode !== null || signalCode !== null) return resolve()
      const timer = setTimeout(() => this.#child.kill("SIGKILL"), END_MS)
      this.#child.once("exit", () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #take(piece: string): void {
    this.#held += piece
    const end = this.#held.indexOf("\n")
    if (end < 0) {
      if (this.#held.length > MAX_LINE) this.#end("wrote a line that is too long")
      return
    }
    const [line, rest] = [this.#held.slice(0, end).trim(), this.#held.slice(end + 1)]
    const waiting = this.#waiting
    if (waiting === null || rest !== "") {
      this.#end("wrote an unrequested line")
      return
    }
    this.#held = ""
    this.#waiting = null
    waiting.line(line)
  }

  #end(reason: string): void {
    if (this.#ended !== null) return
    const complaint = this.#complaint.trim().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    this.#ended = complaint === "" ? reason : `${reason}: ${complaint}`
    this.#waiting?.end(this.#ended)
    this.#waiting = null
    void this.stop()
  }
}

/** Starts the program, whose words are separated by spaces, and stops it when the scope ends. */
export const start = (
  command: string,
  environment: Environment,
  patience: Patience = STANDARD,
): Effect.Effect<HeldKey, KeyProgramFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const words = command.split(/\s+/).filter((word) => word !== "")
    const failed = (reason: string) => new KeyProgramFailed({ program: words[0] ?? "", reason })
    const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
    const lines = yield* Effect.acquireRelease(
      Effect.try({
        try: () => new Lines(words, environment),
        catch: (cause) => failed(`cannot be started: ${messageOf(cause)}`),
      }),
      (opened) => Effect.promise(() => opened.stop()),
    )
    const within = (ms: number, what: string, line: () => Promise<string>) =>
      Effect.tryPromise({
        try: line,
        catch: (cause) => failed(messageOf(cause)),
      }).pipe(Effect.timeoutFail({ duration: ms, onTimeout: () => failed(`gave no ${what} for ${ms / 1_000} s`) }))
    const named = yield* within(patience.startMs, "public key", () => lines.next())
    const publicKey = yield* Effect.mapError(publicKeyIn(named.toLowerCase()), () =>
      failed(`did not begin with a public key of ${2 * Keys.PUBLIC_KEY_BYTES} hex characters`),
    )
    const turns = yield* Effect.makeSemaphore(1)
    return {
      publicKey,
      sign: (message) =>
        Effect.gen(function* () {
          const line = yield* within(patience.signatureMs, "signature", () => lines.ask(toHex(message)))
          const signature = yield* Effect.mapError(signatureIn(line.toLowerCase()), () => failed("gave no signature"))
          if (!Verification.isStrictlyValid({ message, publicKey, signature })) {
            return yield* failed("gave a signature that is not valid")
          }
          return signature
        }).pipe(turns.withPermits(1)),
    }
  })
