/** What a receipt is made of; the same for ever (specification, "Receipt"). */
export interface ReceiptFacts {
  readonly artifactId: string;
  readonly shapeVersion: number;
  readonly sandbox: boolean;
}

/** The receipt as JSON text. A repeated delivery gets the same text, byte for byte. */
export function receiptJson(facts: ReceiptFacts): string {
  return JSON.stringify({
    artifact_id: facts.artifactId,
    shape_version: facts.shapeVersion,
    status: 'queued',
    sandbox: facts.sandbox,
  });
}
