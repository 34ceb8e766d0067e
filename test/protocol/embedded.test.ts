import { TestWeir } from '../support/test-weir.ts';
import { protocolSuite } from './suite.ts';

protocolSuite('weir on files and the embedded engine', () => TestWeir.start());
