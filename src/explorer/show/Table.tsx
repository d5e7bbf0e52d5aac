import type { ComponentChildren } from "preact"
import { AmountCell, ChangeCell, decimalsOf } from "./Amount.js"

interface Head {
  readonly title: string
  /** Aligned right, so that figures can be compared. */
  readonly isFigure?: boolean
  /**
   * On a narrow screen a row becomes a card. It begins with the first column; the others follow with their titles,
   * except:
   */
  readonly inCard?: "beside" | "untitled" | "hidden"
}

/** A column of anything, or of amounts with aligned decimal points. */
export type Column<A> = Head &
  (
    | { readonly of: (row: A) => ComponentChildren }
    | { readonly sats: (row: A) => number | undefined; readonly isChange?: boolean }
  )

interface Props<A> {
  /** The content of the table, for screen readers. */
  readonly caption: string
  readonly rows: ReadonlyArray<A>
  readonly keyOf: (row: A) => string | number
  readonly columns: ReadonlyArray<Column<A>>
  /** Shown instead of an empty table. */
  readonly empty: string
}

/** A column as it is drawn. */
interface Drawn<A> {
  readonly title: string
  readonly head: string
  readonly unit?: string
  readonly style: string
  readonly of: (row: A) => ComponentChildren
}

const drawn =
  <A,>(rows: ReadonlyArray<A>) =>
  (column: Column<A>): Drawn<A> => {
    const { title, isFigure = false, inCard = "titled" } = column
    if ("of" in column) return { title, head: title, style: `${isFigure ? "num " : ""}${inCard}`, of: column.of }
    const decimals = decimalsOf(rows.map(column.sats))
    const Cell = column.isChange === true ? ChangeCell : AmountCell
    return {
      ...{ title, head: `${title}, UDG`, unit: "UDG", style: `num ${inCard}` },
      of: (row) => <Cell sats={column.sats(row)} decimals={decimals} />,
    }
  }

/** A list as columns, or as cards on a narrow screen. */
export function Table<A>({ caption, rows, keyOf, columns, empty }: Props<A>) {
  if (rows.length === 0) return <p class="notice empty">{empty}</p>
  const all = columns.map(drawn(rows))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is too wide is scrolled with the keyboard too
    <section class="table" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {all.map(({ title, head, style }) => (
              <th key={title} scope="col" class={style}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {all.map(({ title, unit, style, of }) => (
                <td key={title} class={style} data-title={title} data-unit={unit}>
                  {of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
