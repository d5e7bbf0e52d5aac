/**
 * The site's only script: search, copy buttons, the menu on a phone, and reference entries that open when a link leads
 * to them.
 */
import { type Entry, type Found, over } from "./Search.js"

declare global {
  interface Window {
    /** Set by search-index.js. */
    udgEntries?: ReadonlyArray<Entry>
  }
}

const top = document.documentElement.dataset["top"] ?? ""

/** A script rather than a JSON request, which a page opened from a folder cannot make. */
const load = (): Promise<ReadonlyArray<Entry>> =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = `${top}search-index.js`
    script.onload = () => resolve(window.udgEntries ?? [])
    script.onerror = () => reject(new Error("search-index.js is missing"))
    document.head.append(script)
  })

const only = <E extends Element>(selector: string, kind: new () => E): E => {
  const found = document.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`the page lacks ${selector}`)
  return found
}

const input = only("#search", HTMLInputElement)
const results = only("#results", HTMLElement)
input.hidden = false

const row = ({ entry, excerpt }: Found): HTMLElement => {
  const link = document.createElement("a")
  link.href = top + entry.address
  const title = document.createElement("b")
  title.textContent = entry.title
  const page = document.createElement("i")
  page.textContent = entry.page === entry.title ? "" : entry.page
  const text = document.createElement("span")
  text.textContent = excerpt
  link.append(title, " ", page, text)
  return link
}

let searching: Promise<(asked: string) => ReadonlyArray<Found>> | undefined

const search = async (): Promise<void> => {
  const asked = input.value.trim()
  results.hidden = asked === ""
  if (asked === "") return
  searching ??= load().then(over)
  const found = (await searching)(asked)
  if (input.value.trim() !== asked) return
  const none = document.createElement("p")
  none.textContent = `Nothing about “${asked}”.`
  results.replaceChildren(...(found.length === 0 ? [none] : found.map(row)))
}

const show = (): void => {
  search().catch((error: unknown) => {
    searching = undefined
    results.textContent = `The search does not work: ${String(error)}`
  })
}

input.addEventListener("input", show)
input.addEventListener("focus", show)

const links = (): ReadonlyArray<HTMLAnchorElement> => [...results.querySelectorAll("a")]

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key === "/" && !isTyping) {
    event.preventDefault()
    input.focus()
  }
  if (event.key === "Escape") {
    results.hidden = true
    input.blur()
  }
  const all = links()
  if (results.hidden || all.length === 0) return
  if (event.key === "Enter" && isTyping) all[0]?.click()
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
  if (step === 0) return
  event.preventDefault()
  const focused = document.activeElement
  const at = (focused instanceof HTMLAnchorElement ? all.indexOf(focused) : -1) + step
  if (at < 0) input.focus()
  else all[Math.min(at, all.length - 1)]?.focus()
})

document.addEventListener("click", (event) => {
  const inside = event.target instanceof Node && (results.contains(event.target) || event.target === input)
  if (!inside || event.target instanceof HTMLAnchorElement) results.hidden = true
})
results.addEventListener("click", () => {
  results.hidden = true
})

/** Copies only the typed lines of a terminal session, not the output. */
const typedIn = (block: HTMLElement): string => {
  const typed = [...block.querySelectorAll("b")].map(({ textContent }) => textContent.replace(/^\$ /, ""))
  return typed.length > 0 ? typed.join("\n") : block.textContent
}

for (const block of document.querySelectorAll<HTMLElement>("pre")) {
  const button = document.createElement("button")
  button.textContent = "Copy"
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(typedIn(block))
      button.textContent = "Copied"
    } catch {
      // Without access to the clipboard the code is selected, to be copied by hand.
      getSelection()?.selectAllChildren(block)
    }
  })
  const frame = document.createElement("div")
  frame.className = "code"
  block.replaceWith(frame)
  frame.append(block, button)
}

const openTarget = (): void => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!(target instanceof HTMLDetailsElement)) return
  target.open = true
  target.scrollIntoView()
}
addEventListener("hashchange", openTarget)
openTarget()

// On a phone the menu starts closed. Without this script it is open.
const menu = only("#menu", HTMLDetailsElement)
if (matchMedia("(max-width: 900px)").matches) menu.open = false
else {
  // Scrolls the menu alone: scrollIntoView would scroll the page too.
  const current = menu.querySelector<HTMLElement>("[aria-current]")
  const side = menu.closest(".side")
  if (current !== null && side !== null) side.scrollTop = current.offsetTop - side.clientHeight / 2
}
