import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { Boundary } from "./Boundary.js"
import { Loaded, type LoadedProps } from "./Loaded.js"

interface PageProps {
  readonly title: string
  /** The kind of thing, before the title. */
  readonly kind?: string | undefined
  readonly about?: ComponentChildren
  readonly children: ComponentChildren
}

let isFirst = true

/** A page with a title, which takes the focus so that a screen reader announces it. */
export const Page = ({ title, kind, about, children }: PageProps) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${kind === undefined ? "" : `${kind} `}${title} · udg`
  }, [title, kind])
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {kind === undefined ? undefined : <span class="kind">{kind} </span>}
          {title}
        </h1>
        {about === undefined ? undefined : <p class="about">{about}</p>}
      </header>
      <Boundary what="this page">{children}</Boundary>
    </>
  )
}

/** A page about one thing that is loaded from the node. */
export function LoadedPage<A>({ of, what, lines, children, ...page }: Omit<PageProps, "children"> & LoadedProps<A>) {
  return (
    <Page {...page}>
      <Loaded of={of} what={what} lines={lines}>
        {children}
      </Loaded>
    </Page>
  )
}

interface SectionProps {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
  readonly class?: string
}

export const Section = ({ title, aside, children, class: name = "" }: SectionProps) => {
  const id = `section-${title.toLowerCase().replaceAll(/\W+/g, "-")}`
  return (
    <section class={`section ${name}`} aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        {aside === undefined ? undefined : <div class="aside">{aside}</div>}
      </div>
      <Boundary what={`“${title}”`}>{children}</Boundary>
    </section>
  )
}

/** A term with its value. Terms without a value are omitted. */
export type Fact = readonly [term: string, value: ComponentChildren]

export const Facts = ({ of }: { readonly of: ReadonlyArray<Fact> }) => (
  <dl class="facts">
    {of.map(([term, value]) =>
      value === undefined || value === null ? undefined : (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
)

/** A problem, above the details. */
export const Problem = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="notice failed">
    <p>{children}</p>
  </div>
)
