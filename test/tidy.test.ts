import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { importedBy } from './support/imported.ts';

/** Style is a test: what people would otherwise have to say to one another in reviews. */

const root = fileURLToPath(new URL('..', import.meta.url));
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter(Boolean);
const sources = tracked.filter((path) => /\.tsx?$/.test(path));
const text = (path: string) => readFileSync(join(root, path), 'utf8');

/** Folder → what its files may import from the project, by path prefix. */
const mayImport: Record<string, readonly string[]> = {
  'src/std/': ['src/std/'],
  'src/client/': ['src/client/'],
  'src/domain/': ['src/domain/', 'src/std/'],
  'src/artifacts/': ['src/artifacts/', 'src/domain/', 'src/std/'],
  'src/catalog/': ['src/catalog/', 'src/domain/', 'src/std/'],
  'src/samples/': ['src/samples/', 'src/domain/', 'src/std/'],
  'src/metrics/': ['src/metrics/', 'src/domain/', 'src/std/', ...contracts()],
  'src/tracing/': ['src/tracing/', 'src/domain/', 'src/std/', ...contracts()],
  'src/upkeep/': ['src/upkeep/', 'src/domain/', 'src/std/', ...contracts()],
  'src/rates/': ['src/rates/', 'src/domain/', 'src/std/'],
  'src/http/': ['src/http/', 'src/domain/', 'src/std/', ...contracts()],
  'src/accept/': ['src/accept/', 'src/http/', 'src/domain/', 'src/std/', ...contracts()],
  'src/serve/': ['src/serve/', 'src/http/', 'src/domain/', 'src/std/', ...contracts()],
  'src/app/': [
    ...['src/app/', 'src/http/', 'src/domain/', 'src/std/', 'src/proof/', ...contracts()],
    ...['src/samples/proof.ts', 'src/parse/messages.ts', 'src/parse/tasks.ts'],
    'src/samples/explore-contract.ts',
  ],
  // Of the domain: the types of the app API, and rules that a browser can run.
  'src/console/': ['src/console/', 'src/domain/'],
  'src/parse/': ['src/parse/', 'src/domain/', 'src/std/', ...contracts()],
  'src/proof/': [
    ...['src/proof/', 'src/domain/', 'src/std/', ...contracts(), 'src/samples/proof.ts'],
    ...['src/parse/messages.ts', 'src/parse/pool.ts', 'src/parse/tasks.ts', 'src/parse/turns.ts'],
    'src/upkeep/stored-bytes.ts',
  ],
  'workers/': [
    ...['workers/', 'src/domain/', 'src/std/'],
    ...['src/parse/messages.ts', 'src/artifacts/open.ts', 'src/artifacts/artifacts.ts'],
    'src/artifacts/together.ts',
  ],
  'bench/': ['bench/', 'src/', 'workers/', 'test/support/'],
  'bench/peers/': ['bench/peers/'],
};

function contracts(): string[] {
  return [
    ...['src/artifacts/artifacts.ts', 'src/catalog/catalog.ts', 'src/samples/samples.ts'],
    // Formats and helpers of that contract, the same for every store.
    ...['segment', 'object-name', 'together'].map((name) => `src/artifacts/${name}.ts`),
    ...['audit', 'deliveries', 'upkeep', 'users', 'source-summaries'].map(
      (name) => `src/catalog/${name}-contract.ts`,
    ),
    ...['delivery-pages', 'company-figures'].map((name) => `src/catalog/${name}-contract.ts`),
    ...['src/rates/rates.ts', 'src/metrics/metrics.ts'],
    'src/parse/messages.ts',
  ];
}

/** Files that are started, not imported. */
const entries = [
  ...['src/start/main.ts', 'src/start/demo/main.ts', 'src/start/openapi.ts'],
  'src/start/processes/process.ts',
  ...['src/samples/engine/main.ts'],
  'src/console/main.tsx',
  ...['src/catalog/sqlite/thread.ts', 'workers/parse.ts', 'workers/read-push.ts'],
  'workers/locate-record.ts',
  ...['bench/main.ts', 'bench/load/main.ts', 'bench/peers/main.ts', 'bench/budget/main.ts'],
  'bench/scale/main.ts',
];

interface Import {
  readonly from: string;
  readonly to: string;
}

