import { defineConfig } from 'vite';

/** The console: `src/console` into the static files of `dist/console`, which the app serves. */
export default defineConfig({
  root: 'src/console',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy is 'self': nothing may stand in the page itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
