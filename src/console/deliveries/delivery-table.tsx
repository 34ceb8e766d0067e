import type { RefObject } from 'preact';
import { countedMax } from '../../domain/counted.ts';
import { SandboxBadge, StatusBadge } from '../parts/marks.tsx';
import { bytes, count, countUpTo } from '../parts/numbers.ts';
import { TableHead } from '../parts/table-head.tsx';
import { Time } from '../parts/time.tsx';
import type { LiveRows, Row } from './live-rows.ts';

/** Deliveries, one a row; each leads to its page. */
export function DeliveryTable(props: {
  sourceId: string;
  live: LiveRows;
  table: RefObject<HTMLElement | null>;
}) {
  const { sourceId, live, table } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section class="scroll" ref={table} tabIndex={0} aria-label="Deliveries">
      <table>
        <TableHead
          columns={[
            'Idempotency key',
            'State',
            'Received',
            { figures: 'Bytes' },
            { figures: 'Records' },
            { figures: 'Rejected' },
            { figures: 'Samples' },
            { figures: 'Version' },
            'Marks',
          ]}
        />
        <tbody>
          {live.rows.map((row) => (
            <DeliveryRow
              key={row.artifact_id}
              sourceId={sourceId}
              row={row}
              left={live.left.has(row.artifact_id)}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function DeliveryRow({ sourceId, row, left }: { sourceId: string; row: Row; left: boolean }) {
  const { counts } = row;
  const counted = (n: number | undefined) => (n === undefined ? '' : count(n));
  return (
    <tr class={left ? 'left' : undefined}>
      <td class="key">
        <a href={`/sources/${sourceId}/deliveries/${row.artifact_id}`} title={row.artifact_id}>
          {row.idempotency_key}
        </a>
      </td>
      <td class="short">
        {left ? <span class="quiet">has gone on</span> : <StatusBadge status={row.status} />}
        {row.refusal && <span class="quiet"> {row.refusal}</span>}
      </td>
      <td class="short">
        <Time at={row.received_at} />
      </td>
      <td class="number short">{bytes(row.bytes)}</td>
      <td class="number">{counted(counts?.records)}</td>
      <td class={`number ${counts?.rejected ? 'problem' : ''}`}>{counted(counts?.rejected)}</td>
      <td class="number">{counted(counts?.samples)}</td>
      <td class="number">{row.shape_version}</td>
      <td class="short marks">
        {row.sandbox && <SandboxBadge />}
        {row.conflicts > 0 && (
          <span class="badge warn" title="Its key came again with other bytes.">
            {row.conflicts === 1
              ? '1 conflict'
              : `${countUpTo(row.conflicts, countedMax.conflicts)} conflicts`}
          </span>
        )}
        {row.damage && <span class="badge bad">bytes {row.damage}</span>}
      </td>
    </tr>
  );
}
