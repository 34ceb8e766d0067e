import { type DocumentTemplate, documentParts, documentTemplate } from './document.ts';
import { HttpConnection } from './http-connection.ts';
import type { DocumentsJob, Load, Target } from './messages.ts';
import { headText, keptStatus, requestHead } from './target.ts';

const templates = new Map<number, DocumentTemplate>();
const connections = new Map<string, HttpConnection[]>();

/** Documents of one size share their bytes. */
export function templateOf(bytes: number): DocumentTemplate {
  const known = templates.get(bytes) ?? documentTemplate(bytes);
  templates.set(bytes, known);
  return known;
}

/**
 * Streams documents to a target. Connections stay open from one job to the next.
 *
 * @throws Error when any answer is not the one that says that the document is kept
 */
export async function sendDocuments(job: DocumentsJob): Promise<Load> {
  const template = templateOf(job.documentBytes);
  const open = await connected(job.target, job.connections);
  const latenciesMs: number[] = [];
  const started = performance.now();
  let next = 0;
  const send = async (connection: HttpConnection) => {
    while (next < job.count) {
      const begun = performance.now();
      await sendOne(connection, job.target, template, job.first + next++);
      latenciesMs.push(performance.now() - begun);
    }
  };
  await Promise.all(open.map(send));
  const seconds = (performance.now() - started) / 1_000;
  return { seconds, bytes: latenciesMs.length * template.bytes.length, latenciesMs };
}

async function sendOne(
  connection: HttpConnection,
  target: Target,
  template: DocumentTemplate,
  n: number,
): Promise<void> {
  const [first, rest] = documentParts(template, n);
  const plain = requestHead(target, n, 'application/octet-stream', [first, rest]);
  const length = template.bytes.length;
  const upload = { ...plain.headers, 'upload-length': String(length) };
  const head = target.kind === 'tus' ? { ...plain, headers: upload } : plain;
  const answer = await connection.exchange([headText(head, length), first, rest]);
  if (answer.status !== keptStatus[target.kind]) {
    throw new Error(`document ${n} was not kept: ${answer.head}\n${answer.body}`);
  }
}

async function connected(target: Target, count: number): Promise<HttpConnection[]> {
  const port = target.kind === 'put' ? target.address.port : target.port;
  const name = String(port);
  const open = (connections.get(name) ?? []).filter((connection) => !connection.closed);
  while (open.length < count) open.push(await HttpConnection.open({ port }));
  connections.set(name, open);
  return open.slice(0, count);
}
