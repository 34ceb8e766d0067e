import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { saveSource, tryShape } from '../../domain/api/app/sources.ts';
import type { Metric } from '../../domain/nouns.ts';
import { personalNames } from '../../domain/personal.ts';
import { post, Refused } from '../api.ts';
import { declaredFields, editedFields } from '../edit-shape.ts';
import type { SourceOfPage } from '../source-of-page.ts';
import { useAct } from '../use-act.ts';
import { useUnsaved } from '../use-unsaved.ts';
import { Dialog } from './dialog.tsx';
import { DryRun } from './dry-run.tsx';
import { Failure, Notice } from './notice.tsx';
import { count } from './numbers.ts';
import { bodyOf, type EditedSource, pointAtProblem, SourceFields } from './source-form.tsx';

export type Saved = AnswerOf<typeof saveSource>;

interface EditorProps {
  readonly source: SourceOfPage;
  readonly metrics: readonly Metric[];
  /** Asks for the current version again. */
  refresh(): void;
  done(saved: Saved): void;
}

/** The current version, to be changed and saved as the next one. */
export function SourceEditor({ source, metrics, refresh, done }: EditorProps) {
  const [begun] = useState<EditedSource>(() => ({
    ...{ name: source.name, delivery: source.delivery, format: source.format },
    fields: editedFields(source.fields),
  }));
  const [edited, setEdited] = useState(begun);
  useUnsaved(JSON.stringify(edited) !== JSON.stringify(begun));
  const [withdraws, setWithdraws] = useState<number | null>(null);
  const address = `/app/api/sources/${source.source_id}`;
  const marked = newlyPersonal(source, edited);
  const save = useAct(async () => {
    setWithdraws(null);
    const body = { based_on: source.shape_version, ...bodyOf(edited) };
    done(await post<typeof saveSource>(address, body));
  });
  const ask = useAct(async () => {
    if (save.busy || pointAtProblem(edited, metrics)) return;
    if (marked.length === 0) return await save.run();
    const { fields, format } = bodyOf(edited);
    const body = { fields, format, deliveries: 0 };
    const would = await post<typeof tryShape>(`${address}/dry-run`, body);
    if (would.withdraws === 0) await save.run();
    else setWithdraws(would.withdraws);
  });
  const outdated = save.error instanceof Refused && save.error.reason === 'version_outdated';
  return (
    <form onSubmit={ask.submit}>
      <SourceFields source={edited} metrics={metrics} set={setEdited} />
      {marked.length > 0 && (
        <Notice kind="plain">
          {marked.join(', ')} {marked.length === 1 ? 'becomes' : 'become'} personal: saving
          withdraws, at once, the samples of deliveries that were parsed with a role for it.
        </Notice>
      )}
      <Becoming source={source} edited={edited} />
      <DryRun source={source} edited={edited} metrics={metrics} />
      <Failure error={ask.error ?? save.error} />
      {outdated && (
        <button type="button" onClick={refresh}>
          Show that version instead of what I typed
        </button>
      )}
      <p>
        <button type="submit" class="primary" aria-disabled={ask.busy || save.busy}>
          Save as version {source.shape_version + 1}
        </button>
      </p>
      {withdraws !== null && (
        <Withdrawal
          {...{ withdraws, marked }}
          save={() => void save.run()}
          close={() => setWithdraws(null)}
        />
      )}
    </form>
  );
}

/** Fields that are marked personal now and are not in the current version. */
function newlyPersonal(source: SourceOfPage, { fields }: EditedSource): string[] {
  const before = new Set(personalNames(source.fields));
  return personalNames(declaredFields(fields)).filter((name) => !before.has(name));
}

function Becoming({ source, edited }: { source: SourceOfPage; edited: EditedSource }) {
  const [was, is] = [source.delivery === 'webhook', edited.delivery === 'webhook'];
  if (was === is) return null;
  return (
    <Notice kind="plain">
      {is
        ? 'It becomes a webhook source: a signing secret is shown once, and its keys can only read.'
        : 'It ceases to be a webhook source: its signing secrets end when this is saved.'}
    </Notice>
  );
}

interface WithdrawalProps {
  readonly withdraws: number;
  readonly marked: readonly string[];
  save(): void;
  close(): void;
}

function Withdrawal({ withdraws, marked, save, close }: WithdrawalProps) {
  const deliveries = `${count(withdraws)} ${withdraws === 1 ? 'delivery' : 'deliveries'}`;
  return (
    <Dialog title="Samples will be withdrawn" close={close}>
      <p>
        With {marked.join(', ')} personal, the samples of {deliveries} are withdrawn at once. The
        deliveries stay stored; they are rejected until they are parsed again under the new version.
      </p>
      <div class="row">
        <button type="button" class="danger" onClick={save}>
          Save and withdraw the samples of {deliveries}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
