import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Field } from '../../src/domain/nouns.ts';
import { describeWith } from '../support/need.ts';
import { schemathesisOrSkip } from '../support/schemathesis.ts';
import { accepted } from '../support/sender.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** No field is required: what the document calls valid, this shape takes. */
const fields: readonly Field[] = [
  { name: 'day', role: 'period', required: false },
  { name: 'amount', role: 'value', metric: 'amount', required: false },
];

describeWith('Schemathesis against a live weir', await schemathesisOrSkip(), (python) => {
  let weir: TestWeir;
  beforeAll(async () => {
    weir = await TestWeir.start();
  });
  afterAll(() => weir?.stop());

  test('finds nothing, by all its checks', { timeout: 180_000 }, async () => {
    const sources = {
      push: await weir.source({ fields }),
      documents: await weir.source({ fields, delivery: 'document' }),
      webhooks: await weir.source({ fields, delivery: 'webhook' }),
    };
    const { status, output } = await runOn(weir, python, sources);
    expect(status, output).toBe(0);
    // A run that opened no door would find nothing either.
    expect(output).toMatch(/Tested: +5\n/);
    for (const [way, source] of Object.entries(sources)) {
      expect((await source.deliveries()).length, way).toBeGreaterThan(10);
    }
  });
});

type Sources = Readonly<Record<'push' | 'documents' | 'webhooks', TestSource>>;

async function runOn(weir: TestWeir, python: string, { push, documents, webhooks }: Sources) {
  const known = accepted(await push.sender.push({ day: '2026-03-01', amount: '1' }));
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: '1',
    TEST_PUSH_KEY: push.sender.key,
    TEST_DOCUMENT_KEY: documents.sender.key,
    TEST_ARTIFACT_ID: known.artifact_id,
    TEST_WEBHOOK_SOURCE: webhooks.sourceId,
    TEST_SIGNING_SECRET: webhooks.secret,
  };
  const program = 'from schemathesis.cli import schemathesis; schemathesis()';
  const options = ['--config-file', 'test/openapi/schemathesis.toml'];
  // Out of the file, which is what is served: the address it was read from would not be tested.
  const args = ['-c', program, ...options, 'run', 'openapi.json', '--url', weir.url];
  return new Promise<{ status: number; output: string }>((resolve) => {
    const given = { cwd: checkout, env, maxBuffer: 64 * 1024 * 1024 };
    execFile(python, [...args, '--checks', 'all', '--no-color'], given, (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
    });
  });
}
