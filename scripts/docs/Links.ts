/** Checks that every link of the site leads somewhere, from the HTML alone. */
import { posix } from "node:path"

export type Files = ReadonlyMap<string, string | Uint8Array>

const attributes = (html: string, name: string): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value = ""]) => value.replaceAll("&amp;", "&"))

const isElsewhere = (target: string): boolean => /^[a-z][a-z+.-]*:/i.test(target)

/** A line for each link that is broken or leaves the site's folder. */
export const broken = (files: Files): ReadonlyArray<string> => {
  const anchors = new Map(
    [...files].flatMap(([path, file]) =>
      typeof file === "string" ? [[path, new Set(attributes(file, "id"))] as const] : [],
    ),
  )
  const complaint = (path: string, target: string): string | undefined => {
    if (isElsewhere(target)) return undefined
    const [to = "", anchor] = target.split("#", 2)
    const file = to === "" ? path : posix.join(posix.dirname(path), to)
    if (to.startsWith("/") || file.startsWith("..")) return `${path}: ${target} leaves the site`
    if (!files.has(file)) return `${path}: ${target} is not there`
    if (anchor === undefined || anchors.get(file)?.has(decodeURIComponent(anchor)) === true) return undefined
    return `${path}: ${target} has no such place`
  }
  return [...files].flatMap(([path, file]) => {
    if (typeof file !== "string" || !path.endsWith(".html")) return []
    const targets = new Set([...attributes(file, "href"), ...attributes(file, "src")])
    return [...targets].flatMap((target) => complaint(path, target) ?? [])
  })
}
