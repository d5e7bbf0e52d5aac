/** The part of curl that the pages use, so that their requests are sent as printed, also where curl is missing. */

export interface Request {
  readonly url: string
  readonly init: RequestInit
}

/** A URL, headers and a body; other features of curl must be added here first. */
export const parse = (command: string): Request => {
  const words = [...command.replaceAll("\\\n", " ").matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? "",
  )
  const [program, url = "", ...rest] = words
  if (program !== "curl") throw new Error(`not a request by curl: ${command}`)
  const headers: Record<string, string> = {}
  let body: string | undefined
  for (let i = 0; i < rest.length; i += 2) {
    const value = rest[i + 1] ?? ""
    if (rest[i] === "-H") headers[value.split(": ")[0] ?? ""] = value.split(": ")[1] ?? ""
    else if (rest[i] === "-d") body = value
    else throw new Error(`a page uses ${rest[i]} of curl, which the tests do not know`)
  }
  return { url, init: body === undefined ? { headers } : { method: "POST", headers, body } }
}
