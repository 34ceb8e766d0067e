import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Minio, minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import {
  expectAccepting,
  expectAllBack,
  expectRefusing,
  type RecoverAnswer,
  restore,
} from './restore-drill.ts';

describeWith('with MinIO', await minioOrSkip(), () => {
  let minio: Minio;
  beforeAll(async () => {
    minio = await startMinio();
  });
  afterAll(() => minio.stop());

  test('a restored catalog takes nothing until `weir recover` ran', {
    timeout: 180_000,
  }, async () => {
    const restored = await restore({ WEIR_ARTIFACTS_URL: minio.url('restore') });
    try {
      const weir = restored.weir();
      await weir.start();
      await expectRefusing(restored, weir);
      const answer = await weir.cli<RecoverAnswer>('recover');
      expect(answer).toMatchObject({ behind: true, recovered: restored.after.length, failed: 0 });
      await expectAllBack(restored, weir);
      await expectAccepting(restored, weir);
    } finally {
      await restored.place.remove();
    }
  });
});
