import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const codings = [
  { suffix: '.br', pack: promisify(brotliCompress) },
  { suffix: '.gz', pack: promisify(gzip) },
];

/** Leaves each file packed beside itself, so that the service packs nothing while it answers. */
const packed: Plugin = {
  name: 'packed',
  // Once they are written: until then other plugins still change them.
  async writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle)) {
      const bytes = await readFile(join(dir!, name));
      for (const { suffix, pack } of codings) {
        await writeFile(join(dir!, name + suffix), await pack(bytes));
      }
    }
  },
};

/** The console: `src/console` into the static files of `dist/console`, which the app serves. */
export default defineConfig({
  root: 'src/console',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [packed],
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy is 'self': nothing may stand in the page itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
