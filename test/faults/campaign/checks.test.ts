import { describe, expect, test } from 'vitest';
import { type CheckName, judge } from './checks.ts';
import { bodyName, isGood } from './model.ts';
import { type LooseAttempt, type LooseEvidence, perfectRun } from './perfect-run.ts';

const seed = 11;

test('the oracle finds nothing in a run that did everything right', () => {
  const judged = judge(perfectRun(seed));
  expect(judged.filter((check) => check.failures > 0)).toEqual([]);
  expect(judged.filter((check) => check.looked === 0).map((check) => check.name)).toEqual([
    'orphans',
  ]);
});

const firstOk = ({ log }: LooseEvidence) => log.attempts.find((one) => one.end.outcome === 'ok')!;
const again = ({ log }: LooseEvidence) => log.attempts.find((one) => one.end.replayed)!;
const conflicting = ({ log }: LooseEvidence) => log.attempts.find((one) => one.end.differs)!;
const refused = ({ log }: LooseEvidence) => log.attempts.find((o) => o.body.refusal !== null)!;
const fullest = ({ rows }: LooseEvidence) => [...rows.values()].find((own) => own.length > 9)!;
const shown = ({ samples }: LooseEvidence) => [...samples.values()].find((own) => own.length > 9)!;

/** A delivery that an attempt would have made. */
function stored(evidence: LooseEvidence, attempt: LooseAttempt): void {
  const { sourceId, sandbox } = evidence.scopes.find((one) => one.name === attempt.scope)!;
  const [like] = evidence.deliveries;
  const sequence = evidence.deliveries.length + 1;
  const { sha256, bytes, body } = attempt;
  const artifactId = '00000000-0000-7000-8000-000000000001';
  const own = { sequence, artifactId, sourceId, sandbox, sha256, bytes, keys: [body.key] };
  evidence.deliveries.push({ ...like!, ...own });
}

