import { afterAll, describe } from 'vitest';
import { sampleStoreContract } from '../contract/samples.ts';
import { clusterEngine } from './cluster-support.ts';

describe('the sample store as a cluster has it, of one node', () => {
  let remove = async () => {};
  afterAll(() => remove());
  sampleStoreContract(async () => {
    const engine = await clusterEngine();
    remove = engine.remove;
    return engine.at('weir', 'contract');
  }, process.env.WEIR_TEST_CLUSTER_MODEL === '1');
});
