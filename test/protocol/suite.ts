import { afterAll, beforeAll, describe } from 'vitest';
import type { TestWeir } from '../support/test-weir.ts';
import { csvCases } from './csv-cases.ts';
import { deliveryCases } from './delivery-cases.ts';
import { doorCases } from './door-cases.ts';
import { framingCases } from './framing-cases.ts';
import { jsonCases } from './json-cases.ts';
import { largeCases } from './large-cases.ts';
import { limitCases } from './limit-cases.ts';
import { periodCases } from './period-cases.ts';
import { readCases } from './read-cases.ts';
import { receiptCases } from './receipt-cases.ts';
import { refusalCases } from './refusal-cases.ts';
import { senderCases } from './sender-cases.ts';
import { supersessionCases } from './supersession-cases.ts';
import { valueCases } from './value-cases.ts';
import { webhookCases } from './webhook-cases.ts';
import { webhookRefusalCases } from './webhook-refusal-cases.ts';

/** The weir that a group of cases runs on; there once a test runs. */
export type TheWeir = () => TestWeir;

const caseGroups = {
  receipts: receiptCases,
  webhooks: webhookCases,
  'webhooks refused': webhookRefusalCases,
  refusals: refusalCases,
  'who may do what': doorCases,
  'size limit': limitCases,
  framing: framingCases,
  'odd senders': senderCases,
  'window reads': readCases,
  supersession: supersessionCases,
  values: valueCases,
  periods: periodCases,
  'CSV documents': csvCases,
  'JSON documents': jsonCases,
  'what became of a delivery': deliveryCases,
  'a document of 8 MiB': largeCases,
};
export type CaseGroup = keyof typeof caseGroups;

/**
 * What every deployment of weir answers over HTTP, whatever lies behind it (specification;
 * DECISIONS 2–6 and 8). Knows the service by its addresses only; the catalog and the artifact
 * store are opened beside it to set sources up and to see that refusals store nothing.
 *
 * @param groups all, unless something stands before the service that answers for it
 */
export function protocolSuite(
  name: string,
  start: () => Promise<TestWeir>,
  groups: readonly CaseGroup[] = Object.keys(caseGroups) as CaseGroup[],
): void {
  describe(name, () => {
    let weir: TestWeir;
    beforeAll(async () => {
      weir = await start();
    });
    afterAll(() => weir?.stop());

    for (const title of groups) describe(title, () => caseGroups[title](() => weir));
  });
}
