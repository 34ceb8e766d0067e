import { test } from 'vitest';
import { runTiny } from './support.ts';

test(
  'the cases on the embedded stores run, and their answers are right',
  () => runTiny('embedded'),
  60_000,
);
