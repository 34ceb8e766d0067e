import type { ComponentChildren } from 'preact';

/** What is too wide scrolls by itself, by keys too; the page never does sideways. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
