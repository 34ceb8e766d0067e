import { Line } from '../parts/prose.tsx';
import { TableHead } from '../parts/table-head.tsx';
import {
  headerOf,
  type Media,
  type OpenApi,
  type Operation,
  type Parameter,
  type Response,
  typeText,
} from './document.ts';
import { SchemaNotes, SchemaView } from './schema-view.tsx';
import { Send, type SendProps } from './send.tsx';

/** One operation: what it takes, what it answers, and a form that sends it. */
export function OperationView(props: SendProps) {
  const { document, operation } = props;
  const { operationId, method, path, summary, description, parameters = [] } = operation;
  return (
    <section class="operation" aria-labelledby={operationId}>
      <h2 id={operationId}>
        <a class="anchor" href={`#${operationId}`}>
          {summary}
        </a>
      </h2>
      <p class="address">
        <span class="badge">{method}</span> <code>{path}</code>
      </p>
      <p>
        <Line text={description} />
      </p>
      {parameters.length > 0 && <Parameters parameters={parameters} of={summary} />}
      {Object.entries(operation.requestBody?.content ?? {}).map(([mediaType, media]) => (
        <BodyView key={mediaType} {...{ document, mediaType, media }} />
      ))}
      <Answers document={document} operation={operation} />
      <Send {...props} />
    </section>
  );
}

function Parameters({ parameters, of }: { parameters: readonly Parameter[]; of: string }) {
  return (
    <>
      <h3>Parameters</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section class="scroll" tabIndex={0} aria-label={`Parameters: ${of}`}>
        <table>
          <TableHead columns={['Name', 'In', 'Type', 'What it is']} />
          <tbody>
            {parameters.map(({ name, in: place, required, description, schema }) => (
              <tr key={name}>
                <td class="short">
                  <code>{name}</code>
                  {required && <span class="badge">required</span>}
                </td>
                <td>{place}</td>
                <td class="short">{typeText(schema)}</td>
                <td class="about">
                  <SchemaNotes schema={{ ...schema, ...(description ? { description } : {}) }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

interface BodyProps {
  readonly document: OpenApi;
  readonly mediaType: string;
  readonly media: Media;
}

function BodyView({ document, mediaType, media }: BodyProps) {
  return (
    <>
      <h3>
        Body: <code>{mediaType}</code>
      </h3>
      <SchemaView document={document} schema={media.schema} />
    </>
  );
}

function Answers({ document, operation }: { document: OpenApi; operation: Operation }) {
  const { summary, responses } = operation;
  return (
    <>
      <h3>Answers</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section class="scroll" tabIndex={0} aria-label={`Answers: ${summary}`}>
        <table>
          <TableHead columns={['Status', 'What it means', 'Body']} />
          <tbody>
            {Object.entries(responses).map(([status, response]) => (
              <AnswerRow key={status} {...{ document, status, response }} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

interface AnswerProps {
  readonly document: OpenApi;
  readonly status: string;
  readonly response: Response;
}

function AnswerRow({ document, status, response }: AnswerProps) {
  const headers = Object.entries(response.headers ?? {}).map(([name, reference]) => ({
    name,
    sometimes: headerOf(document, reference).required !== true,
  }));
  const { schema, examples = {} } = response.content?.['application/json'] ?? {};
  const name = schema && (schema.$ref ?? schema.allOf?.[0]?.$ref)?.replace(/.*\//, '');
  return (
    <tr>
      <td>
        <span class={`badge ${status < '400' ? 'good' : 'bad'}`}>{status}</span>
      </td>
      <td class="about">
        {response.description.split('\n\n').map((text) => (
          <p key={text}>
            <Line text={text} />
          </p>
        ))}
        {headers.length > 0 && (
          <p class="quiet">
            {'Headers: '}
            {headers.map(({ name, sometimes }, i) => (
              <span key={name}>
                {i > 0 && ', '}
                <a href="#headers">
                  <code>{name}</code>
                </a>
                {sometimes && ' (sometimes)'}
              </span>
            ))}
          </p>
        )}
      </td>
      <td>
        {name && (
          <a href={`#schema-${name}`}>
            <code>{name}</code>
          </a>
        )}
        {Object.entries(examples).map(([code, { value }]) => (
          <code key={code} class="rules">
            {inOneLine(value)}
          </code>
        ))}
      </td>
    </tr>
  );
}

/** JSON with room to break between its parts. */
function inOneLine(value: unknown): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ');
}
