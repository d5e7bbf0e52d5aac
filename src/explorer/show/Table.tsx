import type { ComponentChildren } from "preact"

export interface Column<A> {
  readonly title: string
  /** Aligned right, so that figures can be compared. */
  readonly isFigure?: boolean
  /** Hidden on a narrow screen. */
  readonly isMinor?: boolean
  readonly of: (row: A) => ComponentChildren
}

interface Props<A> {
  /** The content of the table, for screen readers. */
  readonly caption: string
  readonly rows: ReadonlyArray<A>
  readonly keyOf: (row: A) => string | number
  readonly columns: ReadonlyArray<Column<A>>
  /** Shown instead of an empty table. */
  readonly empty: string
}

const classOf = ({ isFigure = false, isMinor = false }: { readonly isFigure?: boolean; readonly isMinor?: boolean }) =>
  `${isFigure ? "num" : ""}${isMinor ? " minor" : ""}`

/** A list with as many columns as fit. */
export function Table<A>({ caption, rows, keyOf, columns, empty }: Props<A>) {
  if (rows.length === 0) return <p class="notice empty">{empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is too wide is scrolled with the keyboard too
    <section class="table" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
