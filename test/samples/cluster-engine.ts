import type { AddressInfo } from 'node:net';
import { createFront } from '../../src/samples/engine/front.ts';
import { SessionPool } from '../../src/samples/engine/pool.ts';
import { writeClusters } from './cluster-config.ts';

/**
 * An engine that has clusters (`cluster-config.ts`), as a program: `node cluster-engine.ts
 * DIRECTORY [PORT [CONFIG]]` says its port on standard output and ends with its standard input.
 *
 * The engine knows clusters, sends rows and questions through Distributed tables, and judges
 * definitions of replicated tables. What it has not are the parts of a server by which nodes talk
 * to one another. So statements run with two changes: what is meant for all nodes is done here
 * alone, and tables are not replicated, except in the database `replicated`, where they can be
 * made but take no rows. An EXPLAIN stays as it is.
 */
const [directory = '', port = '0', config] = process.argv.slice(2);

function alone(sql: string, database: string): string {
  if (sql.trimStart().startsWith('EXPLAIN')) return sql;
  const here = sql.replace(/ ON CLUSTER `[\w-]+`/, '');
  if (database === 'replicated') return here;
  return here.replace(/Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/, '$1(');
}

const pool = await SessionPool.open({
  store: `${directory}/store`,
  args: [`--config-file=${config ?? writeClusters(directory)}`],
});
const use: SessionPool['use'] = (lane, work) =>
  pool.use(lane, (session) => {
    const query: typeof session.query = (sql, context) =>
      session.query(alone(sql, context.database), context);
    const insert: typeof session.insert = (...given) => session.insert(...given);
    return work({ query, insert } as typeof session);
  });
const front = createFront({ use } as SessionPool, {
  ...{ username: 'default', password: 'p' },
  synced: () => Promise.resolve(),
});
front.listen({ host: '127.0.0.1', port: Number(port) }, () => {
  console.log((front.address() as AddressInfo).port);
});
// It ends with whoever started it: an exit in the usual way would wait for what is under way.
process.stdin.resume().once('end', () => process.kill(process.pid, 'SIGKILL'));