const damages: readonly [CheckName, string, (evidence: LooseEvidence) => void][] = [
  [
    'bodies are made again',
    'another body was sent than the seed gives',
    (e) => {
      firstOk(e).sha256 = '00';
    },
  ],
  ['no loss', 'a delivery is gone', (e) => void e.deliveries.splice(7, 1)],
  ['no loss', 'the bytes are others', (e) => void e.stored.set(e.deliveries[3]!.artifactId, '00')],
  ['no loss', 'the bytes are gone', (e) => void e.stored.delete(e.deliveries[3]!.artifactId)],
  [
    'no loss',
    'a delivery is never final',
    (e) => {
      e.deliveries[5]!.status = 'parsing';
    },
  ],
  [
    'no loss',
    'a further key is forgotten',
    (e) => {
      e.deliveries.find((one) => one.keys.length > 1)!.keys.pop();
    },
  ],
  [
    'no loss',
    'a delivery went to another scope',
    (e) => {
      e.deliveries[5]!.sandbox = !e.deliveries[5]!.sandbox;
    },
  ],
  ['no invention', 'a refused delivery is there', (e) => stored(e, refused(e))],
  [
    'no invention',
    'a body that was cut off is there',
    (e) => {
      stored(e, e.log.attempts.find((one) => one.how === 'cut')!);
    },
  ],
  ['no invention', 'a key that nobody sent', (e) => void e.deliveries[2]!.keys.push('strange')],
  ['rows', 'a row is missing', (e) => void fullest(e).splice(4, 1)],
  ['rows', 'a row is there twice', (e) => void fullest(e).push(fullest(e)[0]!)],
  [
    'rows',
    'a nought at the end of a value is lost',
    (e) => {
      const rows = fullest(e);
      const at = rows.findIndex((row) => row.split('\t')[6]!.endsWith('0'));
      const cells = rows[at]!.split('\t');
      rows[at] = cells.with(6, cells[6]!.slice(0, -1)).join('\t');
    },
  ],
  [
    'rows',
    'a record is counted twice',
    (e) => {
      e.deliveries[4]!.records += 1;
    },
  ],
  [
    'rows',
    'a rejection is not told',
    (e) => {
      const [id, count] = [...e.rejections].find(([, n]) => n > 0)!;
      e.rejections.set(id, count - 1);
    },
  ],
  [
    'samples',
    'a superseded value is shown',
    (e) => {
      shown(e)[0]!.value = '1';
    },
  ],
  ['samples', 'the oldest come first', (e) => void shown(e).reverse()],
  [
    'once',
    'one body has two deliveries',
    (e) => {
      const twice = e.deliveries[6]!;
      stored(e, e.log.attempts.find((one) => one.sha256 === twice.sha256)!);
    },
  ],
  [
    'once',
    'the receipt differs by a byte',
    (e) => {
      again(e).end.receipt += ' ';
    },
  ],
  [
    'once',
    'a second receipt says that it is the first',
    (e) => {
      again(e).end.replayed = false;
    },
  ],
  [
    'once',
    'a differing body is taken in silence',
    (e) => {
      conflicting(e).end.differs = false;
    },
  ],
  ['once', 'a differing body is not counted', (e) => void e.conflicts.splice(0)],
  [
    'order',
    'a later one is accepted before an earlier one',
    (e) => {
      e.deliveries.push(e.deliveries.shift()!);
    },
  ],
  [
    'orphans',
    'an object holds what nobody sent',
    (e) => {
      e.orphans.push({ object: 'o', bodies: ['00'] });
    },
  ],
  [
    'orphans',
    'an object is left of what was answered',
    (e) => {
      e.orphans.push({ object: 'o', bodies: [firstOk(e).sha256] });
    },
  ],
  [
    'answers',
    'what must be refused has a receipt',
    (e) => {
      refused(e).end = { ...firstOk(e).end, attempt: refused(e).attempt };
    },
  ],
  [
    'answers',
    'what must be taken is refused',
    (e) => {
      firstOk(e).end = { ...firstOk(e).end, outcome: 'refused', status: 400, receipt: null };
    },
  ],
  [
    'answers',
    'a failure does not say when to come again',
    (e) => {
      firstOk(e).end = { ...firstOk(e).end, outcome: 'unknown', status: 503, receipt: null };
    },
  ],
  [
    'answers',
    'a receipt says another scope',
    (e) => {
      const { end } = firstOk(e);
      end.receipt = end.receipt!.replace(/(true|false)/, (word) => `${word !== 'true'}`);
    },
  ],
  [
    'answers',
    'a read fails',
    (e) => {
      e.log.reads[0]!.status = 500;
    },
  ],
  [
    'tenancy',
    'a read shows the delivery of another source',
    (e) => {
      const { scope } = e.log.reads[0]!;
      const { sourceId } = e.scopes.find((one) => one.name === scope)!;
      const other = e.deliveries.find((one) => one.sourceId !== sourceId)!;
      e.log.reads[0]!.artifacts = [other.artifactId];
    },
  ],
  [
    'tenancy',
    'another source is told about a delivery',
    (e) => {
      e.foreign[0]!.status = 200;
    },
  ],
  [
    'accounting',
    'the service counts wrongly',
    (e) => {
      e.accountingDifference = 1;
    },
  ],
  [
    'stays up',
    'the service ends by itself',
    (e) => {
      e.selfEnds = ['code 1'];
    },
  ],
  [
    'liveness',
    'a delivery waits for ever',
    (e) => {
      e.drainedSeconds = null;
    },
  ],
  [
    'liveness',
    'the queue is empty too late',
    (e) => {
      e.drainedSeconds = 90.1;
    },
  ],
];

describe('the oracle notices', () => {
  test.each(damages)('%s: %s', (name, _, damage) => {
    const evidence = perfectRun(seed);
    damage(evidence);
    const check = judge(evidence).find((one) => one.name === name)!;
    expect(check.failures).toBeGreaterThan(0);
    expect(check.told.length).toBeGreaterThan(0);
  });

  test('no fault where an object is left of what was never answered', () => {
    const evidence = perfectRun(seed);
    const lost = evidence.log.attempts.find((one) => isGood(one) && one.end.outcome === 'ok')!;
    lost.end = { ...lost.end, outcome: 'unknown', status: null, receipt: null };
    evidence.orphans.push({ object: 'o', bodies: [lost.sha256] });
    const judged = judge(evidence);
    expect(judged.filter((check) => check.failures > 0)).toEqual([]);
    expect(bodyName(lost.scope, lost.sha256)).toContain(lost.scope);
  });
});
