interface Props {
  /** The cursors of all pages up to this one. */
  readonly pages: ReadonlyArray<string>
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
  readonly turnTo: (pages: ReadonlyArray<string>) => void
  /** What the pages contain, for screen readers. */
  readonly what: string
}

/** Buttons for newer and older entries. They keep the focus at either end and disappear if there is one page. */
export const Pager = ({ pages, next, turnTo, what }: Props) =>
  pages.length === 0 && next === null ? null : (
    <nav class="pager" aria-label={`Pages of the ${what}`}>
      <button
        type="button"
        class="button"
        aria-disabled={pages.length === 0}
        onClick={() => pages.length > 0 && turnTo(pages.slice(0, -1))}
      >
        ← Newer
      </button>
      <button
        type="button"
        class="button"
        aria-disabled={next === null}
        onClick={() => next !== null && turnTo([...pages, next])}
      >
        Older →
      </button>
    </nav>
  )
