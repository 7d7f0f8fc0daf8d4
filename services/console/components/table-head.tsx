type Layout = 'number' | 'wide' | 'wide number' | 'select'

/**
 * A column: its title, and its layout if it has one. `wide`: not on narrow screens. `isHidden`: the title is for screen readers
 * alone.
 */
type Column = string | { readonly title: string; readonly layout?: Layout; readonly isHidden?: true }

/** The head of a table. */
export const TableHead = ({ columns }: { columns: readonly (Column | false | undefined)[] }) => (
  <thead>
    <tr>
      {columns.map((column) => {
        if (column === false || column === undefined) return null
        const { title, layout, isHidden }: Exclude<Column, string> =
          typeof column === 'string' ? { title: column } : column
        return (
          <th key={title} scope="col" class={layout}>
            {isHidden ? <span class="hidden">{title}</span> : title}
          </th>
        )
      })}
    </tr>
  </thead>
)
