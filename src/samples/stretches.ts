import { type Ask, bothSets, compared } from './compared-tables.ts';
import type { Stretch } from './proof.ts';

/** Rows that one question may be about, so that each is answered within its time. */
const stretchRows = 5_000_000;

/** Days far beyond those that a sample can have; some writer may have passed the constraint by. */
const everyDay = { fromDay: -2_000_000_000, toDay: 2_000_000_000 };

/** Cuts the compared tables into stretches: small sources together, large ones by years. */
export async function stretchesOf(ask: Ask): Promise<Stretch[]> {
  const sources = await ask<{ source: string; rows: string }>(
    `SELECT toString(source_id) AS source, count() AS rows
     FROM (${everywhere('source_id', '')}) GROUP BY source_id ORDER BY source_id`,
  );
  const found: Stretch[] = [];
  for (const { source, rows: text } of sources) {
    const rows = Number(text);
    if (rows <= stretchRows) join(found, source, rows);
    else found.push(...(await yearsOf(ask, source)));
  }
  return found;
}

const everywhere = (column: string, where: string) =>
  Object.values(compared)
    .map(({ name }) => bothSets((ending) => `SELECT ${column} FROM ${name}${ending} ${where}`))
    .join(' UNION ALL ');

/** Neighbours share a stretch while they are small. */
function join(found: Stretch[], source: string, rows: number): void {
  const last = found.at(-1);
  const isWhole = last?.fromDay === everyDay.fromDay && last.toDay === everyDay.toDay;
  if (last && isWhole && last.rows + rows <= stretchRows) {
    found[found.length - 1] = { ...last, lastSource: source, rows: last.rows + rows };
  } else {
    found.push({ firstSource: source, lastSource: source, ...everyDay, rows });
  }
}

/** A large source year by year; a month is never cut in two. */
async function yearsOf(ask: Ask, source: string): Promise<Stretch[]> {
  const years = await ask<{ from_day: number; rows: string }>(
    `SELECT toInt32(makeDate32(toYear(toDate32(-newest_first)), 1, 1)) AS from_day,
       count() AS rows
     FROM (${everywhere('newest_first', 'WHERE source_id = {source:UUID}')})
     GROUP BY from_day ORDER BY from_day`,
    { source },
  );
  return years.map(({ from_day: fromDay, rows }, i) => ({
    firstSource: source,
    lastSource: source,
    fromDay: i === 0 ? everyDay.fromDay : fromDay,
    toDay: i === years.length - 1 ? everyDay.toDay : years[i + 1]!.from_day - 1,
    rows: Number(rows),
  }));
}
