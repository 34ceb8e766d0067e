import { expect, test } from 'vitest';
import type { Field } from '../../src/domain/nouns.ts';
import { parsed } from './some-delivery.ts';

const fields: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'shop', role: 'label' },
  { name: 'revenue', role: 'value', metric: 'revenue' },
];
const csv = 'day,shop,revenue\n2024-05-01,canary,10.50\ncanary,canary,canary\n';

test('a shape that gives a role to a field that is personal now is rejected', async () => {
  const read = await parsed(csv, { fields, personalNow: ['revenue', 'shop'] });
  expect(read).toMatchObject({
    status: 'rejected',
    counts: { records: 0, samples: 0 },
    refusal: { record: null, field: 'shop', code: 'personal_field' },
    samples: [],
    rejections: [],
  });
  expect(JSON.stringify(read)).not.toContain('canary');
});

test('a field without a role, or one the shape does not know, may be personal', async () => {
  const named = [...fields, { name: 'customer', personal: true }];
  const body = 'day,shop,revenue,customer\n2024-05-01,s1,10.50,canary\nx,s1,10.50,canary\n';
  const read = await parsed(body, { fields: named, personalNow: ['customer', 'gone'] });
  expect(read).toMatchObject({ status: 'parsed', refusal: null, counts: { parsed: 1 } });
  expect(read.rejections).toHaveLength(1);
  expect(JSON.stringify(read)).not.toContain('canary');
});
