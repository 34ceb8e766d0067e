import { afterAll, describe } from 'vitest';
import { sampleStoreContract } from '../contract/samples.ts';
import { freshEngine } from './support.ts';

describe('the sample store on the embedded engine', () => {
  let remove = async () => {};
  // Of two hooks the later one runs first: the suite's own, which still needs the engine.
  afterAll(() => remove());
  sampleStoreContract(async () => {
    const fresh = await freshEngine();
    remove = fresh.remove;
    return fresh.engine.address;
  });
});
