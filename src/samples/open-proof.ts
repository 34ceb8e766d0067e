import type { ClickHouseAddress } from './address.ts';
import { connect } from './client.ts';
import { sampleDifferences } from './differences.ts';
import { freshSamples } from './fresh.ts';
import { sampleHistory } from './history.ts';
import { layoutOf } from './layout.ts';
import type { SampleProof } from './proof.ts';

/** The proof's side of the sample store; its tables must be there (`SampleStore.prepare`). */
export function openProof(address: ClickHouseAddress): SampleProof {
  const client = connect(address, address.database);
  return {
    fresh: freshSamples({ client, at: layoutOf(address) }),
    differences: sampleDifferences(client),
    history: sampleHistory(client),
    close: () => client.close(),
  };
}
