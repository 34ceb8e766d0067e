import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { listVersions, readVersion } from '../../domain/api/app/sources.ts';
import { address, get } from '../api.ts';
import type { SourceOfPage } from '../source-of-page.ts';
import { useRead } from '../use-read.ts';
import { Failure } from './notice.tsx';
import { Scroll } from './scroll.tsx';
import { Comparison } from './shape-compare.tsx';
import { TableHead } from './table-head.tsx';
import { Time } from './time.tsx';

type Version = AnswerOf<typeof listVersions>['versions'][number];

/** All versions, newest first, and any two of them side by side: which two, says the address. */
export function ShapeVersions({ source }: { source: SourceOfPage }) {
  const { source_id: id, shape_version: newest } = source;
  const { query, path, route } = useLocation();
  const to = versionIn(query.to, newest) ?? newest;
  const from = versionIn(query.from, newest) ?? Math.max(1, to - 1);
  const compare = (next: { from?: number; to?: number }) =>
    route(address(path, { from, to, ...next }), true);
  const { data, error } = useRead(`versions ${id} ${from} ${to} ${newest}`, async (signal) => {
    const read = (version: number) =>
      get<typeof readVersion>(`/app/api/sources/${id}/versions/${version}`, {}, signal);
    const [before, after] = await Promise.all([read(from), read(to)]);
    return { before, after };
  });
  return (
    <>
      <h2>Compare</h2>
      <div class="row">
        <VersionSelect
          label="From"
          value={from}
          newest={newest}
          set={(n) => compare({ from: n })}
        />
        <VersionSelect label="To" value={to} newest={newest} set={(n) => compare({ to: n })} />
      </div>
      <Failure error={error} />
      {data && <Comparison from={data.before} to={data.after} />}
      <h2>All versions</h2>
      <VersionPages key={newest} id={id} />
    </>
  );
}

function versionIn(text: string | undefined, newest: number): number | null {
  const version = Number(text);
  return Number.isInteger(version) && version >= 1 && version <= newest ? version : null;
}

function VersionSelect(props: {
  label: string;
  value: number;
  newest: number;
  set(version: number): void;
}) {
  const { label, value, newest, set } = props;
  return (
    <label>
      {label}
      <input
        type="number"
        min={1}
        max={newest}
        value={value}
        onChange={(event) => set(Number(event.currentTarget.value))}
      />
    </label>
  );
}

/** A hundred at a time. */
function VersionPages({ id }: { id: string }) {
  const [before, setBefore] = useState<number | null>(null);
  const { data, error } = useRead(`versions ${id} before ${before}`, (signal) =>
    get<typeof listVersions>(
      `/app/api/sources/${id}/versions`,
      before === null ? {} : { before },
      signal,
    ),
  );
  return (
    <>
      <Failure error={error} />
      {data && <VersionTable versions={data.versions} />}
      <div class="row">
        {before !== null && (
          <button type="button" onClick={() => setBefore(null)}>
            Newest
          </button>
        )}
        {data?.more && (
          <button type="button" onClick={() => setBefore(data.versions.at(-1)!.version)}>
            Older
          </button>
        )}
      </div>
    </>
  );
}

function VersionTable({ versions }: { versions: readonly Version[] }) {
  return (
    <Scroll label="All versions">
      <table>
        <TableHead
          columns={[{ figures: 'Version' }, 'Saved', 'By', 'Way', { figures: 'Fields' }]}
        />
        <tbody>
          {versions.map((one) => (
            <tr key={one.version}>
              <td class="number">
                <a href={`?from=${Math.max(1, one.version - 1)}&to=${one.version}`}>
                  {one.version}
                </a>
              </td>
              <td class="short">
                <Time at={one.saved_at} />
              </td>
              <td>{one.saved_by}</td>
              <td>{one.delivery === 'document' ? `document, ${one.format}` : one.delivery}</td>
              <td class="number">{one.fields_declared}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
