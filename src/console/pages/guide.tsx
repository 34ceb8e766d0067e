import '../reference/reference.css';
import { guides } from '../guides/all.ts';
import type { Guide } from '../guides/guide.ts';
import { Failure } from '../parts/notice.tsx';
import { Prose } from '../parts/prose.tsx';
import { useAnchor } from '../parts/use-anchor.ts';
import { useDocument } from '../reference/use-document.ts';

/** All guides, or the one that the address names. */
export default function GuidePage({ name }: { name?: string }) {
  const guide = name === undefined ? undefined : guides[name];
  if (!guide) return <List unknown={name !== undefined} />;
  return (
    <div class="with-contents">
      <nav class="contents" aria-label="Guides">
        <ul>
          {Object.entries(guides).map(([path, { title }]) => (
            <li key={path}>
              <a href={`/guides/${path}`} aria-current={path === name ? 'page' : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="prose">
        <h1>{guide.title}</h1>
        <Text guide={guide} />
      </div>
    </div>
  );
}

function List({ unknown }: { unknown: boolean }) {
  return (
    <>
      <h1>Guides</h1>
      {unknown && <p>There is no such guide.</p>}
      <dl>
        {Object.entries(guides).map(([path, { title, summary }]) => (
          <div key={path}>
            <dt>
              <a href={`/guides/${path}`}>{title}</a>
            </dt>
            <dd>{summary}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Its commands are filled in with where the API is. */
function Text({ guide }: { guide: Guide }) {
  const { data, error } = useDocument();
  return (
    <>
      <Failure error={error} />
      {data && <FilledIn text={guide.text(data.servers[0]!.url)} />}
    </>
  );
}

function FilledIn({ text }: { text: string }) {
  useAnchor();
  return <Prose text={text} />;
}
