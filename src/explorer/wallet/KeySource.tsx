/** Imports an existing key: typed in hex, as 24 words, or from a file of `udg`. */
import { useState } from "preact/hooks"
import * as Wallet from "../../client/Wallet.js"
import { Labelled, Secret } from "./Input.js"

export interface Source {
  readonly kind: "hex" | "words" | "file"
  readonly text: string
  /** The content of the file. */
  readonly file: string
  /** The file's passphrase. */
  readonly passphrase: string
}

export const NOTHING: Source = { kind: "hex", text: "", file: "", passphrase: "" }

/** The word list is loaded only when it is needed. */
const mnemonic = () => import("../../client/Mnemonic.js")

const fromWords = async (text: string): Promise<Wallet.SecretKey> => {
  const { parse, complaint } = await mnemonic()
  const found = parse(text)
  if (found._tag === "None") throw new Wallet.InvalidInput(complaint)
  return found.value
}

/** An encrypted file, or plain text as nodes and `udg keys export` write it. */
const fromFile = async (content: string, passphrase: string): Promise<Wallet.SecretKey> => {
  if (content === "") throw new Wallet.InvalidInput("choose a key file")
  if (isEncrypted(content)) return Wallet.restoreKey(content, passphrase)
  const text = content.trim()
  if (/^[0-9a-f]{64}$/i.test(text)) return Wallet.secretKey(text)
  return fromWords(text).catch(() => {
    throw new Wallet.InvalidInput("this is not a key file of udg")
  })
}

const isEncrypted = (content: string): boolean => content.includes("udg_key")

export const keyOf = async ({ kind, text, file, passphrase }: Source): Promise<Wallet.SecretKey> => {
  switch (kind) {
    case "hex":
      return Wallet.secretKey(text.trim())
    case "words":
      return fromWords(text)
    case "file":
      return fromFile(file, passphrase)
  }
}

const kinds: Readonly<Record<Source["kind"], string>> = {
  hex: "64 hex characters",
  words: "24 words",
  file: "a key file",
}

/** Key files have some hundred bytes. */
const LARGEST_FILE = 65_536

interface Props {
  readonly id: string
  readonly value: Source
  readonly onChange: (source: Source) => void
}

const Typed = ({ id, label, value, onChange }: Props & { readonly label: string }) => {
  const [isShown, setIsShown] = useState(false)
  return (
    <>
      <Secret
        id={id}
        label={label}
        value={value.text}
        isKey
        isShown={isShown}
        onChange={(text) => onChange({ ...value, text })}
      />
      <label class="tick">
        <input type="checkbox" checked={isShown} onChange={({ currentTarget }) => setIsShown(currentTarget.checked)} />{" "}
        Show what I type
      </label>
    </>
  )
}

const File = ({ id, value, onChange }: Props) => {
  const read = async (file: Blob | undefined): Promise<void> => {
    const content = file === undefined || file.size > LARGEST_FILE ? "" : await file.text()
    onChange({ ...value, file: content })
  }
  return (
    <>
      <Labelled id={id} label="Key file" hint="such as wallet.key or validator.key">
        <input
          id={id}
          type="file"
          onChange={({ currentTarget }) => void read(currentTarget.files?.[0])}
          aria-describedby={`${id}-hint`}
        />
      </Labelled>
      {isEncrypted(value.file) ? (
        <Secret
          id={`${id}-passphrase`}
          label="The file's passphrase"
          value={value.passphrase}
          onChange={(passphrase) => onChange({ ...value, passphrase })}
        />
      ) : undefined}
    </>
  )
}

export const KeySource = ({ id, value, onChange }: Props) => {
  const props = { id, value, onChange }
  return (
    <>
      <Labelled id={`${id}-kind`} label="As">
        <select
          id={`${id}-kind`}
          value={value.kind}
          onChange={({ currentTarget }) => {
            const kind = currentTarget.value
            // Input of one form does not carry over to another.
            if (kind === "hex" || kind === "words" || kind === "file") onChange({ ...NOTHING, kind })
          }}
        >
          {Object.entries(kinds).map(([kind, name]) => (
            <option key={kind} value={kind}>
              {name}
            </option>
          ))}
        </select>
      </Labelled>
      {value.kind === "hex" ? <Typed {...props} label="Secret key, 64 hex characters" /> : undefined}
      {value.kind === "words" ? <Typed {...props} label="The 24 words, with spaces between them" /> : undefined}
      {value.kind === "file" ? <File {...props} /> : undefined}
    </>
  )
}
