/** The subset of curl that the pages use. Their requests are sent as printed, even where curl is missing. */

export interface Request {
  readonly url: string
  readonly init: RequestInit
}

/** Parses a URL, headers and a body. Add other features of curl here before a page uses them. */
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
