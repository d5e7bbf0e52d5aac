/** Peers exchange addresses: a node that opens the stream gets one message of addresses. */
import { Either } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as AddressBook from "../AddressBook.js"
import * as Frames from "../Frames.js"
import type { Clock, Stream } from "./Wire.js"

const ADDRESS_BYTES = 128
const MAX_BYTES = 1 + AddressBook.TOLD_AT_ONCE * (1 + ADDRESS_BYTES)
const LIMIT_MS = 10_000

/** Reads or writes within the limit; then the stream is aborted. */
const limited = async <A>(stream: Stream, clock: Clock, talk: () => Promise<A>): Promise<A> => {
  const cancel = clock.after(LIMIT_MS, () => stream.abort(new Error(`no addresses within ${LIMIT_MS} ms`)))
  try {
    return await talk()
  } finally {
    cancel()
  }
}

export const encode = (addresses: ReadonlyArray<string>): Uint8Array =>
  Binary.encode((writer) => writer.list8(addresses, (address) => writer.text8(address)))

export const decode = (bytes: Uint8Array): Either.Either<ReadonlyArray<string>, Binary.MalformedBytes> =>
  Binary.decode("addresses", bytes, (reader) =>
    reader.list8(AddressBook.TOLD_AT_ONCE, () => reader.text8(ADDRESS_BYTES)),
  )

export const tell = (stream: Stream, clock: Clock, addresses: ReadonlyArray<string>): Promise<void> =>
  limited(stream, clock, async () => {
    const sayable = addresses.filter((address) => address.length <= ADDRESS_BYTES)
    await stream.sink([Frames.framed(encode(sayable.slice(0, AddressBook.TOLD_AT_ONCE)))])
    await stream.close()
  })

/** Empty if the peer sends nothing, or something that is no list of addresses. */
export const ask = (stream: Stream, clock: Clock): Promise<ReadonlyArray<string>> =>
  limited(stream, clock, async () => {
    const { value } = await Frames.read(stream.source, MAX_BYTES).next()
    await stream.close()
    return value === undefined ? [] : Either.getOrElse(decode(value), () => [])
  })
