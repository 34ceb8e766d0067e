import { openCatalog } from '../../src/catalog/open.ts';
import { claimFor } from './support.ts';

/**
 * Records deliveries until it is killed, and says each one only after it was acknowledged:
 * a line `artifactId key sequence`. Arguments: address, source, `thread` or `process`, and how
 * many at once.
 */
const [url, sourceId, where, atOnce] = process.argv.slice(2) as [string, string, string, string];
const catalog = await openCatalog(url, { thread: where === 'thread' });

async function recordForEver(): Promise<void> {
  for (;;) {
    const claim = claimFor(sourceId);
    try {
      const verdict = await catalog.ledger.record(claim);
      if (verdict.outcome !== 'stored') throw new Error('a new claim is stored');
      const { artifactId, idempotencyKey } = claim;
      process.stdout.write(`${artifactId} ${idempotencyKey} ${verdict.sequence}\n`);
    } catch (error) {
      process.stderr.write(`${(error as Error).name}: ${(error as Error).message}\n`);
      process.exit(3);
    }
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, recordForEver));
