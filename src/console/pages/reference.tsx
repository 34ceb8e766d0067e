import '../reference/reference.css';
import { useState } from 'preact/hooks';
import { demoKey } from '../../domain/keys.ts';
import { Copyable } from '../parts/copy.tsx';
import { blocksOf } from '../parts/markdown.ts';
import { Failure, Notice } from '../parts/notice.tsx';
import { Line, Prose } from '../parts/prose.tsx';
import { useAnchor } from '../parts/use-anchor.ts';
import { type OpenApi, operationsOf, typeText } from '../reference/document.ts';
import { OperationView } from '../reference/operation-view.tsx';
import { SchemaView } from '../reference/schema-view.tsx';
import { useDocument } from '../reference/use-document.ts';
import { useSession } from '../session.tsx';

/** The API reference: all on one page, so that the browser's own search finds everything. */
export default function Reference() {
  const { data, error } = useDocument();
  return (
    <>
      <h1>API reference</h1>
      <Failure error={error} />
      {data && <Whole api={data} />}
    </>
  );
}

function Whole({ api }: { api: OpenApi }) {
  const { session } = useSession();
  const [credentials, setCredentials] = useState({ accessKey: '', signingSecret: '' });
  const { intro, rest } = partsOf(api.info.description);
  useAnchor();
  return (
    <div class="with-contents">
      <Contents api={api} rest={rest} />
      <div>
        <div class="prose">
          <Prose text={intro} />
        </div>
        <p>
          Version {api.info.version}, at <code>{api.servers[0]!.url}</code>; as a file:{' '}
          <a href="/openapi.json" download>
            openapi.json
          </a>
          .
        </p>
        {session?.demo && (
          <Notice kind="plain">
            This deployment's demo key reads: <Copyable text={demoKey} label="the demo key" />
          </Notice>
        )}
        {operationsOf(api).map((operation) => (
          <OperationView
            key={operation.operationId}
            {...{ document: api, operation, credentials, setCredentials }}
          />
        ))}
        <div class="prose-section">
          <Prose text={rest} />
        </div>
        <Headers api={api} />
        <Schemas api={api} />
      </div>
    </div>
  );
}

/** What comes before the first heading, and all else. */
function partsOf(description: string): { intro: string; rest: string } {
  const at = description.indexOf('\n## ');
  return { intro: description.slice(0, at), rest: description.slice(at + 1) };
}

function Contents({ api, rest }: { api: OpenApi; rest: string }) {
  const headings = blocksOf(rest).filter((block) => block.kind === 'heading');
  const links = [
    ...headings.map(({ id, text }) => ({ id, text })),
    { id: 'headers', text: 'Headers' },
    ...Object.keys(api.components.schemas).map((name) => ({ id: `schema-${name}`, text: name })),
  ];
  return (
    <nav class="contents" aria-label="On this page">
      <ul>
        {operationsOf(api).map(({ operationId, summary }) => (
          <li key={operationId}>
            <a href={`#${operationId}`}>{summary}</a>
          </li>
        ))}
      </ul>
      <ul>
        {links.map(({ id, text }) => (
          <li key={id}>
            <a href={`#${id}`}>{text}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Headers({ api }: { api: OpenApi }) {
  const headers = Object.entries(api.components.headers).filter(([, { required }]) => required);
  return (
    <section class="operation" aria-labelledby="headers">
      <h2 id="headers">Headers of answers</h2>
      <dl class="schema">
        {headers.map(([name, { description, schema }]) => (
          <div key={name}>
            <dt>
              <code>{name}</code> <span class="quiet">{typeText(schema)}</span>
            </dt>
            <dd>{description && <Line text={description} />}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Schemas({ api }: { api: OpenApi }) {
  return (
    <>
      {Object.entries(api.components.schemas).map(([name, schema]) => (
        <section class="operation" key={name} aria-labelledby={`schema-${name}`}>
          <h2 id={`schema-${name}`}>{name}</h2>
          {schema.description && (
            <p>
              <Line text={schema.description} />
            </p>
          )}
          <SchemaView document={api} schema={schema} />
        </section>
      ))}
    </>
  );
}
