/** Text signed outside of any transaction, for example to prove control of an account. */
import * as Binary from "../encoding/Binary.js"
import * as Hash from "./Hash.js"

/** A domain of its own, so that no signed text can be a transaction or a vertex. */
const SIGNATURE_DOMAIN = Binary.utf8("udg/message\0")

export const signedBytes = (text: string): Uint8Array => Hash.tagged(SIGNATURE_DOMAIN, [Binary.utf8(text)])
