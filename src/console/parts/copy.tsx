import { useState } from 'preact/hooks';

/** Copies text, and says for two seconds that it did. */
function useCopy(text: string) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return { copied, copy };
}

/** Text to be copied: shown whole, with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const { copied, copy } = useCopy(text);
  return (
    <span class="copyable">
      <code>{text}</code>
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}

/** A command of several lines, to be copied as it stands. */
export function CopyableBlock({ text, label }: { text: string; label: string }) {
  const { copied, copy } = useCopy(text);
  return (
    <div class="copyable-block">
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
