import { copyFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accepted } from '../support/sender.ts';
import { makeProofPlace, type ProofPlace } from './support.ts';

let place: ProofPlace;
let tables: string[];
beforeAll(async () => {
  place = await makeProofPlace();
  tables = await place.tables();
});
afterAll(() => place.stop());

/** Everything that verify names, as `what` of each artifact. */
async function named(): Promise<Record<string, string[]>> {
  const { code, differences } = await place.proof('verify');
  expect(code).toBe(differences.length > 0 ? 1 : 0);
  const found: Record<string, string[]> = {};
  for (const { artifact_id = '', what } of differences) {
    found[artifact_id] = [...(found[artifact_id] ?? []), what];
  }
  return found;
}

const columns = `source_id, newest_first, metric, labels_json, sandbox, value, artifact_id,
  sequence, generation, record`;

describe('weir verify', { timeout: 120_000 }, () => {
  test('names nothing where all is well, and leaves nothing behind', async () => {
    const before = await place.reads();
    const answer = await place.proof('verify');
    expect(answer).toMatchObject({ code: 0, deliveries: 12, differences: [] });
    expect(answer.rejections).toBe(4);
    expect(await place.tables()).toEqual(tables);
    expect(await place.reads()).toBe(before);
  });

  test('names a changed value, a deleted sample, and one that nobody sent', async () => {
    const { correction, document } = place.artifacts;
    const { sourceId } = place.push;
    const nobody = '0190b2d0-7a3a-7000-8000-000000000001';
    await place.sql("ALTER TABLE samples UPDATE value = '12.00' WHERE value = '11.00'");
    await place.sql(`DELETE FROM samples WHERE artifact_id = '${document}' AND record = 100`);
    await place.sql(
      `INSERT INTO samples (${columns}) VALUES ('${sourceId}', -20000, 'amount', '{}', false, '7',
        '${nobody}', 1, 0, 1)`,
    );
    const found = await named();
    expect(found[correction]).toEqual(['amount of 2026-01-01 {} is 12.00; record 1 gives 11.00']);
    expect(found[document]).toEqual([
      'visits of 2025-04-10 {"device":"phone","place":"B, 0"} is missing; record 100 gives 99',
    ]);
    expect(found[nobody]).toEqual(['amount of 2024-10-04 {} is 7, which no record gives']);
    expect(Object.keys(found)).toHaveLength(3);
    await place.proof('rebuild');
    expect(await named()).toEqual({});
  });

  test('names what was changed in the past of a sample, and which generation stands', async () => {
    const { first, reparsed } = place.artifacts;
    await place.sql(
      `ALTER TABLE sample_versions UPDATE value = '1' WHERE artifact_id = '${first}'`,
    );
    await place.sql('TRUNCATE TABLE delivery_generations');
    const found = await named();
    expect(found[first]).toEqual([
      'in the past of samples: amount of 2026-01-01 {} is 1; record 1 gives 10.50',
    ]);
    expect(found[reparsed]).toHaveLength(1);
    expect(found[reparsed]![0]).toMatch(/^the samples are of generation 0, the catalog says \d+$/);
    await place.proof('rebuild');
    expect(await named()).toEqual({});
  });

  test('names a changed and a deleted rejection', async () => {
    const { partly } = place.artifacts;
    await place.sql(`ALTER TABLE rejections UPDATE line = 5 WHERE artifact_id = '${partly}'`);
    expect(await named()).toEqual({
      [partly]: ['its 3 rejections are not those of its artifact'],
    });
    await place.sql(`DELETE FROM rejections WHERE artifact_id = '${partly}' AND record = 21`);
    expect(await named()).toEqual({
      [partly]: ['2 rejections of it are stored; its artifact gives 3'],
    });
    await place.proof('rebuild');
    expect(await named()).toEqual({});
  });

  test('names counts, states and refusals that are changed in the catalog', async () => {
    const { first, partly, document } = place.artifacts;
    const set = (what: string, artifactId: string) =>
      place.catalogSql(
        `UPDATE deliveries SET ${what} WHERE artifact_id = x'${artifactId.replaceAll('-', '')}'`,
      );
    set('samples = samples + 1', first);
    set("status = 'rejected'", document);
    set('rejected = rejected - 1, undeclared_fields = \'["x"]\'', partly);
    expect(await named()).toEqual({
      [first]: ['it has 1 samples, the catalog says 2'],
      [document]: ['it is parsed, the catalog says rejected'],
      [partly]: [
        'it has 2 rejected records, the catalog says 1; ' +
          'its undeclared fields are not those of the catalog',
      ],
    });
    set('samples = samples - 1', first);
    set("status = 'parsed'", document);
    set("rejected = rejected + 1, undeclared_fields = '[]'", partly);
    expect(await named()).toEqual({});
  });

  test('names a changed and a missing artifact, and not what they would have given', async () => {
    const { document, correction } = place.artifacts;
    const paths = [await place.fileOf(document), await place.fileOf(correction)];
    for (const path of paths) await copyFile(path, `${path}.kept`);
    await place.changeByte(document);
    await rm(paths[1]!);
    expect(await named()).toEqual({
      [document]: ['its artifact is not what was accepted'],
      [correction]: ['its artifact is missing, or not all there'],
    });
    for (const path of paths) await copyFile(`${path}.kept`, path);
    for (const path of paths) await rm(`${path}.kept`);
    expect(await named()).toEqual({});
  });

  test('takes what is being pushed meanwhile for no difference', async () => {
    let stopped = false;
    const { sender } = place.push;
    const load = (async () => {
      for (let i = 0; !stopped; i++) {
        const day = new Date(Date.UTC(2025, 0, 1 + (i % 50))).toISOString().slice(0, 10);
        accepted(await sender.push({ day, amount: `${i}` }));
      }
    })();
    try {
      for (let i = 0; i < 3; i++) expect(await named()).toEqual({});
    } finally {
      stopped = true;
      await load;
    }
  });
});
