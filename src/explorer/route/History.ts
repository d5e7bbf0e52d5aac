/** Follows the browser's address without reloading the page. */
import { batch, signal } from "@preact/signals"
import * as Route from "./Route.js"

const here = (): Route.Route => Route.read(location.pathname, location.search)

export const route = signal<Route.Route>(here())

/** Changes with each visit, also if only the query differs, so that the page's own state is reset. */
export const visit = signal(0)

const arrive = (): void =>
  batch(() => {
    route.value = here()
    visit.value += 1
  })

/** Goes to a page of the explorer. */
export const go = (href: string): void => {
  if (href !== location.pathname + location.search) history.pushState(null, "", href)
  arrive()
  scrollTo(0, 0)
}

/** Goes there without a history entry, for pages that only redirect. */
export const replace = (href: string): void => {
  history.replaceState(null, "", href)
  route.value = here()
}

const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !event.defaultPrevented && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

/** Links stay ordinary links that can be copied and opened elsewhere. Plain clicks are handled here. */
const onClick = (event: MouseEvent): void => {
  const link = event.target instanceof Element ? event.target.closest("a") : null
  if (link === null || !isPlain(event) || link.target !== "" || link.hasAttribute("download")) return
  if (link.origin !== location.origin || !link.pathname.startsWith(Route.BASE) || link.hash !== "") return
  event.preventDefault()
  go(link.pathname + link.search)
}

export const follow = (): void => {
  addEventListener("popstate", arrive)
  document.addEventListener("click", onClick)
}
