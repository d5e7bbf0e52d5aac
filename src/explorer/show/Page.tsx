import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"

interface Props {
  readonly title: string
  /** Beside the title: what kind of thing this is. */
  readonly kind?: string | undefined
  readonly about?: ComponentChildren
  readonly children: ComponentChildren
}

let isFirst = true

/** A page under its title. The title takes the focus, so that a screen reader says where one has come to. */
export const Page = ({ title, kind, about, children }: Props) => {
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
      {children}
    </>
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
      {children}
    </section>
  )
}

/** Terms and what stands behind them. */
export const Facts = ({ of }: { readonly of: ReadonlyArray<readonly [term: string, value: ComponentChildren]> }) => (
  <dl class="facts">
    {of.map(([term, value]) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
