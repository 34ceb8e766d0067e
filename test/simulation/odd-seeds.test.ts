import { runHalf, sharedBeds } from './seeds.ts';

runHalf(sharedBeds(), 1);
