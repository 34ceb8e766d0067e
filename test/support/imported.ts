import { parseSync } from 'vite';

/** The names that a module imports, exports from, or imports later, as they stand in it. */
export function importedBy(path: string, source: string): string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, source).module;
  const passedOn = staticExports.flatMap(({ entries }) => entries);
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...passedOn.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ...dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      return /^'(.*)'$/.exec(source.slice(start, end))?.[1] ?? [];
    }),
  ];
}
