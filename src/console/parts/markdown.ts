/**
 * The Markdown that our own texts are written in: headings, paragraphs, lists, tables, fenced
 * code; within them code, strong words and links. Nothing else is read, and no HTML.
 */
export type Block =
  | { readonly kind: 'heading'; readonly level: 2 | 3; readonly text: string; readonly id: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly string[][] }
  | { readonly kind: 'code'; readonly text: string };

export type Inline =
  | { readonly kind: 'text' | 'code' | 'strong'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

const item = /^(?:-|\d+\.) /;

/** A text's blocks, which empty lines part. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```[^\n]*\n([\s\S]*?)\n```$|(?:^(?!```).*\S.*(?:\n|$))+/gm)].map(
    ([whole, code]) => (code === undefined ? blockOf(whole.trim()) : { kind: 'code', text: code }),
  );
}

function blockOf(text: string): Block {
  const heading = /^(##|###) (.*)$/.exec(text);
  if (heading) {
    const [, marks, title] = heading;
    return { kind: 'heading', level: marks === '##' ? 2 : 3, text: title!, id: idOf(title!) };
  }
  const lines = text.split('\n');
  if (lines.every((line) => line.startsWith('|'))) {
    const [head, , ...rows] = lines.map(cellsOf);
    return { kind: 'table', head: head!, rows };
  }
  if (item.test(text))
    return { kind: 'list', ordered: !text.startsWith('-'), items: itemsOf(text) };
  return { kind: 'paragraph', text: lines.join(' ') };
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function itemsOf(text: string): string[] {
  return text
    .split(/\n(?=(?:-|\d+\.) )/)
    .map((one) => one.replace(item, '').replaceAll(/\n\s*/g, ' '));
}

/** As an address has it: `## Access keys` is at `#access-keys`. */
export function idOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** The parts of a line of text, in their order. */
export function inlineOf(text: string): Inline[] {
  const part = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)]+)\)/g;
  const found: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(part)) {
    const [whole, code, strong, label, href] = match;
    if (match.index > end) found.push({ kind: 'text', text: text.slice(end, match.index) });
    if (code !== undefined) found.push({ kind: 'code', text: code });
    else if (strong !== undefined) found.push({ kind: 'strong', text: strong });
    else found.push({ kind: 'link', text: label!, href: href! });
    end = match.index + whole.length;
  }
  return end < text.length ? [...found, { kind: 'text', text: text.slice(end) }] : found;
}
