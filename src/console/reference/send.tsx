import { useId, useState } from 'preact/hooks';
import { errorTable } from '../../domain/errors.ts';
import { CopyableBlock } from '../parts/copy.tsx';
import { Notice } from '../parts/notice.tsx';
import { Line } from '../parts/prose.tsx';
import type { OpenApi, Operation, Parameter } from './document.ts';
import {
  curlOf,
  type Draft,
  examplesOf,
  filledIn,
  firstDraft,
  isSigned,
  requestOf,
} from './request.ts';
import { type Credentials, type ShownAnswer, sendRequest } from './send-request.ts';

export interface SendProps {
  readonly document: OpenApi;
  readonly operation: Operation;
  /** Of all operations: typed once, kept in this page's memory and nowhere else. */
  readonly credentials: Credentials;
  setCredentials(credentials: Credentials): void;
}

type Outcome = ShownAnswer | 'sending' | 'unreachable' | null;

/** A form that sends the operation from here, and shows the same as a command. */
export function Send({ document, operation, credentials, setCredentials }: SendProps) {
  const [draft, setDraft] = useState(() => firstDraft(operation));
  const [outcome, setOutcome] = useState<Outcome>(null);
  const request = requestOf(document.servers[0]!.url, operation, draft);
  const send = async (event: Event) => {
    event.preventDefault();
    if (outcome === 'sending') return;
    setOutcome('sending');
    setOutcome(await sendRequest(request, operation, credentials).catch(() => 'unreachable'));
  };
  return (
    <form class="send" onSubmit={send} aria-label={`Send: ${operation.summary}`}>
      <h3>Try it</h3>
      {operation.keyed && (
        <Secret
          label="Access key"
          hint="A sandbox key: a production key is refused here."
          value={credentials.accessKey}
          set={(accessKey) => setCredentials({ ...credentials, accessKey })}
        />
      )}
      {isSigned(operation) && (
        <Secret
          label="Signing secret"
          hint="Signs the delivery in this page, and is not sent."
          value={credentials.signingSecret}
          set={(signingSecret) => setCredentials({ ...credentials, signingSecret })}
        />
      )}
      <Values operation={operation} draft={draft} setDraft={setDraft} />
      {draft.mediaType !== null && <Body operation={operation} draft={draft} setDraft={setDraft} />}
      <p>
        <button type="submit" class="primary" aria-disabled={outcome === 'sending'}>
          Send
        </button>{' '}
        <span class="quiet">to {request.url}</span>
      </p>
      <div aria-live="polite">
        <Answer outcome={outcome} />
      </div>
      <p class="quiet">The same as a command:</p>
      <CopyableBlock text={curlOf(request, operation)} label="the command" />
    </form>
  );
}

interface SecretProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  set(value: string): void;
}

function Secret({ label, hint, value, set }: SecretProps) {
  return (
    <p>
      <label>
        {label}
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          size={44}
          value={value}
          onInput={(event) => set(event.currentTarget.value.trim())}
        />
        <span class="quiet">{hint} It stays in this page's memory.</span>
      </label>
    </p>
  );
}

interface DraftProps {
  readonly operation: Operation;
  readonly draft: Draft;
  setDraft(draft: Draft): void;
}

function Values({ operation, draft, setDraft }: DraftProps) {
  const parameters = filledIn(operation);
  if (parameters.length === 0) return null;
  const set = (name: string, value: string) =>
    setDraft({ ...draft, values: { ...draft.values, [name]: value } });
  return (
    <div class="row">
      {parameters.map((parameter) => (
        <Value
          key={parameter.name}
          parameter={parameter}
          value={draft.values[parameter.name] ?? ''}
          set={(value) => set(parameter.name, value)}
        />
      ))}
    </div>
  );
}

function Value(props: { parameter: Parameter; value: string; set(value: string): void }) {
  const { parameter, value, set } = props;
  const { name, required, schema } = parameter;
  const choices =
    schema.enum?.map(String) ?? (schema.type === 'boolean' ? ['true', 'false'] : null);
  const id = useId();
  return (
    <div>
      <label for={id}>{name}</label>
      {choices ? (
        <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
          <option value="">not sent</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          value={value}
          required={required}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
    </div>
  );
}

function Body({ operation, draft, setDraft }: DraftProps) {
  const mediaTypes = Object.keys(operation.requestBody!.content);
  const examples = examplesOf(operation, draft.mediaType!);
  const choose = (mediaType: string) =>
    setDraft({ ...draft, mediaType, body: Object.values(examplesOf(operation, mediaType))[0]! });
  return (
    <>
      <div class="row">
        <label>
          Media type
          <select value={draft.mediaType!} onChange={(event) => choose(event.currentTarget.value)}>
            {mediaTypes.map((mediaType) => (
              <option key={mediaType}>{mediaType}</option>
            ))}
          </select>
        </label>
        {Object.entries(examples).map(([name, body]) => (
          <button key={name} type="button" onClick={() => setDraft({ ...draft, body })}>
            Example: {name}
          </button>
        ))}
      </div>
      <label class="wide">
        Body
        <textarea
          rows={Math.min(12, draft.body.split('\n').length + 1)}
          spellcheck={false}
          value={draft.body}
          onInput={(event) => setDraft({ ...draft, body: event.currentTarget.value })}
        />
      </label>
    </>
  );
}

function Answer({ outcome }: { outcome: Outcome }) {
  if (outcome === null) return null;
  if (outcome === 'sending') return <p class="quiet">Sending…</p>;
  if (outcome === 'unreachable') {
    const why = 'The API cannot be reached from this page, or does not take requests from it.';
    return <Notice kind="error">{why}</Notice>;
  }
  const { status, ms, headers, body, code } = outcome;
  const row = errorTable[code as keyof typeof errorTable] as { hint: string } | undefined;
  return (
    <>
      <p>
        <span class={`badge ${status < 400 ? 'good' : 'bad'}`}>{status}</span>{' '}
        <span class="quiet">in {ms} ms</span>
      </p>
      {row && (
        <p>
          What to do: <Line text={row.hint} />
        </p>
      )}
      <dl class="facts">
        {headers.map(([name, value]) => (
          <HeaderView key={name} name={name} value={value} />
        ))}
      </dl>
      {body !== '' && <CopyableBlock text={body} label="the answer" />}
    </>
  );
}

function HeaderView({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>
        <code>{name}</code>
      </dt>
      <dd>
        <code>{value}</code>
      </dd>
    </>
  );
}
