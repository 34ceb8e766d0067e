/** A weir that tells its metrics. */
export interface Scraped {
  readonly isRunning: boolean;
  /** Of its listener for operators. */
  readonly opsUrl: string;
}

/** The text of a running weir's `/metrics`. */
export async function metricsText(weir: Scraped): Promise<string> {
  const answer = await fetch(`${weir.opsUrl}/metrics`);
  if (answer.status !== 200) throw new Error(`metrics: ${answer.status}`);
  return answer.text();
}

/** Its values by name and labels, as they stand there: `weir_requests_total{route="/x"}`. */
export async function metricsOf(weir: Scraped): Promise<Map<string, number>> {
  const values = new Map<string, number>();
  for (const line of (await metricsText(weir)).split('\n')) {
    const at = line.lastIndexOf(' ');
    if (at > 0 && !line.startsWith('#')) values.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  return values;
}

/** By how much a weir's accounting was ever wrong; 0 of one that a test has ended before. */
export async function accountingDifference(weir: Scraped): Promise<number> {
  if (!weir.isRunning) return 0;
  const difference = (await metricsOf(weir)).get('weir_accounting_difference');
  if (difference === undefined) throw new Error('the accounting is not told');
  return difference;
}
