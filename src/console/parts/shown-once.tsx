import { useEffect, useRef } from 'preact/hooks';
import { Copyable } from './copy.tsx';
import { Notice } from './notice.tsx';

/** A key or secret that was just made: it is nowhere else, and gone when the page is left. */
export function ShownOnce(props: { what: string; text: string; dismiss(): void }) {
  const { what, text, dismiss } = props;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It was asked for further down the page, by a button that could not keep the focus.
    place.current?.scrollIntoView({ block: 'nearest' });
    place.current?.focus({ preventScroll: true });
  }, [text]);
  return (
    <div ref={place} tabIndex={-1}>
      <Notice kind="good">
        <p>
          <strong>The {what} is shown this once.</strong> Copy it now and keep it safe: nobody can
          show it again.
        </p>
        <p>
          <Copyable text={text} label={what} />
        </p>
        <button type="button" onClick={dismiss}>
          I have kept it
        </button>
      </Notice>
    </div>
  );
}
