import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

/** As after their time: nobody waits for the leases that a dead process held. */
export function endLeases(dataDir: string): void {
  const db = new Sqlite(join(dataDir, 'catalog.db'));
  db.exec("update deliveries set due_at = 0 where status = 'parsing'");
  db.close();
}
