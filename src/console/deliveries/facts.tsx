import type { readDelivery } from '../../domain/api/app/deliveries.ts';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import { countedMax } from '../../domain/counted.ts';
import { Copyable } from '../parts/copy.tsx';
import { bytes, count, countUpTo } from '../parts/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { exactly, Time } from '../parts/time.tsx';

export type DeliveryOfPage = AnswerOf<typeof readDelivery>;

const ways = {
  push: 'JSON push',
  document: 'document',
  webhook: 'signed webhook',
} as const;

/** What the receipt promised, and what is known of the bytes since. */
export function Facts({ delivery }: { delivery: DeliveryOfPage }) {
  const packed = delivery.encoding === 'identity' ? '' : `, ${delivery.encoding}`;
  return (
    <dl class="facts">
      <dt>Artifact id</dt>
      <dd>
        <Copyable text={delivery.artifact_id} label="artifact id" />
      </dd>
      <dt>Received</dt>
      <dd>
        {exactly(delivery.received_at)} (<Time at={delivery.received_at} />)
      </dd>
      <dt>As</dt>
      <dd>
        {ways[delivery.delivery]}, {delivery.media_type}
        {packed}, {size(delivery.bytes)}
      </dd>
      <dt>SHA-256</dt>
      <dd>
        <code class="hash">{delivery.sha256}</code>
      </dd>
      <dt>Idempotency keys</dt>
      <dd>
        <Keys keys={delivery.keys} />
      </dd>
      {delivery.secret_id && (
        <>
          <dt>Verified by secret</dt>
          <dd>
            <code>{delivery.secret_id}</code>
          </dd>
        </>
      )}
      <dt>Shape version</dt>
      <dd>
        {delivery.shape_version}
        {delivery.shape_version !== delivery.receipt_shape_version &&
          ` (the receipt says ${delivery.receipt_shape_version}: it was parsed again)`}
      </dd>
      <dt>Accepted as</dt>
      <dd>number {count(delivery.sequence)}; later numbers win over earlier ones</dd>
      <dt>Parsed</dt>
      <dd>
        <Time at={delivery.settled_at} none="not yet" />
        {delivery.parser_version !== null && ` by parser ${delivery.parser_version}`}
        {delivery.generation > 0 && `, generation ${delivery.generation}`}
      </dd>
      <dt>Stored bytes</dt>
      <dd>
        {delivery.damage ? (
          <span class="badge bad">{delivery.damage}</span>
        ) : delivery.checked_at ? (
          'found as accepted'
        ) : (
          'not compared with the receipt yet'
        )}
        {delivery.checked_at && (
          <>
            {' '}
            <Time at={delivery.checked_at} />
          </>
        )}
      </dd>
    </dl>
  );
}

function size(n: number): string {
  const exact = n === 1 ? '1 byte' : `${count(n)} bytes`;
  return n < 1024 ? exact : `${bytes(n)} (${exact})`;
}

function Keys({ keys }: { keys: DeliveryOfPage['keys'] }) {
  const more = keys.count - keys.first.length;
  const most = countedMax.beside - keys.first.length;
  return (
    <>
      {keys.first.map(({ key, named_at: at }, i) => (
        <div key={key}>
          <code>{key}</code>
          {i > 0 && (
            <span class="quiet">
              {' '}
              the same bytes again, <Time at={at} />
            </span>
          )}
        </div>
      ))}
      {more > 0 && <span class="quiet">and {countUpTo(more, most)} more</span>}
    </>
  );
}

/** The accounting: every record and every value is somewhere. */
export function Counts({ counts }: { counts: NonNullable<DeliveryOfPage['counts']> }) {
  const { records, parsed, rejected, samples, blank, superseded_within: within } = counts;
  return (
    <>
      <h2>Records</h2>
      <ul class="tiles">
        {(
          [
            ['records', records],
            ['parsed', parsed],
            ['rejected', rejected],
            ['samples', samples],
          ] as const
        ).map(([name, n]) => (
          <li class="tile" key={name}>
            <span class="figure">{count(n)}</span>
            {name}
          </li>
        ))}
      </ul>
      <p class="quiet">
        Records: {count(records)} = {count(parsed)} parsed + {count(rejected)} rejected. Values of
        the parsed ones: {count(samples)} became samples, {count(blank)} were blank, and{' '}
        {count(within)} were superseded by a later record of this delivery.
      </p>
    </>
  );
}

/** The key came again with other bytes, which were not kept. */
export function Conflicts({ conflicts }: { conflicts: DeliveryOfPage['conflicts'] }) {
  if (conflicts.count === 0) return null;
  const times = countUpTo(conflicts.count, countedMax.beside);
  return (
    <>
      <h2>Conflicting redeliveries</h2>
      <p>
        {conflicts.count === 1 ? 'Once' : `${times} times`} a key of this delivery came with other
        bytes. The sender got this first receipt, and nothing else was stored: whatever is new in
        those bytes must come under a key of its own.
      </p>
      <Scroll label="Conflicting redeliveries">
        <table>
          <TableHead columns={['When', 'Idempotency key', 'SHA-256 of the bytes that came']} />
          <tbody>
            {conflicts.newest.map(({ at, key, sha256 }) => (
              <tr key={`${at} ${sha256}`}>
                <td class="short">
                  <Time at={at} />
                </td>
                <td>
                  <code>{key}</code>
                </td>
                <td>
                  <code class="hash">{sha256}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {conflicts.count > conflicts.newest.length && (
        <p class="quiet">The newest {count(conflicts.newest.length)} are shown.</p>
      )}
    </>
  );
}
