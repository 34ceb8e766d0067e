import { configureGlobal } from 'fast-check';
import { seedOf } from './seed.ts';

// Before each file: its properties are tried with the values of one seed.
configureGlobal({ seed: seedOf('properties') });
