import { runHalf, sharedBeds } from './seeds.ts';

/** Beside `odd-seeds.test.ts`: vitest runs two files at once, so that both cores are used. */
runHalf(sharedBeds(), 0);
