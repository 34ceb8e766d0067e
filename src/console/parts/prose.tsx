import { CopyableBlock } from './copy.tsx';
import { type Block, blocksOf, type Inline, inlineOf } from './markdown.ts';
import { TableHead } from './table-head.tsx';

/** A text of ours (`markdown.ts`); its code can be copied. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {blocksOf(text).map((block, i) => (
        <BlockView key={i} block={block} />
      ))}
    </>
  );
}

/** One line of such a text, within something else. */
export function Line({ text }: { text: string }) {
  return (
    <>
      {inlineOf(text).map((part, i) => (
        <InlineView key={i} part={part} />
      ))}
    </>
  );
}

function BlockView({ block }: { block: Block }) {
  if (block.kind === 'code') return <CopyableBlock text={block.text} label="the commands" />;
  if (block.kind === 'table') return <TableView {...block} />;
  if (block.kind === 'list') {
    const items = block.items.map((text) => (
      <li key={text}>
        <Line text={text} />
      </li>
    ));
    return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
  }
  if (block.kind === 'paragraph') {
    return (
      <p>
        <Line text={block.text} />
      </p>
    );
  }
  const Heading = block.level === 2 ? 'h2' : 'h3';
  return (
    <Heading id={block.id}>
      <Line text={block.text} />
    </Heading>
  );
}

function TableView({ head, rows }: Extract<Block, { kind: 'table' }>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section class="scroll" tabIndex={0} aria-label={`Table: ${head.join(', ')}`}>
      <table>
        <TableHead columns={head} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.join('|')}>
              {row.map((cell, i) => (
                <td key={head[i]}>
                  <Line text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function InlineView({ part }: { part: Inline }) {
  if (part.kind === 'code') return <code>{part.text}</code>;
  if (part.kind === 'strong') return <strong>{part.text}</strong>;
  if (part.kind === 'link') return <a href={part.href}>{part.text}</a>;
  return <>{part.text}</>;
}
