import { afterAll } from 'vitest';
import { type Minio, minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { TestWeir } from '../support/test-weir.ts';
import { protocolSuite } from './suite.ts';

describeWith('with MinIO', await minioOrSkip(), () => {
  let minio: Minio | undefined;
  protocolSuite('weir on MinIO and the embedded engine', async () => {
    minio = await startMinio();
    return TestWeir.start({ WEIR_ARTIFACTS_URL: minio.url('protocol') });
  });
  afterAll(() => minio?.stop());
});
