import { useLocation } from 'preact-iso';
import type { listMetrics } from '../../domain/api/app/metrics.ts';
import { demoKey } from '../../domain/keys.ts';
import { address, get } from '../api.ts';
import { type ExampleOf, environment, readingExample, sendingExamples } from '../examples.ts';
import { useSignedIn } from '../session.tsx';
import type { SourceOfPage } from '../source-of-page.ts';
import { useRead } from '../use-read.ts';
import { CopyableBlock } from './copy.tsx';
import { Failure } from './notice.tsx';

/** Commands for this source, its way and its fields; the address says for which tool. */
export function Commands({ source }: { source: SourceOfPage }) {
  const session = useSignedIn();
  const { data, error } = useRead('metrics', (signal) =>
    get<typeof listMetrics>('/app/api/metrics', {}, signal),
  );
  if (!data) return <Failure error={error} />;
  const { source_id: sourceId, delivery, format, shape_version: version, fields } = source;
  const of = { apiUrl: session.api_url, sourceId, delivery, format, version, fields };
  return (
    <>
      {!session.demo && (
        <>
          <h2>Send a first delivery</h2>
          <Sending of={{ ...of, metrics: data.metrics, today: new Date() }} />
        </>
      )}
      <h2>Read the samples</h2>
      {session.demo ? (
        <>
          <p>With the demo key, which every demo deployment has and which only reads:</p>
          <CopyableBlock
            text={`export ${environment.key}='${demoKey}'`}
            label={`the line that sets ${environment.key}`}
          />
        </>
      ) : (
        <p class="quiet">
          With a key that may read. What was sent a second ago may still be parsed.
        </p>
      )}
      <CopyableBlock text={readingExample(of)} label="the command to read" />
    </>
  );
}

function Sending({ of }: { of: ExampleOf }) {
  const { query, path, route } = useLocation();
  const examples = sendingExamples(of);
  const shown = examples.find(({ name }) => name === query.tool) ?? examples[0]!;
  const webhook = of.delivery === 'webhook';
  const [variable, what] = webhook
    ? [environment.secret, 'the signing secret']
    : [environment.key, 'an access key that may write'];
  return (
    <>
      <p>
        The command reads {what} from <code>{variable}</code>
        {webhook ? ':' : '; with a sandbox key, all that it sends is marked test:'}
      </p>
      <CopyableBlock text={`export ${variable}='…'`} label={`the line that sets ${variable}`} />
      <fieldset class="row">
        <legend>Tool</legend>
        {examples.map(({ name }) => (
          <label class="check" key={name}>
            <input
              type="radio"
              name="tool"
              checked={name === shown.name}
              onChange={() => route(address(path, { ...query, tool: name }), true)}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <p class="quiet">{how(shown.name)}</p>
      <CopyableBlock text={shown.text} label={`the ${shown.name} example`} />
      {(of.format === 'xlsx' || of.format === 'parquet') && of.delivery === 'document' && (
        <p>
          It sends the file <code>example.{of.format}</code>, which is yours to make: its columns
          are named as the fields.
        </p>
      )}
      <p>
        The answer is a receipt: the delivery is stored. Sent again, the same receipt comes and
        nothing is stored twice. <a href={`/sources/${of.sourceId}/deliveries`}>Deliveries</a> tell
        what became of it.
      </p>
    </>
  );
}

function how(tool: 'curl' | 'Node' | 'Python'): string {
  if (tool === 'curl') return 'Paste it into a shell.';
  return tool === 'Node'
    ? 'Save it as send.mjs, then: node send.mjs'
    : 'Save it as send.py, then: python3 send.py';
}
