/**
 * Started by the process tests: holds an engine on the directory of its argument, says its own
 * engine's process id, and waits to be killed.
 */
import { startEngine } from '../../src/samples/engine/supervisor.ts';
import { quiet } from './support.ts';

const engine = await startEngine({ dataDir: process.argv[2]!, log: quiet });
console.log(JSON.stringify({ pid: engine.pid() }));
