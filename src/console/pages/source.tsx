import { lazy } from 'preact-iso';
import type { readSource } from '../../domain/api/app/sources.ts';
import { get, type Refused } from '../api.ts';
import { Failure } from '../parts/notice.tsx';
import { useRead } from '../use-read.ts';

const tabs = {
  deliveries: { name: 'Deliveries', page: lazy(() => import('./deliveries.tsx')) },
  samples: { name: 'Samples', page: lazy(() => import('./samples.tsx')) },
  shape: { name: 'Shape', page: lazy(() => import('./shape.tsx')) },
  developer: { name: 'Developer', page: lazy(() => import('./developer.tsx')) },
};

/** Nothing until it is known why there is no source to show. */
function NoSource({ error }: { error: Refused | null }) {
  if (!error) return null;
  return (
    <>
      <p class="crumbs">
        <a href="/sources">Sources</a>
      </p>
      <h1>{error.status === 404 ? 'No such source' : 'Source'}</h1>
      <Failure error={error} />
    </>
  );
}

/** One source: its tabs share its name and its current shape version. */
export default function Source(props: {
  sourceId: string;
  tab?: string;
  // The router gives a property of this name a meaning of its own.
  params: { rest?: string };
}) {
  const { sourceId, tab = 'deliveries', params } = props;
  const { rest = '' } = params;
  const { data, error, again } = useRead(`source ${sourceId}`, (signal) =>
    get<typeof readSource>(`/app/api/sources/${sourceId}`, {}, signal),
  );
  const known = tabs[tab as keyof typeof tabs];
  if (!data) return <NoSource error={error} />;
  return (
    <>
      <p class="crumbs">
        <a href="/sources">Sources</a>
      </p>
      <h1>{data.name}</h1>
      <nav class="tabs" aria-label="Source">
        {Object.entries(tabs).map(([key, { name }]) => (
          <a
            key={key}
            href={`/sources/${sourceId}/${key}`}
            aria-current={key === tab ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <Failure error={error} />
      {known ? <known.page source={data} rest={rest} refresh={again} /> : <p>No such page.</p>}
    </>
  );
}