const imports: readonly Import[] = sources.flatMap(importsOf);

function importsOf(from: string): Import[] {
  return importedBy(from, text(from))
    .map((name) => (name.startsWith('.') ? normalize(join(dirname(from), name)) : name))
    .map((to) => ({ from, to }));
}

describe('imports', () => {
  test.each(Object.entries(mayImport))('%s imports only what it may', (folder, allowed) => {
    const wrong = imports
      .filter(({ from }) => from.startsWith(folder))
      .filter(({ to }) => sources.includes(to))
      .filter(({ to }) => !allowed.some((prefix) => to.startsWith(prefix)));
    expect(wrong).toEqual([]);
  });

  test('uWebSockets.js is known to http, accept, serve and start only', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        to === 'uWebSockets.js' &&
        from.startsWith('src/') &&
        !/^src\/(http|accept|serve|start)\//.test(from),
    );
    expect(wrong).toEqual([]);
  });

  test('every file is imported or started by something', () => {
    const used = new Set([...imports.map(({ to }) => to), ...entries]);
    const unused = sources.filter(
      (path) => /^(src|workers|bench)\/.*(?<!\.d)\.tsx?$/.test(path) && !used.has(path),
    );
    expect(unused).toEqual([]);
  });

  test('no file only passes on what others export', () => {
    const barrels = sources.filter((path) => {
      const lines = text(path)
        .split('\n')
        .filter((line) => line.trim() && !/^\s*(\/\/|\*|\/\*)/.test(line));
      return lines.length > 0 && lines.every((line) => /^export .* from /.test(line));
    });
    expect(barrels).toEqual([]);
  });
});

describe('files', () => {
  test('no line is longer than 100 characters', () => {
    const long = sources.flatMap((path) =>
      text(path)
        .split('\n')
        .map((line, i) => ({ at: `${path}:${i + 1}`, length: line.length }))
        .filter(({ length }) => length > 100),
    );
    expect(long).toEqual([]);
  });

  test('no file has more than 400 lines', () => {
    const long = sources
      .map((path) => ({ path, lines: text(path).split('\n').length }))
      .filter(({ lines }) => lines > 400);
    expect(long).toEqual([]);
  });

  test('no function of the service or of the bench has more than 70 lines', () => {
    const long = sources
      .filter((path) => /^(src|workers|bench)\//.test(path))
      .flatMap((path) => longFunctions(path, 70));
    expect(long).toEqual([]);
  });

  test('nothing is left over: no marks to come back to, no focused test', () => {
    // Put together here, so that this file does not find itself.
    const marks = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X'.repeat(3)].join('|')})\\b`);
    const left = sources.flatMap((path) =>
      text(path)
        .split('\n')
        .map((line, i) => ({ at: `${path}:${i + 1}`, line }))
        .filter(({ line }) => marks.test(line) || /\b(test|describe|it)\.(only|todo)\(/.test(line)),
    );
    expect(left).toEqual([]);
  });

  test('each document has one title', () => {
    const documents = tracked.filter((path) => path.endsWith('.md'));
    const titles = documents.map((path) => ({
      path,
      count: text(path)
        .replaceAll(/^```[\s\S]*?^```/gm, '')
        .split('\n')
        .filter((line) => line.startsWith('# ')).length,
    }));
    expect(titles.filter(({ count }) => count !== 1)).toEqual([]);
  });
});

/** Functions by indentation: the formatter puts a function's end under its beginning. */
function longFunctions(path: string, linesMax: number): string[] {
  const lines = text(path).split('\n');
  const begins = new RegExp(
    [
      String.raw`^(\s*)(export )?(default )?(async )?(function\b`,
      String.raw`(static |private |#|get |set )?[#\w]+\([^;]*\)?.*\{$`,
      String.raw`const \w+ = (async )?\(.*=> \{$)`,
    ].join('|'),
  );
  return lines.flatMap((line, i) => {
    const indent = begins.exec(line)?.[1];
    if (indent === undefined || /^\s*(if|for|while|switch|describe|test|return)\b/.test(line))
      return [];
    const end = lines.findIndex((other, j) => j > i && other.startsWith(`${indent}}`));
    return end - i + 1 > linesMax ? [`${path}:${i + 1} has ${end - i + 1} lines`] : [];
  });
}
