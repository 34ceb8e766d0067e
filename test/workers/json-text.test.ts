import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prepareJson } from '../../workers/json-text.ts';

function prepared(text: string, quoteNumbers = true) {
  const { bytes, loneSurrogateAt } = prepareJson(Buffer.from(text), quoteNumbers);
  return { text: Buffer.from(bytes).toString(), loneSurrogateAt };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    throw error;
  }
}

/** What a JSON text holds, numbers as their source text. */
function bySource(text: string): unknown {
  // TypeScript does not know the reviver's third argument yet.
  const reviver = (_: string, value: unknown, context?: { source: string }) =>
    typeof value === 'number' ? context!.source : value;
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}

describe('numbers in JSON', () => {
  test.each([
    ['[1]', '["1"]'],
    ['1', '"1"'],
    [' -0.00 ', ' "-0.00" '],
    ['{"a":10.50,"b":[1e5,-1E-5,0]}', '{"a":"10.50","b":["1e5","-1E-5","0"]}'],
    [`[${'9'.repeat(76)}]`, `["${'9'.repeat(76)}"]`],
    ['[1,2,3,4,5,6,7,8,9]', '["1","2","3","4","5","6","7","8","9"]'],
  ])('%s are put in quotes', (text, expected) => {
    expect(prepared(text).text).toBe(expected);
  });

  test.each(['["1","a2b","\\"3\\\\","-4"]', '{"5":null}', '[true,false,null]', '"\\u0031"', ''])(
    'within strings stay as they are: %s',
    (text) => expect(prepared(text).text).toBe(text),
  );

  test('are left alone when that is asked', () => {
    expect(prepared('{"a":1}', false).text).toBe('{"a":1}');
  });

  test.each([
    '01',
    '1.',
    '.5',
    '-',
    '+1',
    '1e',
    '1e+',
    '--1',
    '1.2.3',
    '0x1',
    '{1:2}',
    '{1 :2}',
    '1 2',
    '[1"a"]',
    '["a"1]',
    '[1true]',
    '[tr1ue]',
    '-01',
    '1e5e5',
    '[-]',
    '[1,]',
    '{"a":1,}',
    'NaN',
    '1a',
    '-a',
  ])('that JSON does not allow stay unreadable: %s', (text) => {
    expect(parsed(text)).toBeInstanceOf(SyntaxError);
    expect(parsed(prepared(text).text)).toBeInstanceOf(SyntaxError);
  });

  test('of any JSON value come as their source text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'), (json, space) => {
        const text = JSON.stringify(JSON.parse(json), null, space);
        expect(JSON.parse(prepared(text).text)).toEqual(bySource(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('of any broken JSON leave it broken, and of any other leave it whole', () => {
    const token = fc.constantFrom(
      '0',
      '1',
      '-',
      '.',
      'e',
      'E',
      '+',
      '"',
      ',',
      ':',
      '[',
      ']',
      '{',
      '}',
      ' ',
      '\n',
      '\\',
      'u00',
      'true',
      'null',
      '"a"',
      '12',
      '-3.40',
      '1e5',
      '{"a":',
      '"b":2',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 9 }), (tokens) => {
        const text = tokens.join('');
        const plain = parsed(text);
        const quoted = parsed(prepared(text).text);
        if (plain instanceof SyntaxError) expect(quoted, text).toBeInstanceOf(SyntaxError);
        else expect(quoted).toEqual(bySource(text));
      }),
      { numRuns: 20_000 },
    );
  });
});

describe('a lone surrogate', () => {
  test.each([
    ['"\\ud800"', 1],
    ['"\\uDFFF"', 1],
    ['"\\ud83d\\ud83d\\ude00"', 1],
    ['["x","\\ude00\\ud83d"]', 6],
    ['{"\\udc00":1}', 2],
    ['"\\uD83D \\uDE00"', 1],
    ['"\\ud83d\\n"', 1],
    ['"\\\\\\ud800"', 3],
  ])('is found in %s', (text, at) => {
    expect(prepared(text).loneSurrogateAt).toBe(at);
  });

  test.each([
    '"\\ud83d\\ude00"',
    '"\\uD83D\\uDE00"',
    '"\\\\ud800"',
    '"\\ud7ff\\ue000"',
    '"\u{1f600}"',
  ])('is not seen in %s', (text) => expect(prepared(text).loneSurrogateAt).toBe(-1));

  test('is found just where JSON.parse gives text with one', () => {
    const piece = fc.constantFrom(
      '\\ud83d',
      '\\ude00',
      '\\uD8',
      '\\\\',
      '\\n',
      'a',
      '\\"',
      'ff',
      '\\u',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = `"${pieces.join('')}"`;
        const value = parsed(text);
        if (typeof value !== 'string') return;
        const lone = /\p{Surrogate}/u.test(value);
        expect(prepared(text).loneSurrogateAt >= 0, text).toBe(lone);
      }),
      { numRuns: 4_000 },
    );
  });
});
