import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { listRejections, readRecordTexts } from '../../domain/api/app/deliveries.ts';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import { address, get } from '../api.ts';
import { ReadFailure } from '../parts/stale.tsx';
import { type Read, useRead } from '../use-read.ts';
import type { DeliveryOfPage } from './facts.tsx';

type Rejections = AnswerOf<typeof listRejections>['rejections'];
type Texts = AnswerOf<typeof readRecordTexts>['records'];

const pageSize = 20;

/** Rejected records, by page: where each is, why, and what it holds. */
export function RejectedRecords({ delivery }: { delivery: DeliveryOfPage }) {
  const { query, path } = useLocation();
  const offset = /^[0-9]{1,8}$/.test(query.offset ?? '') ? Number(query.offset) : 0;
  const api = `/app/api/deliveries/${delivery.artifact_id}`;
  const name = `${api} ${delivery.generation} ${offset}`;
  const page = useRepeated(`rejections ${name}`, (signal) =>
    get<typeof listRejections>(`${api}/rejections`, { offset, limit: pageSize }, signal),
  );
  const rejections = page.data?.rejections ?? [];
  const records = [...new Set(rejections.flatMap(({ record }) => record ?? []))];
  const texts = useRepeated(`records ${name} ${records}`, async (signal) => {
    if (records.length === 0) return { records: [] };
    return await get<typeof readRecordTexts>(`${api}/records`, { records: `${records}` }, signal);
  });
  if ((delivery.counts?.rejected ?? 0) === 0) return null;
  const next = page.data?.next_offset;
  const to = (at: number) => address(path, at === 0 ? {} : { offset: at });
  return (
    <>
      <h2 id="rejected">Rejected records</h2>
      <p class="quiet">
        Nothing of these records became a sample. Personal and undeclared fields are masked: •••
      </p>
      <ReadFailure error={page.error} kept={page.data !== null} />
      <ReadFailure error={texts.error} kept={false} />
      {records.map((record) => (
        <RejectedRecord
          key={record}
          record={record}
          why={rejections.filter((one) => one.record === record)}
          text={texts.data?.records.find((one) => one.record === record) ?? null}
        />
      ))}
      <nav class="row" aria-label="Pages of rejected records">
        {offset > 0 && (
          <a class="button" href={to(Math.max(0, offset - pageSize))}>
            Earlier records
          </a>
        )}
        {next !== undefined && next !== null && (
          <a class="button" href={to(next)}>
            Later records
          </a>
        )}
      </nav>
    </>
  );
}

const repeatMs = 5_000;

/** Reads what does not change; a failed read is repeated until a store is there again. */
function useRepeated<T>(name: string, read: (signal: AbortSignal) => Promise<T>): Read<T> {
  const [failed, setFailed] = useState(false);
  const found = useRead(name, read, failed ? repeatMs : undefined);
  useEffect(() => setFailed(found.error !== null), [found.error]);
  return found;
}

interface RecordProps {
  readonly record: number;
  readonly why: Rejections;
  /** Null: not read yet, or it cannot be read. */
  readonly text: Texts[number] | null;
}

function RejectedRecord({ record, why, text }: RecordProps) {
  const line = why[0]?.line ?? text?.line ?? null;
  const atFault = new Set(why.map((one) => one.field));
  return (
    <article class="record" aria-label={`Record ${record}`}>
      <h3>
        Record {record}
        {line !== null && `, line ${line}`}
      </h3>
      <ul>
        {why.map(({ field, code, message }) => (
          <li key={`${field} ${code}`}>
            {field !== null && (
              <>
                <code>{field}</code>:{' '}
              </>
            )}
            {message} <span class="quiet">({code})</span>
          </li>
        ))}
      </ul>
      {text && <Fields text={text} atFault={atFault} />}
    </article>
  );
}

function Fields({ text, atFault }: { text: Texts[number]; atFault: ReadonlySet<string | null> }) {
  if (text.fields === null) return <p class="quiet">The stored bytes have no such record.</p>;
  if (text.fields.length === 0) {
    return (
      <p class="quiet">
        What the record holds cannot be told apart by field, so none of it is shown.
      </p>
    );
  }
  return (
    <>
      <dl class="facts">
        {text.fields.map(({ name, text: cell, masked }) => (
          <div class="pair" key={name}>
            <dt class={atFault.has(name) ? 'at-fault' : undefined}>{name}</dt>
            <dd>
              <Cell text={cell} masked={masked} />
            </dd>
          </div>
        ))}
      </dl>
      {text.cut && <p class="quiet">The record holds more than is shown.</p>}
    </>
  );
}

function Cell({ text, masked }: { text: string | null; masked: boolean }) {
  if (masked) {
    return (
      <>
        <span aria-hidden="true">•••</span>
        <span class="only-read">masked</span>
      </>
    );
  }
  if (text === null) return <span class="quiet">no text</span>;
  if (text === '') return <span class="quiet">empty</span>;
  return <code class="cell">{text}</code>;
}
