/** A column's name; of figures, which stand at its right edge, so written. */
type Column = string | { readonly figures: string };

/** Names the columns of a table. `acts`: a last one has buttons, and a name for who hears it. */
export function TableHead({ columns, acts }: { columns: readonly Column[]; acts?: boolean }) {
  return (
    <thead>
      <tr>
        {columns.map((column, at) => {
          const [name, kind] =
            typeof column === 'string' ? [column, undefined] : [column.figures, 'number'];
          // Two versions that are compared may be one.
          return (
            <th key={`${at} ${name}`} scope="col" class={kind}>
              {name}
            </th>
          );
        })}
        {acts && (
          <th scope="col">
            <span class="only-read">What can be done</span>
          </th>
        )}
      </tr>
    </thead>
  );
}
