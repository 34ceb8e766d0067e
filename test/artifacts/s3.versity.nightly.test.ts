import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { artifactContract } from '../contract/artifacts.ts';
import { describeWith } from '../support/need.ts';
import type { S3Server } from '../support/s3-server.ts';
import { startVersity, versityOrSkip } from '../support/versitygw.ts';
import { goneStore, verified } from './s3-servers.ts';

const versity = await versityOrSkip();

/** As it is started by default: one request a connection. */
describeWith('the S3 store on versitygw', versity, () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startVersity();
  });
  afterAll(() => server.stop());

  artifactContract(async () => server.url(`weir-${randomUUID()}`));
});

describeWith('the S3 store on versitygw that keeps connections', versity, () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startVersity({ keepAlive: true });
  });
  afterAll(() => server.stop());

  const says = { wrongTrailer: 'BadDigest', wrongHash: 'answered 400' };
  describe('what the store verifies', () => verified(() => server, says));
  describe('a store that goes away', () => goneStore(() => server));
});
