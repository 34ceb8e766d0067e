import { Line } from '../parts/prose.tsx';
import { type OpenApi, resolve, rulesOf, type Schema, typeText } from './document.ts';

/** The properties of an object, or of an array's items, those of nested objects below them. */
export function SchemaView({ document, schema }: { document: OpenApi; schema: Schema }) {
  const { schema: found } = resolve(document, schema);
  const inner = found.items ? resolve(document, found.items).schema : found;
  if (!inner.properties) {
    return inner.description ? (
      <p>
        <Line text={inner.description} />
      </p>
    ) : null;
  }
  const required = new Set(inner.required);
  return (
    <dl class="schema">
      {Object.entries(inner.properties).map(([name, property]) => (
        <PropertyView
          {...{ document, name, schema: property, required: required.has(name) }}
          key={name}
        />
      ))}
    </dl>
  );
}

interface PropertyProps {
  readonly document: OpenApi;
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

function PropertyView({ document, name, schema, required }: PropertyProps) {
  const { schema: found } = resolve(document, schema);
  const nested = found.properties !== undefined || found.items !== undefined;
  return (
    <>
      <dt>
        <code>{name}</code> <span class="quiet">{typeText(schema)}</span>
        {required && <span class="badge">required</span>}
      </dt>
      <dd>
        <SchemaNotes schema={{ ...found, ...schema }} />
        {nested && <SchemaView document={document} schema={schema} />}
      </dd>
    </>
  );
}

/** What a value means, what it must keep to, and what it looks like. */
export function SchemaNotes({ schema }: { schema: Schema }) {
  const rules = rulesOf(schema);
  const example = schema.examples?.[0];
  return (
    <>
      {schema.description && <Line text={schema.description} />}
      {rules.length > 0 && <span class="quiet rules">{rules.join('; ')}</span>}
      {example !== undefined && (
        <span class="quiet rules">
          for example <code>{JSON.stringify(example)}</code>
        </span>
      )}
    </>
  );
}
