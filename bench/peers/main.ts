import { Ledger } from './ledger.ts';
import { Rates } from './rate.ts';
import { createService } from './service.ts';
import { openStore, type StoreOptions } from './store.ts';

/** The entry of the ordinary service's process: `node main.ts '<options as JSON>'`. */

export interface PeerOptions {
  readonly store: StoreOptions;
  /** The file of its receipts. */
  readonly ledger: string;
  readonly accessKey: string;
  readonly required: readonly string[];
}

const options = JSON.parse(process.argv[2]!) as PeerOptions;
const ledger = new Ledger(options.ledger);
ledger.addKey(options.accessKey, {
  ...{ sourceId: 'bench', scope: 'read_write', expiresAt: Date.now() + 86_400_000 },
  ...{ shapeVersion: 1, required: options.required },
});
const rates = new Rates(1_000_000_000, 1_000_000_000);
const app = createService({ ledger, rates, store: openStore(options.store) });
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
if (address === null || typeof address === 'string') throw new Error('it listens nowhere');
process.send!({ port: address.port });
// It ends with the bench.
process.on('disconnect', () => process.exit());
